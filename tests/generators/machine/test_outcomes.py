"""The machine gives what the interpreter gives: of random programs, and of the stored regressions."""

from __future__ import annotations

from itertools import islice

import pytest

from serq.generators import machine
from serq.generators.machine import holds
from serq.generators.outcomes import Outcome
from serq.generators.translate import translate
from serq.ir.program import Program
from serq.oracle.differential import random_runs
from serq.oracle.lean_regressions import Regression, stored

RUNS = 300


def _outcome(program: Program) -> Outcome:
    made = translate(program)
    assert made.horizon is not None
    return machine.outcome(made, machine.run(made, made.horizon))


def test_random_programs_have_the_outcomes_of_the_interpreter() -> None:
    for ran in islice(random_runs(), RUNS):
        assert _outcome(ran.program) == ran.outcome, ran.name


@pytest.mark.parametrize("regression", stored(), ids=lambda r: r.name)
def test_a_stored_regression_has_its_outcome(regression: Regression) -> None:
    assert _outcome(regression.program) == regression.outcome


def test_a_cache_that_keeps_too_much_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holds, "kept", lambda block, wanted, computed: wanted)
    runs = islice(random_runs(), 40)
    assert any(_outcome(ran.program) != ran.outcome for ran in runs)
