"""Holds, as `lean/Serq/Model/Hold.lean` has them: joining a queue, admission, release, the end of a session."""

from __future__ import annotations

from dataclasses import dataclass, replace

from serq.generators.machine import cache
from serq.generators.machine.cache import Amount
from serq.generators.machine.code import FINISH, Code, code_of
from serq.generators.machine.expressions import Env, evaluate, lasts, less, round_down, round_up
from serq.generators.machine.lists import assign, nth, without
from serq.generators.machine.state import (
    Ended,
    Fault,
    Frames,
    Header,
    HoldFrame,
    Job,
    Open,
    Queued,
    Ready,
    Share,
    State,
    own_size,
)
from serq.generators.model import Deployment, Hold, Lit, Need, PoolSpec, Term, Translated, Var

_NO_POOL = PoolSpec(0)
_NOTHING = Lit(0)


@dataclass(frozen=True)
class Setting:
    """What stays the same during an instant: the program, and the time."""

    program: Translated
    now: int

    @property
    def deployment(self) -> Deployment:
        """The pools and the engine."""
        return self.program.deployment

    def pool(self, p: int) -> PoolSpec:
        """A pool of the deployment."""
        return nth(_NO_POOL, p, self.deployment.pools)

    def block(self, p: int) -> int:
        """The size of a pool's block, at least 1."""
        return self.pool(p).block or 1

    def chunk(self, state: State) -> int:
        """The chunk cap as the state stands."""

        def read(variable: Var) -> int:
            match variable.name, variable.index:
                case "residents", _:
                    return len(state.jobs)
                case "queued", int(p):
                    return len(state.pool(p).queue)
            raise ValueError(f"a chunk does not read {variable}")

        return evaluate(self.deployment.chunk, read)

    def spare(self, state: State) -> int:
        """The tokens an iteration planned now would leave."""
        chunk = self.chunk(state)
        return less(self.deployment.budget, sum(want(chunk, j) for j in state.jobs))

    def env(self, state: State, i: int, left: int | None = None) -> Env:
        """A session's environment; `left` is the budget its admission is offered, where one is."""
        session = state.session(i)
        return Env(
            attrs=session.attrs,
            serial=i,
            cached=session.cached,
            now=self.now,
            cached_in=lambda p: round_down(self.block(p), own_size(i, state.pool(p).entries)),
            budget_left=lambda: self.spare(state) if left is None else left,
        )


def want(chunk: int, job: Job) -> int:
    """The tokens a resident could take: 1 for a decode, its work up to the chunk cap for a prefill."""
    if job.decode:
        return min(job.work, 1)
    return min(job.work, chunk) if chunk else job.work


def set_attr(state: State, i: int, slot: int, value: int) -> State:
    """The state with an attribute of a session set."""
    session = state.session(i)
    return state.set_session(i, replace(session, attrs=assign(value, slot, session.attrs)))


def header_of(hold: Hold) -> Header:
    """The clauses of a hold statement."""
    return Header(hold.needs, hold.reuse, hold.cache)


def hold_of(open_hold: Open) -> Hold:
    """The statement of an open hold."""
    h = open_hold.header
    return Hold(h.needs, open_hold.body.block, h.reuse, h.cache)


# Release


def kept(block: int, wanted: int, computed: int) -> int:
    """What a release keeps of a prefix: what it wants of what is computed, in whole blocks."""
    return round_down(block, min(wanted, computed))


def give_back(x: Setting, i: int, wanted: Term | None, share: Share, computed: int, state: State) -> State:
    """One pool of a hold is given back; `computed` is how much of a prefix it can keep."""
    units = 0 if wanted is None else kept(x.block(share.pool), x.env(state, i).at(wanted), computed)
    pool = cache.give_back(state.pool(share.pool), i, share.units, units, x.now, state.releases)
    return replace(state.set_pool(share.pool, pool), releases=state.releases + int(units > 0))


def release(x: Setting, i: int, hold: Open, positional: bool, state: State) -> State:
    """A hold that is no longer on its session's stack is released, its pools in order."""
    for share in hold.shares:
        computed = share.position if positional or hold.advanced else share.units
        state = give_back(x, i, hold.header.cache, share, computed, state)
    return state


def set_frames(i: int, frames: Frames, state: State) -> State:
    """The state with another stack for a session."""
    return state.set_session(i, replace(state.session(i), frames=frames))


def release_all(x: Setting, i: int, frames: Frames, state: State) -> State:
    """Every hold of a stack is released, the innermost first, and the stack is empty."""
    for k, frame in enumerate(frames):
        state = set_frames(i, frames[k + 1 :], state)
        if isinstance(frame, HoldFrame):
            state = release(x, i, frame.open, False, state)
    return state


