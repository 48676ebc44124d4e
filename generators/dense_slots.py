"""Slots numbered anew: those that a program speaks of, the ones it speaks of most in front.

Attributes are a list in the model, so the kernel's way to an attribute is as long as its number; and a machine
that is written out has a number for every slot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from serq.generators import model as m

_ATTRIBUTES = ("attr", "residentAttr")
T = TypeVar("T")


def with_dense_slots(t: m.Translated) -> m.Translated:
    """The same program with its slots numbered from 0; names go with their slots."""
    uses = Counter(slots_of(t))
    number = {slot: i for i, (slot, _) in enumerate(uses.most_common())}
    moved = _renumbered(t, number)
    return replace(moved, attrs=tuple(t.attrs[slot] for slot in number))


def slots_of(t: m.Translated) -> Iterator[int]:
    """The slots a program speaks of, each as often as it does."""
    yield from _slots((t.code, t.deployment, t.clients, t.slots))


def _slots(part: object) -> Iterator[int]:
    match part:
        case m.Var(name=name, index=int(slot)) if name in _ATTRIBUTES:
            yield slot
        case m.Slots(turn=turn, more=more, computed=computed):
            yield from (turn, more, computed)
        case m.Client(presets=presets, turns=turns):
            yield from (slot for values in (presets, *turns) for slot, _ in values)
        case tuple():
            for item in part:
                yield from _slots(item)
        case m.Assign(slot=slot, value=value):
            yield slot
            yield from _slots(value)
        case _ if is_dataclass(part):
            for f in fields(part):
                yield from _slots(getattr(part, f.name))


def _renumbered(part: T, number: Mapping[int, int]) -> T:
    """A part with every slot in it renumbered."""
    changes: dict[str, object]
    match part:
        case m.Var(name=name, index=int(slot)) if name in _ATTRIBUTES:
            changes = {"index": number[slot]}
        case m.Slots(turn=turn, more=more, computed=computed):
            changes = {"turn": number[turn], "more": number[more], "computed": number[computed]}
        case m.Client(presets=presets, turns=turns):
            given = [tuple((number[slot], v) for slot, v in values) for values in (presets, *turns)]
            changes = {"presets": given[0], "turns": tuple(given[1:])}
        case m.Assign(slot=slot, value=value):
            changes = {"slot": number[slot], "value": _renumbered(value, number)}
        case tuple():
            return tuple(_renumbered(item, number) for item in part)  # type: ignore[return-value]
        case _ if is_dataclass(part):
            changes = {f.name: _renumbered(getattr(part, f.name), number) for f in fields(part)}
        case _:
            return part
    return replace(part, **changes)  # type: ignore[type-var]
