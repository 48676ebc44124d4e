"""Gauges and claims: what only reads a run."""

from __future__ import annotations

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir.moments import Moment
from serq.ir.tables import AGGREGATES
from tests.generators.ir import expressions as gen
from tests.generators.ir import terms as t
from tests.generators.ir.draft import Draft
from tests.generators.ir.resources import registers_of


def gauges(draft: Draft) -> tuple[pr.Gauge, ...]:
    """Some functions of the state."""
    registers = tuple(range(len(draft.registers)))
    scope = gen.Scope(Moment.GAUGE, registers)
    count = draft.dice.choice((0, 1, 2, 3))
    return tuple(pr.Gauge(name=f"gauge{i}", expr=gen.number(draft, scope)) for i in range(count))


def claims(draft: Draft) -> tuple[pr.Claim, ...]:
    """Some claims of all three kinds, some with a condition on sessions."""
    dice = draft.dice
    made = []
    for i in range(dice.choice((0, 1, 2, 3))):
        kind, expr = _claim(draft)
        given = None
        if dice.chance(0.3):
            given = t.binary("Ge", gen.number(draft, gen.Scope(Moment.GIVEN), 1), t.num(0))
        made.append(pr.Claim(name=f"claim{i}", given=given, kind=kind, expr=expr))
    return tuple(made)


def _claim(draft: Draft) -> tuple[pr.EveryIteration | pr.SomeIteration | None, ex.Expr]:
    dice = draft.dice
    engines = draft.stages_of("engine")
    if not engines or dice.chance(0.3):
        return None, _at_end(draft)
    engine = dice.choice(engines)
    stage = engine.base + dice.randrange(engine.count)
    kind = dice.choice((pr.EveryIteration, pr.SomeIteration))(stage=stage)
    scope = gen.Scope(Moment.ITERATION, registers_of(draft, engine))
    if dice.chance(0.3):
        return kind, gen.number(draft, scope)
    return kind, gen.guard(draft, scope)


def _at_end(draft: Draft) -> ex.Expr:
    registers = tuple(range(len(draft.registers)))
    rows = [row.ir for row in AGGREGATES]
    names = range(len(draft.observes))
    extra = tuple(ex.Agg(fun=fun, observe=k) for fun in rows for k in names)
    return gen.guard(draft, gen.Scope(Moment.END, registers, extra=extra))
