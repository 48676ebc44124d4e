"""The machine, one event at a time, as `lean/Serq/Model/Machine.lean` has it.

The next event is the least by time and event number, and the instant settles after each. Where the Lean
state would be at fault, `Fault` is raised.
"""

from __future__ import annotations

from dataclasses import replace

from serq.generators.machine.code import code_of
from serq.generators.machine.engine import Plan, apply_batch, duration, first_queue, planned, record
from serq.generators.machine.holds import Setting
from serq.generators.machine.lists import assign_all
from serq.generators.machine.state import InDelay, Machine, Pool, Ready, Running, Session, State
from serq.generators.machine.statements import settle
from serq.generators.model import Client, Deployment, Translated
from serq.ir.depth import deep_recursion


def note_finished(m: Machine) -> Machine:
    """The finished sessions go on record with the latest iteration."""
    if not m.state.finished or not m.log:
        return m
    latest = replace(m.log[0], finished=m.log[0].finished + m.state.finished)
    return replace(m, state=replace(m.state, finished=()), log=(latest, *m.log[1:]))


def pending(m: Machine) -> bool:
    """Whether a delay ends at the present time."""
    return bool(m.state.delays) and m.state.delays[0].time <= m.now


def has_work(d: Deployment, m: Machine) -> bool:
    """Whether an iteration would have anyone to look at."""
    return bool(m.state.jobs) or first_queue(m.state, d) is not None


def begin(x: Setting, chunk: int, m: Machine, b: Plan) -> Machine:
    """Starts an iteration with a plan, if it comes to something: tokens, or a preemption."""
    state = b.state
    if not b.batch and not state.preempted:
        return replace(m, state=state)
    r = record(x, m.served, chunk, b)
    return Machine(
        state=replace(state, admitted=(), resumed=(), preempted=(), events=state.events + 1),
        now=m.now,
        running=Running(m.now + duration(x.deployment, r), state.events, b.batch),
        served=m.served + r.tokens,
        log=(r, *m.log),
    )


def try_begin(x: Setting, m: Machine) -> Machine:
    """Starts an iteration if the engine is idle and no event is pending at the present time."""
    if m.running is not None or pending(m) or not has_work(x.deployment, m):
        return m
    return begin(x, x.chunk(m.state), m, planned(x, m.state))


def after_event(program: Translated, m: Machine) -> Machine:
    """What follows every event."""
    x = Setting(program, m.now)
    with deep_recursion():
        return try_begin(x, note_finished(replace(m, state=settle(x, m.state))))


def end_delay(m: Machine) -> Machine:
    """The first delay ends: its session is ready, unless it was preempted meanwhile."""
    delay, more = m.state.delays[0], m.state.delays[1:]
    state = replace(m.state, delays=more)
    if state.session(delay.owner).status == InDelay(delay.time, delay.number):
        state = state.wake(delay.owner)
    return replace(m, now=delay.time, state=state)


def end_iteration(r: Running, m: Machine) -> Machine:
    """The running iteration ends."""
    return replace(m, now=r.until, running=None, state=apply_batch(r.batch, m.state))


def handle(m: Machine) -> Machine | None:
    """The machine after its next event, unsettled; None when no event is left."""
    r, delays = m.running, m.state.delays
    if r is None:
        return end_delay(m) if delays else None
    if delays and (delays[0].time, delays[0].number) < (r.until, r.number):
        return end_delay(m)
    return end_iteration(r, m)


def initial(program: Translated) -> Machine:
    """The machine before anything happened: every session ready, in order."""
    code = code_of(program.code)

    def session(c: Client) -> Session:
        return Session(attrs=assign_all(c.presets, ()), code=code, status=Ready())

    state = State(
        sessions=tuple(session(c) for c in program.clients),
        pools=tuple(Pool() for _ in program.deployment.pools),
        ready=tuple(range(len(program.clients))),
    )
    return Machine(state)


def start(program: Translated) -> Machine:
    """The machine after its first instant. Raises `Fault`."""
    return after_event(program, initial(program))


def step(program: Translated, machine: Machine) -> Machine | None:
    """The machine after one event and what follows it; None when no event is left. Raises `Fault`."""
    handled = handle(machine)
    return None if handled is None else after_event(program, handled)
