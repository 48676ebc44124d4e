"""Pools and plain stages: their measures first, so that statements can be drawn, their policies last."""

from __future__ import annotations

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir.moments import Moment
from tests.generators.ir import expressions as gen
from tests.generators.ir import terms as t
from tests.generators.ir.dice import Dice
from tests.generators.ir.draft import Draft, PoolFamily, StageFamily, place

_ARRAYED = {1: 0.75, 2: 0.2, 3: 0.05}


def arrange(draft: Draft) -> None:
    """Put the families in a random declaration order and give them their bases."""
    for families in (draft.pool_families, draft.stage_families):
        draft.dice.shuffle(families)
        place(families)


def add_pool(draft: Draft, role: str, count: int | None = None, name: str | None = None) -> PoolFamily:
    """A pool family of a role, measured for contention, not yet placed."""
    dice = draft.dice
    number = dice.weighted(_ARRAYED) if count is None else count
    array = number > 1 or dice.chance(0.1)
    taken = sum(f.role == role for f in draft.pool_families)
    family = PoolFamily(name or f"{role}{taken}", number, array, role)
    _measure(draft, family)
    draft.pool_families.append(family)
    return family


def _measure(draft: Draft, family: PoolFamily) -> None:
    dice = draft.dice
    match family.role:
        case "reqs":
            family.cap = float(dice.choice((1, 2, 3, 3, 4, 6, 8)))
        case "slots" | "client":
            family.cap = float(dice.choice((1, 1, 2, 3)))
            family.block = dice.weighted({None: 6.0, 1.0: 1.0})
        case "tier":
            family.cap = dice.weighted({float("inf"): 1.0, 48.0: 1.0, 120.0: 1.0})
            family.block = dice.weighted({None: 1.0, 1.0: 1.0})
        case "kv":
            low, high = dice.weighted({(14, 36): 4.0, (28, 64): 2.0, (300, 400): 1.0})
            family.cap = dice.quantity(low, high, draft.integral)
            family.block = dice.weighted(_blocks(draft))
            family.preempts = dice.chance(0.8)
        case "mem":
            family.cap = dice.quantity(10, 30, draft.integral)
            family.block = dice.weighted(_blocks(draft))
            family.preempts = dice.chance(0.7)


def _blocks(draft: Draft) -> dict[float | None, float]:
    if draft.integral:
        return {None: 2.0, 1.0: 1.0, 2.0: 1.0, 4.0: 2.0, 8.0: 0.5, 3.0: 0.5}
    return {None: 2.0, 1.0: 1.0, 2.0: 1.0, 4.0: 1.0, 0.5: 1.0, 0.25: 0.5}


def add_stage(draft: Draft, role: str, count: int | None = None, name: str | None = None) -> StageFamily:
    """A stage family of a role, not yet placed."""
    number = draft.dice.weighted(_ARRAYED) if count is None else count
    array = number > 1 or draft.dice.chance(0.1)
    taken = sum(f.role == role for f in draft.stage_families)
    family = StageFamily(name or f"{role}{taken}", number, array, role)
    draft.stage_families.append(family)
    return family


def define_pools(draft: Draft) -> None:
    """The pool declarations, with their policies."""
    for family in draft.pool_families:
        policy = _policy(draft, family)
        for i in range(family.count):
            via = None
            if family.via is not None:
                via = family.via.base + (i if family.via.count > 1 else 0)
            index = i if family.array else None
            draft.pools.append(policy.model_copy(update={"index": index, "admit_via": via}))


def _policy(draft: Draft, family: PoolFamily) -> pr.Pool:
    dice = draft.dice
    memory = family.role in ("kv", "mem")
    return pr.Pool(
        name=family.name,
        cap=family.cap,
        block=family.block,
        evict=_evict(draft) if memory or family.role == "tier" else None,
        preempt=_preempt(draft, family) if family.preempts else None,
        queue=_queue(draft, family) if dice.chance(0.35) else None,
        spill=_spill(draft, family) if memory else None,
        reserve_held=memory and dice.chance(0.3),
    )


def _evict(draft: Draft) -> pr.EvictBy | None:
    if draft.dice.chance(0.5):
        return None
    # Keys that draw are left out: the order in which entries are visited is no part of the IR.
    scope = gen.Scope(Moment.EVICT, draws=False, budget_left=draft.dice.chance(0.1))
    return pr.EvictBy(keys=gen.keys(draft, scope))


