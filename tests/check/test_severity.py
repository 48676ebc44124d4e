"""How grave a refutation is: by how often draws are as far in their tails as its witness needs."""

from __future__ import annotations

import math
import re

import pytest

from serq.check import Finding, Verdict, run_checks
from serq.check.draws import DRAWS
from serq.check.terms import constant
from serq.check.variables import Variables
from serq.diagnostics import Severity
from serq.lang.compile import compile_text
from serq.lang.settings import Settings
from serq.sim import draws as sim_draws


def findings(length: str, *, cap: float = 100, rule: str = "hold-never-fits") -> tuple[Finding, ...]:
    text = f"""fn main() {{
      pool kv {{ cap {cap}; }}
      stage desk : fifo;
      workload {{ arrive batch(9); turn {{ Size n = {length}; }} }}
      server {{ hold kv (cost(kv, n + 0 * cachedin(kv))) {{ run desk (cost(desk, 1)); }} }}
    }}"""
    program = compile_text(text, settings=Settings(horizon=100.0)).program
    return run_checks(program, rules=[rule]).findings


def only(length: str, **options: float) -> Finding:
    (found,) = findings(length, **options)  # type: ignore[arg-type]
    return found


def severity(found: Finding) -> Severity | None:
    return None if found.diagnostic is None else found.diagnostic.severity


def once_in(found: Finding) -> float:
    """The number of sessions a warning speaks of."""
    assert found.diagnostic is not None and found.diagnostic.note is not None
    told = re.search(r"once in ([\d ]+) sessions", found.diagnostic.note)
    assert told is not None, found.diagnostic.note
    return float(told[1].replace(" ", ""))


@pytest.mark.parametrize(
    "length",
    ["floor(~uniform(1, 102))", "102", "1 + floor(~exp(50))", "~bernoulli(0.001) * 200", "~erlang(2, 90)"],
)
def test_what_happens_to_one_in_a_hundred_is_an_error(length: str) -> None:
    assert severity(only(length)) is Severity.ERROR


@pytest.mark.parametrize("mean", [5.0, 8.0, 12.0, 16.0])
def test_an_exponential_tail_is_a_warning_with_its_probability(mean: float) -> None:
    found = only(f"~exp({mean})")
    assert severity(found) is Severity.WARNING
    assert math.isclose(once_in(found), math.exp(100 / mean), rel_tol=0.6)


def test_the_likeliest_of_two_draws_is_told() -> None:
    found = only("~exp(10) + ~exp(3)")
    assert severity(found) is Severity.WARNING
    assert once_in(found) < math.exp(12)


def test_a_lighter_tail_is_rarer() -> None:
    assert once_in(only("~erlang(3, 16)")) > 2 * once_in(only("~exp(16)"))


@pytest.mark.parametrize("length", ["~exp(4)", "~erlang(20, 20)"])
def test_what_practically_never_comes_is_unknown_and_says_so(length: str) -> None:
    found = only(length)
    assert found.verdict is Verdict.UNKNOWN and severity(found) is None
    assert "practically never" in found.why


def test_what_never_comes_is_proved() -> None:
    assert only("~exp(2)").verdict is Verdict.PROVED
    assert only("~uniform(0, 99)").verdict is Verdict.PROVED


def quotient(divisor: str) -> list[Finding]:
    text = f"""fn main() {{
      stage desk : fifo;
      workload {{ arrive batch(9); turn {{ Size job = ~exp(2); Size n = floor(~exp(3)); }} }}
      server {{ set share = now / ({divisor}); run desk (cost(desk, min(share, 1))); }}
    }}"""
    program = compile_text(text, settings=Settings(horizon=100.0)).program
    return [f for f in run_checks(program, rules=["division-by-zero"]).findings if f.path[0] == "blocks"]


@pytest.mark.parametrize("divisor", ["job", "job - 1", "job - ~exp(1)"])
def test_one_exact_value_of_a_continuous_draw_is_no_finding(divisor: str) -> None:
    assert {f.verdict for f in quotient(divisor)} == {Verdict.UNKNOWN}


@pytest.mark.parametrize("divisor", ["n", "floor(job)", "max(job - 1, 0)"])
def test_a_value_that_many_draws_round_to_is_one(divisor: str) -> None:
    assert {f.verdict for f in quotient(divisor)} == {Verdict.REFUTED}


@pytest.mark.parametrize(
    ("dist", "args", "size"),
    [("Exp", (3.0,), 9.0), ("Erlang", (3.0, 6.0), 12.0), ("H2", (2.0, 4.0), 9.0), ("H2", (2.0, 1.0), 5.0)],
)
def test_tails_are_those_of_the_draws(dist: str, args: tuple[float, ...], size: float) -> None:
    import random

    dice = random.Random(7)
    trials = 40_000
    draw = getattr(sim_draws, f"draw_{dist.lower()}")
    share = sum(draw(dice.random, *args) > size for _ in range(trials)) / trials
    variables = Variables()
    DRAWS[dist](variables, "x", tuple(constant(a) for a in args))
    (variable,) = variables.table.values()
    assert variable.draw is not None
    expected = variable.draw.exceeds(size)
    assert abs(share - expected) < 5 * math.sqrt(expected / trials)
