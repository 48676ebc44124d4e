"""Recorded scenarios as recordings that the Lean generators state theorems about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.generators.model import Translated
from serq.generators.recorded import Published, Recording, RunStep
from serq.generators.translate import translate
from serq.ir.program import Program
from serq.oracle.differences import declared_difference
from serq.oracle.recorded import Step, Trace, read_trace, recorded_scenarios, traces_of
from serq.oracle.request import program_of, sessions_of
from serq.oracle.scenario import Scenario, read_scenario

PUBLISHED = "_published_"


def plain_program(scenario: Scenario, trace: Trace) -> Program:
    """The program of a scenario in the form that the model reads, up to the end of its recording."""
    return program_of(scenario, float(len(trace.steps)), trace.version, plain=True)


def covered_recordings() -> Iterator[tuple[Scenario, Trace]]:
    """Every scenario that ships with serq and that a program covers, with its latest recording."""
    for path in recorded_scenarios():
        scenario, traces = read_scenario(path), traces_of(path)
        if traces:
            trace = read_trace(traces[0])
            if declared_difference(scenario, trace) is None:
                yield scenario, trace


def translated(scenario: Scenario, trace: Trace) -> Translated:
    """A scenario's program as terms of the model; raises `SerqError` outside the fragment."""
    return translate(plain_program(scenario, trace))


def recording_of(scenario: Scenario, trace: Trace) -> Recording:
    """A recorded trace with sessions in place of requests, as the model numbers them."""
    session = {r: i for i, chain in enumerate(sessions_of(scenario)) for r in chain}
    steps = tuple(run_step(scenario, s, session) for s in trace.steps if not s.empty)
    published = _published(scenario, trace) if PUBLISHED in f"_{scenario.name}" else None
    source = f"the scenario {scenario.name} and what vLLM {trace.version} was recorded to do"
    sessions = len(sessions_of(scenario))
    return Recording(scenario.name, source, sessions, len(trace.steps), steps, published)


def run_step(scenario: Scenario, s: Step, session: Mapping[int, int]) -> RunStep:
    """A recorded step as the model states it."""
    came = {*s.admitted, *s.resumed}
    # A scheduler appends whom it admits to the requests it runs.
    admitted = [r for r in s.running if r in came]
    return RunStep(
        start=s.step,
        tokens=tuple((session[r], n) for r, n in s.scheduled),
        admitted=tuple(session[r] for r in admitted),
        resumed=tuple(session[r] for r in admitted if r in s.resumed),
        preempted=tuple(session[r] for r in s.preempted),
        finished=tuple(sorted(session[r] for r in s.finished)),
        allocated=(scenario.usable_blocks - s.free) * scenario.block_size,
    )


def _published(scenario: Scenario, trace: Trace) -> Published | None:
    """First and last token steps as recorded: the ends of the steps that gave them; for single turns."""
    chains = sessions_of(scenario)
    if any(len(chain) > 1 for chain in chains):
        return None
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    computed: dict[int, int] = {}
    for s in trace.steps:
        for r in s.preempted:
            computed[r] = 0
        for r, n in s.scheduled:
            computed[r] = computed.get(r, 0) + n
            if computed[r] >= scenario.requests[r].prompt:
                first.setdefault(r, s.step + 1)
        for r in s.finished:
            last[r] = s.step + 1
    return Published(
        tuple((first[c[0]],) if c[0] in first else () for c in chains),
        tuple((last[c[0]],) if c[0] in last else () for c in chains),
        sum(len(s.preempted) for s in trace.steps),
    )


def read_recording(path: Path) -> tuple[Scenario, Trace]:
    """A scenario file with its latest recording; raises `SerqError`, SQ903 without one."""
    scenario, traces = read_scenario(path), traces_of(path)
    if not traces:
        message = f"no recorded trace stands beside {path.name}"
        hint = f"record it as {scenario.name}.trace.json"
        raise SerqError(Diagnostic("SQ903", message, Place(str(path)), hint=hint))
    return scenario, read_trace(traces[0])
