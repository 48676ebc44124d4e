"""What stands beside a report's numbers: the samples of a detailed run (report.md §1, *Through the Python module*)."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from serq.ir.decode import loads
from serq.ir.encode import dumps
from serq.lang.compile import compile_text
from serq.lang.settings import Settings
from serq.sim import run

SOURCE = """
fn main() {
  stage desk : fifo(1);
  workload { arrive poisson(1); }
  server { observe seen = 1; run desk (cost(desk, 1)); }
}
"""


def with_turn(value: float | str) -> dict[str, Any]:
    """A program whose sessions overwrite the number of their turn."""
    document: dict[str, Any] = json.loads(dumps(compile_text(SOURCE, settings=Settings(horizon=9.0)).program))
    block = next(
        b for b, body in enumerate(document["blocks"]) if any("Observe" in s for s in body if s != "Turn")
    )
    document["blocks"][block].insert(1, {"Set": [document["slot_turn"], {"Num": value}]})
    document["sides"][block].insert(1, document["sides"][block][0])
    return document


@pytest.mark.parametrize(
    ("value", "turn"),
    [
        (2.5, 2),
        (3.999, 3),
        (-0.5, 0),
        (-1.5, 0),
        (4294967295.0, 4294967295),
        (4294967296.5, 4294967295),
        (1e300, 4294967295),
        ("inf", 4294967295),
        ("-inf", 0),
    ],
)
def test_a_sample_has_a_whole_turn_whatever_the_attribute_holds(value: float | str, turn: int) -> None:
    report = run(loads(json.dumps(with_turn(value))), detailed=True)
    (seen,) = report.observes
    assert seen.count > 0
    assert set(seen.turns) == {turn}
    assert all(type(k) is int for k in seen.turns)


def test_a_turn_that_is_no_number_is_turn_0() -> None:
    document = with_turn(1)
    block = next(
        b for b, body in enumerate(document["blocks"]) if any("Observe" in s for s in body if s != "Turn")
    )
    document["blocks"][block][1]["Set"][1] = {"Binary": ["Sub", {"Num": "inf"}, {"Num": "inf"}]}
    (seen,) = run(loads(json.dumps(document)), detailed=True).observes
    assert math.isfinite(seen.mean)
    assert set(seen.turns) == {0}
