"""Free statements: nests of holds, growth, leases, legs, flows, loops and runs, valid wherever they stand."""

from __future__ import annotations

import math
from collections.abc import Callable

from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.moments import Moment
from tests.generators.ir import expressions as gen
from tests.generators.ir import terms as t
from tests.generators.ir.draft import (
    CACHED,
    COMPUTED,
    FORCED,
    SERIAL,
    Draft,
    Node,
    PoolFamily,
    StageFamily,
    assign,
    branch,
    joint,
    record,
    repeat,
    run,
)
from tests.generators.ir.resources import registers_of
from tests.generators.ir.where import Held, Where, flow, priced, route

_SCRATCH = ("a", "b", "d")


def sequence(draft: Draft, where: Where, length: int) -> list[Node]:
    """Some statements, one after another."""
    nodes: list[Node] = []
    for _ in range(length):
        table = {k: w for k, (w, can, _) in _FORMS.items() if can(draft, where)}
        nodes += _FORMS[draft.dice.weighted(table)][2](draft, where)
    return nodes


def _set(draft: Draft, where: Where) -> list[Node]:
    dice = draft.dice
    if dice.chance(0.05):
        return [assign(dice.choice((CACHED, COMPUTED)), gen.amount(draft, where.scope(), 0.0, 9.0, 1))]
    slot = draft.value(dice.choice(_SCRATCH))
    return [assign(slot, gen.amount(draft, where.scope(), -5.0, 20.0))]


def _observe(draft: Draft, where: Where) -> list[Node]:
    value = gen.number(draft, where.scope())
    if draft.dice.chance(0.7):
        value = t.clamp(value, -1000.0, 1000.0)
    return [record(draft, draft.dice.choice(("seen", "noted", "leg" if where.leg else "own")), value)]


def work(draft: Draft, where: Where, high: float = 3.0) -> ex.Expr:
    """Work for a plain stage: the session's own, a constant, or anything."""
    dice = draft.dice
    match dice.weighted({"own": 3.0, "constant": 2.0, "any": 1.5, "draw": 1.0, "zero": 0.2}):
        case "own":
            return t.attr(draft.size("w"))
        case "constant":
            return t.num(dice.quantity(0.25, high, False))
        case "draw":
            return gen.sample(dice, dice.choice((0.5, 1.0)))
        case "zero":
            return t.num(0)
        case _:
            return gen.amount(draft, where.scope(), 0.0, high)


def _plain(draft: Draft, where: Where) -> list[Node]:
    family = draft.dice.choice(_plains(draft))
    before, cost = priced(draft, family.target, work(draft, where))
    ref = draft.member(family, where.routes)
    return [*before, Node(st.Run(stage=ref, mode="Plain", work=cost))]


def _plains(draft: Draft) -> list[StageFamily]:
    return draft.stages_of("desk", "share", "lag", "net", "disk")


def _flow(draft: Draft, where: Where) -> list[Node]:
    nets = draft.stages_of("net")
    families = draft.dice.sample(nets, draft.dice.randint(2, len(nets)))
    refs = [draft.member(f, where.routes) for f in families]
    job = t.mul(t.num(2), work(draft, where))
    return [flow(families, refs, job), record(draft, "flowed", t.NOW)]


def _engine(draft: Draft, where: Where) -> list[Node]:
    dice = draft.dice
    engine = dice.choice(draft.stages_of("engine"))
    held = where.present()
    growing = dice.choice(held).ref if held and dice.chance(0.6) else None
    mode = dice.choice(("Prefill", "Decode"))
    tokens = gen.amount(draft, where.scope(), 0.0, 8.0, 1) if dice.chance(0.4) else t.num(dice.randint(1, 8))
    return [run(engine, draft.member(engine, where.routes), tokens, mode, growing)]


def _hold(draft: Draft, where: Where) -> list[Node]:
    dice = draft.dice
    inner = [h.family for h in where.held]
    free = [f for f in _holdable(draft) if f not in inner] or _holdable(draft)
    families = dice.sample(free, 1 if len(free) == 1 or dice.chance(0.65) else 2)
    nodes: list[Node] = []
    for family in families:
        if family.count > 1 and dice.chance(0.6):
            nodes += route(draft, where, family.count)
    held: list[Held] = []
    pools: list[st.HoldPool] = []
    for family in families:
        before, part, units = _taking(draft, where, family, families[0])
        nodes += before
        pools.append(part)
        held.append(Held(part.pool, family, units, where.loops))
    body, loaded = _hold_body(draft, where.inside(tuple(held)), held)
    before, hold = _clauses(draft, where, families, pools, loaded)
    nodes += [*before, Node(hold, bodies=(tuple(body),))]
    return nodes + _after_lease(draft, where, hold)


