"""Checks against an installed vLLM: `SERQ_VLLM=ENV pytest tests/oracle/with_vllm.py`, which `make oracle-check` runs.

Not collected with the other tests: the environment has about 3 GB.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import serq.oracle
from serq.diagnostics import SerqError
from serq.oracle.recording.bench import bench
from serq.oracle.recording.checks import FILE, ask_checks
from serq.oracle.recording.drift import drift
from serq.oracle.recording.files import SCENARIO_SUFFIX, TRACE_SUFFIX, read_scenario, read_trace
from serq.oracle.recording.host import Recorder
from serq.oracle.recording.random_scenarios import CLASSES, classes_of, draw, shows
from serq.oracle.recording.record import record

ORACLE = Path(serq.oracle.__file__).resolve().parent
ENV = Path(os.environ["SERQ_VLLM"])


@pytest.fixture(scope="module")
def recorder() -> Iterator[Recorder]:
    with Recorder(ENV) as running:
        yield running


def test_nothing_has_drifted() -> None:
    assert [d.text for d in drift(ENV)] == []


def test_the_committed_traces_are_recorded_again(recorder: Recorder) -> None:
    committed = sorted((ORACLE / "recorded" / recorder.version).glob(f"*{TRACE_SUFFIX}"))
    assert committed
    for path in committed:
        name = path.name.removesuffix(TRACE_SUFFIX)
        data, _ = read_scenario(ORACLE / "scenarios" / f"{name}{SCENARIO_SUFFIX}")
        assert recorder.record(data) == read_trace(path), name


def test_the_committed_checks_are_recorded_again(recorder: Recorder) -> None:
    assert ask_checks(recorder) == (ORACLE / "recorded" / recorder.version / FILE).read_text()


def test_a_recorded_file_is_the_committed_one_byte_for_byte(tmp_path: Path) -> None:
    (row,) = record([ORACLE / "scenarios" / f"01_published{SCENARIO_SUFFIX}"], ENV, tmp_path)
    assert row.path.read_bytes() == (ORACLE / "recorded" / row.vllm / row.path.name).read_bytes()


@pytest.mark.parametrize("kind", CLASSES)
def test_most_random_scenarios_show_their_class(recorder: Recorder, kind: str) -> None:
    if kind not in classes_of(recorder.version):
        with pytest.raises(SerqError, match="has no setting"):
            recorder.record(draw(kind, 0))
        return
    traces = [recorder.record(draw(kind, seed), blocks=False) for seed in range(20)]
    assert sum(shows(kind, trace) for trace in traces) >= 10
    ended = {trace["summary"]["ended"] for trace in traces}
    assert ended == ({"stuck"} if kind == "oversize" else {"done"})


def test_a_setting_vllm_refuses_is_told_and_the_process_goes_on(recorder: Recorder) -> None:
    scenario = {"budget": 8, "max_seqs": 2, "num_blocks": 9, "requests": [{"prompt": 3, "out": 2}]}
    with pytest.raises(SerqError) as caught:
        recorder.record({**scenario, "watermark": 7.0})
    assert [d.code for d in caught.value.diagnostics] == ["SQ936"]
    assert recorder.record(scenario)["summary"]["ended"] == "done"


def test_the_steps_are_timed(recorder: Recorder) -> None:
    rows = bench(None, running=(4, 16), steps=20, recorder=recorder)
    assert [row.running for row in rows] == [4, 16, 4, 16]
    assert all(0 < row.schedule_us < row.step_us for row in rows)
