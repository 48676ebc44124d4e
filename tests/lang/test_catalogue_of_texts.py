"""Every code of the language's back half: its bad program yields it alone, its good program compiles."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from serq.diagnostics import Code, SerqError, all_codes
from serq.lang.compile import compile_text
from serq.lang.settings import Settings

BANDS = ((230, 400), (450, 500), (550, 600), (650, 700), (750, 800))
# Shown with files or supplied values, in `test_imports` and `test_inputs`.
ELSEWHERE = {"SQ230", "SQ232", "SQ253", "SQ254", "SQ255", "SQ256", "SQ257", "SQ270", "SQ271"}


def _rows() -> Iterator[Code]:
    for row in all_codes():
        number = int(row.code[2:])
        if any(first <= number < end for first, end in BANDS):
            yield row


ROWS = list(_rows())


def _codes(text: str) -> list[str]:
    try:
        compile_text(text, settings=Settings(horizon=10.0))
    except SerqError as error:
        return [d.code for d in error.diagnostics]
    return []


@pytest.mark.parametrize("row", ROWS, ids=lambda r: r.code)
def test_is_documented(row: Code) -> None:
    assert row.title and row.why and row.fix
    assert bool(row.bad) == bool(row.good) == (row.code not in ELSEWHERE)


@pytest.mark.parametrize("row", [r for r in ROWS if r.bad], ids=lambda r: r.code)
def test_its_bad_program_yields_it_alone(row: Code) -> None:
    assert _codes(row.bad) == [row.code]


@pytest.mark.parametrize("row", [r for r in ROWS if r.good], ids=lambda r: r.code)
def test_its_good_program_compiles(row: Code) -> None:
    assert _codes(row.good) == []
