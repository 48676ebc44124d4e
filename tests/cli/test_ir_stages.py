"""`serq ir --stage`: each stage of a program as text, and when it can be asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from serq.lang.format import format_source
from tests.cli.conftest import Done

Serq = Callable[..., Done]
PROGRAM = """\
use "std/args";
def twice(x) { 2 * x }
fn main() {
  let n = args.number("n", 3);  // whose fate is to be written out
  pool bins[2] { cap 9; }
  stage desk : fifo;
  workload {
    arrive batch(n);
    turn { Size job = 1; }
    session { turn; tool (twice(n)); }
  }
  server {
    observe u = sum j in 2 (used(bins[j]));
    run desk (cost(desk, twice(job)));
  }
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.sq"
    path.write_text(PROGRAM)
    return path


def test_parsed_is_what_was_written_without_comments(serq: Serq, program: Path) -> None:
    out = serq("ir", program, "--stage", "parsed").out
    assert out == format_source(PROGRAM.replace("  // whose fate is to be written out", ""))


def test_resolved_has_imports_constants_definitions_and_aggregates_written_out(
    serq: Serq, program: Path
) -> None:
    out = serq("ir", program, "--stage", "resolved").out
    assert "arrive batch(3);" in out and "tool (2 * 3);" in out
    assert "observe u = used(bins[0]) + used(bins[1]);" in out and "cost(desk, 2 * job)" in out
    assert not any(word in out for word in ("use ", "let ", "def ", "args"))
    assert format_source(out) == out


def test_lowered_has_the_pools_stages_and_blocks_of_the_ir(serq: Serq, program: Path) -> None:
    out = serq("ir", program, "--stage", "lowered").out
    assert "pool bins[2] {" in out and "stage desk : fifo(1);" in out and "stage tool : ps(present);" in out
    session = out.partition("session {")[2]
    assert session.index("turn;") < session.index("run desk") < session.index("run tool (cost(tool, 2 * 3));")


@pytest.mark.parametrize("stage", ["parsed", "resolved"])
def test_a_stage_in_text_compiles_to_the_same_ir(
    serq: Serq, program: Path, tmp_path: Path, stage: str
) -> None:
    again = tmp_path / "again.sq"
    again.write_text(serq("ir", program, "--stage", stage).out)
    assert serq("ir", again, "--horizon", 9).out == serq("ir", program, "--horizon", 9).out


@pytest.mark.parametrize("stage", ["resolved", "lowered"])
def test_inputs_and_instances_count(serq: Serq, program: Path, tmp_path: Path, stage: str) -> None:
    instance = tmp_path / "seven.sq"
    instance.write_text("let n = 7;\nrun { horizon 5; warmup 2; }\n")
    for arguments in (("--set", "n=7"), ("--instance", instance), ("--", "--n", "7")):
        assert "arrive batch(7);" in serq("ir", program, "--stage", stage, *arguments).out


def test_the_stage_ir_is_the_default(serq: Serq, program: Path) -> None:
    plain = serq("ir", program, "--horizon", 9)
    assert plain.status == 0 and plain.out.startswith("{")
    assert serq("ir", program, "--horizon", 9, "--stage", "ir") == plain


def test_only_the_ir_needs_a_horizon(serq: Serq, program: Path) -> None:
    for stage in ("parsed", "resolved", "lowered"):
        assert serq("ir", program, "--stage", stage).status == 0
    done = serq("ir", program)
    assert done.status == 1 and "SQ270" in done.err


def test_what_was_read_is_shown_of_a_program_that_is_refused_later(serq: Serq, program: Path) -> None:
    program.write_text(PROGRAM.replace("twice(job)", "twice(jbo)"))
    parsed = serq("ir", program, "--stage", "parsed")
    assert parsed.status == 0 and "twice(jbo)" in parsed.out
    resolved = serq("ir", program, "--stage", "resolved")
    assert resolved.status == 1 and not resolved.out
    assert "SQ301" in resolved.err and "run desk (cost(desk, twice(jbo)));" in resolved.err


def test_wrong_calls(serq: Serq, program: Path, ir_file: Callable[..., Path]) -> None:
    assert serq("ir", program, "--stage", "typed").status == 2
    done = serq("ir", ir_file("fifo-mm1"), "--stage", "parsed")
    assert done.status == 2 and "source programs" in done.err
    assert serq("ir", program, "--stage", "resolved", "--inline-trace").status == 2
