"""The step-by-step comparison: what counts as equal is a list of named modes, applied in one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.oracle.differences import DECLARED, Declared, declared_difference
from serq.oracle.observer import observe_steps
from serq.oracle.recorded import Step, Trace, read_trace, traces_of
from serq.oracle.request import program_of, sessions_of
from serq.oracle.scenario import Scenario, read_scenario

# Each mode is what two steps must agree on, and how it is read off a step.
MODES: dict[str, Callable[[Step], Any]] = {
    "scheduled tokens": lambda s: s.scheduled,
    "admitted": lambda s: s.admitted,
    "resumed": lambda s: s.resumed,
    "preempted": lambda s: s.preempted,
    "preempted for": lambda s: s.preempted_for,
    "prefix hits": lambda s: s.hits,
    "running order": lambda s: s.running,
    "waiting order": lambda s: s.waiting,
    "free blocks": lambda s: s.free,
    "finished": lambda s: tuple(sorted(s.finished)),
    "running at the end": lambda s: s.running_end,
    "free blocks at the end": lambda s: s.free_end,
}

# What decides each of them in the program, for the side-by-side of a difference.
RULES: dict[str, str] = {
    "scheduled tokens": "advance running in its order: 1 to a decode, up to the cap to a prefill, within the budget",
    "admitted": "admit waiting: the queue's head, when its units and reserve fit and nobody was preempted",
    "resumed": "admit waiting: a preempted hold is executed again, at the head of its queue",
    "preempted": "a growth that does not fit takes the candidate with the least `preempt by` keys",
    "preempted for": "the request whose growth did not fit",
    "prefix hits": "reuse: the session's own cached full blocks, all but the last known token",
    "running order": "residents in the order of their latest admission",
    "waiting order": "the pool's queue: its keys, then the order of joining",
    "free blocks": "the capacity less what holds have allocated, in whole blocks",
    "finished": "a hold ends when its decode run has no work left",
    "running at the end": "residents once the step's tokens are applied",
    "free blocks at the end": "what the holds that ended gave back",
    "the step itself": "an iteration that schedules nothing and preempts nobody is none",
}


@dataclass(frozen=True)
class Difference:
    """The first step at which two sides differ: in which mode, and what each side has."""

    step: int
    mode: str
    recorded: Any
    program: Any
    recorded_step: Step | None
    program_step: Step | None


@dataclass(frozen=True)
class Outcome:
    """What the comparison of one recording found.

    `declared` is the number of the declared difference it falls under, if any; `difference`
    is then the first step at which it shows.
    """

    name: str
    status: str  # agrees | differs | not covered
    version: str
    steps: int
    tokens: int
    preemptions: int
    difference: Difference | None
    recorded: tuple[Step, ...]
    program: tuple[Step, ...]
    declared: int | None = None
    reason: str | None = None


def first_difference(recorded: list[Step], program: list[Step]) -> Difference | None:
    """Compare step by step; a step in which a scheduler did nothing has no counterpart."""
    ours = {s.step: s for s in program}
    for step in recorded:
        mine = ours.pop(step.step, None)
        if mine is None:
            if not step.empty:
                return Difference(step.step, "the step itself", "scheduled", "nothing", step, None)
            continue
        for mode, read in MODES.items():
            if read(step) != read(mine):
                return Difference(step.step, mode, read(step), read(mine), step, mine)
    for number in sorted(ours):
        return Difference(number, "the step itself", "nothing", "scheduled", None, ours[number])
    return None


def compare(scenario: Scenario, trace: Trace) -> Outcome:
    """Run a scenario's program and compare it with the recorded trace at every step."""
    declared = declared_difference(scenario, trace)
    recorded = list(trace.steps)
    program = program_of(scenario, float(len(recorded) + 1), trace.version)
    steps, _ = observe_steps(program, sessions_of(scenario))
    # A scheduler that hangs was recorded for a few empty steps only.
    steps = [s for s in steps if s.step < len(recorded)]
    difference = first_difference(recorded, steps)
    status = "agrees" if difference is None else "differs"
    return Outcome(
        name=scenario.name,
        status=status if declared is None else "not covered",
        version=trace.version,
        steps=len(recorded),
        tokens=sum(n for s in recorded for _, n in s.scheduled),
        preemptions=sum(len(s.preempted) for s in recorded),
        difference=difference,
        recorded=tuple(recorded),
        program=tuple(steps),
        declared=None if declared is None else declared.number,
        reason=None if declared is None else declared.reason,
    )


def vanished(outcomes: Sequence[Outcome]) -> list[Declared]:
    """Declared differences that some outcomes fall under and none shows: they have to go."""
    under = {o.declared for o in outcomes}
    shown = {o.declared for o in outcomes if o.difference is not None}
    return [d for d in DECLARED if d.number in under - shown]


def compare_file(path: Path) -> list[Outcome]:
    """Compare a scenario file with every trace recorded of it, the latest version first.

    Raises `SerqError` for files that cannot be read, and SQ903 when there is no trace.
    """
    scenario = read_scenario(path)
    traces = traces_of(path)
    if not traces:
        raise SerqError(
            Diagnostic(
                "SQ903",
                f"no recorded trace stands beside {path.name}",
                Place(str(path)),
                hint=f"record it as {scenario.name}.trace.json",
            )
        )
    return [compare(scenario, read_trace(trace)) for trace in traces]
