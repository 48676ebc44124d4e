"""`serq run`, `serq check`, `serq ir`: outputs, statuses, and inputs that are bad in every way."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Done
from tests.conformance import cases

Serq = Callable[..., Done]
Write = Callable[..., Path]

MODEL = """fn main() {
  use "std/args";
  let rate = args.number("rate", 2);
  stage d : fifo;
  workload { arrive poisson(rate); turn { Size w = ~exp(0.2); } }
  server { run d (cost(d, w)); observe stay = now; }
}
"""


class TestRun:
    def test_json_is_the_reference_report(self, serq: Serq, ir_file: Write) -> None:
        done = serq("run", ir_file("eng-claims"), "--json")
        report = json.loads(done.out)
        del report["serq_version"]
        assert done.status == 0 and report == cases()["eng-claims"]["report"]
        assert done.out.count("\n") == 1

    def test_the_seed_is_always_shown_on_stderr(self, serq: Serq, ir_file: Write) -> None:
        assert "seed 33" in serq("run", ir_file("eng-claims"), "--json").err
        assert "seed 5" in serq("run", ir_file("eng-claims"), "--seed", 5).err

    def test_a_remark_on_the_run_is_a_note_on_stderr(self, serq: Serq, tmp_path: Path) -> None:
        """A leg waits for ever for room that its session's lease and its own reserve leave none of."""
        program = tmp_path / "reserve.sq"
        program.write_text("""fn main() {
  pool m { cap 4; } stage d : fifo;
  workload { arrive batch(1); }
  server {
    hold m (cost(m, 1)) { run d (cost(d, 1)); } lease m (inf)
    fork { hold m (cost(m, 1)) reserve (cost(m, 4)) { run d (cost(d, 1)); } }
    join; release m;
  }
}
""")
        done = serq("run", program, "--json", "--horizon", 9)
        assert done.status == 0 and json.loads(done.out)["ended"] == 0
        assert "note: the run ends with session 0, a leg of session 0 waiting only for each other" in done.err

    def test_settings_not_given_are_the_programs(self, serq: Serq, ir_file: Write) -> None:
        path = ir_file("fifo-mm1")
        report = json.loads(serq("run", path, "--json", "--horizon", 50).out)
        assert (report["horizon"], report["warmup"], report["seed"]) == (50, 30, 11)
        report = json.loads(serq("run", path, "--json", "--arrivals", 30, "--warmup", 2).out)
        assert report["arrivals"] == 30 and report["end"] < 300

    def test_the_text_report_has_its_tables(self, serq: Serq, ir_file: Write) -> None:
        out = serq("run", ir_file("eng-claims")).out
        assert out.startswith("run: horizon 60 end 60 warmup 5 seed 33 events 1004")
        for title in ("observe", "client", "claim", "stage", "step", "pool"):
            assert f"\n{title}  " in out
        assert "holds (914 iterations)" in out and "not witnessed (914 iterations)" in out

    @pytest.mark.parametrize(
        ("case", "remark"),
        [("eng-stuck", "stuck: "), ("reject", "rej: "), ("grow-deadlock", "grow: ")],
    )
    def test_remarks_say_what_went_wrong(self, serq: Serq, ir_file: Write, case: str, remark: str) -> None:
        done = serq("run", ir_file(case))
        assert f"\n{remark}" in done.out
        assert done.status == (1 if case == "eng-stuck" else 0)

    def test_a_head_that_asks_for_too_much_is_named(self, serq: Serq, tmp_path: Path) -> None:
        model = tmp_path / "m.sq"
        held = "pool m { cap 4; } server { hold m (cost(m, 5 + used(m))) { run d (cost(d, w)); } }"
        model.write_text(MODEL.replace("server { run d (cost(d, w)); observe stay = now; }", held))
        out = serq("run", model, "--horizon", 10).out
        assert "\nover: m: the head of m asks for 5, more than the capacity" in out

    def test_a_dump_holds_every_sample(self, serq: Serq, ir_file: Write, tmp_path: Path) -> None:
        folder = tmp_path / "deep" / "dump"
        assert serq("run", ir_file("init-turn-draws"), "--dump", folder).status == 0
        recorded = cases()["init-turn-draws"]["samples"]
        for name, samples in recorded.items():
            rows = list(csv.reader((folder / f"{name}.csv").open()))
            assert rows[0] == ["time", "session", "turn", "value"]
            assert [[float(x) for x in row] for row in rows[1 : len(samples) + 1]] == samples
        assert (folder / "client" / "response.csv").exists()

    def test_a_gauge_is_dumped_as_change_points(self, serq: Serq, ir_file: Write, tmp_path: Path) -> None:
        serq("run", ir_file("gauge-zero-time"), "--dump", tmp_path / "d")
        recorded = cases()["gauge-zero-time"]["gauge_points"]
        for name, points in recorded.items():
            rows = list(csv.reader((tmp_path / "d" / "gauge" / f"{name}.csv").open()))
            assert rows[0] == ["time", "value"]
            assert [[float(x) for x in row] for row in rows[1 : len(points) + 1]] == points

    def test_a_trace_file_has_a_line_per_notice(self, serq: Serq, ir_file: Write, tmp_path: Path) -> None:
        serq("run", ir_file("eng-growing"), "--trace", tmp_path / "t.jsonl", "--self-check")
        events = {json.loads(line)["event"] for line in (tmp_path / "t.jsonl").read_text().splitlines()}
        assert {"arrival", "admission", "release", "eviction", "preemption", "iteration", "end"} == events

    def test_a_traced_program_reads_its_trace_beside_it(self, serq: Serq, ir_file: Write) -> None:
        path = ir_file("ordered-trace")
        report = json.loads(serq("run", path, "--json").out)
        del report["serq_version"]
        assert report == cases()["ordered-trace"]["report"]
        other = path.parent / "other.csv"
        other.write_text("0,1,1,1,1\n")
        assert json.loads(serq("run", path, "--json", "--trace-file", other).out) != report


