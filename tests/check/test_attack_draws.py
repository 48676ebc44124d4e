"""Proofs attacked with adversarial draws: units at the ends of their range, and hangs as well as stops."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from serq.check import Verdict, run_checks
from serq.check.draws import DRAWS
from serq.check.terms import Term, constant
from serq.check.variables import Variables
from serq.ir.program import Program
from serq.lang.compile import compile_text
from serq.lang.settings import Settings
from serq.sim import run
from serq.sim.errors import RunError
from serq.sim.hooks import TraceHook
from serq.sim.machine import Machine
from serq.sim.records import GROWING, JOINING, QUEUED
from tests.check.test_attack import mutant

SEEDS = range(100, 130)
STOPS = {
    "SQ801": "guard-not-test",
    "SQ802": "amount-negative",
    "SQ804": "loop-without-time",
    "SQ805": "index-outside",
    "SQ807": "iteration-cost",
    "SQ815": "index-outside",
    "SQ810": "hold-and-wait",
}
RULES = (
    "amount-negative",
    "guard-not-test",
    "index-outside",
    "hold-never-fits",
    "outgrows-pool",
    "growth-deadlock",
    "loop-without-time",
    "iteration-cost",
)
EDGES = (0.0, 2.0**-53, 0.5, 1.0 - 2.0**-53)


@contextmanager
def adversarial(seed: int) -> Iterator[None]:
    """Sessions draw units at the ends of [0, 1), mixed with ordinary ones."""
    dice = random.Random(seed)
    share = dice.choice((0.3, 0.9, 1.0))

    def unit() -> float:
        return dice.choice(EDGES) if dice.random() < share else dice.random()

    def stream(machine: Machine, session: object) -> Callable[[], float]:
        return unit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Machine, "open_stream", stream)
        patch.setattr(Machine, "open_workload", stream)
        yield


class Alone(TraceHook):
    """Notices a session that preempts itself with nobody else in the pool."""

    def __init__(self) -> None:
        self.seen = False

    def preemption(self, m, victim, grower, pool, position) -> None:  # type: ignore[no-untyped-def]
        self.seen |= victim is grower and set(pool.holder_counts) == {victim}


def shown(program: Program) -> set[tuple[str, tuple[object, ...]]]:
    """The rules whose mistake a run comes to, each with the statement, or with nothing for a pool's."""
    machines: list[Machine] = []
    alone = Alone()
    try:
        pools = run(program, hook=alone, on_machine=machines.append).data["pools"]
    except RunError as error:
        stop = error.diagnostics[0]
        return {(STOPS[stop.code], stop.place.path[:3])} if stop.code in STOPS else set()
    found: set[tuple[str, tuple[object, ...]]] = set()
    if any(p["rejected"] or p["over_cap"] for p in pools):
        found.add(("hold-never-fits", ()))
    if alone.seen:
        found.add(("outgrows-pool", ()))
    left = list(machines[0].everyone())
    if any(p["growing_stalled"] for p in pools) and all(s.status in (QUEUED, GROWING, JOINING) for s in left):
        found.add(("growth", ()))
    return found


@dataclass
class Outcome:
    """What attacking many programs came to."""

    wrong: list[str] = field(default_factory=list)
    shown: set[str] = field(default_factory=set)
    proved: int = 0


def attack(program: Program, seed: int, out: Outcome, runs: int = 6) -> None:
    """Run a program under adversarial draws, and note what was proved not to happen and did."""
    report = run_checks(program, rules=RULES, timeout=0.5, overall=4.0)
    verdicts = {rule: report.of(rule) for rule in RULES}
    out.proved += sum(f.verdict is Verdict.PROVED for found in verdicts.values() for f in found)
    for number in range(runs):
        with adversarial(100 * seed + number):
            for rule, statement in shown(program):
                out.shown.add(rule)
                # Growth stalls for want of room alone, or for each other's.
                rules = ("outgrows-pool", "growth-deadlock") if rule == "growth" else (rule,)
                here = [f for r in rules for f in verdicts.get(r, ())]
                if statement and statement[0] == "blocks":
                    here = [f for f in here if f.path[:3] == statement]
                if here and all(f.verdict is Verdict.PROVED for f in here):
                    out.wrong.append(f"seed {seed}, run {number}: {rule} at {statement}")


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """All seeds attacked."""
    out = Outcome()
    for seed in SEEDS:
        program = mutant(seed)
        if program is not None:
            attack(program, seed, out)
    return out


