"""Differences that a Lean statement reads: proved not to go below zero, or left open."""

from __future__ import annotations

import pytest

from serq.check import Verdict, run_checks
from serq.ir.program import Program
from serq.lang.compile import compile_text
from serq.lang.settings import Settings


def program(key: str = "a", step: str = "k - 1") -> Program:
    text = f"""fn main() {{
      pool s {{ cap 1; queue by ({key}); }}
      stage d : delay;
      workload {{ arrive batch(5); turn {{ Size a = floor(~uniform(2, 5)); }} }}
      server {{
        set unread = a - 9;
        set k = 3;
        while (k > 0) {{ set k = {step}; hold s (cost(s, 1)) {{ run d (cost(d, 1)); }} }}
      }}
    }}"""
    return compile_text(text, settings=Settings(horizon=10.0)).program


def verdicts(p: Program) -> set[Verdict]:
    return {f.verdict for f in run_checks(p, rules=["natural-subtraction"]).findings}


@pytest.mark.parametrize("step", ["k - 1", "max(k, 1) - 1", "k > 2 ? k - 3 : 0"])
def test_a_value_that_feeds_a_guard(step: str) -> None:
    assert verdicts(program(step=step)) == {Verdict.PROVED}


@pytest.mark.parametrize("step", ["k - 2", "k - a", "0 * (1 - a)"])
def test_a_value_that_may_go_below_zero(step: str) -> None:
    assert verdicts(program(step=step)) == {Verdict.UNKNOWN}


@pytest.mark.parametrize(("key", "verdict"), [("5 - a", Verdict.PROVED), ("3 - a", Verdict.UNKNOWN)])
def test_a_key_of_a_queue(key: str, verdict: Verdict) -> None:
    """The greatest draw of `~uniform(2, 5)` rounds to 5."""
    assert verdicts(program(key=key, step="min(k, 0)")) == {verdict}


def test_what_no_statement_reads_is_left_out() -> None:
    assert verdicts(program(step="min(k, 0)")) == set()
