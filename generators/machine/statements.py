"""Statements and settling, as `lean/Serq/Model/Statements.lean` has them.

One statement of a session, a session's run until it blocks, and the settling of an instant.
"""

from __future__ import annotations

from dataclasses import replace

from serq.generators.machine.code import Code, code_of
from serq.generators.machine.holds import (
    Setting,
    end_session,
    header_of,
    join,
    release,
    set_attr,
    try_head,
)
from serq.generators.machine.lists import assign, assign_all, nth
from serq.generators.machine.state import (
    Again,
    AtEngine,
    Delay,
    Fault,
    Frames,
    Header,
    HoldFrame,
    InDelay,
    Job,
    Loop,
    Observation,
    Open,
    Ready,
    Rest,
    Session,
    State,
)
from serq.generators.model import (
    Assign,
    Choice,
    Client,
    Finish,
    Forever,
    Hold,
    NextTurn,
    Repeat,
    See,
    Statement,
    Values,
    Work,
)

FUEL = 100_000
_NO_TURNS = Client()
Went = tuple[State, bool]


def admit_pool(x: Setting, p: int, state: State) -> State:
    """Admits at a pool until the session tried does not fit."""
    for _ in range(FUEL):
        admitted = try_head(x, p, None, state)
        if admitted is None:
            return state
        state = admitted
    raise Fault("a pool admits without end")


def admit_all(x: Setting, state: State) -> State:
    """Admits at every pool the engine does not serve, in declaration order."""
    for p, spec in enumerate(x.deployment.pools):
        if not spec.by_engine:
            state = admit_pool(x, p, state)
    return state


def insert_job(state: State, admission: int | None, job: Job) -> tuple[Job, ...]:
    """The residents with a job after every one whose owner was not admitted later than its own."""
    jobs = state.jobs
    later = (k for k, j in enumerate(jobs) if not state.session(j.owner).before(admission))
    at = next(later, len(jobs))
    return (*jobs[:at], job, *jobs[at:])


def insert_delay(delay: Delay, delays: tuple[Delay, ...]) -> tuple[Delay, ...]:
    """The delays with one after every one that ends no later."""
    at = next((k for k, d in enumerate(delays) if d.time > delay.time), len(delays))
    return (*delays[:at], delay, *delays[at:])


def take_turn(x: Setting, i: int, state: State) -> State:
    """The session takes its next turn."""
    slots = x.program.slots
    state = set_attr(state, i, slots.turn, nth(0, slots.turn, state.session(i).attrs) + 1)
    turns = nth(_NO_TURNS, i, x.program.clients).turns
    if not turns:
        return state
    s = state.session(i)
    if s.turn >= len(turns):
        return set_attr(state, i, slots.more, 0)
    state = state.set_session(i, _with_turn(s, turns[s.turn]))
    return set_attr(state, i, slots.more, int(s.turn + 1 < len(turns)))


def _with_turn(s: Session, values: Values) -> Session:
    return replace(s, attrs=assign_all(values, s.attrs), turn=s.turn + 1)


def start_run(x: Setting, i: int, run: Work, work: int, after: Code, state: State) -> State:
    """A run of some work: none completes at once and the session yields; else a delay or a resident."""
    s = replace(state.session(i), code=after)
    if work == 0:
        return replace(state.set_session(i, s), ready=(*state.ready, i))
    if run.place == "delay":
        until, number = x.now + work, state.events
        return replace(
            state.set_session(i, replace(s, status=InDelay(until, number))),
            delays=insert_delay(Delay(until, number, i), state.delays),
            events=number + 1,
        )
    job = Job(i, run.place == "decode", work, run.grows)
    return replace(
        state.set_session(i, replace(s, status=AtEngine())), jobs=insert_job(state, s.admission, job)
    )


def by_engine(x: Setting, header: Header) -> bool:
    """Whether the engine admits a hold."""
    return bool(header.needs) and x.pool(header.needs[0].pool).by_engine


