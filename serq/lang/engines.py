"""An engine as a step stage: its budget, cost, chunk, granule and schedule (api.md §7.5)."""

from __future__ import annotations

import math

from serq.lang import tree
from serq.lang.constants import NotConstant, evaluate, number, shown, value_of
from serq.lang.engine_scope import Clause, EngineScope
from serq.lang.kernel import KernelStep
from serq.lang.model import Engine, Model
from serq.lang.schedules import ScheduleLowering


def lower_engine(engine: Engine, model: Model) -> KernelStep:
    """The kernel step of an engine; reports clauses that make none (SQ760-SQ766)."""
    at = engine.node
    one = number(1.0, at)
    budget: tree.Expr = one
    cost: tree.Expr = one
    if engine.tokens is not None:
        budget = EngineScope(engine, model, Clause.TOKENS).expr(engine.tokens.cap)
        _check_budget(engine.tokens.cap, model)
    if engine.execute is not None:
        cost = EngineScope(engine, model, Clause.EXECUTE).expr(engine.execute.value)
    step = KernelStep(budget, cost, number(0.0, at), _granule(engine, model), (), None)
    if engine.schedule is not None:
        schedule = ScheduleLowering(engine, engine.schedule, model)
        step.serve, step.iteration = schedule.order()
        step.chunk = schedule.chunk()
    return step


def _check_budget(budget: tree.Expr, model: Model) -> None:
    try:
        value = value_of(budget)
    except NotConstant:
        return
    if not value > 0:
        message = f"`tokens cap {shown(value)}`: no iteration could compute a token"
        model.findings.error("SQ760", message, budget, hint="a cap is above 0, or `inf` for none")


def _granule(engine: Engine, model: Model) -> tree.Expr | None:
    if engine.granule is None:
        return None
    value = evaluate(engine.granule.value, model.findings, "a granule")
    if value is None:
        return None
    return number(value, engine.granule.value)


def register_value(engine: Engine, state: tree.State, model: Model) -> float:
    """The first value of a register, a finite constant (SQ766)."""
    value = evaluate(state.value, model.findings, f"the register `{state.name.text}`")
    if value is None:
        return 0.0
    if not math.isfinite(value):
        message = f"the register `{state.name.text}` starts at {shown(value)}: its first value is finite"
        model.findings.error("SQ766", message, state.value)
        return 0.0
    return value
