"""Answers do not depend on the process, and a limit that is used up leaves questions open."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from serq.check import Verdict, run_checks
from serq.check.solver import Meter
from serq.ir.program import Program
from serq.lang.compile import compile_file
from serq.lang.settings import Settings
from tests.conformance import program as conformance

EXAMPLES = Path(__file__).parents[2] / "examples"
ONE = EXAMPLES / "pd-disaggregation" / "llmd_nixl_pull.sq"


def said(hash_seed: int) -> str:
    """What the command line says in a process of its own."""
    command = [
        sys.executable,
        "-c",
        "from serq.cli.main import main; main()",
        "check",
        str(ONE),
        "--horizon",
        "50",
        "--explain",
    ]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "proved" in done.stdout, done.stderr
    return done.stdout + done.stderr


def test_processes_agree() -> None:
    assert said(1) == said(2)


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_file(EXAMPLES / "multi-turn" / "vllm.sq", settings=Settings(horizon=50.0)).program


def test_runs_of_one_process_agree(program: Program) -> None:
    once, again = run_checks(program), run_checks(program)
    assert [f.sentence() for f in once.findings] == [f.sentence() for f in again.findings]


def test_a_limit_used_up_is_unknown_and_never_proved(program: Program) -> None:
    full, short = run_checks(program), run_checks(program, overall=0.001)
    proved = {(f.rule, f.path) for f in full.findings if f.verdict is Verdict.PROVED}
    left = {(f.rule, f.path) for f in short.findings if f.verdict is Verdict.PROVED}
    assert left < proved
    assert any(f.verdict is Verdict.UNKNOWN and "limit" in f.why for f in short.findings)


def test_a_meter_counts_down() -> None:
    assert not Meter(1.0).empty and not Meter(None).empty
    meter = Meter(1.0)
    meter.left = 0
    assert meter.empty and meter.limit(100) == 1


def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    """The solver's witnesses are the same whichever programs were checked first."""
    programs = [conformance(name) for name in ("eng-growing", "eng-reserve", "pd-pull")]

    def answers(order: list[Program]) -> list[list[tuple[str, tuple[tuple[str, float], ...]]]]:
        reports = {id(p): run_checks(p) for p in order}
        return [[(f.sentence(), f.witness) for f in reports[id(p)].findings] for p in programs]

    assert answers(programs) == answers(programs[::-1])
