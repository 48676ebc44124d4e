"""Every place of the IR that holds an expression, with the moment it is read at (004, *Moments*)."""

from __future__ import annotations

from collections.abc import Iterator

from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.moments import Moment
from serq.ir.validate.facts import Facts, Located, Site

M = Moment


def all_sites(facts: Facts) -> Iterator[Site]:
    """Statements first, then declarations, arrivals, gauges and claims."""
    for located in facts.statements:
        yield from statement_sites(facts, located)
    for i, pool in enumerate(facts.program.pools):
        yield from _pool(pool, ("pools", i))
    for i, stage in enumerate(facts.program.stages):
        yield from _stage(stage, i, ("stages", i, "kind"))
    arrival = facts.program.arrival
    if isinstance(arrival, pr.Renewal):
        yield Site(arrival.gap, M.RENEWAL, ("arrival", "Renewal"), "the gap of a renewal arrival")
    for i, gauge in enumerate(facts.program.gauges):
        yield Site(gauge.expr, M.GAUGE, ("gauges", i, "expr"), f"gauge `{gauge.name}`")
    for i, claim in enumerate(facts.program.claims):
        yield from _claim(claim, ("claims", i))


def statement_sites(facts: Facts, located: Located) -> Iterator[Site]:
    """The expressions of one statement, those of its bodies left out."""

    def session(e: ex.Expr, path: IrPath, what: str) -> Site:
        return Site(e, M.SESSION, path, what, located=located)

    at, names = located.at, facts.names
    for ref, path in statement_refs(located):
        if ref.index is not None:
            yield session(ref.index, (*path, "index"), "an index")
    match located.stmt:
        case st.Set(slot=slot, value=value):
            yield session(value, at(1), f"a `set {names.attr(slot)}`")
        case st.Observe(observe=name, value=value):
            yield session(value, at(1), f"an `observe {names.observe(name)}`")
        case st.Hold():
            yield from _hold(facts, located, located.stmt)
        case st.Grow(amount=amount):
            yield session(amount, at(1), "a `grow`")
        case st.Load(amount=amount):
            yield session(amount, at(1), "a `load`")
        case st.Run(work=work):
            yield session(work, at("work"), "a run's work")
        case st.Branch(guard=guard):
            yield session(guard, at(0), "a `branch` guard")
        case st.While(guard=guard):
            yield session(guard, at(0), "a `while` guard")
        case st.Choose(count=count, key=key):
            yield session(count, at("count"), "a `choose` count")
            for i, k in enumerate(key):
                yield session(k, at("key", i), "a `choose` key")
        case _:
            return


def _hold(facts: Facts, located: Located, hold: st.Hold) -> Iterator[Site]:
    engine = _admitting_engine(facts, hold)

    def header(e: ex.Expr, path: IrPath, what: str) -> Site:
        return Site(e, M.ADMIT, path, what, engine, located)

    for i, part in enumerate(hold.pools):
        name = facts.names.pools(part.pool)
        yield header(part.units, located.at("pools", i, 1), f"the units of a hold of `{name}`")
        if part.reserve is not None:
            yield header(part.reserve, located.at("pools", i, 2), f"the reserve of a hold of `{name}`")
    if hold.reuse is not None:
        yield header(hold.reuse, located.at("reuse"), "a hold's `reuse`")
    if hold.cache is not None:
        yield Site(hold.cache, M.SESSION, located.at("cache"), "a hold's `cache`", located=located)
    if hold.lease is not None:
        where = located.at("lease", 1)
        yield Site(hold.lease.duration, M.SESSION, where, "a lease's duration", located=located)


def _admitting_engine(facts: Facts, hold: st.Hold) -> int | None:
    """The engine that admits the hold: the one that serves the queue of its first pool, for every member."""
    if not hold.pools:
        return None
    engines = {pool.admit_via for pool in facts.pools_of(hold.pools[0].pool)}
    return engines.pop() if len(engines) == 1 else None


def statement_refs(located: Located) -> Iterator[tuple[ex.CRef, IrPath]]:
    """The pool and stage references of a statement with their paths, those inside expressions left out."""
    if type(located.stmt) not in _REFERRING:
        return
    at = located.at
    match located.stmt:
        case st.Hold(pools=pools, lease=lease):
            for i, part in enumerate(pools):
                yield part.pool, at("pools", i, 0)
            if lease is not None:
                yield lease.pool, at("lease", 0)
        case st.Grow(pool=ref) | st.Load(pool=ref):
            yield ref, at(0)
        case st.Drop(pool=ref) | st.Release(pool=ref):
            yield ref, at()
        case st.Run(stage=stage, growing=growing, also=also):
            yield stage, at("stage")
            if growing is not None:
                yield growing, at("growing")
            for i, ref in enumerate(also):
                yield ref, at("also", i)
        case _:
            return