class TestSource:
    def test_inputs_and_instances_in_the_order_written(self, serq: Serq, tmp_path: Path) -> None:
        model, instance = tmp_path / "m.sq", tmp_path / "i.sq"
        model.write_text(MODEL)
        instance.write_text("let rate = 1;\nrun { horizon 100; seed 7; }\n")

        def arrivals(*args: object) -> tuple[int, float]:
            done = serq("run", model, "--json", *args)
            assert done.status == 0, done.err
            report = json.loads(done.out)
            return report["seed"], round(report["arrivals"] / report["end"])

        assert arrivals("--horizon", 100) == (1, 2)
        assert arrivals("--instance", instance) == (7, 1)
        assert arrivals("--instance", instance, "--set", "rate=4", "--seed", 2) == (2, 4)
        assert arrivals("--set", "rate=4", "--seed", 2, "--instance", instance) == (7, 1)
        assert arrivals("--instance", instance, "--", "--rate", "3+1") == (7, 4)

    def test_a_run_error_points_into_the_source(self, serq: Serq, tmp_path: Path) -> None:
        model = tmp_path / "m.sq"
        model.write_text(MODEL.replace("cost(d, w)", "cost(d, 0 - w)"))
        done = serq("run", model, "--horizon", 10)
        assert done.status == 1 and done.out == ""
        assert f"{model}:6:" in done.err and "run d (cost(d, 0 - w));" in done.err and "^" in done.err

    @pytest.mark.parametrize("how", ["json", "sarif", "github"])
    def test_diagnostics_for_machines(self, serq: Serq, tmp_path: Path, how: str) -> None:
        model = tmp_path / "m.sq"
        model.write_text(MODEL.replace("cost(d, w)", "cost(d, ww)"))
        done = serq("check", model, "--horizon", 10, "--format", how)
        assert done.status == 1 and "ww" in done.out and done.err == ""
        if how == "json":
            (found,) = json.loads(done.out)
            assert found["span"]["line"] == 6 and found["file"] == str(model)
        if how == "sarif":
            result = json.loads(done.out)["runs"][0]["results"][0]
            assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 6
        if how == "github":
            assert done.out.startswith(f"::error file={model},") and ",line=6," in done.out

    def test_run_writes_diagnostics_in_the_format_asked_for(self, serq: Serq, tmp_path: Path) -> None:
        model = tmp_path / "m.sq"
        model.write_text(MODEL.replace("cost(d, w)", "cost(d, ww)"))
        done = serq("run", model, "--horizon", 10, "--format", "json")
        assert done.status == 1 and json.loads(done.err)[0]["span"]["line"] == 6

    def test_check_says_a_valid_program_is(self, serq: Serq, tmp_path: Path) -> None:
        model = tmp_path / "m.sq"
        model.write_text(MODEL)
        done = serq("check", model, "--horizon", 10)
        assert done.status == 0 and "valid" in done.out

    def test_an_ir_file_takes_no_inputs(self, serq: Serq, ir_file: Write) -> None:
        done = serq("run", ir_file("fifo-mm1"), "--set", "x=1")
        assert done.status == 1 and "SQ015" in done.err


