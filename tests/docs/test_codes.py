"""The registry of codes: documented, in a band, and the codes the sources report are its codes."""

from __future__ import annotations

import re

import pytest

from serq.diagnostics import BANDS, Code, SerqError, all_codes
from serq.lang.compile import compile_text
from serq.lang.settings import Settings
from serq.sim import run
from tests.docs.snippets import REPOSITORY

ROOMS = [REPOSITORY / name for name in ("serq", "generators", "oracle")]
CODES = all_codes()


def test_every_reported_code_is_documented() -> None:
    sources = {p.resolve() for room in ROOMS for p in room.rglob("*.py") if "catalogue" not in p.parts}
    reported = {code for p in sources for code in re.findall(r'"(SQ\d{3})"', p.read_text(encoding="utf-8"))}
    assert len(reported) > 300
    assert not reported - {row.code for row in CODES}


@pytest.mark.parametrize("row", CODES, ids=lambda row: row.code)
def test_a_code_is_documented(row: Code) -> None:
    assert row.code[:3] in BANDS
    assert row.title and not row.title.endswith(".")
    assert row.why.endswith((".", "?")) and row.fix.endswith((".", "`"))
    assert bool(row.bad) == bool(row.good)


def _findings(program: str) -> set[str]:
    """The codes of what is wrong with a program: when it is compiled, else when it is run."""
    try:
        run(compile_text(program, settings=Settings(horizon=50.0)).program)
    except SerqError as error:
        return {d.code for d in error.diagnostics}
    return set()


@pytest.mark.parametrize(
    "row", [r for r in CODES if r.code < "SQ85" and r.code > "SQ80" and r.bad], ids=lambda row: row.code
)
def test_what_stops_a_run_stops_it_and_the_repaired_program_runs(row: Code) -> None:
    assert row.code in _findings(row.bad)
    assert not _findings(row.good)
