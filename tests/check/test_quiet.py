"""On the examples, where nothing is wrong, the checker reports no error."""

from __future__ import annotations

from pathlib import Path

import pytest

from serq.check import Verdict, run_checks
from serq.ir.edit import with_trace_beside
from serq.lang.compile import compile_file
from serq.lang.settings import Settings

FOLDER = Path(__file__).parents[2] / "examples"
PROGRAMS = sorted(p for p in FOLDER.glob("*/*.sq") if p.parent.name != "incidents")


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_no_error(path: Path) -> None:
    program = compile_file(path, settings=Settings(horizon=200.0)).program
    report = run_checks(with_trace_beside(program, path.parent), overall=8.0)
    assert not report.errors, [f.sentence() for f in report.errors]
    assert any(f.verdict is Verdict.PROVED for f in report.findings)
