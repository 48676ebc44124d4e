"""Faults planted on the interpreter's side: each changes the program it runs, not the one Lean is asked about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.expressions import Binary, Cost, Ctx, Num
from serq.ir.quantity import Quantity, context, lift

Fault = Callable[[pr.Program], pr.Program]


def _blocks(program: pr.Program, change: Callable[[st.Stmt], st.Stmt]) -> pr.Program:
    blocks = tuple(tuple(change(s) for s in block) for block in program.blocks)
    return program.model_copy(update={"blocks": blocks})


def _holds(program: pr.Program, change: Callable[[st.Hold], dict[str, Any]]) -> pr.Program:
    def one(s: st.Stmt) -> st.Stmt:
        return s.model_copy(update=change(s)) if isinstance(s, st.Hold) else s

    return _blocks(program, one)


def _memory(program: pr.Program, **update: Any) -> pr.Program:
    """Another memory, where the engine has one."""
    kind = program.stages[0].kind
    assert isinstance(kind, pr.Step)
    pools = list(program.pools)
    if kind.memory is not None:
        pools[kind.memory] = pools[kind.memory].model_copy(update=update)
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


def _larger(program: pr.Program) -> float:
    """The capacity of the memory and a block."""
    kind = program.stages[0].kind
    assert isinstance(kind, pr.Step)
    if kind.memory is None:
        return 0.0
    memory = program.pools[kind.memory]
    return memory.cap + (memory.block or 1.0)


def _other_arm(s: st.Stmt) -> st.Stmt:
    return s.model_copy(update={"then": s.other, "other": s.then}) if isinstance(s, st.Branch) else s


def _pass_more(s: st.Stmt) -> st.Stmt:
    """A while goes on at its bound."""
    match s:
        case st.While(guard=Binary(op="Lt") as guard):
            return s.model_copy(update={"guard": guard.model_copy(update={"op": "Le"})})
        case _:
            return s


def _delay_more(s: st.Stmt) -> st.Stmt:
    if isinstance(s, st.Run) and s.mode == "Plain" and isinstance(s.work, Cost):
        more = lift(Quantity(s.work.arg) + 1)
        return s.model_copy(update={"work": s.work.model_copy(update={"arg": more})})
    return s


def _inner_ends_gone(program: pr.Program) -> pr.Program:
    """Only the session's own last statement ends it."""
    blocks = [
        block if i == program.session else tuple(s for s in block if not isinstance(s, st.End))
        for i, block in enumerate(program.blocks)
    ]
    sides = [side[: len(block)] for side, block in zip(program.sides, blocks, strict=True)]
    return program.model_copy(update={"blocks": tuple(blocks), "sides": tuple(sides)})


_NEWEST = pr.EvictBy(keys=(lift(-context("Last")),))
_OLDEST = pr.PreemptBy(keys=(Ctx(var="Admission"),))
_TAIL = pr.PreemptBy(keys=(lift(-context("Admission")),), tail=True)

FAULTS: dict[str, Fault] = {
    "the admission gate is dropped": lambda p: _holds(p, _without_reserve),
    "the null block is forgotten": lambda p: _memory(p, cap=_larger(p)),
    "admission goes on after a preemption": _admits_after_preemption,
    "the newest entry is evicted": lambda p: _memory(p, evict=_NEWEST),
    "the oldest request is preempted": lambda p: _memory(p, preempt=_OLDEST),
    "a victim goes to the back of the queue": lambda p: _memory(p, preempt=_TAIL),
    "the newest request is served first": lambda p: _step(p, serve=(lift(-context("Admission")),)),
    "queue keys are ignored": _keys_gone,
    "the bound of reuse is ignored": lambda p: _holds(p, lambda h: {"reuse": None}),
    "nothing stays cached": lambda p: _holds(p, lambda h: {"cache": None, "reuse": None}),
    "computed is not kept": _forgets_computed,
    "decodes take a chunk": _decodes_twice,
    "the chunk cap is dropped": lambda p: _step(p, chunk=Num(value=0.0)),
    "an iteration takes a unit more": lambda p: _step(p, cost=lift(_cost(p) + 1)),
    "a branch takes the other arm": lambda p: _blocks(p, _other_arm),
    "a while makes a pass more": lambda p: _blocks(p, _pass_more),
    "a delay takes a unit more": lambda p: _blocks(p, _delay_more),
    "an end within the program is passed over": _inner_ends_gone,
}


def _cost(program: pr.Program) -> Quantity:
    kind = program.stages[0].kind
    assert isinstance(kind, pr.Step)
    return Quantity(kind.cost)