class TestIr:
    def test_canonical_json_reads_back(self, serq: Serq, ir_file: Write, tmp_path: Path) -> None:
        out = serq("ir", ir_file("eng-claims")).out
        assert json.loads(out) == cases()["eng-claims"]["ir"]
        again = tmp_path / "again.json"
        again.write_text(out)
        assert serq("ir", again).out == out

    def test_a_trace_is_written_in(self, serq: Serq, ir_file: Write) -> None:
        path = ir_file("ordered-trace", arrival={"Batch": 4})
        data = json.loads(serq("ir", path, "--inline-trace").out)
        assert data["trace"] is None and len(data["arrival"]["Sessions"]) == 4
        assert serq("ir", ir_file("fifo-mm1"), "--inline-trace").status == 1


class TestBadInput:
    @pytest.mark.parametrize(
        ("content", "code"),
        [
            (b"", "SQ002"),
            (b"not json", "SQ002"),
            (b'{"version": 13', "SQ002"),
            (b'{"version": 12}', "SQ003"),
            (b"[1, 2]", "SQ006"),
            (b"\xff\xfe\x00\x01", "SQ002"),
            (b"[" * 300_000, "SQ008"),
        ],
    )
    @pytest.mark.parametrize("verb", ["run", "check", "ir"])
    def test_what_is_not_a_program(
        self, serq: Serq, tmp_path: Path, content: bytes, code: str, verb: str
    ) -> None:
        path = tmp_path / "x.json"
        path.write_bytes(content)
        done = serq(verb, path)
        assert done.status == 1 and f"[{code}]" in done.err and "Traceback" not in done.err
        assert done.out == ""

    def test_a_truncated_program(self, serq: Serq, ir_file: Write) -> None:
        path = ir_file("eng-claims")
        text = path.read_text()
        for cut in (1, len(text) // 3, len(text) - 1):
            path.write_text(text[:cut])
            assert serq("run", path).status == 1

    def test_a_very_large_file_is_not_read(self, serq: Serq, tmp_path: Path) -> None:
        path = tmp_path / "big.json"
        with path.open("wb") as out:
            out.truncate(100_000_000)
        done = serq("run", path)
        assert done.status == 1 and "[SQ010]" in done.err

    def test_deep_expressions_and_numbers_that_are_none(self, serq: Serq, ir_file: Write) -> None:
        blocks = json.loads(json.dumps(cases()["fifo-mm1"]["ir"]["blocks"]))
        blocks[1][0]["Set"][1] = "PLACE"
        path = ir_file("fifo-mm1", blocks=blocks)
        deep = '{"Unary":["Neg",' * 20_000 + '{"Num":1.0}' + "]}" * 20_000
        path.write_text(path.read_text().replace('"PLACE"', deep))
        assert "[SQ008]" in serq("run", path).err
        path.write_text(path.read_text().replace(deep, '{"Num": NaN}'))
        assert "[SQ009]" in serq("run", path).err
        path.write_text(path.read_text().replace('{"Num": NaN}', '{"Num": Infinity}'))
        assert "[SQ009]" in serq("run", path).err

    def test_a_missing_or_bad_trace(self, serq: Serq, ir_file: Write) -> None:
        path = ir_file("ordered-trace")
        trace = path.parent / json.loads(path.read_text())["trace"]
        trace.write_text("0,1,2,3,4\n0,2,x,3,4\n")
        done = serq("run", path)
        assert done.status == 1 and "[SQ012]" in done.err and ":2:5" in done.err
        trace.unlink()
        assert "[SQ011]" in serq("run", path).err

    @pytest.mark.parametrize("settings", [["--horizon", "0"], ["--warmup", "300"], ["--arrivals", "0"]])
    def test_settings_that_make_no_run(self, serq: Serq, ir_file: Write, settings: list[str]) -> None:
        done = serq("run", ir_file("fifo-mm1"), *settings)
        assert done.status == 1 and "error[SQ0" in done.err

    def test_an_unwritable_dump_folder(self, serq: Serq, ir_file: Write, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        done = serq("run", ir_file("fifo-mm1"), "--dump", tmp_path / "file" / "below")
        assert done.status == 1 and "[SQ001]" in done.err
        done = serq("run", ir_file("fifo-mm1"), "--trace", tmp_path / "file" / "t.jsonl")
        assert done.status == 1 and "[SQ001]" in done.err

    def test_a_stopped_run_leaves_no_trace_file(self, serq: Serq, tmp_path: Path) -> None:
        model = tmp_path / "m.sq"
        model.write_text(MODEL.replace("cost(d, w)", "cost(d, 0 - w)"))
        assert serq("run", model, "--horizon", 10, "--trace", tmp_path / "t.jsonl").status == 1
        assert [p.name for p in tmp_path.iterdir()] == ["m.sq"]

    @pytest.mark.parametrize(
        "args",
        [
            [],
            ["nonsense"],
            ["run"],
            ["run", "x.json", "--bogus"],
            ["run", "x.json", "--seed", "abc"],
            ["run", "x.json", "--set", "novalue"],
            ["run", "x.json", "stray"],
            ["run", "x.json", "--format", "xml"],
        ],
    )
    def test_a_wrong_call_is_status_2(self, serq: Serq, args: list[str]) -> None:
        done = serq(*args)
        assert done.status in ((0, 2) if not args else (2,))
        assert "Traceback" not in done.err

    def test_a_program_that_livelocks_or_deadlocks_ends_at_its_horizon(
        self, serq: Serq, ir_file: Write
    ) -> None:
        livelock = serq("run", ir_file("eng-stuck"))
        assert "stuck: kv: " in livelock.out
        deadlock = serq("run", ir_file("grow-deadlock"))
        assert "none will free room" in deadlock.out


class TestInterrupt:
    def test_ctrl_c_ends_a_long_run_with_a_partial_report(self, ir_file: Write, tmp_path: Path) -> None:
        path = ir_file("closed-ps", horizon=1e9)
        command = [
            Path(sys.executable).parent / "serq",
            "run",
            path,
            "--json",
            "--trace",
            tmp_path / "t.jsonl",
        ]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "COLUMNS": "80"},
        )
        assert process.stderr is not None
        while "seed" not in process.stderr.readline():
            pass
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        report = json.loads(out)
        assert report["interrupted"] is True and 0 < report["end"] < 1e9
        assert "partial" in err and process.returncode == 130
        assert (tmp_path / "t.jsonl").read_text().endswith("\n")
