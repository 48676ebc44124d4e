"""Iterations, as `lean/Serq/Model/Engine.lean` has them.

The residents in serving order take what is left of the token budget, growing holders grow, and with
budget left the head of the engine's queue is admitted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from serq.generators.machine.expressions import evaluate, less
from serq.generators.machine.growth import grow, innermost
from serq.generators.machine.holds import Setting, try_head, want
from serq.generators.machine.lists import Naturals, count, nth
from serq.generators.machine.state import Fault, Frames, Grant, HoldFrame, Iteration, Job, State
from serq.generators.machine.statements import FUEL, drain
from serq.generators.model import Deployment, Var

# More than the number of any admission (interp.md §2).
NEVER_ADMITTED = 2**62

Batch = tuple[Grant, ...]


@dataclass(frozen=True)
class Plan:
    """An iteration being planned: `left` tokens are not given out yet, `had` are the residents served."""

    state: State
    left: int
    todo: tuple[Job, ...]
    batch: Batch = ()
    had: tuple[Job, ...] = ()

    @property
    def given(self) -> int:
        """The tokens given out."""
        return sum(g.tokens for g in self.batch)

    def give(self, job: Job, tokens: int, before: int) -> Plan:
        """A resident is given tokens."""
        granted = grant(job, tokens, before)
        return replace(self, batch=(*self.batch, granted), left=less(self.left, tokens))

    def after(self, state: State) -> Plan:
        """The plan in the state that growing a hold left: the tokens of whom it preempted are back."""
        if not state.preempted:
            return replace(self, state=state)
        kept = tuple(g for g in self.batch if is_resident(g.owner, state.jobs))
        back = less(self.given, sum(g.tokens for g in kept))
        return replace(self, state=state, batch=kept, left=self.left + back)

    def gone(self, job: Job) -> bool:
        """Whether a resident was preempted within the plan."""
        return bool(self.state.preempted) and not is_resident(job.owner, self.state.jobs)


def is_resident(i: int, jobs: tuple[Job, ...]) -> bool:
    """Whether a session is a resident."""
    return any(j.owner == i for j in jobs)


def new_jobs(had: tuple[Job, ...], jobs: tuple[Job, ...]) -> tuple[Job, ...]:
    """The jobs that are not among others; of equal ones the first are taken away."""
    left, found = Counter(had), []
    for job in jobs:
        if left[job]:
            left[job] -= 1
        else:
            found.append(job)
    return tuple(found)


def serves(x: Setting, state: State, job: Job) -> bool:
    """Whether an iteration may serve a resident."""
    only = x.deployment.only
    if only is None:
        return True
    owner = state.session(job.owner)

    def read(variable: Var) -> int:
        match variable.name, variable.index:
            case "residentAttr", int(slot):
                return nth(0, slot, owner.attrs)
            case "decoding", _:
                return int(job.decode)
            case "admission", _:
                return NEVER_ADMITTED if owner.admission is None else owner.admission
            case "remaining", _:
                return job.work
            case "residents", _:
                return len(state.jobs)
            case "decoders", _:
                return count(j.decode for j in state.jobs)
        raise ValueError(f"an iteration does not read {variable}")

    return evaluate(only, read) > 0


def grant(job: Job, tokens: int, before: int) -> Grant:
    """The tokens given to a resident, and twice their attention work after `before` tokens."""
    attention = 0 if job.decode else tokens * (2 * before + tokens)
    return Grant(job.owner, tokens, job.decode, attention)


def serve(x: Setting, chunk: int, job: Job, b: Plan) -> tuple[Plan, bool]:
    """A resident's turn. False when it preempted itself, which ends the plan."""
    tokens = min(want(chunk, job), b.left)
    if tokens == 0 or not serves(x, b.state, job):
        return b, True
    if not job.grows:
        return b.give(job, tokens, 0), True
    p = x.deployment.memory
    if p is None:
        raise Fault("a growing run without a memory")
    share = innermost(p, b.state.session(job.owner).frames)
    before = 0 if share is None else share.position
    state, grown = grow(x, job.owner, p, tokens, len(b.state.jobs) + 1, b.state)
    b = b.after(state)
    return (b.give(job, tokens, before), True) if grown else (b, False)


