"""Indices in the JSON of a program: blocks laid out again, families of pools and stages taken out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

Data = dict[str, Any]
_POOL, _STAGE = "pools", "stages"
_BODY = {"Hold": ("body",), "While": (1,), "Branch": (1, 2)}


class InUse(Exception):
    """Something refers to what was to be taken out."""


def compact_blocks(data: Data) -> Data:
    """The same program with the blocks that are reached alone, in the order they are reached."""
    blocks, sides = data["blocks"], data["sides"]
    result: Data = {**data, "blocks": [], "sides": []}

    def lay(index: int) -> int:
        place = len(result["blocks"])
        result["blocks"].append([])
        result["sides"].append(list(sides[index]))
        result["blocks"][place] = [_moved(s, lay) for s in blocks[index]]
        return place

    for name in ("init", "turn", "session"):
        result[name] = lay(data[name])
    return result


def _moved(statement: Any, lay: Callable[[int], int]) -> Any:
    if not isinstance(statement, dict):
        return statement
    kind, value = next(iter(statement.items()))
    if kind in ("Loop", "Fork"):
        return {kind: lay(value)}
    moved = value.copy() if kind in _BODY else value
    for key in _BODY.get(kind, ()):
        moved[key] = lay(value[key])
    return {kind: moved}


def families(data: Data, kind: str) -> Iterator[tuple[int, int]]:
    """The base and size of every family."""
    items = data[kind]
    base = 0
    while base < len(items):
        size = 1
        while base + size < len(items) and items[base + size].get("index") == size:
            size += 1
        yield base, size
        base += size


def drop_family(data: Data, kind: str, base: int, count: int) -> Data | None:
    """Without a family, the later ones moved down; None when something refers to it."""
    result = copy.deepcopy(data)
    del result[kind][base : base + count]

    def moved(index: int) -> int:
        if base <= index < base + count:
            raise InUse
        return index - count if index >= base + count else index

    try:
        _renumber(result, kind, moved)
    except InUse:
        return None
    return result


def _renumber(data: Data, kind: str, moved: Callable[[int], int]) -> None:
    for family, ref in _references(data):
        if family == kind:
            ref["base"] = moved(ref["base"])
    for holder, key in _indices(data, kind):
        if holder.get(key) is not None:
            holder[key] = moved(holder[key])


def _indices(data: Data, kind: str) -> Iterator[tuple[Data, Any]]:
    """Plain indices of pools or stages, as holder and key."""
    for pool in data["pools"]:
        if kind == _STAGE:
            yield pool, "admit_via"
        if pool.get("spill"):
            yield pool["spill"], "to" if kind == _POOL else "via"
    for stage in data["stages"]:
        if kind == _POOL and "Step" in stage["kind"]:
            yield stage["kind"]["Step"], "memory"
    if kind == _STAGE:
        for register in data.get("registers", ()):
            yield register, "stage"
        for claim in data.get("claims", ()):
            if isinstance(claim["kind"], dict):
                yield claim["kind"], next(iter(claim["kind"]))


def _references(value: Any) -> Iterator[tuple[str, Data]]:
    """Every reference and cost target in a program, with the kind of what it names."""
    if isinstance(value, list):
        for inner in value:
            yield from _references(inner)
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        match key:
            case "Pool" | "Drop" | "Release" | "growing" if isinstance(inner, dict):
                yield _POOL, inner
            case "Stage" | "stage" if isinstance(inner, dict):
                yield _STAGE, inner
            case "also":
                yield from ((_STAGE, ref) for ref in inner)
            case "Grow" | "Load" | "lease" if isinstance(inner, list):
                yield _POOL, inner[0]
            case "pools" if inner and isinstance(inner[0], list):
                yield from ((_POOL, part[0]) for part in inner)
        yield from _references(inner)


def drop_name(data: Data, kind: str, index: int) -> Data | None:
    """Without an attribute or an observation, the later ones moved down; None when something refers to it."""
    result = copy.deepcopy(data)
    for name in (kind, "attr_types") if kind == "attrs" else (kind,):
        del result[name][index]
    for holder, key in list(_slots(result) if kind == "attrs" else _observations(result["blocks"], result)):
        if holder[key] == index:
            return None
        holder[key] -= holder[key] > index
    return result


def _slots(data: Data) -> Iterator[tuple[Any, Any]]:
    """Every place an attribute's slot is written, as container and key."""
    yield from ((data["hidden"], i) for i in range(len(data["hidden"])))
    arrival = data["arrival"]
    for session in arrival.get("Sessions", ()) if isinstance(arrival, dict) else ():
        for values in (session["attrs"], *(session.get("turns") or ())):
            yield from ((pair, 0) for pair in values)
    yield from _tagged(data, "Attr")
    for holder, key in _tagged(data["blocks"], "Set"):
        yield holder[key], 0
    for holder, key in _tagged(data["blocks"], "Choose"):
        yield holder[key], "var"


def _observations(blocks: Any, data: Data) -> Iterator[tuple[Any, Any]]:
    """Every place an observation is named."""
    yield from ((holder[key], 0) for holder, key in _tagged(blocks, "Observe"))
    yield from ((holder[key], 1) for holder, key in _tagged(data, "Agg"))


def _tagged(value: Any, tag: str) -> Iterator[tuple[Data, str]]:
    """Every object with one key, this one."""
    if isinstance(value, dict):
        if len(value) == 1 and tag in value:
            yield value, tag
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _tagged(inner, tag)


def engines_first(data: Data) -> Data:
    """The same program with its engines declared before every other stage."""
    result = copy.deepcopy(data)
    stages = result[_STAGE]
    order = sorted(range(len(stages)), key=lambda i: ("Step" not in stages[i]["kind"], i))
    place = {old: new for new, old in enumerate(order)}
    result[_STAGE] = [stages[i] for i in order]
    _renumber(result, _STAGE, place.__getitem__)
    _sort_joints(result)
    return result


def _sort_joints(value: Any) -> None:
    """Targets of joint costs in their order again: pools before stages, then by index."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in inner:
        _sort_joints(part)
    if isinstance(value, dict) and "Joint" in value:
        value["Joint"].sort(key=lambda t: ("Stage" in t, next(iter(t.values()))["base"]))
