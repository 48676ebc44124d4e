"""Runs, as `lean/Serq/Model/Run.lean` has them: to a horizon, and what is read off the machine that leaves."""

from __future__ import annotations

from dataclasses import replace

from serq.generators.machine.events import start, step
from serq.generators.machine.lists import nth
from serq.generators.machine.state import Fault, Iteration, Machine
from serq.generators.machine.statements import FUEL
from serq.generators.model import Translated
from serq.generators.outcomes import Iterated, Outcome
from serq.generators.recorded import RunStep


def next_time(machine: Machine) -> int | None:
    """The time of the next event; None when no event is left."""
    ends = [] if machine.running is None else [machine.running.until]
    return min([*ends, *(d.time for d in machine.state.delays[:1])], default=None)


def run_until(program: Translated, machine: Machine, horizon: int) -> Machine:
    """The machine after every event up to a horizon. Raises `Fault`, also after too many events."""
    for _ in range(FUEL):
        t = next_time(machine)
        after = step(program, machine) if t is not None and t <= horizon else None
        if after is None:
            return machine
        machine = after
    raise Fault("more events than a run may have")


def run(program: Translated, horizon: int) -> Machine:
    """The machine a program leaves at a horizon. Raises `Fault`."""
    return run_until(program, start(program), horizon)


def observed(machine: Machine, name: int) -> tuple[tuple[int, ...], ...]:
    """The values observed under a name, session by session, in order of time."""
    values: list[list[int]] = [[] for _ in machine.state.sessions]
    for o in reversed(machine.state.observations):
        if o.name == name:
            values[o.session].append(o.value)
    return tuple(map(tuple, values))


def steps(program: Translated, machine: Machine) -> tuple[RunStep, ...]:
    """The steps of a machine's log, in order of time; sessions that finished in the order they did."""
    memory = program.deployment.memory or 0
    return tuple(_step(memory, r) for r in reversed(machine.log))


def _step(memory: int, r: Iteration) -> RunStep:
    return RunStep(
        start=r.start,
        tokens=tuple((g.owner, g.tokens) for g in r.batch),
        admitted=r.admitted,
        resumed=r.resumed,
        preempted=r.preempted,
        finished=r.finished,
        allocated=nth(0, memory, r.allocated),
    )


def as_recorded(s: RunStep) -> RunStep:
    """A step in the form of a recording, which lists the finished requests by number."""
    return replace(s, finished=tuple(sorted(s.finished)))


def steps_within(program: Translated, first: int, end: int) -> tuple[RunStep, ...]:
    """The steps of a run that start within [first, end), with what ended by `end`. Raises `Fault`."""
    return tuple(s for s in steps(program, run(program, end)) if first <= s.start < end)


def outcome(program: Translated, machine: Machine) -> Outcome:
    """What is compared of a whole run that left this machine."""
    iterations = tuple(
        Iterated(r.start, tuple((g.owner, g.tokens) for g in r.batch), r.residents, r.preempted)
        for r in reversed(machine.log)
    )
    return Outcome(
        observed=tuple(observed(machine, name) for name in range(len(program.observes))),
        iterations=iterations,
        preemptions=machine.state.preemptions,
        pools=tuple((q.allocated, q.cached) for q in machine.state.pools),
    )
