"""`serq explain`: every code, plain and on a terminal, and codes that are none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rich.console import Console

from serq.cli.explain import explanation
from serq.diagnostics import BANDS, Code, all_codes, lookup
from tests.cli.conftest import Done

Serq = Callable[..., Done]
CODES = all_codes()
SAMPLE = [row for band in BANDS for row in [r for r in CODES if r.code.startswith(band)][::8]]


@pytest.mark.parametrize("row", SAMPLE, ids=lambda row: row.code)
def test_says_what_why_and_how_to_repair(serq: Serq, row: Code) -> None:
    done = serq("explain", row.code)
    assert done.status == 0 and not done.err
    first, *lines = done.out.splitlines()
    assert first == f"{row.code}: {row.title}"
    assert f"why: {row.why}" in lines and f"fix: {row.fix}" in lines
    assert ("refused:" in lines) == bool(row.bad) and ("repaired:" in lines) == bool(row.good)
    assert "\x1b" not in done.out


def test_shows_the_message_with_its_line(serq: Serq) -> None:
    out = serq("explain", "SQ301").out
    refused, _, repaired = out.partition("repaired:")
    assert "run desk (cost(desk, jbo));" in refused and "error[SQ301]: `jbo`" in refused and "^^^" in refused
    assert "run desk (cost(desk, job));" in repaired and "error" not in repaired


def test_shows_what_stops_a_run(serq: Serq) -> None:
    assert "error[SQ807]: an iteration of llm that computes 2 tokens" in serq("explain", "SQ807").out


def test_a_program_that_does_not_parse_is_shown_as_it_is(serq: Serq) -> None:
    row = lookup("SQ112")
    assert row is not None
    shown = serq("explain", "SQ112").out
    assert all(line in shown for line in row.bad.splitlines())


@pytest.mark.parametrize("spelling", ["SQ301", "sq301", "301", " SQ301 "])
def test_spellings(serq: Serq, spelling: str) -> None:
    assert serq("explain", spelling).out.startswith("SQ301: ")


def test_without_a_code_all_are_listed_by_band(serq: Serq) -> None:
    done = serq("explain")
    assert done.status == 0
    heads = [line for line in done.out.splitlines() if line and not line.startswith(" ")]
    assert heads == [f"{band}xx: {title}" for band, title in BANDS.items()]
    assert [line.split()[0] for line in done.out.splitlines() if line.startswith("  ")] == [
        r.code for r in CODES
    ]


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("SQ3011", "did you mean `SQ3"),
        ("SQ30l", "did you mean `SQ3"),
        ("banana", "`serq explain` lists"),
        ("", ""),
    ],
)
def test_an_unknown_code(serq: Serq, code: str, hint: str) -> None:
    done = serq("explain", code)
    assert done.status == 1 and not done.out
    assert f"there is no code `{code}`" in done.err and hint in done.err


def test_a_terminal_gets_colours_and_the_same_words() -> None:
    row = lookup("SQ301")
    assert row is not None
    text = explanation(row)
    console = Console(force_terminal=True, color_system="truecolor", highlight=False, width=20)
    with console.capture() as captured:
        console.print(text, soft_wrap=True)
    written = captured.get()
    assert "\x1b[" in written
    for line in ("SQ301", "an unknown name", "refused:", "repaired:"):
        assert line in written
    assert len(written.splitlines()) == len(text.plain.splitlines())
