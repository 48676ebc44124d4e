"""What vLLM does and a program cannot say: numbered, with the reason and how it is recognised.

Scenarios of a declared difference are run all the same; the comparison counts those in
which it shows, and fails when a declared difference shows in none (`serq oracle`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from serq.oracle.recorded import Trace
from serq.oracle.scenario import Scenario, chains


@dataclass(frozen=True)
class Declared:
    """A declared difference; `applies` says whether a recorded scenario may show it."""

    number: int
    reason: str
    applies: Callable[[Scenario, Trace], bool]


def _shares(scenario: Scenario, trace: Trace) -> bool:
    return scenario.prefix_caching and chains(scenario) is None


def _takes_chunks_back(scenario: Scenario, trace: Trace) -> bool:
    return scenario.prefix_caching and scenario.policy == "priority"


def _turns_overlap(scenario: Scenario, trace: Trace) -> bool:
    ended = {r: s.step for s in trace.steps for r in s.finished}
    turns = chains(scenario) if scenario.prefix_caching else None
    return any(
        ended.get(before, len(trace.steps)) >= scenario.requests[later].arrive
        for chain in turns or ()
        for before, later in pairwise(chain)
    )


def _loads(scenario: Scenario, trace: Trace) -> bool:
    return any(r.load is not None for r in scenario.requests)


def _steps_in_flight(scenario: Scenario, trace: Trace) -> bool:
    return scenario.in_flight > 1


def _aborts(scenario: Scenario, trace: Trace) -> bool:
    return any(r.abort is not None for r in scenario.requests)


DECLARED = (
    Declared(
        1,
        "prompts shared between requests: a program's cached prefix is its session's own",
        _shares,
    ),
    Declared(
        2,
        "the priority policy caches the full blocks of a chunk it takes back from a victim; "
        "a program caches what was computed",
        _takes_chunks_back,
    ),
    Declared(
        3,
        "a turn that arrives before the turn it continues has ended: a session has one turn at a time",
        _turns_overlap,
    ),
    Declared(
        4,
        "blocks that a request holds while a connector loads them and it waits: "
        "a program's request holds memory from its admission on",
        _loads,
    ),
    Declared(
        5,
        "frees that wait for a step in flight: a program's step has ended before the next is planned, "
        "and what it preempts is free at once",
        _steps_in_flight,
    ),
    Declared(
        6,
        "a client that goes away: a program's session ends where the program says",
        _aborts,
    ),
)


def declared_difference(scenario: Scenario, trace: Trace) -> Declared | None:
    """The first declared difference a recorded scenario falls under, None when a program covers it."""
    return next((d for d in DECLARED if d.applies(scenario, trace)), None)
