"""Ratios measured side by side: the contenders take turns, and each ratio is a median over the rounds."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

ROUNDS = 5
Contender = Callable[[], float]


@dataclass(frozen=True)
class Result:
    """One comparison: what was measured, the median rate of each contender, ours over theirs, what is asked."""

    what: str
    unit: str
    rates: Mapping[str, float]
    ratios: Mapping[str, float]
    asked: Mapping[str, float]

    @property
    def met(self) -> bool:
        """Whether every ratio asked for is reached."""
        return all(self.ratios[name] >= least for name, least in self.asked.items())


def measure(
    what: str,
    unit: str,
    contenders: Mapping[str, Contender],
    asked: Mapping[str, float],
    rounds: int = ROUNDS,
) -> Result:
    """Run every contender once a round, the first being ours.

    A contender does its work and returns how many units it did; rates are units per second
    of wall time.
    """
    seen: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, work in contenders.items():
            gc.collect()
            start = time.perf_counter()
            units = work()
            seen[name].append(units / (time.perf_counter() - start))
    ours = next(iter(contenders))
    ratios = {
        name: statistics.median(a / b for a, b in zip(seen[ours], rates, strict=True))
        for name, rates in seen.items()
        if name != ours
    }
    return Result(what, unit, {n: statistics.median(r) for n, r in seen.items()}, ratios, asked)
