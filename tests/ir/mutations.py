"""Small random changes to a program's JSON: most break a rule, some leave it valid."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from serq.diagnostics import IrPath
from serq.ir import tables

Json = Any

_EXPRESSIONS = frozenset(
    ["Num", "Attr", "Ctx", "Sample", "Reg", "Call", "Unary", "Binary", "Cond", "Agg", "Cost"]
)
_POOL_QUERIES = tuple(f.ir for f in tables.FUNCTIONS if f.params == (tables.Param.POOL,))
_STAGE_QUERIES = tuple(
    f.ir for f in tables.FUNCTIONS if f.params in ((tables.Param.STAGE,), (tables.Param.ENGINE,))
)
_WORDS: tuple[tuple[str, ...], ...] = (
    ("Workload", "Server"),
    ("Size", "Value"),
    ("Plain", "Prefill", "Decode"),
    ("Turn", "End", "Join"),
    tuple(tables.CONTEXT),
    tuple(tables.BINARY),
    tuple(tables.UNARY),
    tuple(tables.AGGREGATE),
    ("Exp", "Det", "Bernoulli"),
    ("Uniform", "Erlang", "H2"),
    _POOL_QUERIES,
    _STAGE_QUERIES,
    ("MaxMin", "Bottleneck"),
)
_NUMBERS = (0, 1, 2, 3, 0.5, -1, 7, 100, "inf", "-inf", 1e300)
_ODD = (0, 0.5, 1e308, 2**70, "inf", "-inf", "x", None, True, -1, 20, float("nan"), float("inf"), [], {})


def nodes(value: Json, path: IrPath = ()) -> Iterator[tuple[IrPath, Json]]:
    """Every value inside a document with its path."""
    yield path, value
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield from nodes(inner, (*path, key))


def at(data: Json, path: IrPath) -> Json:
    """What stands at a path."""
    for step in path:
        data = data[step]
    return data


def mutate(random: Random, data: Json) -> Json:
    """A copy of a document with one change at a random place."""
    data = copy.deepcopy(data)
    places = list(nodes(data))
    for _ in range(50):
        change = random.choices(_CHANGES, _WEIGHTS)[0]
        path, value = random.choice(places)
        if path and change(random, data, path, value):
            break
    return data


Change = Callable[[Random, Json, IrPath, Json], bool]


def _drop(random: Random, data: Json, path: IrPath, value: Json) -> bool:
    del at(data, path[:-1])[path[-1]]
    return True


def _swap(random: Random, data: Json, path: IrPath, value: Json) -> bool:
    parent = at(data, path[:-1])
    if not isinstance(parent, list):
        return False
    i, j = path[-1], random.randrange(len(parent))
    parent[i], parent[j] = parent[j], parent[i]
    return True


def _repeat(random: Random, data: Json, path: IrPath, value: Json) -> bool:
    parent = at(data, path[:-1])
    if not isinstance(parent, list):
        return False
    parent.insert(path[-1], copy.deepcopy(value))
    return True


def _renumber(random: Random, data: Json, path: IrPath, value: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    at(data, path[:-1])[path[-1]] = random.choice(
        [value + 1, value - 1, value + 2, 0, 1, random.randrange(12)]
    )
    return True


def _retype(random: Random, data: Json, path: IrPath, value: Json) -> bool:
    if isinstance(value, dict | list):
        return False
    negative = -value if isinstance(value, int | float) and not isinstance(value, bool) else None
    at(data, path[:-1])[path[-1]] = random.choice([*_ODD, negative])
    return True


def _reword(random: Random, data: Json, path: IrPath, value: Json) -> bool:
    families = [words for words in _WORDS if isinstance(value, str) and value in words]
    if not families:
        return False
    at(data, path[:-1])[path[-1]] = random.choice(random.choice(families))
    return True


def _express(random: Random, data: Json, path: IrPath, value: Json) -> bool:
    if not is_expression(value):
        return False
    at(data, path[:-1])[path[-1]] = expression(random, data, 2)
    return True


def _graft(random: Random, data: Json, path: IrPath, value: Json) -> bool:
    if not is_expression(value):
        return False
    others = [v for _, v in nodes(data) if is_expression(v)]
    at(data, path[:-1])[path[-1]] = copy.deepcopy(random.choice(others))
    return True


def _move(random: Random, data: Json, path: IrPath, value: Json) -> bool:
    place = _statement(data, path)
    if place is None:
        return False
    block, position = place
    other = random.randrange(min(len(data["blocks"]), len(data["sides"])))
    for table in ("blocks", "sides"):
        moved = data[table][block].pop(position)
        data[table][other].insert(0, moved)
    return True


def _insert(random: Random, data: Json, path: IrPath, value: Json) -> bool:
    place = _statement(data, path)
    if place is None:
        return False
    block, position = place
    side = data["sides"][block][position]
    data["blocks"][block].insert(position, statement(random, data))
    data["sides"][block].insert(position, random.choice([side, side, side, "Workload", "Server"]))
    return True


def _wrap(random: Random, data: Json, path: IrPath, value: Json) -> bool:
    place = _statement(data, path)
    if place is None or len(data["blocks"]) != len(data["sides"]):
        return False
    block, position = place
    inner, side = data["blocks"][block][position], data["sides"][block][position]
    body = len(data["blocks"])
    data["blocks"] += [[inner], []]
    data["sides"] += [[side], []]
    pool = reference(random, len(data["pools"]), data, 1)
    units = _cost("Pool", pool, expression(random, data, 1))
    data["blocks"][block][position] = random.choice(
        [
            {"Loop": body},
            {"While": [expression(random, data, 2), body]},
            {"Branch": [expression(random, data, 2), body, body + 1]},
            {"Fork": body},
            {
                "Hold": {
                    "pools": [[pool, units, None]],
                    "reuse": None,
                    "body": body,
                    "cache": None,
                    "lease": None,
                }
            },
            {
                "Hold": {
                    "pools": [[pool, units, units]],
                    "body": body,
                    "cache": units,
                    "lease": [pool, {"Num": 1}],
                }
            },
        ]
    )
    return True


def _statement(data: Json, path: IrPath) -> tuple[int, int] | None:
    """The block and position of the statement a path leads into, when the tables have it."""
    match path:
        case ("blocks", int(block), int(position), *_):
            sides = data["sides"]
            return (block, position) if block < len(sides) and position < len(sides[block]) else None
        case _:
            return None


_CHANGES: tuple[Change, ...] = (
    _drop,
    _swap,
    _repeat,
    _renumber,
    _retype,
    _reword,
    _express,
    _graft,
    _move,
    _insert,
    _wrap,
)
_WEIGHTS = (2, 3, 3, 12, 4, 8, 30, 10, 6, 12, 8)


def is_expression(value: Json) -> bool:
    """Whether a value is an expression."""
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _EXPRESSIONS


def expression(random: Random, data: Json, depth: int) -> Json:
    """An expression of the program's slots, pools and stages."""
    attrs, pools, stages = len(data["attrs"]), len(data["pools"]), len(data["stages"])
    below = depth - 1
    kind = random.randrange(4 if depth == 0 else 12)
    match kind:
        case 0:
            return {"Num": random.choice(_NUMBERS)}
        case 1:
            return {"Attr": random.randrange(attrs + (random.random() < 0.05))}
        case 2:
            return {"Ctx": random.choice(tuple(tables.CONTEXT))}
        case 3:
            return {"Reg": 0} if data.get("registers") else {"Num": 1}
        case 4:
            return {"Sample": ["Exp", [expression(random, data, below)]]}
        case 5 | 6 if pools:
            return {"Call": [random.choice(_POOL_QUERIES), [{"Pool": reference(random, pools, data, below)}]]}
        case 7 if stages:
            return {
                "Call": [random.choice(_STAGE_QUERIES), [{"Stage": reference(random, stages, data, below)}]]
            }
        case 8:
            return {"Cond": [expression(random, data, below) for _ in range(3)]}
        case 9:
            return {"Cost": [_target(random, data), expression(random, data, below)]}
        case 10:
            return {"Unary": [random.choice(tuple(tables.UNARY)), expression(random, data, below)]}
        case _:
            operands = [expression(random, data, max(0, below)) for _ in range(2)]
            return {"Binary": [random.choice(tuple(tables.BINARY)), *operands]}