def _holdable(draft: Draft) -> list[PoolFamily]:
    return draft.pools_of("slots", "mem", "kv", "tier", "reqs")


def _taking(
    draft: Draft, where: Where, family: PoolFamily, first: PoolFamily
) -> tuple[list[Node], st.HoldPool, ex.Expr]:
    ref = draft.member(family, where.routes)
    scope = where.scope(Moment.ADMIT, registers_of(draft, first.via))
    units = _units(draft, scope, family)
    reserve = None
    if draft.dice.chance(0.25):
        reserve = ex.Cost(target=family.target, arg=_units(draft, scope, family))
    before: list[Node] = []
    cost: ex.Expr = ex.Cost(target=family.target, arg=units)
    if isinstance(units, ex.Num | ex.Attr):
        before, cost = priced(draft, family.target, units)
    return before, st.HoldPool(pool=ref, units=cost, reserve=reserve), units


def _units(draft: Draft, scope: gen.Scope, family: PoolFamily) -> ex.Expr:
    dice = draft.dice
    if family.role in ("slots", "reqs"):
        return t.num(1) if dice.chance(0.85) else gen.amount(draft, scope, 0.0, family.cap)
    cap = min(family.cap, 60.0)
    match dice.weighted({"constant": 2.0, "own": 3.0, "any": 2.0, "beyond": 0.3}):
        case "constant":
            fits = math.floor(cap / (family.block or 1)) * (family.block or 1)
            return t.num(min(fits, dice.quantity(0, cap * 0.6, draft.integral)))
        case "own":
            return t.attr(dice.choice(draft.schedulable((draft.size("p"), draft.size("o")))))
        case "any":
            return gen.amount(draft, scope, 0.0, cap * 0.7)
        case _:
            own = t.attr(draft.schedulable((draft.size("p"), draft.size("w")))[0])
            return t.clamp(t.add(own, gen.number(draft, scope)), 0.0, cap * 1.3)


def _hold_body(draft: Draft, where: Where, held: list[Held]) -> tuple[list[Node], ex.Expr | None]:
    """Some time first where a growth may preempt, a load while its room is known, then anything.

    With a load comes the most the hold may reuse: what the pool loaded into allocates.
    """
    dice = draft.dice
    nodes = [record(draft, "resumed", t.attr(COMPUTED))] if where.preemptible else []
    loads = [h for h in held if isinstance(h.units, ex.Num | ex.Attr) and h.family.role in ("mem", "kv")]
    loaded = None
    if loads and dice.chance(0.3):
        chosen = dice.choice(loads)
        loaded = chosen.units
        room = t.most(t.num(0), t.sub(chosen.units, t.attr(CACHED)))
        part = room if dice.chance(0.5) else t.least(room, t.attr(draft.size("o")))
        cost = ex.Cost(target=chosen.family.target, arg=part)
        nodes.append(Node(st.Load(pool=chosen.ref, amount=cost)))
    if where.preemptible or dice.chance(0.6):
        family = dice.choice(_plains(draft))
        nodes.append(run(family, draft.member(family, where.routes), t.num(dice.quantity(0.25, 2, False))))
    if any(h.family.role == "mem" for h in held) and dice.chance(0.5):
        nodes += _grow(draft, where)
        nodes.append(run(family := dice.choice(_plains(draft)), draft.member(family, where.routes), t.num(1)))
    return nodes + sequence(draft, where, dice.randint(0, 3)), loaded


def _clauses(
    draft: Draft,
    where: Where,
    families: list[PoolFamily],
    pools: list[st.HoldPool],
    loaded: ex.Expr | None,
) -> tuple[list[Node], st.Hold]:
    dice = draft.dice
    target = joint(families)
    before: list[Node] = []
    cache = reuse = lease = None
    if dice.chance(0.6):
        kept = (
            t.attr(draft.size("p")) if dice.chance(0.4) else gen.amount(draft, where.scope(), -2.0, 40.0, 1)
        )
        before, cache = priced(draft, target, kept)
        if loaded is not None:
            reuse = ex.Cost(target=target, arg=loaded)
        elif dice.chance(0.4):
            scope = where.scope(Moment.ADMIT, registers_of(draft, families[0].via))
            reuse = ex.Cost(target=target, arg=gen.amount(draft, scope, -1.0, 12.0, 1))
    if dice.chance(0.3):
        part = dice.choice(pools)
        lease = st.Lease(pool=part.pool, duration=_duration(draft, where))
        where.leases.append(part.pool)
    return before, st.Hold(pools=tuple(pools), reuse=reuse, body=0, cache=cache, lease=lease)


