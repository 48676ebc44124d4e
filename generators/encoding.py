"""Programs as numbers, for the Lean executable (`lean/Serq/Model/Encoding.lean` reads them).

Every choice is a number, an optional part is 0, or 1 and the part, a list its length and its items.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import TypeVar

from serq.generators import model as m
from serq.generators.render import render

T = TypeVar("T")
Numbers = Iterator[int]

_OPERATIONS: tuple[m.Op, ...] = (
    "add",
    "sub",
    "mul",
    "div",
    "ceil",
    "min",
    "max",
    "lt",
    "le",
    "eq",
    "ne",
    "and",
    "or",
)
# The variables of each moment, in the order of their numbers.
_SESSION = ("attr", "serial", "cached", "now", "cachedIn", "budgetLeft")
_CHUNK = ("residents", "queued")
_SERVE = ("residentAttr", "decoding", "admission", "remaining", "residents", "decoders")
_COST = ("tokens", "prefilled", "decoders", "kvDecode", "attention")


def encoded(t: m.Translated, horizon: int) -> list[int]:
    """A program of the fragment with its sessions, to run to a horizon."""
    return [len(t.observes), horizon, *_deployment(t.deployment), *_workload(t), *_code(t.code)]


def _list(items: Sequence[T], write: Callable[[T], Numbers]) -> Numbers:
    yield len(items)
    for item in items:
        yield from write(item)


def _optional(part: m.Term | None, variables: Sequence[str]) -> Numbers:
    if part is None:
        yield 0
    else:
        yield 1
        yield from _expression(part, variables)


def _index(i: int | None) -> Numbers:
    yield from (0,) if i is None else (1, i)


def _expression(t: m.Term, variables: Sequence[str]) -> Numbers:
    match t:
        case m.Lit(value=value):
            yield from (0, value)
        case m.Var(name=name, index=index):
            yield from (1, variables.index(name))
            if index is not None:
                yield index
        case m.Not(arg=arg):
            yield 2
            yield from _expression(arg, variables)
        case m.If(test=a, yes=b, no=c):
            yield 3
            for part in (a, b, c):
                yield from _expression(part, variables)
        case m.Bin(op=op, left=a, right=b):
            yield from (4, _OPERATIONS.index(op))
            yield from _expression(a, variables)
            yield from _expression(b, variables)


def _value(t: m.Term) -> Numbers:
    return _expression(t, _SESSION)


def _deployment(d: m.Deployment) -> Numbers:
    yield from _list(d.pools, _pool)
    yield d.budget
    yield from _expression(d.chunk, _CHUNK)
    yield from _index(d.memory)
    yield from _expression(d.cost, _COST)
    yield from _optional(d.only, _SERVE)


def _pool(p: m.PoolSpec) -> Numbers:
    yield from (p.cap, p.block, int(p.by_engine))
    yield from _optional(p.key, _SESSION)


def _workload(t: m.Translated) -> Numbers:
    yield from _list(t.clients, _client)
    for slot in (t.slots.turn, t.slots.more, t.slots.computed, None):
        yield from _index(slot)


def _client(c: m.Client) -> Numbers:
    yield from _values(c.presets)
    yield from _list(c.turns, _values)


def _values(values: m.Values) -> Numbers:
    yield len(values)
    for slot, value in values:
        yield from (slot, value)


def _code(block: m.Block) -> Numbers:
    """A block: each statement carries what follows it."""
    if not block:
        yield 0
        return
    first, rest = block[0], block[1:]
    yield from _statement(first)
    if not isinstance(first, m.Finish | m.Forever):
        yield from _code(rest)


def _statement(s: m.Statement) -> Numbers:
    match s:
        case m.Finish():
            yield 1
        case m.Assign(slot=slot, value=value):
            yield from (2, slot)
            yield from _value(value)
        case m.See(name=name, value=value):
            yield from (3, name)
            yield from _value(value)
        case m.NextTurn():
            yield 4
        case m.Choice(test=test, yes=yes, no=no):
            yield 5
            yield from _value(test)
            yield from _code(yes)
            yield from _code(no)
        case m.Forever(body=body):
            yield 6
            yield from _code(body)
        case m.Repeat(test=test, body=body):
            yield 7
            yield from _value(test)
            yield from _code(body)
        case m.Work(place=place, work=work, grows=grows):
            yield 8
            yield from (0,) if place == "delay" else (1 if place == "prefill" else 2, int(grows))
            yield from _value(work)
        case m.Hold(needs=needs, body=body, reuse=reuse, cache=cache):
            yield 9
            yield from _list(needs, _need)
            yield from _optional(reuse, _SESSION)
            yield from _optional(cache, _SESSION)
            yield from _code(body)


def _need(n: m.Need) -> Numbers:
    yield n.pool
    yield from _value(n.units)
    yield from _value(n.reserve or m.Lit(0))


def encoded_module(programs: Sequence[tuple[str, str, int, m.Translated]]) -> str:
    """A Lean file in which the kernel reads programs: of each a name, its namespace, a horizon."""
    rows = [
        {
            "name": name,
            "space": space,
            "names": len(t.observes),
            "horizon": horizon,
            "lines": _lines(t, horizon),
        }
        for name, space, horizon, t in programs
    ]
    modules = sorted({space.rsplit(".", 1)[0] for _, space, _, _ in programs})
    return render("encoded.lean", modules=modules, programs=rows)


def encoded_theorems(names: Sequence[str]) -> list[str]:
    """The full names of the theorems of that module."""
    return [f"Serq.Generated.Encoded.{name}_is_read" for name in names]


def _lines(t: m.Translated, horizon: int) -> list[str]:
    return wrap(json.dumps(encoded(t, horizon)), 100)
