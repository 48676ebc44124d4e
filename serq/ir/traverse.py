"""Every expression of a program with its path and moment: the walk that validation, linking and checks share."""

from __future__ import annotations

from collections.abc import Iterator

from serq.diagnostics import IrPath
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.expressions import CRef, Expr
from serq.ir.moments import Moment

Place = tuple[IrPath, Moment, Expr]


def expressions_of(program: pr.Program) -> Iterator[Place]:
    """Every outermost expression: its JSON path, the moment it is read at (004, *Moments*), itself."""
    for i, pool in enumerate(program.pools):
        yield from _pool(pool, ("pools", i))
    for i, stage in enumerate(program.stages):
        yield from _stage(stage, ("stages", i, "kind"))
    if isinstance(program.arrival, pr.Renewal):
        yield ("arrival", "Renewal"), Moment.RENEWAL, program.arrival.gap
    for b, block in enumerate(program.blocks):
        for k, stmt in enumerate(block):
            yield from statement_expressions(stmt, ("blocks", b, k))
    for i, gauge in enumerate(program.gauges):
        yield ("gauges", i, "expr"), Moment.GAUGE, gauge.expr
    for i, claim in enumerate(program.claims):
        if claim.given is not None:
            yield ("claims", i, "given"), Moment.GIVEN, claim.given
        yield ("claims", i, "expr"), Moment.END if claim.kind is None else Moment.ITERATION, claim.expr


def _keys(keys: tuple[Expr, ...] | None, path: IrPath, moment: Moment) -> Iterator[Place]:
    for i, key in enumerate(keys or ()):
        yield (*path, i), moment, key


def _pool(pool: pr.Pool, path: IrPath) -> Iterator[Place]:
    if pool.evict is not None:
        yield from _keys(pool.evict.keys, (*path, "evict", "By"), Moment.EVICT)
    if pool.preempt is not None:
        yield from _keys(pool.preempt.keys, (*path, "preempt", "By", "keys"), Moment.VICTIM)
    yield from _keys(pool.queue, (*path, "queue"), Moment.SELECT)
    if pool.spill is not None:
        yield (*path, "spill", "work"), Moment.EVICT, pool.spill.work
        yield (*path, "spill", "when"), Moment.EVICT, pool.spill.when


def _stage(stage: pr.Stage, path: IrPath) -> Iterator[Place]:
    match stage.kind:
        case pr.Ps(capacity=capacity):
            yield (*path, "Ps"), Moment.PS, capacity
        case pr.Step():
            yield from _step(stage.kind, (*path, "Step"))
        case _:
            return


def _step(step: pr.Step, path: IrPath) -> Iterator[Place]:
    yield (*path, "budget"), Moment.BUDGET, step.budget
    yield (*path, "cost"), Moment.STEP, step.cost
    yield (*path, "chunk"), Moment.BUDGET, step.chunk
    if step.granule is not None:
        yield (*path, "granule"), Moment.CONSTANT, step.granule
    yield from _keys(step.serve, (*path, "serve", "By"), Moment.SERVE)
    for i, item in enumerate(step.iteration or ()):
        yield from iteration_expressions(item, (*path, "iteration", i))


def iteration_expressions(item: pr.IterItem, path: IrPath) -> Iterator[Place]:
    """The expressions of a statement of an iteration body, nested statements included."""
    match item:
        case pr.Serve(only=only, by=by):
            if only is not None:
                yield (*path, "Serve", "only"), Moment.ONLY, only
            yield from _keys(by, (*path, "Serve", "by"), Moment.SERVE)
        case pr.Admit(only=only, gate=gate):
            if only is not None:
                yield (*path, "Admit", "only"), Moment.ONLY, only
            if gate is not None:
                yield (*path, "Admit", "gate"), Moment.PLAN, gate
        case pr.IterBranch(guard=guard, then=then, other=other):
            yield (*path, "Branch", 0), Moment.PLAN, guard
            for arm, body in ((1, then), (2, other)):
                for i, inner in enumerate(body):
                    yield from iteration_expressions(inner, (*path, "Branch", arm, i))
        case pr.IterSet(value=value):
            yield (*path, "Set", 1), Moment.PLAN, value


def statement_expressions(stmt: st.Stmt, path: IrPath) -> Iterator[Place]:
    """The expressions directly in a statement, indices of its references included."""
    s = Moment.SESSION
    tag = type(stmt).__name__
    here = (*path, tag)
    match stmt:
        case st.Set(value=value) | st.Observe(value=value):
            yield (*here, 1), s, value
        case st.Hold():
            yield from _hold(stmt, here)
        case st.Grow(pool=pool, amount=amount) | st.Load(pool=pool, amount=amount):
            yield from _index(pool, (*here, 0), s)
            yield (*here, 1), s, amount
        case st.Drop(pool=pool) | st.Release(pool=pool):
            yield from _index(pool, here, s)
        case st.Run():
            yield from _index(stmt.stage, (*here, "stage"), s)
            yield (*here, "work"), s, stmt.work
            if stmt.growing is not None:
                yield from _index(stmt.growing, (*here, "growing"), s)
            for i, ref in enumerate(stmt.also):
                yield from _index(ref, (*here, "also", i), s)
        case st.Branch(guard=guard) | st.While(guard=guard):
            yield (*here, 0), s, guard
        case st.Choose(count=count, key=key):
            yield (*here, "count"), s, count
            yield from _keys(key, (*here, "key"), s)
        case _:
            return


def _hold(stmt: st.Hold, here: IrPath) -> Iterator[Place]:
    for i, part in enumerate(stmt.pools):
        yield from _index(part.pool, (*here, "pools", i, 0), Moment.ADMIT)
        yield (*here, "pools", i, 1), Moment.ADMIT, part.units
        if part.reserve is not None:
            yield (*here, "pools", i, 2), Moment.ADMIT, part.reserve
    if stmt.reuse is not None:
        yield (*here, "reuse"), Moment.ADMIT, stmt.reuse
    if stmt.cache is not None:
        yield (*here, "cache"), Moment.SESSION, stmt.cache
    if stmt.lease is not None:
        yield from _index(stmt.lease.pool, (*here, "lease", 0), Moment.SESSION)
        yield (*here, "lease", 1), Moment.SESSION, stmt.lease.duration


def _index(ref: CRef, path: IrPath, moment: Moment) -> Iterator[Place]:
    if ref.index is not None:
        yield (*path, "index"), moment, ref.index