def end_hold(x: Setting, i: int, hold: Open, after: Code, frames: Frames, state: State) -> State:
    """The end of a hold's body: it is released, `computed` becomes 0, the other pools serve their queues."""
    state = state.set_session(i, replace(state.session(i), code=after, frames=frames))
    state = set_attr(release(x, i, hold, False, state), i, x.program.slots.computed, 0)
    if by_engine(x, hold.header):
        state = replace(state, finished=(*state.finished, i))
    return admit_all(x, state)


def command(x: Setting, i: int, state: State) -> Went:
    """One statement of a session, or the end of a block; and whether the session goes on."""
    code = state.session(i).code
    if code.statements:
        return _statement(x, i, code.statements[0], code.after, state)
    if code.ends == "finish":
        return end_session(x, i, state), False
    return _block_ends(x, i, state)


def _statement(x: Setting, i: int, statement: Statement, after: Code, state: State) -> Went:
    s = state.session(i)
    match statement:
        case Assign(slot=slot, value=value):
            attrs = assign(x.env(state, i).at(value), slot, s.attrs)
            return state.set_session(i, replace(s, code=after, attrs=attrs)), True
        case See(name=name, value=value):
            seen = Observation(name, i, x.now, x.env(state, i).at(value))
            state = state.set_session(i, replace(s, code=after))
            return replace(state, observations=(seen, *state.observations)), True
        case NextTurn():
            return take_turn(x, i, state.set_session(i, replace(s, code=after))), True
        case Choice(test=test, yes=yes, no=no):
            side = code_of(yes if x.env(state, i).at(test) else no)
            return state.set_session(i, replace(s, code=side, frames=(Rest(after), *s.frames))), True
        case Forever(body=block):
            body = code_of(block)
            return state.set_session(i, replace(s, code=body, frames=(Loop(body), *s.frames))), True
        case Repeat(test=test, body=block):
            if not x.env(state, i).at(test):
                return state.set_session(i, replace(s, code=after)), True
            body = code_of(block)
            frames = (Again(test, body, after), *s.frames)
            return state.set_session(i, replace(s, code=body, frames=frames)), True
        case Work(work=work):
            return start_run(x, i, statement, x.env(state, i).at(work), after, state), False
        case Hold():
            return join(x, i, header_of(statement), False, state), False
        case Finish():
            return end_session(x, i, state), False


def _block_ends(x: Setting, i: int, state: State) -> Went:
    s = state.session(i)
    if not s.frames:
        return end_session(x, i, state), False
    frame, frames = s.frames[0], s.frames[1:]
    match frame:
        case Rest(next=after):
            return state.set_session(i, replace(s, code=after, frames=frames)), True
        case Loop(body=body):
            return state.set_session(i, replace(s, code=body)), True
        case Again(test=test, body=body, next=after):
            code = after.preceded(Repeat(test, body.block))
            return state.set_session(i, replace(s, code=code, frames=frames)), True
        case HoldFrame(open=hold, next=after):
            return end_hold(x, i, hold, after, frames, state), True


def execute(x: Setting, i: int, state: State) -> State:
    """Runs a session until it blocks."""
    for _ in range(FUEL):
        state, goes_on = command(x, i, state)
        if not goes_on:
            return state
    raise Fault("a session runs without end")


def drain(x: Setting, state: State) -> State:
    """Runs the ready sessions in order, and those they make ready."""
    for _ in range(FUEL):
        if not state.ready:
            return state
        i, more = state.ready[0], state.ready[1:]
        state = replace(state, ready=more)
        if isinstance(state.session(i).status, Ready):
            state = execute(x, i, state)
    raise Fault("sessions become ready without end")


def settle(x: Setting, state: State) -> State:
    """Runs the ready sessions and admits at the pools, until nobody is ready."""
    for _ in range(FUEL):
        state = admit_all(x, drain(x, state))
        if not state.ready:
            return state
    raise Fault("an instant does not settle")
