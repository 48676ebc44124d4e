"""How an iteration is planned (interp.md §11.2–11.4): the default procedure, exclusive prefill, a body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from serq.sim.engine import Engine, Plan, ReadContext
from serq.sim.errors import Stop
from serq.sim.numeric import EPS, INF, floor
from serq.sim.records import GROWING, READY, Context, Job, Session

if TYPE_CHECKING:
    pass

Keys = Callable[[Session, Context], tuple[int, ...]]
Predicate = Callable[[Session, Context], float]

SKIPPED, GAVE, REFUSED, SELF = range(4)


@dataclass(slots=True)
class Item:
    """A statement of an iteration body, compiled."""

    kind: str
    only: Predicate | None = None
    by: Keys | None = None
    gate: ReadContext | None = None
    then: list[Item] = field(default_factory=list)
    other: list[Item] = field(default_factory=list)
    register: int = -1
    value: ReadContext | None = None


def run_plan(e: Engine, plan: Plan) -> None:
    """Plan an iteration by the engine's procedure."""
    if e.reads.body is not None:
        _run_items(e, plan, e.reads.body)
    elif e.reads.exclusive:
        _exclusive(e, plan)
    elif e.reads.keys is None:
        _default_in_admission_order(e, plan)
    else:
        _default(e, plan)


# The default procedure


def _default(e: Engine, plan: Plan) -> None:
    order: list[Job] = []
    version = -1
    while True:
        if e.reads.keys_move or version != e.version:
            order, version = _ordered(e, e.reads.keys), e.version
        job = next((j for j in order if j.served != plan.number), None)
        if job is not None:
            job.served = plan.number
            outcome = _give(e, plan, job, plan.left)
            if outcome == SELF or (outcome == GAVE and plan.left <= 0.0):
                return
        elif not _admit_next(e, plan):
            return


def _default_in_admission_order(e: Engine, plan: Plan) -> None:
    """The default procedure without keys: the residents list is the order."""
    at = 0
    version = e.version
    residents = e.residents
    number = plan.number
    while True:
        if version != e.version:
            at, version = 0, e.version
        if at < len(residents):
            job = residents[at]
            at += 1
            if job.served == number:
                continue
            job.served = number
            outcome = _give(e, plan, job, plan.left)
            if outcome == SELF or (outcome == GAVE and plan.left <= 0.0):
                return
        elif not _admit_next(e, plan):
            return


def _admit_next(e: Engine, plan: Plan) -> bool:
    if plan.left <= 0.0 or plan.preempted or plan.refused:
        return False
    return _admit_one(e, plan, plan.left)


# Exclusive prefill


def _exclusive(e: Engine, plan: Plan) -> None:
    prefilling = any(not job.decode for job in e.residents)
    while True:
        job = next((j for j in e.residents if j.served != plan.number), None)
        if job is None:
            if plan.budget <= 0.0 or plan.preempted or plan.refused:
                return
            if not _admit_one(e, plan, plan.budget):
                return
            continue
        job.served = plan.number
        if job.decode and prefilling:
            continue
        outcome = _give(e, plan, job, plan.left if job.decode else plan.budget)
        if outcome == GAVE and not job.decode:
            # A prefill runs alone; what the displaced decodes allocated stays.
            chosen = plan.assigned[-1]
            plan.assigned = [chosen]
            plan.left = plan.budget - chosen[1]
            return
        if outcome == SELF or (outcome == GAVE and plan.left <= 0.0):
            return


# An iteration body


def _run_items(e: Engine, plan: Plan, items: list[Item]) -> None:
    for item in items:
        if item.kind == "Serve":
            _serve(e, plan, item)
        elif item.kind == "Admit":
            _admit(e, plan, item)
        elif item.kind == "Branch":
            assert item.gate is not None
            taken = _guard(item.gate(_plan_context(e, plan)), "a schedule's branch")
            _run_items(e, plan, item.then if taken else item.other)
        else:
            assert item.value is not None
            value = item.value(_plan_context(e, plan))
            if value - value != 0.0:
                name = e.m.program.registers[item.register].name
                raise Stop("SQ808", f"register `{name}` would become {value}", hint="keep a register finite")
            e.m.registers[item.register] = value


def _guard(value: float, what: str) -> bool:
    if value not in (0.0, 1.0):
        raise Stop(
            "SQ801", f"{what} evaluates to {value:g}, not 0 or 1", hint="write a test, such as `x > 0`"
        )
    return value == 1.0