def test_no_run_shows_what_was_proved_not_to_happen(outcome: Outcome) -> None:
    assert not outcome.wrong, "\n".join(outcome.wrong)


def test_the_attack_bites(outcome: Outcome) -> None:
    assert outcome.proved >= 300
    assert {"amount-negative", "hold-never-fits"} <= outcome.shown and len(outcome.shown) >= 4


# Programs whose proof stands or falls with the end of one draw's support.

EDGED = """fn main() {
  pool kv { cap CAP; }
  stage desk : fifo;
  workload { arrive batch(20); turn { Size n = AMOUNT; } }
  server { hold kv (cost(kv, n)) { run desk (cost(desk, n - LESS)); } }
}
"""


def edged(amount: str, cap: float, less: float) -> Program:
    text = EDGED.replace("AMOUNT", amount).replace("CAP", repr(cap)).replace("LESS", repr(less))
    return compile_text(text, settings=Settings(horizon=1e6)).program


SUPPORTS = [
    ("~uniform(2, 5)", 5.0, 2.0),
    ("1 + floor(~uniform(0, 7))", 7.0, 1.0),
    ("ceil(~uniform(0, 7))", 7.0, 0.0),
    ("min(~exp(40), 90)", 90.0, 0.0),
    ("~exp(1)", 36.7369, 0.0),
    ("~erlang(3, 2)", 73.4738, 0.0),
    ("~bernoulli(0.5) * 3 + 1", 4.0, 1.0),
    ("max(~uniform(-4, 9), 2)", 9.0, 2.0),
    ("~uniform(0, 1) < 0.5 ? 3 : ~uniform(4, 6)", 6.0, 3.0),
    ("~bernoulli(0.5) == 0 || ~uniform(0, 2) > 3 ? 1 : 2", 2.0, 1.0),
]


@pytest.mark.parametrize(("amount", "cap", "less"), SUPPORTS, ids=[s[0] for s in SUPPORTS])
def test_the_end_of_a_support_is_where_it_is_said_to_be(amount: str, cap: float, less: float) -> None:
    """Tight bounds are proved and stand; a little less room is not proved, and an adversary shows why."""
    out = Outcome()
    attack(edged(amount, cap, less), 1, out, runs=12)
    assert not out.wrong and not out.shown
    assert out.proved >= 2
    short = Outcome()
    attack(edged(amount, cap * 0.999, less), 1, short, runs=12)
    assert "hold-never-fits" in short.shown and not short.wrong


def _short(encode: Callable[[Variables, str, tuple[Term, ...]], Term]) -> Callable[..., Term]:
    """A support that stops at the middle."""

    def support(variables: Variables, what: str, args: tuple[Term, ...]) -> Term:
        full = encode(variables, what, args)
        if full.low == full.high:
            return constant(full.low)
        return variables.term(what, full.low, (full.low + min(full.high, 1e3)) / 2, exact=True)

    return support


@pytest.mark.parametrize("dist", ["Uniform", "Exp"])
def test_a_support_that_is_too_short_is_noticed(dist: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DRAWS, dist, _short(DRAWS[dist]))
    amount, cap, less = {"Uniform": SUPPORTS[0], "Exp": ("~exp(1)", 25.0, 0.0)}[dist]
    out = Outcome()
    attack(edged(amount, cap * 0.9, less), 1, out, runs=12)
    assert out.wrong
