"""A small valid program as JSON data, edited by path, and the cases of the validator's tests.

`Doc()` has one of everything the rules speak of. A case breaks one rule in it and says
which code stands at which path; its twin makes the same kind of edit and stays valid.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from serq.diagnostics import Diagnostic, IrPath
from serq.ir.decode import from_data
from serq.ir.encode import SLOTS
from serq.ir.program import Program
from serq.ir.tables import BUILTIN_ATTRIBUTES
from serq.ir.validate import validate

Json = Any

ATTRIBUTES = (*BUILTIN_ATTRIBUTES, "job", "long", "k", "m", "c", "d")
CACHED, SERIAL, TURN_NO, COMPUTED = 0, 1, 2, 8
JOB, LONG, K, M, DESK_COST, MEMORY_COST = 9, 10, 11, 12, 13, 14
MEMORY, PART, KV, BANK, SLOTS_POOL, HOME = 0, 1, 3, 4, 6, 7
DESK, LINE, UP, DOWN, LLM, OTHER, CLIENT = 0, 1, 3, 4, 5, 6, 7
UNREACHED = 3


def num(x: float | str) -> Json:
    """A constant."""
    return {"Num": x}


def attr(slot: int) -> Json:
    """An attribute."""
    return {"Attr": slot}


def ctx(var: str) -> Json:
    """A context variable."""
    return {"Ctx": var}


NOW, REG, DRAW = ctx("Now"), {"Reg": 0}, {"Sample": ["Exp", [num(1)]]}


def binary(op: str, a: Json, b: Json) -> Json:
    """A binary operator."""
    return {"Binary": [op, a, b]}


def ref(base: int, count: int = 1, index: Json = None) -> Json:
    """A pool or stage reference."""
    return {"base": base, "count": count, "index": index}


def part(index: Json = None) -> Json:
    """A member of the family of two pools."""
    return ref(PART, 2, num(0) if index is None else index)


def bank(index: Json) -> Json:
    """A member of the family of two pools that preempt."""
    return ref(BANK, 2, index)


def pool_arg(fun: str, where: Json) -> Json:
    """A query of a pool."""
    return {"Call": [fun, [{"Pool": where}]]}


def stage_arg(fun: str, where: Json) -> Json:
    """A query of a stage."""
    return {"Call": [fun, [{"Stage": where}]]}


def call(fun: str, *args: Json) -> Json:
    """A function of numbers."""
    return {"Call": [fun, [{"Expr": a} for a in args]]}


def target(kind: str, where: Json) -> Json:
    """The cost target of a reference."""
    return {kind: {"base": where["base"], "count": where["count"]}}


def cost(kind: str, where: Json, amount: Json = None) -> Json:
    """A quantity as the cost of a reference."""
    return {"Cost": [target(kind, where), num(1) if amount is None else amount]}


def joint(*targets: Json, amount: Json = None) -> Json:
    """A quantity as a joint cost."""
    return {"Cost": [{"Joint": list(targets)}, num(1) if amount is None else amount]}


def assign(slot: int, value: Json) -> Json:
    """A `set`."""
    return {"Set": [slot, value]}


def observe(value: Json) -> Json:
    """An `observe`."""
    return {"Observe": [0, value]}


def run(where: Json | None = None, amount: Json = None, mode: str = "Plain", **more: Json) -> Json:
    """A `run`, of one unit at the desk unless told otherwise."""
    where = ref(DESK) if where is None else where
    return {
        "Run": {"stage": where, "mode": mode, "work": cost("Stage", where, amount), "growing": None, **more}
    }


def flow(stages: tuple[int, ...], **more: Json) -> Json:
    """A run that holds several stages."""
    targets = [target("Stage", ref(s)) for s in sorted(set(stages))]
    work = joint(*targets) if len(targets) > 1 else {"Cost": [targets[0], num(1)]}
    first, *rest = (ref(s) for s in stages)
    return {"Run": {"stage": first, "mode": "Plain", "work": work, "growing": None, "also": rest, **more}}


def hold(body: int, *pools: Json, **more: Json) -> Json:
    """A hold of one unit of each pool (a reference, or a list [reference, units, reserve])."""
    rows = [p if isinstance(p, list) else [p, cost("Pool", p), None] for p in pools]
    return {"Hold": {"pools": rows, "reuse": None, "body": body, "cache": None, "lease": None, **more}}


def grow(where: Json, amount: Json = None) -> Json:
    """A `grow`."""
    return {"Grow": [where, cost("Pool", where, amount)]}


def load(where: Json, amount: Json = None) -> Json:
    """A `load`."""
    return {"Load": [where, cost("Pool", where, amount)]}


def branch(then: int, other: int, guard: Json = None) -> Json:
    """A `branch`."""
    return {"Branch": [num(1) if guard is None else guard, then, other]}


def choose(var: int = K, count: Json = None, keys: list[Json] | None = None) -> Json:
    """A `choose`."""
    return {
        "Choose": {
            "var": var,
            "count": num(2) if count is None else count,
            "key": [num(1)] if keys is None else keys,
        }
    }


def _pool(name: str, cap: Json, **more: Json) -> Json:
    return {"name": name, "cap": cap, "evict": "Lru", "preempt": "None", **more}


def _lifo() -> Json:
    return {"By": {"keys": [{"Unary": ["Neg", ctx("Admission")]}]}}


def _engine(**more: Json) -> Json:
    return {"Step": {"budget": num(8), "cost": num(1), "chunk": num(0), "serve": {"By": []}, **more}}


def _base() -> Json:
    data: Json = {
        "version": 13,
        "attrs": list(ATTRIBUTES),
        "attr_types": [
            *["Value", *["Size"] * 7, "Value", "Size", "Size", "Value", "Value"],
            {"Cost": target("Stage", ref(DESK))},
            {"Cost": target("Pool", ref(MEMORY))},
        ],
        "sides": [["Workload"], ["Workload"], ["Workload", *["Server"] * 3, "Workload"], []],
        "observes": ["wait"],
        "pools": [
            _pool("memory", 9, queue=[ctx("Waited")], spill=_spill()),
            _pool("part", 5, index=0),
            _pool("part", 5, index=1),
            _pool("kv", 64, block=4, preempt=_lifo()),
            _pool("bank", 9, index=0, preempt=_lifo()),
            _pool("bank", 9, index=1, preempt=_lifo()),
            _pool("slots", 4, admit_via=LLM, queue=[num(1)]),
            _pool("home", 2),
        ],
        "stages": [
            {"name": "desk", "kind": {"Fifo": 1}},
            {"name": "line", "index": 0, "kind": {"Fifo": 1}},
            {"name": "line", "index": 1, "kind": {"Fifo": 1}},
            {"name": "up", "kind": {"Ps": num(2)}},
            {"name": "down", "kind": {"Ps": num(3)}},
            {"name": "llm", "kind": _engine(memory=KV, iteration=_iteration())},
            {"name": "other", "kind": _engine()},
            {"name": "client", "kind": {"Ps": ctx("N")}},
        ],
        "arrival": {"Batch": 2},
        "trace": None,
        "trace_ordered": False,
        "init": 0,
        "turn": 1,
        "session": 2,
        "blocks": [
            [assign(LONG, num(0))],
            [assign(JOB, num(3))],
            [
                "Turn",
                assign(DESK_COST, cost("Stage", ref(DESK), attr(JOB))),
                assign(MEMORY_COST, cost("Pool", ref(MEMORY))),
                observe(NOW),
                "End",
            ],
            [],
        ],
        "horizon": 100,
        "warmup": 0,
        "seed": 1,
        "hidden": [],
        "gauges": [{"name": "used", "expr": pool_arg("Used", ref(MEMORY))}],
        "claims": [
            {"name": "busy", "kind": {"EveryIteration": LLM}, "expr": ctx("Ntok"), "given": attr(JOB)},
            {"name": "served", "kind": "AtEnd", "expr": {"Agg": ["Count", 0]}},
        ],
        "registers": [{"name": "turns", "stage": LLM, "init": 0}],
    }
    order = ("cached", "serial", "turn", "new", "out", "think", "more", "forced", "computed")
    assert order == SLOTS
    data.update({f"slot_{name}": i for i, name in enumerate(order)})
    return data


def _spill() -> Json:
    return {"to": KV, "via": UP, "work": ctx("Size"), "when": num(1)}


def _iteration() -> list[Json]:
    return [{"Serve": {"only": num(1)}}, {"Admit": {"gate": num(1)}}, {"Set": [0, num(1)]}]


class Doc:
    """The base program, edited in place."""

    def __init__(self) -> None:
        self.data: Json = copy.deepcopy(_base())

    def __getitem__(self, path: IrPath) -> Json:
        """What stands at a path."""
        x = self.data
        for step in path:
            x = x[step]
        return x

    def put(self, path: IrPath, value: Json) -> Doc:
        """Replace or add what stands at a path."""
        self[path[:-1]][path[-1]] = value
        return self

    def remove(self, path: IrPath) -> Doc:
        """Remove what stands at a path."""
        del self[path[:-1]][path[-1]]
        return self

    def block(self, *statements: Json, side: str = "Server") -> int:
        """Add a block and return its index."""
        self.data["blocks"].append(list(statements))
        self.data["sides"].append([side] * len(statements))
        return len(self.data["blocks"]) - 1

    def server(self, *statements: Json, side: str = "Server", at: int = 4) -> Doc:
        """Add statements to the session, before its end."""
        self.data["blocks"][2][at:at] = statements
        self.data["sides"][2][at:at] = [side] * len(statements)
        return self

    def workload(self, *statements: Json) -> Doc:
        """Add statements of the client's after the turn."""
        return self.server(*statements, side="Workload", at=4)

    def program(self) -> Program:
        """The program."""
        return from_data(self.data)

    def findings(self) -> tuple[Diagnostic, ...]:
        """What the validator says of it."""
        return validate(self.program())


Edit = Callable[[Doc], object]
S: IrPath = ("blocks", 2, 4)  # where `Doc.server` puts its first statement


@dataclass(frozen=True)
class Case:
    """A rule broken once (`bad`), the code and path of its finding, and a repaired twin (`good`)."""

    code: str
    path: IrPath
    bad: Edit
    good: Edit
    says: str = ""

    @property
    def id(self) -> str:
        """The name of the case in test reports."""
        return f"{self.code}-{'.'.join(map(str, self.path))}"


def put(path: IrPath, value: Json) -> Edit:
    """An edit that replaces what stands at a path."""
    return lambda doc: doc.put(path, value)


def server(*statements: Json) -> Edit:
    """An edit that adds statements of the server's."""
    return lambda doc: doc.server(*statements)


def check(case: Case) -> None:
    """The bad program has exactly the finding, the good one none."""
    bad, good = Doc(), Doc()
    case.bad(bad)
    case.good(good)
    found = bad.findings()
    assert [(d.code, d.place.path) for d in found] == [(case.code, case.path)], found
    assert case.says in found[0].message
    assert found[0].hint
    assert good.findings() == ()
