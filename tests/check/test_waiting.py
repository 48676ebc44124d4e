"""Waits of one session for itself, of legs, and behind leases: none of them is proved away."""

from __future__ import annotations

import pytest

from serq.check import Verdict, run_checks
from serq.ir.program import Program
from serq.lang.compile import compile_text
from serq.lang.settings import Settings


def program(pools: str, server: str, sessions: int = 1) -> Program:
    text = f"""fn main() {{
      {pools}
      stage desk : delay;
      workload {{ arrive batch({sessions}); turn {{ Size n = 1; }} }}
      server {{ {server} }}
    }}"""
    return compile_text(text, settings=Settings(horizon=50.0)).program


def verdicts(p: Program, rule: str) -> set[Verdict]:
    return {f.verdict for f in run_checks(p, rules=[rule]).findings}


NESTED = "hold a (cost(a, 60)) { hold a (cost(a, 60)) { run desk (cost(desk, n)); } }"
LEASED = """hold a (cost(a, 60)) { run desk (cost(desk, n)); } lease a (inf);
            hold a (cost(a, 60)) { run desk (cost(desk, n)); } release a;"""
ONE_ARM = """hold a (cost(a, 60)) { run desk (cost(desk, n)); } lease a (inf);
             branch (n > 1) { release a; }
             hold a (cost(a, 60)) { run desk (cost(desk, n)); }"""


@pytest.mark.parametrize("server", [NESTED, LEASED, ONE_ARM], ids=["nested", "leased", "one arm"])
def test_a_session_that_waits_for_itself(server: str) -> None:
    assert verdicts(program("pool a { cap 100; }", server), "hold-and-wait") == {Verdict.REFUTED}


def test_a_lease_released_before_the_next_hold() -> None:
    server = """hold a (cost(a, 60)) { run desk (cost(desk, n)); } lease a (inf);
                release a;
                hold a (cost(a, 60)) { run desk (cost(desk, n)); }"""
    assert Verdict.REFUTED not in verdicts(program("pool a { cap 100; }", server, 3), "hold-and-wait")


def test_a_join_waits_for_what_its_legs_want() -> None:
    server = """fork { hold a (cost(a, 60)) { run desk (cost(desk, n)); } }
                hold a (cost(a, 60)) { run desk (cost(desk, 1)); join; }"""
    assert verdicts(program("pool a { cap 100; }", server, 2), "hold-and-wait") == {Verdict.REFUTED}


def test_legs_of_one_session_grow_against_each_other() -> None:
    grown = """hold a (cost(a, 10)) { run desk (cost(desk, n)); grow a (cost(a, 30));
               run desk (cost(desk, n)); grow a (cost(a, 30)); }"""
    server = f"fork {{ {grown} }} {grown} join;"
    found = verdicts(program("pool a { cap 100; }", server), "growth-deadlock")
    assert Verdict.REFUTED in found and Verdict.PROVED not in found