def _duration(draft: Draft, where: Where) -> ex.Expr:
    dice = draft.dice
    match dice.weighted({"inf": 2.0, "constant": 3.0, "drawn": 1.0, "any": 0.5}):
        case "inf":
            return t.num(float("inf"))
        case "constant":
            return t.num(dice.choice((0.0, 0.5, 1.5, 4.0)))
        case "drawn":
            return gen.sample(dice, 1.0)
        case _:
            return gen.amount(draft, where.scope(), -1.0, 6.0, 1)


def _after_lease(draft: Draft, where: Where, hold: st.Hold) -> list[Node]:
    """Let a finite lease run out before anything may end it, and say that it did."""
    lags = draft.stages_of("lag")
    if hold.lease is None or not isinstance(hold.lease.duration, ex.Num) or not lags:
        return []
    seconds = hold.lease.duration.value
    if seconds == float("inf") or draft.dice.chance(0.2):
        return []
    since = draft.value("since")
    wait = run(lags[0], draft.member(lags[0], where.routes), t.num(seconds + 0.5))
    late = t.binary("Gt", t.sub(t.NOW, t.attr(since)), t.num(seconds))
    return [assign(since, t.NOW), wait, record(draft, "lapsed", late)]


def _grow(draft: Draft, where: Where) -> list[Node]:
    held = draft.dice.choice(where.present())
    cap = min(held.family.cap, 60.0)
    more = gen.amount(draft, where.scope(), 0.0, cap * 0.5, 1)
    cost = ex.Cost(target=held.family.target, arg=more)
    since = draft.value("asked")
    wait = t.binary("Gt", t.NOW, t.attr(since))
    grow = Node(st.Grow(pool=held.ref, amount=cost))
    return [assign(since, t.NOW), grow, record(draft, "stalled", wait)]


def _release(draft: Draft, where: Where) -> list[Node]:
    held = where.releasable()
    refs = [h.ref for h in held] + _ended(where)
    ref = draft.dice.choice(refs)
    for h in held:
        h.gone = h.gone or h.ref == ref
    return [Node(st.Release(pool=ref))]


def _ended(where: Where) -> list[ex.CRef]:
    """The leases a session may end: of pools it does not hold here."""
    around = [h.ref for h in where.held]
    return [] if where.leg else [ref for ref in where.leases if ref not in around]


def _drop(draft: Draft, where: Where) -> list[Node]:
    families = draft.pools_of("mem", "kv", "tier")
    return [Node(st.Drop(pool=draft.member(draft.dice.choice(families), where.routes)))]


def _branch(draft: Draft, where: Where) -> list[Node]:
    dice = draft.dice
    inner = where.deeper()
    test: ex.Expr = gen.guard(draft, where.scope())
    if dice.chance(0.3):
        test = t.draw("Bernoulli", dice.choice((0.3, 0.5, 0.7)))
    arms = [sequence(draft, inner, dice.randint(0, 2)) for _ in range(2)]
    return [branch(test, *arms)]


def _while(draft: Draft, where: Where) -> list[Node]:
    dice = draft.dice
    count = draft.fresh("i")
    step = assign(count, t.add(t.attr(count), t.num(1)))
    family = dice.choice(_plains(draft))
    tick = run(family, draft.member(family, where.routes), t.num(dice.quantity(0.25, 1, False)))
    body = [step, tick, *sequence(draft, where.deeper(loops=where.loops + 1), dice.randint(0, 2))]
    limit = t.num(dice.randint(0, 3)) if dice.chance(0.6) else gen.amount(draft, where.scope(), 0.0, 3.0, 1)
    test = t.binary("Lt", t.attr(count), limit)
    return [assign(count, t.num(0)), repeat(test, body)]


def _loop(draft: Draft, where: Where) -> list[Node]:
    """An unconditional loop, left by ending the session."""
    dice = draft.dice
    count = draft.fresh("i")
    step = assign(count, t.add(t.attr(count), t.num(1)))
    family = dice.choice(_plains(draft))
    tick = run(family, draft.member(family, where.routes), t.num(dice.quantity(0.25, 1, False)))
    leave = branch(t.binary("Ge", t.attr(count), t.num(dice.randint(1, 3))), [Node(st.End())])
    body = [tick, step, *sequence(draft, where.deeper(loops=where.loops + 1), dice.randint(0, 1)), leave]
    return [assign(count, t.num(0)), Node(st.Loop(body=0), bodies=(tuple(body),))]