def first_queue(state: State, d: Deployment) -> int | None:
    """The first pool the engine serves with someone waiting."""
    served = (p for p, spec in enumerate(d.pools) if spec.by_engine)
    return next((p for p in served if state.pool(p).queue), None)


def admit_one(x: Setting, left: int, state: State) -> State | None:
    """Admits one session within an iteration and runs it; None unless the first queue's head fits."""
    p = first_queue(state, x.deployment)
    admitted = None if p is None else try_head(x, p, left, state)
    return None if admitted is None else drain(x, admitted)


def plan(x: Setting, chunk: int, b: Plan) -> Plan:
    """Each resident in order, then an admission while nobody was preempted, until the budget is used up."""
    for _ in range(FUEL):
        if b.left == 0:
            return b
        if b.todo:
            job = b.todo[0]
            b = replace(b, todo=b.todo[1:], had=(job, *b.had))
            if b.gone(job):
                continue
            b, goes_on = serve(x, chunk, job, b)
            if not goes_on:
                return b
        else:
            state = None if b.state.preempted else admit_one(x, b.left, b.state)
            if state is None:
                return b
            b = replace(b, state=state, todo=new_jobs(b.had, state.jobs))
    raise Fault("a plan without end")


def planned(x: Setting, state: State) -> Plan:
    """The plan of an iteration."""
    return plan(x, x.chunk(state), Plan(state, x.deployment.budget, state.jobs))


def held_in(p: int, frames: Frames) -> int:
    """The units of a pool in a stack of frames."""
    holds = (f.open for f in frames if isinstance(f, HoldFrame))
    return sum(s.units for h in holds for s in h.shares if s.pool == p)


def _memory(x: Setting, state: State, g: Grant) -> int:
    p = x.deployment.memory
    return held_in(p, state.session(g.owner).frames) if p is not None and g.decode else 0


def record(x: Setting, served: int, chunk: int, b: Plan) -> Iteration:
    """The record of an iteration that starts with a plan."""
    state = b.state
    return Iteration(
        start=x.now,
        served=served,
        batch=b.batch,
        tokens=b.given,
        prefilled=sum(g.tokens for g in b.batch if not g.decode),
        decoders=count(g.decode for g in b.batch),
        kv_decode=sum(_memory(x, state, g) for g in b.batch),
        attention=sum(g.attention for g in b.batch),
        residents=len(state.jobs),
        demand=sum(want(chunk, j) for j in state.jobs),
        # Translated workloads have no slot for arrival times: everyone has arrived.
        arrived=len(state.sessions),
        queued=tuple(len(q.queue) for q in state.pools),
        holders=tuple(len(q.holders) for q in state.pools),
        allocated=tuple(q.allocated for q in state.pools),
        cached=tuple(q.cached for q in state.pools),
        admitted=state.admitted,
        resumed=state.resumed,
        preempted=state.preempted,
    )


def duration(d: Deployment, r: Iteration) -> int:
    """The time of an iteration, at least 1."""
    values = {
        "tokens": r.tokens,
        "prefilled": r.prefilled,
        "decoders": r.decoders,
        "kvDecode": r.kv_decode,
        "attention": r.attention,
    }
    return evaluate(d.cost, lambda variable: values[variable.name]) or 1


def completed(jobs: tuple[Job, ...], batch: Batch) -> Naturals:
    """The owners in a batch whose jobs have no work left, in order."""
    done = {j.owner for j in jobs if j.work == 0}
    return tuple(g.owner for g in batch if g.owner in done)


def apply_batch(batch: Batch, state: State) -> State:
    """The end of an iteration: the residents have done their tokens; those that are done become ready."""
    tokens: Counter[int] = Counter()
    for g in batch:
        tokens[g.owner] += g.tokens
    jobs = tuple(replace(j, work=less(j.work, tokens[j.owner])) for j in state.jobs)
    state = replace(state, jobs=tuple(j for j in jobs if j.work))
    for i in completed(jobs, batch):
        state = state.wake(i)
    return state
