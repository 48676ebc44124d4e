"""The bench of the checker: every rule has a row, ratios are of sums, and a check that takes too long is named."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from bench import checker
from bench.checker import OVERALL, WALKS, Costs
from serq.check import RULES
from tools.examples import examples


def test_every_rule_has_a_row() -> None:
    costs = checker.measured(e for e in examples() if e.name == "papers/bari_rad")
    assert set(costs.parts) == {WALKS, *(r.name for r in RULES)}
    assert set(costs.runs) == {"papers/bari_rad"}
    out = StringIO()
    Console(file=out, width=120).print(checker.table(costs))
    assert all(r.name in out.getvalue() for r in RULES) and "everything" in out.getvalue()


def test_ratios_are_of_sums() -> None:
    costs = Costs()
    costs.runs.update(a=1.0, b=3.0)
    costs.parts["rule"].update(a=2.0, b=4.0)
    costs.parts["other"].update(a=1.0, b=0.0)
    assert costs.ratio("rule") == 1.5
    assert costs.slowest("rule") == ("b", pytest.approx(4 / 3))
    assert costs.whole("a") == 3.0


def test_a_check_that_takes_too_long_is_named() -> None:
    costs = Costs()
    costs.runs.update(a=1.0, b=1.0)
    costs.parts["rule"].update(a=OVERALL / 2, b=OVERALL / 2)
    costs.parts["other"].update(b=OVERALL)
    assert checker.late(costs) == ["b"]
