"""The step-by-step comparison: what counts as equal is a list of named modes, applied in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serq.oracle.observer import observe_steps
from serq.oracle.recorded import Step, Trace, read_trace, trace_path
from serq.oracle.request import program_of
from serq.oracle.scenario import Scenario, not_covered, read_scenario

# Each mode is what two steps must agree on, and how it is read off a step.
MODES: dict[str, Callable[[Step], Any]] = {
    "scheduled tokens": lambda s: s.scheduled,
    "admitted": lambda s: s.admitted,
    "resumed": lambda s: s.resumed,
    "preempted": lambda s: s.preempted,
    "preempted for": lambda s: s.preempted_for,
    "running order": lambda s: s.running,
    "waiting order": lambda s: s.waiting,
    "free blocks": lambda s: s.free,
    "finished": lambda s: tuple(sorted(s.finished)),
    "running at the end": lambda s: s.running_end,
    "free blocks at the end": lambda s: s.free_end,
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
    """What the comparison of one scenario found. `reason` says why it is not covered."""

    name: str
    status: str  # agrees | differs | not covered
    steps: int = 0
    tokens: int = 0
    preemptions: int = 0
    recorder: str = ""
    difference: Difference | None = None
    reason: str | None = None
    recorded: tuple[Step, ...] = ()
    program: tuple[Step, ...] = ()


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
    reason = not_covered(scenario)
    recorded = list(trace.steps)
    if reason is not None:
        return Outcome(scenario.name, "not covered", len(recorded), recorder=trace.recorder, reason=reason)
    horizon = float(len(recorded) + 1)
    program, _ = observe_steps(program_of(scenario, horizon))
    # A scheduler that hangs was recorded for a few empty steps only.
    program = [s for s in program if s.step < len(recorded)]
    difference = first_difference(recorded, program)
    return Outcome(
        scenario.name,
        "agrees" if difference is None else "differs",
        len(recorded),
        sum(n for s in recorded for _, n in s.scheduled),
        sum(len(s.preempted) for s in recorded),
        trace.recorder,
        difference,
        recorded=tuple(recorded),
        program=tuple(program),
    )


def compare_file(path: Path) -> Outcome:
    """Compare a scenario file with the trace beside it; raises `SerqError` for unreadable files."""
    from serq.diagnostics import Diagnostic, Place, SerqError

    scenario = read_scenario(path)
    trace = trace_path(path)
    if trace is None:
        raise SerqError(
            Diagnostic(
                "SQ903",
                f"no recorded trace stands beside {path.name}",
                Place(str(path)),
                hint=f"record it as {scenario.name}.trace.json",
            )
        )
    return compare(scenario, read_trace(trace))
