"""`serq oracle`: the main job from the command line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

from serq.oracle.recorded import recorded_scenarios, traces_of
from tests.cli.conftest import Done

Serq = Callable[..., Done]


def test_all_recorded_scenarios_by_default(serq: Serq) -> None:
    done = serq("oracle")
    assert done.status == 0
    assert "agree at every step" in done.out and "0 differ" in done.out
    for path in recorded_scenarios():
        assert path.name.removesuffix(".scenario.json") in done.out


def test_json_lists_every_outcome_and_reason(serq: Serq) -> None:
    outcomes = json.loads(serq("oracle", "--json").out)
    assert len(outcomes) == sum(len(traces_of(p)) for p in recorded_scenarios())
    for o in outcomes:
        assert o["status"] in ("agrees", "not covered")
        assert (o["reason"] is not None) == (o["status"] == "not covered")


def test_the_demo_shows_steps(serq: Serq) -> None:
    out = serq("oracle", "--demo").out
    assert "request 0" in out and "step " in out and "!" in out


def test_a_difference_is_shown_and_is_status_1(serq: Serq, tmp_path: Path) -> None:
    source = next(p for p in recorded_scenarios() if p.name.startswith("01"))
    data = json.loads(gzip.decompress(traces_of(source)[0].read_bytes()))
    data["steps"][4]["free"] = 7
    scenario = tmp_path / "mine.scenario.json"
    scenario.write_text(source.read_text())
    (tmp_path / "mine.trace.json").write_text(json.dumps(data))
    done = serq("oracle", scenario)
    assert done.status == 1
    assert "step 4 differs in free blocks" in done.out and "request 0" in done.out
    found = json.loads(serq("oracle", scenario, "--json").out)[0]["difference"]
    assert (found["step"], found["recorded"], found["program"]) == (4, 7, 1)


def test_a_missing_scenario_or_trace(serq: Serq, tmp_path: Path) -> None:
    assert "SQ001" in serq("oracle", tmp_path / "none.scenario.json").err
    lonely = tmp_path / "lonely.scenario.json"
    lonely.write_text(recorded_scenarios()[0].read_text())
    done = serq("oracle", lonely)
    assert done.status == 1 and "SQ903" in done.err


def test_a_recording_of_nothing_is_a_wrong_call(serq: Serq, tmp_path: Path) -> None:
    done = serq("oracle", "record", "--vllm", tmp_path)
    assert done.status == 2 and "name scenarios, or say --checks" in done.err


def test_checks_need_an_environment(serq: Serq, tmp_path: Path) -> None:
    done = serq("oracle", "record", "--checks", "--vllm", tmp_path)
    assert done.status == 1 and "error[SQ933]" in done.err
