"""Make a program smaller while a predicate still holds, on the JSON of the IR.

Candidates need not be valid: the predicate refuses those that are not. Every
pass is tried until none makes progress.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tests.generators.renumber import compact_blocks, drop_family, drop_name, families

Data = dict[str, Any]
Path = tuple[Any, ...]
Candidate = Callable[[], Data | None]
Pass = Callable[[Data], Iterator[Candidate]]

_EXPRESSIONS = frozenset(
    ["Num", "Attr", "Ctx", "Sample", "Reg", "Call", "Unary", "Binary", "Cond", "Agg", "Cost"]
)
_BUILT_IN = 9
_BODIES = {"Hold": ("body",), "Loop": (), "While": (1,), "Branch": (1, 2), "Fork": ()}


def shrink(data: Data, holds: Callable[[Data], bool], attempts: int = 3000) -> Data:
    """The smallest program found for which `holds`; at most so many candidates are tried."""
    best = data
    left = attempts
    progress = True
    while progress and left > 0:
        progress = False
        for make in _PASSES:
            best, left, moved = _exhaust(best, make, holds, left)
            progress = progress or moved
    return best


def _exhaust(best: Data, make: Pass, holds: Callable[[Data], bool], left: int) -> tuple[Data, int, bool]:
    """Apply one pass until it finds nothing more; candidates go on after an accepted one."""
    moved = False
    skip = 0
    while left > 0:
        found = False
        for i, candidate in enumerate(make(best)):
            smaller = candidate() if i >= skip else None
            if smaller is None or smaller == best:
                continue
            left -= 1
            if holds(smaller):
                best, found, moved, skip = smaller, True, True, i
                break
            if left <= 0:
                break
        if not found:
            return best, left, moved
    return best, left, moved


def at(data: Data, path: Path) -> Any:
    """The value at a path."""
    for key in path:
        data = data[key]
    return data


def _edited(value: Any, path: Path, edit: Callable[[Any], None]) -> Any:
    """A copy in which the container a path ends in is edited; what is beside the path is shared."""
    result = value.copy()
    if len(path) == 1:
        edit(result)
    else:
        result[path[0]] = _edited(value[path[0]], path[1:], edit)
    return result


def replaced(data: Data, path: Path, value: Any) -> Data:
    """A copy with another value at a path."""

    def edit(container: Any) -> None:
        container[path[-1]] = value

    return _edited(data, path, edit)


def removed(data: Data, path: Path) -> Data:
    """A copy without the value at a path."""

    def edit(container: Any) -> None:
        del container[path[-1]]

    return _edited(data, path, edit)


def _settings(data: Data) -> Iterator[Candidate]:
    """A shorter and plainer run."""
    horizon = data["horizon"]
    for value in (horizon / 4, horizon / 2, horizon * 0.75, horizon - 1, float(round(horizon))):
        if 0 < value != horizon and value > data["warmup"]:
            yield partial(replaced, data, ("horizon",), value)
    if data["warmup"]:
        yield partial(replaced, data, ("warmup",), 0.0)
    if "arrivals" in data:
        yield partial(removed, data, ("arrivals",))
    for seed in (1, 2, 3):
        if data["seed"] > seed:
            yield partial(replaced, data, ("seed",), seed)
    if data["hidden"]:
        yield partial(replaced, data, ("hidden",), [])


def _arrivals(data: Data) -> Iterator[Candidate]:
    """Fewer sessions."""
    arrival = data["arrival"]
    if not isinstance(arrival, dict):
        return
    kind, value = next(iter(arrival.items()))
    if kind in ("Closed", "Batch"):
        for count in {1, 2, 3, value // 2, value - 1}:
            if 0 < count < value:
                yield partial(replaced, data, ("arrival",), {kind: count})
    elif kind == "Sessions":
        for i in range(len(value)):
            yield partial(removed, data, ("arrival", kind, i))
        for i, session in enumerate(value):
            for field in ("attrs", "turns"):
                for j in range(len(session.get(field) or ())):
                    yield partial(removed, data, ("arrival", kind, i, field, j))
    else:
        for count in (1, 2, 3, 5):
            yield partial(replaced, data, ("arrival",), {"Batch": count})
        yield partial(replaced, data, ("arrival",), {"Renewal": {"Num": 1.0}})


def _readers(data: Data) -> Iterator[Candidate]:
    """No gauges, claims, registers."""
    for name in ("gauges", "claims", "registers", "share"):
        if name in data:
            yield partial(removed, data, (name,))
    for name in ("gauges", "claims"):
        for i in range(len(data.get(name, ()))):
            yield partial(removed, data, (name, i))


def _statements(data: Data) -> Iterator[Candidate]:
    """Fewer statements: runs of them dropped, bodies put in the place of what they stand in."""
    for b, block in enumerate(data["blocks"]):
        for size in (8, 4, 2, 1):
            for i in range(len(block) - size + 1):
                yield partial(_cut, data, b, i, i + size, [], [])
        for i, statement in enumerate(block):
            for body in _bodies(statement):
                yield partial(_cut, data, b, i, i + 1, data["blocks"][body], data["sides"][body])


def _cut(data: Data, b: int, i: int, j: int, statements: list[Any], sides: list[str]) -> Data:
    blocks, rows = list(data["blocks"]), list(data["sides"])
    blocks[b] = blocks[b][:i] + statements + blocks[b][j:]
    rows[b] = rows[b][:i] + sides + rows[b][j:]
    return compact_blocks({**data, "blocks": blocks, "sides": rows})


def _bodies(statement: Any) -> list[int]:
    if not isinstance(statement, dict):
        return []
    kind, value = next(iter(statement.items()))
    if kind not in _BODIES:
        return []
    return [value[k] for k in _BODIES[kind]] or [value]


def _clauses(data: Data) -> Iterator[Candidate]:
    """Holds without their clauses and with fewer pools; runs that do not grow."""
    for b, block in enumerate(data["blocks"]):
        for i, statement in enumerate(block):
            if not isinstance(statement, dict):
                continue
            if "Hold" in statement:
                yield from _hold_clauses(data, ("blocks", b, i, "Hold"), statement["Hold"])
            if statement.get("Run", {}).get("growing"):
                yield partial(replaced, data, ("blocks", b, i, "Run", "growing"), None)


def _hold_clauses(data: Data, path: Path, hold: Data) -> Iterator[Candidate]:
    for name in ("reuse", "cache", "lease"):
        if hold[name] is not None:
            yield partial(replaced, data, (*path, name), None)
    for k, part in enumerate(hold["pools"]):
        if part[2] is not None:
            yield partial(replaced, data, (*path, "pools", k, 2), None)
        if len(hold["pools"]) > 1:
            yield partial(removed, data, (*path, "pools", k))


def _policies(data: Data) -> Iterator[Candidate]:
    """Pools and engines without their policies."""
    plain = dict.fromkeys(("queue", "spill", "block", "admit_via"), None)
    plain |= {"evict": "Lru", "preempt": "None"}
    for i, pool in enumerate(data["pools"]):
        for name, value in plain.items():
            if pool.get(name) != value:
                yield partial(replaced, data, ("pools", i, name), value)
        if "reserve_held" in pool:
            yield partial(removed, data, ("pools", i, "reserve_held"))
    for i, stage in enumerate(data["stages"]):
        step = stage["kind"].get("Step")
        for name in ("granule", "iteration"):
            if step and name in step:
                yield partial(removed, data, ("stages", i, "kind", "Step", name))
        if step and step["serve"] != {"By": []}:
            yield partial(replaced, data, ("stages", i, "kind", "Step", "serve"), {"By": []})
        if step and step["memory"] is not None:
            yield partial(replaced, data, ("stages", i, "kind", "Step", "memory"), None)


def _lists(data: Data) -> Iterator[Candidate]:
    """Shorter lists of keys and iteration bodies."""
    for path, value in _walk(data):
        if path and path[-1] in ("By", "keys", "queue", "by", "iteration", "key") and isinstance(value, list):
            for i in range(len(value)):
                yield partial(removed, data, (*path, i))
        if path and path[-1] == "Branch" and isinstance(value, list) and isinstance(value[1], list):
            for arm in (1, 2):
                for i in range(len(value[arm])):
                    yield partial(removed, data, (*path, arm, i))
        if path and path[-1] in ("Serve", "Admit"):
            for name in value:
                yield partial(removed, data, (*path, name))


def _expressions(data: Data) -> Iterator[Candidate]:
    """Simpler expressions: a constant, or a part of it."""
    for path, value in _walk(data):
        if not _is_expression(value):
            continue
        kind, inner = next(iter(value.items()))
        if kind == "Cost":
            continue
        if kind != "Num":
            for number in (0.0, 1.0):
                yield partial(replaced, data, path, {"Num": number})
            for part in _parts(inner):
                yield partial(replaced, data, path, part)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            if _is_expression(item):
                yield item
            elif isinstance(item, dict) and "Expr" in item:
                yield item["Expr"]
            elif isinstance(item, list):
                yield from _parts(item)


def _is_expression(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _EXPRESSIONS


def _numbers(data: Data) -> Iterator[Candidate]:
    """Plainer numbers."""
    for path, value in _walk(data):
        if not isinstance(value, float) or not path:
            continue
        for plain in (0.0, 1.0, float(round(value / 2)), float(round(value)), round(value, 1)):
            if (plain != round(plain), abs(plain)) < (value != round(value), abs(value)):
                yield partial(replaced, data, path, plain)


def _walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _walk(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _walk(inner, (*path, i))


def _resources(data: Data) -> Iterator[Candidate]:
    """Without pools and stages nothing refers to."""
    for kind in ("pools", "stages"):
        for base, count in families(data, kind):
            yield partial(drop_family, data, kind, base, count)


def _names(data: Data) -> Iterator[Candidate]:
    """Without attributes and observations nothing refers to."""
    for slot in reversed(range(_BUILT_IN, len(data["attrs"]))):
        yield partial(drop_name, data, "attrs", slot)
    for index in reversed(range(len(data["observes"]))):
        yield partial(drop_name, data, "observes", index)


_PASSES: tuple[Pass, ...] = (
    _settings,
    _arrivals,
    _readers,
    _statements,
    _clauses,
    _policies,
    _lists,
    _resources,
    _names,
    _expressions,
    _numbers,
)
