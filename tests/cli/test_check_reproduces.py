"""The command that a finding prints: run as it is, it comes to what the finding says."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from serq.check import rule_named
from tests.cli.conftest import Done

Serq = Callable[..., Done]
LENGTHS = Path(__file__).parents[2] / "examples" / "incidents" / "lengths.sq"


def commands(done: Done) -> list[list[str]]:
    """The commands in a report, as words."""
    found = [shlex.split(c) for c in re.findall(r"see it in `(serq run [^`]*)`", done.err + done.out)]
    assert all(words[0] == "serq" for words in found)
    return [words[1:] for words in found]


def pools(serq: Serq, words: list[str]) -> list[dict[str, Any]]:
    """The pools of the report that a command gives."""
    found: list[dict[str, Any]] = json.loads(serq(*words, "--json").out)["pools"]
    return found


@pytest.fixture
def bad(tmp_path: Path) -> Callable[[str], Path]:
    def write(rule: str) -> Path:
        path = tmp_path / "a program.sq"
        path.write_text(rule_named(rule).bad)
        return path

    return write


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("amount-negative", "SQ802"),
        ("guard-not-test", "SQ801"),
        ("index-outside", "SQ805"),
        ("iteration-cost", "SQ807"),
    ],
)
def test_a_run_stops_where_the_rule_says(
    serq: Serq, bad: Callable[[str], Path], rule: str, code: str
) -> None:
    (words,) = commands(serq("check", bad(rule), "--horizon", 100, "--rule", rule))
    done = serq(*words)
    assert done.status == 1 and code in done.err


@pytest.mark.parametrize(
    ("rule", "field"), [("hold-never-fits", "over_cap"), ("growth-deadlock", "growing_stalled")]
)
def test_a_report_shows_what_the_rule_says(
    serq: Serq, bad: Callable[[str], Path], rule: str, field: str
) -> None:
    (words,) = commands(serq("check", bad(rule), "--horizon", 100, "--rule", rule))
    assert any(pool[field] for pool in pools(serq, words))


def test_sessions_that_wait_for_each_other(serq: Serq, bad: Callable[[str], Path]) -> None:
    (words,) = commands(serq("check", bad("hold-and-wait"), "--horizon", 100, "--rule", "hold-and-wait"))
    report = json.loads(serq(*words, "--json").out)
    assert report["mean_live"] > 1.5 and all(pool["mean_queue"] > 0 for pool in report["pools"])


@pytest.mark.parametrize(
    ("rule", "fields"), [("hold-never-fits", ("over_cap",)), ("outgrows-pool", ("stuck", "over_cap"))]
)
def test_inputs_and_a_session_of_a_witness(serq: Serq, rule: str, fields: tuple[str, ...]) -> None:
    done = serq(
        *("check", LENGTHS, "--horizon", 100, "--rule", rule, "--set", "max_len=1009"),
        *("--for", "num_blocks in 1..100, prompt in 1..1002, out in 1..1009"),
    )
    found = commands(done)
    assert found and all("--session" in words and "max_len=1009" in words for words in found)
    for words in found:
        assert any(w.startswith("num_blocks=") for w in words)
        assert any(pool[field] for pool in pools(serq, words) for field in fields)


def test_no_command_where_no_run_shows_it(serq: Serq, tmp_path: Path) -> None:
    path = tmp_path / "rare.sq"
    path.write_text(rule_named("amount-negative").bad.replace("~uniform(-1, 4)", "15 - ~exp(1)"))
    done = serq("check", path, "--horizon", 100, "--rule", "amount-negative")
    assert done.status == 0 and "SQ860" in done.err and not commands(done)


def test_sessions_on_the_command_line(serq: Serq) -> None:
    done = serq(
        *("run", LENGTHS, "--horizon", 100, "--json"),
        *("--session", "prompt=20,out=3", "--session", "prompt=9, out=2"),
    )
    assert json.loads(done.out)["arrivals"] == 2
    assert serq("run", LENGTHS, "--horizon", 100, "--session", "nothing=1").status == 1


@pytest.mark.parametrize("text", ["prompt", "prompt=x", "=3", "prompt=1,,out=2"])
def test_sessions_that_are_none(serq: Serq, text: str) -> None:
    assert serq("run", LENGTHS, "--horizon", 100, "--session", text).status == 2
