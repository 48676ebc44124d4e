"""What each rule of the checker costs: its time over the examples, to that of running them, measured in turns.

Each example is checked with the limits of `serq check` and run for a fifth of its horizon.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

from serq.check import RULES
from serq.check.model import Model
from serq.check.solver import Meter
from serq.ir.corpus import read_corpus
from serq.ir.depth import deep_recursion
from serq.ir.edit import with_settings
from serq.ir.program import Program
from serq.sim import run
from tools.examples import Example, examples

# What `serq check` has for one question and for everything.
QUESTION, OVERALL = 2.0, 10.0
WALKS = "following the session"


@dataclass
class Costs:
    """Seconds of each part of the checks, by example; and of the runs."""

    parts: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    runs: dict[str, float] = field(default_factory=dict)

    def ratio(self, part: str) -> float:
        """The time of a part over all examples, to that of the runs."""
        return sum(self.parts[part].values()) / sum(self.runs.values())

    def slowest(self, part: str) -> tuple[str, float]:
        """The example in which a part takes the greatest share, and its time to that of the run."""
        name = max(self.parts[part], key=lambda n: self.parts[part][n])
        return name, self.parts[part][name] / self.runs[name]

    def whole(self, example: str) -> float:
        """Seconds of the whole check of an example."""
        return sum(found.get(example, 0.0) for found in self.parts.values())


def measured(chosen: Iterable[Example] | None = None) -> Costs:
    """Check and run every example, one after the other."""
    costs = Costs()
    for example in examples() if chosen is None else chosen:
        program = example.load().program
        shorter = with_settings(program, horizon=program.horizon / 5, warmup=0.0)
        start = time.perf_counter()
        run(shorter, corpus=read_corpus(Path(shorter.trace)) if shorter.trace else None)
        costs.runs[example.name] = time.perf_counter() - start
        for part, seconds in _checked(program):
            costs.parts[part][example.name] = seconds
    return costs


def _checked(program: Program) -> Iterable[tuple[str, float]]:
    with deep_recursion():
        start = time.perf_counter()
        model = Model(program, QUESTION, {}, Meter(OVERALL))
        _ = model.enclosing, model.exact
        yield WALKS, time.perf_counter() - start
        for rule in RULES:
            start = time.perf_counter()
            list(rule.check(model))
            yield rule.name, time.perf_counter() - start


def table(costs: Costs) -> Table:
    """One row for each rule."""
    made = Table(box=None, pad_edge=False)
    for name in ("checking", "to running", "most in", "to running it"):
        made.add_column(name, justify="left" if name in ("checking", "most in") else "right")
    for part in costs.parts:
        example, ratio = costs.slowest(part)
        made.add_row(part, f"{costs.ratio(part):.3f}", example, f"{ratio:.2f}")
    total = sum(costs.ratio(part) for part in costs.parts)
    longest = max(costs.runs, key=costs.whole)
    made.add_row("everything", f"{total:.3f}", longest, f"{costs.whole(longest) / costs.runs[longest]:.2f}")
    return made


def late(costs: Costs) -> list[str]:
    """The examples whose check takes longer than it may."""
    return [name for name in costs.runs if costs.whole(name) > OVERALL]