def reference(random: Random, count: int, data: Json, depth: int) -> Json:
    """A reference to a member of a table of `count`, sometimes as a family."""
    base, size = random.randrange(max(1, count)), random.choice([1, 1, 2])
    index = None if random.random() < 0.5 else expression(random, data, max(0, depth))
    return {"base": base, "count": size, "index": index}


def _target(random: Random, data: Json) -> Json:
    kind, table = random.choice([("Pool", "pools"), ("Stage", "stages")])
    return {kind: {"base": random.randrange(max(1, len(data[table]))), "count": 1}}


def _cost(kind: str, ref: Json, amount: Json) -> Json:
    return {"Cost": [{kind: {"base": ref["base"], "count": ref["count"]}}, amount]}


def statement(random: Random, data: Json) -> Json:
    """A statement without a body."""
    pool = reference(random, len(data["pools"]), data, 1)
    stage = reference(random, len(data["stages"]), data, 1)
    e = expression(random, data, 2)
    mode = random.choice(("Plain", "Prefill", "Decode"))
    run = {"stage": stage, "mode": mode, "work": _cost("Stage", stage, e), "growing": None}
    return random.choice(
        [
            {"Set": [random.randrange(len(data["attrs"])), e]},
            {"Observe": [0, e]},
            {random.choice(("Grow", "Load")): [pool, _cost("Pool", pool, e)]},
            {random.choice(("Drop", "Release")): pool},
            {"Run": run},
            {"Run": {**run, "growing": pool}},
            {"Choose": {"var": random.randrange(len(data["attrs"])), "count": e, "key": [e]}},
            *("Turn", "End", "Join"),
        ]
    )
