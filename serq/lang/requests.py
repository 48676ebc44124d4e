"""An engine's request as the statements a server would write (api.md §7.6): a hold of what `taking` names."""

from __future__ import annotations

from collections.abc import Iterator

from serq.lang import tree
from serq.lang.model import Engine
from serq.lang.tree import Expr, Ref, Statement


def taking_of(engine: Engine) -> tree.Taking | None:
    """The `taking` of an engine's schedule: that of its first `admit waiting` that has one."""
    return next((a.taking for a in admits(engine.schedule) if a.taking is not None), None)


def admits(schedule: tree.Schedule | None) -> Iterator[tree.Admit]:
    """Every `admit waiting` of a schedule, in order."""
    stack = list(reversed(schedule.statements)) if schedule is not None else []
    while stack:
        statement = stack.pop()
        if isinstance(statement, tree.Admit):
            yield statement
        elif isinstance(statement, tree.ScheduleBranch):
            otherwise = statement.otherwise.statements if statement.otherwise is not None else ()
            stack.extend(reversed((*statement.then.statements, *otherwise)))


def request_hold(engine: Engine, request: tree.Request) -> tuple[Statement, ...]:
    """The statements before the hold, then the hold; without a `taking` the statements alone."""
    taking = taking_of(engine)
    if taking is None or not engine.pools():
        return (*request.before, *request.body)
    own = {pool.name for pool in engine.pools()}
    written = [take for take in taking.takes if take.pool.name.text in own]
    pools = tuple(take.pool for take in written)
    takes = tuple(
        tree.Take(
            take.span,
            take.pool,
            _cost((take.pool,), take.units),
            take.reserve and _cost((take.pool,), take.reserve),
        )
        for take in written
    )
    hold = tree.Hold(
        request.span,
        takes,
        taking.reuse and _cost(pools, taking.reuse),
        request.admission.bindings if request.admission is not None else (),
        tree.Block(request.span, request.body),
        None if request.cache is None else _cost(pools, request.cache.value),
        None,
    )
    return (*request.before, hold)


def _cost(pools: tuple[Ref, ...], amount: Expr) -> Expr:
    return tree.CostOf(amount.span, pools, amount)
