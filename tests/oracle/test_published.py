"""The published results: first and last token steps and preemptions of every request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from serq.oracle.observer import observe_steps
from serq.oracle.recorded import HOME
from serq.oracle.request import program_of
from serq.oracle.scenario import read_scenario
from serq.sim import run

PUBLISHED = HOME / "published"
SCENARIOS = sorted(
    p for p in PUBLISHED.glob("**/*.json") if ".out." not in p.name and p.name != "a100_engine.json"
)


def measured(path: Path) -> dict[str, object]:
    """Labels count completed steps, as the published ones do."""
    report = run(program_of(read_scenario(path)), detailed=True)
    metrics = {m.name: m for m in report.observes}
    # A resumed prefill samples again: the first token is the earliest.
    first: dict[int, float] = {}
    for session, time in zip(metrics["first"].sessions, metrics["first"].times, strict=True):
        first.setdefault(session, time)
    done = zip(metrics["done"].sessions, metrics["done"].times, strict=True)
    return {
        "first": {str(s): int(t) for s, t in first.items()},
        "done": {str(s): int(t) for s, t in done},
        "preemptions": report.data["pools"][1]["preemptions"],
    }


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.stem)
def test_the_published_answers(path: Path) -> None:
    expected = json.loads(path.with_name(f"{path.stem}.out.json").read_text())
    found = measured(path)
    assert found == {key: expected[key] for key in ("first", "done", "preemptions")}


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.stem)
def test_the_published_number_of_steps(path: Path) -> None:
    steps, _ = observe_steps(program_of(read_scenario(path)))
    expected = json.loads(path.with_name(f"{path.stem}.out.json").read_text())
    # The published count has one more, empty step after the last finish.
    assert steps[-1].step + 2 == expected["steps"]


def test_the_engine_on_the_accelerator_gave_the_same_answers() -> None:
    recorded = json.loads((PUBLISHED / "a100_engine.json").read_text())["results"]
    assert len(recorded) == 6
    for name, expected in recorded.items():
        assert measured(PUBLISHED / f"{name}.json") == {
            k: expected[k] for k in ("first", "done", "preemptions")
        }


def test_all_are_here() -> None:
    assert len(SCENARIOS) == 11
