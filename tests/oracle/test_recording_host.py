"""The host's side of the recorder, against a process that stands in for vLLM's."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from serq.diagnostics import SerqError
from serq.oracle.recording.bench import bench
from serq.oracle.recording.files import packed, read_trace
from serq.oracle.recording.host import Recorder
from serq.oracle.recording.record import Recorded, record

FAKE = Path(__file__).with_name("fake_recorder.py")
SCENARIO = {"budget": 8, "max_seqs": 2, "num_blocks": 9, "requests": [{"prompt": 3, "out": 2}]}


def fake(mode: str, timeout: float = 60.0) -> Recorder:
    return Recorder(command=[sys.executable, str(FAKE), mode], timeout=timeout)


def refused(error: SerqError) -> tuple[str, str]:
    (finding,) = error.diagnostics
    return finding.code, f"{finding.message} {finding.note}"


def test_one_process_answers_scenario_after_scenario() -> None:
    with fake("well") as recorder:
        assert recorder.version == "9.9.9"
        for prompt in (1, 70_000, 3):
            asked = {**SCENARIO, "requests": [{"prompt": prompt, "out": 1}]}
            assert len(recorder.record(asked)["steps"]) == prompt


def test_a_refused_scenario_does_not_end_the_process() -> None:
    with fake("well") as recorder:
        with pytest.raises(SerqError) as caught:
            recorder.record({**SCENARIO, "watermark": 0.1})
        code, text = refused(caught.value)
        assert code == "SQ936"
        assert "9.9.9" in text and "no watermark here" in text and "in build" in text
        assert recorder.record(SCENARIO)["summary"]["ended"] == "done"


@pytest.mark.parametrize(
    ("mode", "words"),
    [("unable", "cannot import name"), ("old", "version 0 of the protocol"), ("none", "no module named")],
)
def test_a_recorder_that_does_not_start(mode: str, words: str) -> None:
    with pytest.raises(SerqError) as caught:
        fake(mode)
    code, text = refused(caught.value)
    assert code == "SQ934"
    assert words in text


@pytest.mark.parametrize(
    ("mode", "words"),
    [("dying", "Killed by the memory"), ("garbage", "not JSON"), ("silent", "no answer in")],
)
def test_a_recorder_that_stops(mode: str, words: str) -> None:
    with fake(mode, timeout=10.0 if mode != "silent" else 0.3) as recorder:
        with pytest.raises(SerqError) as caught:
            recorder.record(SCENARIO)
        code, text = refused(caught.value)
        assert code == "SQ935"
        assert words in text


def test_a_recorder_that_has_ended_says_so_each_time() -> None:
    with fake("dying") as recorder:
        for _ in range(2):
            with pytest.raises(SerqError) as caught:
                recorder.record(SCENARIO)
            assert refused(caught.value)[0] == "SQ935"


def test_a_folder_without_python_is_no_environment(tmp_path: Path) -> None:
    with pytest.raises(SerqError) as caught:
        Recorder(tmp_path)
    assert refused(caught.value)[0] == "SQ933"


def test_a_python_that_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(SerqError) as caught:
        Recorder(command=[str(tmp_path / "python")])
    assert refused(caught.value)[0] == "SQ934"


def write(folder: Path, name: str, data: object) -> Path:
    path = folder / f"{name}.scenario.json"
    path.write_text(json.dumps(data))
    return path


def test_files_are_recorded_under_the_version(tmp_path: Path) -> None:
    paths = [write(tmp_path, name, SCENARIO) for name in ("a", "b")]
    told: list[Recorded] = []
    rows = record(paths, tmp_path, tmp_path / "out", recorder=lambda _: fake("well"), told=told.append)
    assert rows == told
    assert [row.path for row in rows] == [tmp_path / "out" / "9.9.9" / f"{n}.trace.json.gz" for n in "ab"]
    assert [row.size for row in rows] == [row.path.stat().st_size for row in rows]
    assert read_trace(rows[0].path)["scenario"] == SCENARIO
    assert sorted(p.name for p in rows[0].path.parent.iterdir()) == ["a.trace.json.gz", "b.trace.json.gz"]


def test_every_bad_file_is_told_before_vllm_is_started(tmp_path: Path) -> None:
    bad = write(tmp_path, "bad", {**SCENARIO, "max_seqs": 9})
    order = write(tmp_path, "order", {**SCENARIO, "serve": "-admission"})
    missing = tmp_path / "none.scenario.json"
    with pytest.raises(SerqError) as caught:
        record([bad, order, missing], tmp_path / "no_env", tmp_path / "out")
    assert {d.code for d in caught.value.diagnostics} == {"SQ924", "SQ939", "SQ001"}
    assert not (tmp_path / "out").exists()


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    paths = [write(tmp_path, "same", SCENARIO), write(tmp_path / "other", "same", SCENARIO)]
    with pytest.raises(SerqError) as caught:
        record(paths, tmp_path, tmp_path / "out")
    assert refused(caught.value)[0] == "SQ938"


def test_what_vllm_refuses_is_told_of_its_file(tmp_path: Path) -> None:
    path = write(tmp_path, "settings", {**SCENARIO, "watermark": 0.5})
    with pytest.raises(SerqError) as caught:
        record([path], tmp_path, tmp_path / "out", recorder=lambda _: fake("well"))
    assert caught.value.diagnostics[0].place.file == str(path)


def test_an_oversize_request_is_recorded_all_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, "hang", {**SCENARIO, "num_blocks": 1})
    assert record([path], tmp_path, tmp_path / "out", recorder=lambda _: fake("well"))[0].ended == "done"


def test_the_same_trace_is_the_same_bytes() -> None:
    trace = {"version": 1, "steps": [{"step": k, "sched": [[k, 1]]} for k in range(100)]}
    data = packed(trace)
    assert data == packed(json.loads(json.dumps(trace)))
    # No flags, so no file name, and time 0.
    assert data[3:8] == b"\0\0\0\0\0"
    assert json.loads(gzip.decompress(data)) == trace


@pytest.mark.parametrize(
    "data", [b"", b"plain", packed({"version": 2}), packed({"version": "1"}), packed({"version": 1})[:-9]]
)
def test_what_is_not_a_trace(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.trace.json.gz"
    path.write_bytes(data)
    with pytest.raises(SerqError) as caught:
        read_trace(path)
    assert refused(caught.value)[0] == "SQ937"


def test_step_times_are_asked_for_each_load() -> None:
    with fake("well") as recorder:
        rows = bench(None, running=(16, 64), steps=5, recorder=recorder)
    assert [(row.running, row.prefix_caching) for row in rows] == [
        (16, False),
        (64, False),
        (16, True),
        (64, True),
    ]
    assert rows[1].schedule_us == 640.0
