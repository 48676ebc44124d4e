"""Every "proved" is attacked: random programs, their clamps torn out, run under several seeds."""

from __future__ import annotations

import contextlib
import math
import random
from dataclasses import dataclass, field

import pytest
from pydantic import BaseModel

from serq.check import Verdict, run_checks
from serq.check.model import Model
from serq.check.terms import Term
from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir.depth import deep_recursion
from serq.ir.edit import with_settings
from serq.ir.program import Program
from serq.ir.validate import validate
from serq.sim import run
from serq.sim.errors import RunError
from serq.sim.hooks import TraceHook
from tests.generators.ir import random_program

SEEDS = range(40)
RULES = ("amount-negative", "guard-not-test", "index-outside", "hold-never-fits")
STOPS = {
    "SQ801": "guard-not-test",
    "SQ802": "amount-negative",
    "SQ805": "index-outside",
    "SQ815": "index-outside",
}


def torn(node: object, dice: random.Random) -> object:
    """A program with some of its clamps replaced by what they clamp."""
    if isinstance(node, ex.Call) and node.fun in ("Min", "Max") and dice.random() < 0.8:
        kept = [a for a in node.args if not isinstance(a, ex.Num)]
        return torn(kept[0] if kept else node.args[0], dice)
    if isinstance(node, ex.Binary) and node.op == "Add" and dice.random() < 0.2:
        node = node.model_copy(update={"op": "Sub"})
    if isinstance(node, BaseModel):
        changed = {k: torn(getattr(node, k), dice) for k in type(node).model_fields}
        return node.model_copy(update=changed)
    if isinstance(node, tuple):
        return tuple(torn(x, dice) for x in node)
    return node


def mutant(seed: int) -> Program | None:
    """A random program with torn clamps, where it is still valid."""
    program = random_program(seed)
    if seed % 3 == 0:
        return program
    changed = torn(program, random.Random(seed))
    assert isinstance(changed, Program)
    return None if validate(changed) else changed


def stopped(program: Program) -> tuple[str, IrPath] | None:
    """The code and place a run stops at."""
    try:
        run(program)
    except RunError as error:
        found = error.diagnostics[0]
        return found.code, found.place.path
    return None


@dataclass
class Outcome:
    """What attacking many programs came to."""

    wrong: list[str] = field(default_factory=list)
    stops: int = 0
    proved: int = 0


def _attack(seed: int, out: Outcome) -> None:
    program = mutant(seed)
    if program is None:
        return
    report = run_checks(program, rules=RULES, timeout=0.5, overall=6.0)
    out.proved += sum(f.verdict is Verdict.PROVED for f in report.findings)
    for other in range(3):
        stop = stopped(with_settings(program, seed=program.seed + other))
        if stop is None or stop[0] not in STOPS:
            continue
        out.stops += 1
        rule = STOPS[stop[0]]
        statement = stop[1][:3]
        here = [f for f in report.findings if f.rule == rule and statement and f.path[:3] == statement]
        if here and all(f.verdict is Verdict.PROVED for f in here):
            out.wrong.append(f"seed {seed}: {stop}")


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """All seeds attacked."""
    out = Outcome()
    for seed in SEEDS:
        _attack(seed, out)
    return out


def test_no_run_stops_at_a_proved_place(outcome: Outcome) -> None:
    assert not outcome.wrong, "\n".join(outcome.wrong)


def test_the_attack_bites(outcome: Outcome) -> None:
    assert outcome.stops >= 20
    assert outcome.proved >= 200


class Values(TraceHook):
    """Compares what attributes are with what the model says they can be."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.wrong: list[str] = []
        self.seen = 0

    def admission(self, m, s, w) -> None:  # type: ignore[no-untyped-def]
        self._look(s)

    def session_end(self, m, s) -> None:  # type: ignore[no-untyped-def]
        self._look(s)

    def preemption(self, m, victim, grower, pool, position) -> None:  # type: ignore[no-untyped-def]
        self._look(victim)

    def _look(self, s) -> None:  # type: ignore[no-untyped-def]
        for slot, value in enumerate(s.attrs):
            self.seen += 1
            if not encloses(self.model.spans[slot], value):
                self.wrong.append(f"{self.model.program.attrs[slot]} = {value}")


def encloses(term: Term, value: float) -> bool:
    """Whether a value is among those a term may have, by its bounds and flags."""
    if value != value:
        return term.nan is not False
    if value in (math.inf, -math.inf):
        return (term.pos if value > 0 else term.neg) is not False
    return term.low <= value <= term.high and not (term.whole and value != math.floor(value))


@pytest.mark.parametrize("start", range(0, 60, 12))
def test_attributes_stay_in_their_bounds(start: int) -> None:
    seen = 0
    for seed in range(start, start + 12):
        program = mutant(seed)
        if program is None:
            continue
        model = Model(program, 0.3)
        with deep_recursion():
            hook = Values(model)
            assert len(model.spans) == len(program.attrs)
        with contextlib.suppress(RunError):
            run(program, hook=hook)
        assert not hook.wrong, (seed, sorted(set(hook.wrong))[:5])
        seen += hook.seen
    assert seen > 100
