"""Faults planted on the interpreter's side: each changes the program it runs, not the one Lean is asked about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.expressions import Ctx, Num
from serq.ir.quantity import Quantity, context, lift

Fault = Callable[[pr.Program], pr.Program]


def _blocks(program: pr.Program, change: Callable[[st.Stmt], st.Stmt]) -> pr.Program:
    blocks = tuple(tuple(change(s) for s in block) for block in program.blocks)
    return program.model_copy(update={"blocks": blocks})


def _holds(program: pr.Program, change: Callable[[st.Hold], dict[str, Any]]) -> pr.Program:
    def one(s: st.Stmt) -> st.Stmt:
        return s.model_copy(update=change(s)) if isinstance(s, st.Hold) else s

    return _blocks(program, one)


def _pool(program: pr.Program, index: int, **update: Any) -> pr.Program:
    pools = list(program.pools)
    if index < len(pools):
        pools[index] = pools[index].model_copy(update=update)
    return program.model_copy(update={"pools": tuple(pools)})


def _step(program: pr.Program, **update: Any) -> pr.Program:
    kind = program.stages[0].kind
    assert isinstance(kind, pr.Step)
    stage = program.stages[0].model_copy(update={"kind": kind.model_copy(update=update)})
    return program.model_copy(update={"stages": (stage, *program.stages[1:])})


def _without_reserve(hold: st.Hold) -> dict[str, Any]:
    return {"pools": tuple(p.model_copy(update={"reserve": None}) for p in hold.pools)}


def _keys_gone(program: pr.Program) -> pr.Program:
    pools = tuple(p.model_copy(update={"queue": None}) for p in program.pools)
    return program.model_copy(update={"pools": pools})


def _admits_after_preemption(program: pr.Program) -> pr.Program:
    return _step(program, iteration=(pr.Serve(), pr.Admit()))


def _forgets_computed(program: pr.Program) -> pr.Program:
    """Preemption writes `computed` where nobody reads it."""
    return program.model_copy(
        update={"slot_computed": program.slot_think, "slot_think": program.slot_computed}
    )


def _decodes_twice(program: pr.Program) -> pr.Program:
    def one(s: st.Stmt) -> st.Stmt:
        if isinstance(s, st.Run) and s.mode == "Decode":
            return s.model_copy(update={"mode": "Prefill"})
        return s

    return _blocks(program, one)


_NEWEST = pr.EvictBy(keys=(lift(-context("Last")),))
_OLDEST = pr.PreemptBy(keys=(Ctx(var="Admission"),))
_TAIL = pr.PreemptBy(keys=(lift(-context("Admission")),), tail=True)

FAULTS: dict[str, Fault] = {
    "the admission gate is dropped": lambda p: _holds(p, _without_reserve),
    "the null block is forgotten": lambda p: _pool(p, 1, cap=p.pools[1].cap + (p.pools[1].block or 1)),
    "admission goes on after a preemption": _admits_after_preemption,
    "the newest entry is evicted": lambda p: _pool(p, 1, evict=_NEWEST),
    "the oldest request is preempted": lambda p: _pool(p, 1, preempt=_OLDEST),
    "a victim goes to the back of the queue": lambda p: _pool(p, 1, preempt=_TAIL),
    "the newest request is served first": lambda p: _step(p, serve=(lift(-context("Admission")),)),
    "queue keys are ignored": _keys_gone,
    "the bound of reuse is ignored": lambda p: _holds(p, lambda h: {"reuse": None}),
    "nothing stays cached": lambda p: _holds(p, lambda h: {"cache": None, "reuse": None}),
    "computed is not kept": _forgets_computed,
    "decodes take a chunk": _decodes_twice,
    "the chunk cap is dropped": lambda p: _step(p, chunk=Num(value=0.0)),
    "an iteration takes a unit more": lambda p: _step(p, cost=lift(_cost(p) + 1)),
}


def _cost(program: pr.Program) -> Quantity:
    kind = program.stages[0].kind
    assert isinstance(kind, pr.Step)
    return Quantity(kind.cost)