_REFERRING = frozenset((st.Hold, st.Grow, st.Load, st.Drop, st.Release, st.Run))


def _pool(pool: pr.Pool, path: IrPath) -> Iterator[Site]:
    name = pool.label
    for i, key in enumerate(pool.queue or ()):
        yield Site(key, M.SELECT, (*path, "queue", i), f"a queue key of pool `{name}`", pool.admit_via)
    if pool.evict is not None:
        for i, key in enumerate(pool.evict.keys):
            yield Site(key, M.EVICT, (*path, "evict", "By", i), f"an eviction key of pool `{name}`")
    if pool.preempt is not None:
        for i, key in enumerate(pool.preempt.keys):
            where = (*path, "preempt", "By", "keys", i)
            yield Site(key, M.VICTIM, where, f"a preemption key of pool `{name}`")
    if pool.spill is not None:
        yield Site(pool.spill.work, M.EVICT, (*path, "spill", "work"), f"the spill work of pool `{name}`")
        yield Site(pool.spill.when, M.EVICT, (*path, "spill", "when"), f"the spill test of pool `{name}`")


def _stage(stage: pr.Stage, index: int, path: IrPath) -> Iterator[Site]:
    name = stage.label
    match stage.kind:
        case pr.Ps(capacity=capacity):
            yield Site(capacity, M.PS, (*path, "Ps"), f"the capacity of stage `{name}`")
        case pr.Step():
            yield from _step(stage.kind, index, (*path, "Step"), name)
        case _:
            return


def _step(step: pr.Step, index: int, path: IrPath, name: str) -> Iterator[Site]:
    yield Site(step.budget, M.BUDGET, (*path, "budget"), f"the token budget of engine `{name}`", index)
    yield Site(step.chunk, M.BUDGET, (*path, "chunk"), f"the chunk of engine `{name}`", index)
    yield Site(step.cost, M.STEP, (*path, "cost"), f"the cost of engine `{name}`", index)
    for i, key in enumerate(step.serve or ()):
        yield Site(key, M.SERVE, (*path, "serve", "By", i), f"a serving key of engine `{name}`", index)
    for item, where in items(step.iteration or (), (*path, "iteration")):
        yield from _item(item, index, where, name)


def items(body: tuple[pr.IterItem, ...], path: IrPath) -> Iterator[tuple[pr.IterItem, IrPath]]:
    """Every statement of an iteration body, nested ones after the statement that holds them."""
    stack = [(item, (*path, i)) for i, item in reversed(list(enumerate(body)))]
    while stack:
        item, where = stack.pop()
        yield item, where
        if isinstance(item, pr.IterBranch):
            for k, arm in ((2, item.other), (1, item.then)):
                stack.extend((x, (*where, "Branch", k, i)) for i, x in reversed(list(enumerate(arm))))


def _item(item: pr.IterItem, index: int, path: IrPath, name: str) -> Iterator[Site]:
    match item:
        case pr.Serve(only=only, by=by):
            if only is not None:
                where = (*path, "Serve", "only")
                yield Site(only, M.ONLY, where, f"an `only` of engine `{name}`", index)
            for i, key in enumerate(by or ()):
                yield Site(
                    key, M.SERVE, (*path, "Serve", "by", i), f"a serving key of engine `{name}`", index
                )
        case pr.Admit(only=only, gate=gate):
            if only is not None:
                where = (*path, "Admit", "only")
                yield Site(only, M.ONLY, where, f"an `only` of engine `{name}`", index)
            if gate is not None:
                yield Site(
                    gate, M.PLAN, (*path, "Admit", "gate"), f"an admission gate of engine `{name}`", index
                )
        case pr.IterBranch(guard=guard):
            yield Site(guard, M.PLAN, (*path, "Branch", 0), f"a schedule guard of engine `{name}`", index)
        case pr.IterSet(value=value):
            yield Site(value, M.PLAN, (*path, "Set", 1), f"a register assignment of engine `{name}`", index)
        case _:
            return


def _claim(claim: pr.Claim, path: IrPath) -> Iterator[Site]:
    if claim.given is not None:
        yield Site(claim.given, M.GIVEN, (*path, "given"), f"the `given` of claim `{claim.name}`")
    if claim.kind is None:
        yield Site(claim.expr, M.END, (*path, "expr"), f"claim `{claim.name}`")
    else:
        yield Site(claim.expr, M.ITERATION, (*path, "expr"), f"claim `{claim.name}`", claim.kind.stage)