def _choose(draft: Draft, where: Where) -> list[Node]:
    counts = {f.count for f in (*draft.pool_families, *draft.stage_families) if f.count > 1}
    if counts and draft.dice.chance(0.8):
        return route(draft, where, draft.dice.choice(sorted(counts)))
    slot = draft.value("pick")
    limit = gen.amount(draft, where.scope(), 0.0, 4.0, 1)
    keys = (*gen.keys(draft, where.scope(), 1), t.neg(t.attr(slot)))
    return [Node(st.Choose(var=slot, count=t.floor(limit), key=keys))]


def _fork(draft: Draft, where: Where) -> list[Node]:
    dice = draft.dice
    draft.forks = True
    legs = []
    for _ in range(dice.randint(1, 2)):
        inside = Where(routes=dict(where.routes), leg=True, depth=2)
        body = [*sequence(draft, inside, dice.randint(1, 2)), record(draft, "leg", t.NOW)]
        legs.append(Node(st.Fork(body=0), bodies=(tuple(body),)))
        where.leases.extend(inside.leases)
    beside = sequence(draft, where.deeper(forked=True), dice.randint(0, 2))
    return [*legs, *beside, Node(st.Join())]


def _end(draft: Draft, where: Where) -> list[Node]:
    return [branch(t.draw("Bernoulli", 0.15), [Node(st.End())])]


def fault(draft: Draft, where: Where) -> list[Node]:
    """A statement that may stop the run, reached by one session."""
    dice = draft.dice
    family = dice.choice(_plains(draft))
    ref = draft.member(family, where.routes)
    wrong = t.add(gen.number(draft, where.scope()), t.mul(t.num(0), t.attr(draft.size("w"))))
    match dice.choice(("work", "guard", "choose", "index", "legs", "ready")):
        case "work":
            nodes = [run(family, ref, t.sub(wrong, t.num(2)))]
        case "guard":
            nodes = [branch(wrong, [record(draft, "seen", t.NOW)])]
        case "choose":
            nodes = [Node(st.Choose(var=draft.value("pick"), count=wrong, key=(t.num(0),)))]
        case "index":
            nodes = [run(family, family.ref(t.sub(wrong, t.num(1))), t.num(1))]
        case "legs":
            draft.forks = True
            body = (run(family, ref, t.num(3)),)
            nodes = [Node(st.Fork(body=0), bodies=(body,)), Node(st.End()), Node(st.Join())]
        case _:
            count = draft.fresh("i")
            step = assign(count, t.add(t.attr(count), t.num(1)))
            turns = repeat(
                t.binary("Lt", t.attr(count), t.num(1200)), [step, run(family, ref, t.attr(FORCED))]
            )
            nodes = [assign(count, t.num(0)), turns]
    return [branch(t.binary("Eq", t.attr(SERIAL), t.num(dice.randint(0, 9))), nodes)]


def _always(draft: Draft, where: Where) -> bool:
    return True


def _deep(draft: Draft, where: Where) -> bool:
    return where.depth > 0


def _alone(draft: Draft, where: Where) -> bool:
    """Where the session may end: no leg of it runs, and it is no leg."""
    return not where.leg and not where.forked


_Can = Callable[[Draft, Where], bool]
_Make = Callable[[Draft, Where], list[Node]]
_FORMS: dict[str, tuple[float, _Can, _Make]] = {
    "set": (1.5, _always, _set),
    "observe": (1.5, _always, _observe),
    "plain": (4.0, lambda d, w: bool(_plains(d)), _plain),
    "flow": (2.0, lambda d, w: d.share is not None and len(d.stages_of("net")) > 1, _flow),
    "engine": (1.5, lambda d, w: bool(d.stages_of("engine")), _engine),
    "hold": (4.0, lambda d, w: w.depth > 0 and bool(_holdable(d)) and bool(_plains(d)), _hold),
    "grow": (4.0, lambda d, w: bool(w.present()), _grow),
    "release": (0.8, lambda d, w: bool(w.releasable() or _ended(w)), _release),
    "drop": (0.4, lambda d, w: bool(d.pools_of("mem", "kv", "tier")), _drop),
    "branch": (1.2, _deep, _branch),
    "while": (1.0, lambda d, w: w.depth > 0 and bool(_plains(d)), _while),
    "loop": (0.15, lambda d, w: _alone(d, w) and w.depth > 0 and not w.held and bool(_plains(d)), _loop),
    "choose": (0.7, _always, _choose),
    "fork": (1.6, lambda d, w: _alone(d, w) and w.depth > 0 and not w.preemptible, _fork),
    "end": (0.15, _alone, _end),
}