def end_session(x: Setting, i: int, state: State) -> State:
    """The session ends: its holds are released."""
    state = release_all(x, i, state.session(i).frames, state)
    return state.set_session(i, replace(state.session(i), code=FINISH, frames=(), status=Ended()))


# Queues


def never_fits(x: Setting, env: Env, need: Need) -> bool:
    """Whether a need is above the capacity whatever happens: such a request is refused."""
    amounts = (need.units, need.reserve or _NOTHING)
    most = max(env.at(a) if lasts(a) else 0 for a in amounts)
    return x.pool(need.pool).cap < round_up(x.block(need.pool), most)


def twice(needs: tuple[Need, ...]) -> bool:
    """Whether two needs of a hold name one pool."""
    return len({n.pool for n in needs}) < len(needs)


def join(x: Setting, i: int, header: Header, front: bool, state: State) -> State:
    """The session, at a hold, joins the queue of its first pool, or is refused, and ends."""
    if not header.needs or twice(header.needs):
        raise Fault("a hold of no pool, or of one pool twice")
    env = x.env(state, i)
    if any(never_fits(x, env, n) for n in header.needs):
        return end_session(x, i, state)
    p = header.needs[0].pool
    pool = state.pool(p)
    queue = (i, *pool.queue) if front else (*pool.queue, i)
    waiting = replace(state.session(i), status=Queued(p, front))
    return state.set_session(i, waiting).set_pool(p, replace(pool, queue=queue))


def selected(x: Setting, p: int, left: int | None, state: State) -> int | None:
    """The session a pool tries next: in front if it was preempted or there is no key, else of least key."""
    queue, key = state.pool(p).queue, x.pool(p).key
    if not queue:
        return None
    match state.session(queue[0]).status:
        case Queued(resumed=True):
            return queue[0]
    if key is None:
        return queue[0]
    keys = [x.env(state, i, left).at(key) for i in queue]
    return queue[keys.index(min(keys))]


# Admission


@dataclass(frozen=True)
class Demand:
    """What a need comes to: the units to allocate and the units that must fit, in whole blocks."""

    pool: int
    units: int
    required: int


def demand(x: Setting, env: Env, need: Need) -> Demand:
    """The value of a need."""
    units, reserve, block = env.at(need.units), env.at(need.reserve or _NOTHING), x.block(need.pool)
    return Demand(need.pool, round_up(block, units), round_up(block, max(units, reserve)))


def fits(x: Setting, state: State, d: Demand) -> bool:
    """Whether a demand fits next to what is allocated; cached units never block."""
    return state.pool(d.pool).allocated + d.required <= x.pool(d.pool).cap


def enter(x: Setting, i: int, hold: Hold, after: Code, env: Env, state: State) -> State:
    """Admits a session at its hold; what it takes and consumes is of the environment before."""
    bound = None if hold.reuse is None else env.at(hold.reuse)

    def amount(p: int) -> Amount | None:
        return None if hold.cache is None else lambda size: cache.consumed(x.block(p), bound, size)

    admissions, shares = state.admissions, []
    for d in [demand(x, env, n) for n in hold.needs]:
        cap, block = x.pool(d.pool).cap, x.block(d.pool)
        position, pool = cache.take(state.pool(d.pool), cap, block, i, d.units, amount(d.pool))
        state = state.set_pool(d.pool, pool)
        shares.append(Share(d.pool, d.units, position))
    session, body = state.session(i), code_of(hold.body)
    resumed = isinstance(session.status, Queued) and session.status.resumed
    entered = replace(
        session,
        cached=max((s.position for s in shares), default=0),
        code=body,
        frames=(HoldFrame(Open(header_of(hold), body, tuple(shares)), after), *session.frames),
        status=Ready(),
        admission=admissions,
    )
    return replace(
        state.set_session(i, entered),
        ready=(*state.ready, i),
        admissions=admissions + 1,
        admitted=(*state.admitted, i),
        resumed=(*state.resumed, i) if resumed else state.resumed,
    )


def try_head(x: Setting, p: int, left: int | None, state: State) -> State | None:
    """Admits the session selected at a pool; None if there is none or its hold does not fit."""
    i = selected(x, p, left, state)
    if i is None:
        return None
    code = state.session(i).code
    hold = code.statements[0] if code.statements else None
    if not isinstance(hold, Hold):
        return None
    env = x.env(state, i, left)
    if twice(hold.needs) or not all(fits(x, state, demand(x, env, n)) for n in hold.needs):
        return None
    pool = state.pool(p)
    shorter = state.set_pool(p, replace(pool, queue=without(i, pool.queue)))
    return enter(x, i, hold, code.after, env, shorter)
