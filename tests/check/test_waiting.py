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


TWO_POOLS = "pool a[2] { cap 100; } pool b { cap 100; }"


def leased(between: str, release: str = "release a[i];", sessions: int = 3) -> Program:
    server = f"""set i = n - 1;
      hold a[i] (cost(a, 60)) {{ run desk (cost(desk, n)); }} lease a[i] (inf);
      {between}
      {release}
      hold a[i] (cost(a, 60)) {{ run desk (cost(desk, n)); }}"""
    return program(TWO_POOLS, server, sessions)


def test_a_lease_released_by_the_same_index_has_ended() -> None:
    assert verdicts(leased("set k = 1; run desk (cost(desk, k));"), "hold-and-wait") <= {Verdict.PROVED}


@pytest.mark.parametrize(
    ("between", "release"),
    [
        ("", ""),
        ("set i = 1 - i;", "release a[i];"),
        ("", "branch (n > 1) { release a[i]; }"),
        ("hold a[1] (cost(a, 1)) { run desk (cost(desk, n)); } lease a[1] (inf);", "release a[i];"),
    ],
    ids=["none", "another index", "one arm", "of two leases"],
)
def test_a_lease_that_may_last(between: str, release: str) -> None:
    assert verdicts(leased(between, release), "hold-and-wait") == {Verdict.REFUTED}


def test_a_leg_does_not_wait_for_its_own_lease() -> None:
    server = """fork { hold a[0] (cost(a, 60)) { run desk (cost(desk, n)); } lease a[0] (inf); }
                join; release a[0];"""
    assert Verdict.REFUTED not in verdicts(program(TWO_POOLS, server, 3), "hold-and-wait")


def test_two_legs_wait_for_each_others_leases() -> None:
    leg = "fork { hold b (cost(b, 60)) { run desk (cost(desk, n)); } lease b (inf); }"
    assert verdicts(program(TWO_POOLS, f"{leg} {leg} join;", 2), "hold-and-wait") == {Verdict.REFUTED}


def test_a_parent_waits_while_its_leg_leases() -> None:
    server = """fork { hold b (cost(b, 60)) { run desk (cost(desk, n)); } lease b (inf); }
                hold a[0] (cost(a, 60)) { run desk (cost(desk, n)); hold b (cost(b, 60)) { run desk (cost(desk, n)); } }
                join;"""
    assert verdicts(program(TWO_POOLS, server, 2), "hold-and-wait") == {Verdict.REFUTED}


ENGINE = """device gpu { kv cap 100; }
  engine llm on gpu {
    reqs cap 4; tokens cap 16; schedule { advance running; admit waiting; } execute (1);
  }
  pool kv on gpu { preempt lifo; }
  pool reqs on llm { queue fifo; }
  pool b { cap 100; }"""


@pytest.mark.parametrize(
    ("guard", "expected"), [("computed == 0", {Verdict.PROVED}), ("n == 0", {Verdict.REFUTED})]
)
def test_a_lease_released_in_the_first_attempt(guard: str, expected: set[Verdict]) -> None:
    server = f"""hold b (cost(b, 60)) {{ run desk (cost(desk, n)); }} lease b (inf);
      hold kv (cost(kv, 4)) {{
        branch ({guard}) {{ run desk (cost(desk, 1)); release b; }}
        hold reqs (cost(reqs, 1)) {{ run llm prefill (cost(llm, n)); }}
      }}
      hold b (cost(b, 60)) {{ run desk (cost(desk, n)); }}"""
    assert verdicts(program(ENGINE, server, 2), "hold-and-wait") == expected
