"""Fuzzing and shrinking without a vLLM environment: the recorder is played by our own program, made to err."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from serq.oracle import fuzz as fuzzing
from serq.oracle.compare import compare_file
from serq.oracle.fuzz import Fuzzed, fuzz, outcome_of, shrink, still_differs, write_case
from serq.oracle.observer import observe_steps
from serq.oracle.recorded import Step
from serq.oracle.recording.random_scenarios import CLASSES, draw
from serq.oracle.request import program_of, sessions_of
from serq.oracle.scenario import scenario_from

NOTHING = Step(0, (), (), (), (), (), (), (), (), 0, (), 0)


def played(data: Mapping[str, Any], fault: bool = False) -> dict[str, Any]:
    """A trace of a scenario as a recorder would write it; a faulty one miscounts free blocks after a preemption."""
    scenario = scenario_from(dict(data), "played")
    steps, _ = observe_steps(program_of(scenario), sessions_of(scenario))
    done = {s.step: s for s in steps}
    rows, wrong = [], 0
    for number in range(max(done, default=-1) + 1):
        s = done.get(number) or replace(NOTHING, step=number)
        wrong += fault and bool(s.preempted)
        rows.append(_row(s, wrong if number in done else 0))
    return {"vllm": "0.33.0", "scenario": dict(data), "steps": rows, "summary": {"ended": "done"}}


def _row(s: Step, wrong: int) -> dict[str, Any]:
    return {
        "step": s.step,
        "sched": [list(x) for x in s.scheduled],
        "new": list(s.admitted),
        "resumed": list(s.resumed),
        "preempted": list(s.preempted),
        "preempted_for": list(s.preempted_for),
        "finished": list(s.finished),
        "running": list(s.running),
        "waiting": list(s.waiting),
        "free": s.free + wrong,
        "running_end": list(s.running_end),
        "free_end": s.free_end,
        "hit": {str(r): n for r, n in s.hits},
    }


class Played:
    """Stands in for a recorder process."""

    version = "0.33.0"

    def __init__(self, fault: bool = False) -> None:
        self.fault = fault

    def record(self, data: Mapping[str, Any], *, blocks: bool = True) -> dict[str, Any]:
        return played(data, self.fault)


@pytest.fixture(autouse=True)
def _any_class_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzzing, "shows", lambda kind, trace: True)


def run(count: int, fault: bool, *classes: str) -> Fuzzed:
    return fuzz(Played(fault), count, classes or tuple(CLASSES))  # type: ignore[arg-type]


def test_what_agrees_is_kept_for_the_third_leg() -> None:
    kept = []
    result = fuzz(Played(), 3, ("plain",), kept=lambda s, t: kept.append((s.name, len(t.steps))))  # type: ignore[arg-type]
    assert [name for name, _ in kept] == ["fuzz_plain_0", "fuzz_plain_1", "fuzz_plain_2"]
    assert result.total("agrees") == 3 and all(steps for _, steps in kept)


def test_a_right_recorder_shows_no_difference() -> None:
    result = run(26, False)
    assert result.total("differs") == 0
    assert result.total("agrees") + result.total("not covered") == 26
    assert {kind for kind, _ in result.counts} == set(CLASSES)


def test_a_wrong_one_is_found_and_shrunk_to_a_small_case(tmp_path: Path) -> None:
    result = run(6, True, "preempting")
    assert result.total("differs") >= 4
    _, _, data, outcome = result.differing[0]
    assert outcome.difference is not None
    smallest = shrink(data, still_differs(lambda d: played(d, True)))
    assert len(smallest["requests"]) < len(data["requests"])
    assert sum(r["prompt"] + r["out"] for r in smallest["requests"]) < 0.5 * sum(
        r["prompt"] + r["out"] for r in data["requests"]
    )
    trace = played(smallest, True)
    assert outcome_of(trace, "x").status == "differs"
    path = write_case(smallest, trace, tmp_path, "found")
    assert [o.status for o in compare_file(path)] == ["differs"]


def test_shrinking_keeps_shares_pointing_at_the_right_request() -> None:
    data = draw("conversation", 1)
    seen = []

    def keep(candidate: dict[str, Any]) -> bool:
        scenario_from(candidate, "x")
        seen.append(candidate)
        return len(candidate["requests"]) >= 2

    smallest = shrink(data, keep)
    assert seen and len(smallest["requests"]) == 2
    for candidate in seen:
        for i, r in enumerate(candidate["requests"]):
            assert not r.get("share") or r["share"][0] < i


def test_an_unknown_class_is_refused() -> None:
    with pytest.raises(KeyError):
        run(1, False, "nonsense")