def _serve(e: Engine, plan: Plan, item: Item) -> None:
    passed: set[int] = set()
    while plan.left > 0.0:
        order = _ordered(e, item.by or e.reads.keys)
        job = next((j for j in order if j.served != plan.number and j.number not in passed), None)
        if job is None:
            return
        if item.only is not None and not _includes(e, item.only, job):
            passed.add(job.number)
            continue
        job.served = plan.number
        if _give(e, plan, job, plan.left) == SELF:
            return


def _admit(e: Engine, plan: Plan, item: Item) -> None:
    while plan.left > 0.0 and not plan.refused:
        if item.gate is not None and not _guard(item.gate(_plan_context(e, plan)), "an admission's `while`"):
            return
        before = {job.number for job in e.residents}
        if not _admit_one(e, plan, plan.left):
            return
        plan.admitted += 1
        for job in _ordered(e, e.reads.keys):
            if job.number in before or job.served == plan.number or not job.alive:
                continue
            if plan.left <= 0.0:
                return
            if item.only is not None and not _includes(e, item.only, job):
                continue
            job.served = plan.number
            if _give(e, plan, job, plan.left) in (SELF, REFUSED):
                return


def _plan_context(e: Engine, plan: Plan) -> Context:
    c = e.fill_totals()
    tokens = prefilled = -0.0
    for job, n in plan.assigned:
        tokens += n
        if not job.decode:
            prefilled += n
    c.Ntok, c.Npre = tokens, prefilled
    c.Admitted, c.Preempted = float(plan.admitted), float(plan.preempted)
    return c


# Orders and predicates over residents


def _describe(c: Context, job: Job) -> None:
    assert job.session is not None
    c.Decoding = 1.0 if job.decode else 0.0
    c.Admission = float(job.session.admission)
    c.Remaining = job.work


def _ordered(e: Engine, keys: Keys | None) -> list[Job]:
    if keys is None:
        return list(e.residents)
    c = e.fill_totals()

    def key(job: Job) -> tuple[int, ...]:
        _describe(c, job)
        assert job.session is not None
        return keys(job.session, c)

    return sorted(e.residents, key=key)


def _includes(e: Engine, only: Predicate, job: Job) -> bool:
    c = e.fill_totals()
    _describe(c, job)
    assert job.session is not None
    return only(job.session, c) != 0.0


# Giving tokens, admitting


def _give(e: Engine, plan: Plan, job: Job, available: float) -> int:
    """Give a resident what it can take of the budget (interp.md §11.3)."""
    work = job.work
    if job.decode:
        tokens = work if work < 1.0 else 1.0
    else:
        tokens = plan.chunk if 0.0 < plan.chunk < work else work
    if available < tokens:
        tokens = available
    granule = e.reads.granule
    if granule is not None and not job.decode and tokens < work:
        tokens = 0.0 if granule == INF else floor(tokens / granule) * granule
        if tokens <= 0.0:
            plan.refused = True
            return REFUSED
    if tokens <= 0.0:
        return SKIPPED
    member = job.member
    if member is not None:
        s = job.session
        assert s is not None
        if s.status == GROWING:
            return SKIPPED
        need = member.position + tokens - member.alloc
        if need > EPS:
            grew = e.m.growth.grow(s, member.pool, member, need)
            _drop_gone(plan)
            if not grew:
                return SKIPPED if s.status == GROWING else SELF
        if not job.decode:
            plan.attention[job.number] = tokens * (member.position + tokens / 2.0)
    elif not job.decode:
        plan.attention[job.number] = tokens * tokens / 2.0
    plan.assigned.append((job, tokens))
    plan.left -= tokens
    return GAVE


def _drop_gone(plan: Plan) -> None:
    if plan.preempted:
        gone = [a for a in plan.assigned if not a[0].alive]
        if gone:
            plan.assigned = [a for a in plan.assigned if a[0].alive]
            for _, tokens in gone:
                plan.left += tokens


def _admit_one(e: Engine, plan: Plan, offered: float) -> bool:
    """Admit the first head that waits, or nobody when it does not fit (interp.md §11.4)."""
    m = e.m
    for pool in e.admits:
        if not pool.waiting:
            continue
        e.offered = offered
        try:
            admitted = pool.try_head()
        finally:
            e.offered = None
        if not admitted:
            return False
        plan.anyone = True
        ready = m.ready
        while ready:
            s = ready.popleft()
            if s.status == READY:
                m.run_session(s)
        return True
    return False