def _preempt(draft: Draft, family: PoolFamily) -> pr.PreemptBy:
    dice = draft.dice
    match dice.weighted({"lifo": 3.0, "retract": 1.0, "keys": 2.0}):
        case "lifo":
            return pr.PreemptBy(keys=(t.neg(t.ctx("Admission")),), tail=dice.chance(0.2))
        case "retract":
            return pr.PreemptBy(keys=(t.sub(t.num(1), t.ctx("Decoding")), t.ctx("Position")), tail=True)
        case _:
            return pr.PreemptBy(keys=gen.keys(draft, gen.Scope(Moment.VICTIM)), tail=dice.chance(0.5))


def _queue(draft: Draft, family: PoolFamily) -> tuple[ex.Expr, ...]:
    registers = registers_of(draft, family.via)
    scope = gen.Scope(Moment.SELECT, registers=registers, budget_left=family.via is not None)
    if draft.dice.chance(0.3):
        return (t.sub(gen.number(draft, scope, 1), t.mul(t.num(0.5), t.ctx("Waited"))),)
    return gen.keys(draft, scope)


def registers_of(draft: Draft, engine: StageFamily | None) -> tuple[int, ...]:
    """The registers an engine owns."""
    if engine is None:
        return ()
    return tuple(i for i, r in enumerate(draft.registers) if r.stage == engine.base)


def _spill(draft: Draft, family: PoolFamily) -> pr.Spill | None:
    dice = draft.dice
    tiers, disks = draft.pools_of("tier"), draft.stages_of("disk")
    if not tiers or not disks or dice.chance(0.1):
        return None
    tier, disk = tiers[0], disks[0]
    if dice.chance(0.3):
        disk = dice.choice(draft.stages_of("desk", "share", "lag", "net", "tool", "disk"))
    scope = gen.Scope(Moment.EVICT, draws=False)
    when = t.num(1) if dice.chance(0.6) else gen.guard(draft, scope)
    if dice.chance(0.15):
        when = t.draw("Bernoulli", 0.6)
    work = t.mul(t.num(0.05), t.ctx("Size"))
    if dice.chance(0.4):
        work = gen.amount(draft, gen.Scope(Moment.EVICT, draws=dice.chance(0.3)), 0.0, 2.0, 1)
    return pr.Spill(to=tier.base, via=disk.base, work=work, when=when)


def settle_blocks(draft: Draft) -> None:
    """Let a tier's block divide what arrives there: whole blocks of every pool that may spill."""
    for tier in draft.pools_of("tier"):
        blocks = [f.block for f in draft.pools_of("kv", "mem")]
        if tier.block is not None and any(b is None or b % tier.block for b in blocks):
            tier.block = None


def define_stages(draft: Draft, engines: dict[int, tuple[pr.Step, ...]]) -> None:
    """The stage declarations; `engines` has the members of each engine family by its base."""
    for family in draft.stage_families:
        kinds = engines.get(family.base) or (_kind(draft, family),) * family.count
        for i, kind in enumerate(kinds):
            draft.stages.append(pr.Stage(name=family.name, index=i if family.array else None, kind=kind))


def _kind(draft: Draft, family: StageFamily) -> pr.Fifo | pr.Ps:
    dice = draft.dice
    match family.role:
        case "desk":
            return pr.Fifo(servers=dice.choice((1, 1, 2, 3)))
        case "share":
            return pr.Ps(capacity=_capacity(draft))
        case "net":
            return pr.Ps(capacity=t.num(dice.quantity(2, 20, draft.integral)))
        case "disk":
            return dice.choice((pr.Fifo(servers=1), pr.Ps(capacity=t.ctx("N")), pr.Ps(capacity=t.num(2))))
        case "tool":
            return dice.weighted(
                {pr.Ps(capacity=t.ctx("N")): 4.0, pr.Fifo(servers=2): 1.0, pr.Ps(capacity=t.num(1)): 1.0}
            )
        case _:
            return pr.Ps(capacity=t.ctx("N"))


def _capacity(draft: Draft) -> ex.Expr:
    dice: Dice = draft.dice
    n = t.ctx("N")
    match dice.weighted({"constant": 2.0, "saturating": 2.0, "drawn": 1.5, "any": 1.5, "stalling": 0.2}):
        case "constant":
            return t.num(dice.choice((0.5, 1.0, 2.0, 3.0)))
        case "saturating":
            return t.div(t.mul(t.num(dice.choice((1.5, 2.0, 4.0))), n), t.add(n, t.num(1)))
        case "drawn":
            return t.add(t.num(0.2), gen.sample(dice, 1.0))
        case "stalling":
            return ex.Cond(test=t.binary("Gt", n, t.num(3)), then=t.num(0), other=t.num(1))
        case _:
            return gen.amount(draft, gen.Scope(Moment.PS), 0.1, 4.0)
