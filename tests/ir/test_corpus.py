"""Trace files (api.md §8) and writing a trace into a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from serq.diagnostics import SerqError
from serq.ir.corpus import TraceTurn, inline_trace, parse_corpus, read_corpus
from serq.ir.program import Batch, Sessions
from serq.sim import run
from tests.conformance import corpus, program


def test_consecutive_rows_of_one_number_are_a_session() -> None:
    found = parse_corpus(
        "session,turn,new,out,think,forced\n0,1,10,2,1.5,0\n0.0,2,20,3,0,1\n\n# note\n1,x,5,5,5\n0,1,7,7,7\n"
    )
    assert [len(s) for s in found.sessions] == [2, 1, 1]
    assert found.sessions[0][1] == TraceTurn(20.0, 3.0, 0.0, 1.0)
    assert found.sessions[1][0] == TraceTurn(5.0, 5.0, 5.0, 0.0)


def test_line_ends_and_outer_blanks_do_not_matter() -> None:
    assert parse_corpus("  0,1,1e3,-2,inf  \r\n0,2,nan,1,1\r\n").sessions[0][0].new == 1000.0


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("0,1,2,3\n", 1, 1),
        ("0,1,2,3,4,5,6\n", 1, 1),
        ("0,1,2,3,4\nzero,1,2,3,4\n", 2, 1),
        ("0,1,2, 3,4\n", 1, 7),
        ("0,1,,3,4\n", 1, 5),
        ("0,1,1_000,3,4\n", 1, 5),
    ],
)
def test_a_bad_line_is_located(text: str, line: int, column: int) -> None:
    with pytest.raises(SerqError) as caught:
        parse_corpus(text, "t.csv")
    (found,) = caught.value.diagnostics
    assert found.code == "SQ012" and found.hint
    assert found.place.span is not None
    assert (found.place.span.line, found.place.span.column) == (line, column)


def test_every_bad_line_is_reported_at_once() -> None:
    with pytest.raises(SerqError) as caught:
        parse_corpus("a,1,2,3,4\n0,1,2,3,4\n0,1\n")
    assert [d.place.span.line for d in caught.value.diagnostics if d.place.span] == [1, 3]


def test_an_empty_or_missing_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SerqError, match="SQ012"):
        parse_corpus("session,turn,new,out,think\n# nothing\n")
    with pytest.raises(SerqError, match="SQ011"):
        read_corpus(tmp_path / "missing.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SerqError, match="SQ011"):
        read_corpus(tmp_path / "binary.csv")


def test_a_written_out_trace_runs_identically() -> None:
    traced = program("ordered-trace").model_copy(update={"arrival": Batch(size=7)})
    trace = corpus("ordered-trace")
    assert trace is not None
    written = inline_trace(traced, trace)
    assert isinstance(written.arrival, Sessions) and written.trace is None
    assert run(written).json() == run(traced, corpus=trace).json()


def test_only_a_known_assignment_can_be_written_out() -> None:
    trace = corpus("ordered-trace")
    assert trace is not None
    with pytest.raises(SerqError, match="SQ013"):
        inline_trace(program("ordered-trace"), trace)
    with pytest.raises(SerqError, match="SQ013"):
        inline_trace(program("unordered-trace"), trace)
