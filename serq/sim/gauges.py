"""Gauges (interp.md §15, report.md §2): the time average of a function of the state.

When the end of the run is known from the start, windows are filled as the run goes
and change points are not kept.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from serq.sim.numeric import order_key
from serq.sim.statistics import BATCHES, spread


@dataclass
class GaugeResult:
    """A gauge over [warmup, end]; `times` and `values` are its change points when kept."""

    name: str
    mean: float
    ci: float
    least: float
    greatest: float
    times: Sequence[float]
    values: Sequence[float]


class _Windows:
    """Totals, extremes and window sums over a span whose ends are known."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end
        self.total = 0.0
        self.least, self.greatest = math.inf, -math.inf
        width = (end - start) / BATCHES
        self.edges = [start + k * width for k in range(BATCHES)] + [end]
        self.width = width
        self.sums = [0.0] * BATCHES
        self._at = 0

    def add(self, value: float, begin: float, finish: float) -> None:
        """The gauge had a value from `begin` to `finish`; segments come in order."""
        if begin < self.start:
            begin = self.start
        if finish > self.end:
            finish = self.end
        if not finish > begin:
            return
        # Of equals the later counts: zeros differ in sign.
        if value <= self.least:
            self.least = value
        if value >= self.greatest:
            self.greatest = value
        self.total += value * (finish - begin)
        edges = self.edges
        if edges[self._at] <= begin and finish <= edges[self._at + 1]:
            self.sums[self._at] += value * (finish - begin)
            return
        while self._at < BATCHES - 1 and edges[self._at + 1] <= begin:
            self._at += 1
        k = self._at
        while k < BATCHES and edges[k] < finish:
            overlap = min(finish, edges[k + 1]) - max(begin, edges[k])
            if overlap > 0.0:
                self.sums[k] += value * overlap
            k += 1


class GaugeState:
    """A gauge while the run goes on: the last change point, and windows or all points."""

    def __init__(
        self, name: str, read: Callable[[], float], warmup: float, end: float | None, keep: bool
    ) -> None:
        self.name = name
        self.read = read
        self._warmup = warmup
        self._windows = None if end is None else _Windows(warmup, end)
        self._keeps = keep or end is None
        self._times, self._values = array("d"), array("d")
        self._since: float | None = None
        self._value = 0.0

    def sample(self, now: float) -> None:
        """Read the state an instant leaves; called once per instant."""
        value = self.read()
        since = self._since
        if since is not None:
            before = self._value
            same = value == before and (value != 0.0 or order_key(value) == order_key(before))
            if same or (value != value and before != before):
                return
            if self._windows is not None:
                self._windows.add(before, since, now)
        self._since = now
        self._value = value
        if self._keeps:
            self._times.append(now)
            self._values.append(value)

    def finish(self, end: float) -> GaugeResult:
        """Statistics over [warmup, end]; without an interval when an interrupted run kept no points."""
        times, values = self._times, self._values
        span = end - self._warmup
        if not span > 0.0:
            nan = math.nan
            return GaugeResult(self.name, nan, nan, nan, nan, times, values)
        windows = self._windows
        if windows is None or (windows.end != end and self._keeps):
            windows = _Windows(self._warmup, end)
            for k, value in enumerate(values):
                windows.add(value, times[k], times[k + 1] if k + 1 < len(times) else end)
        elif self._since is not None:
            windows.add(self._value, self._since, end)
        whole = windows.end == end
        ci = spread([s / windows.width for s in windows.sums]) if whole else math.nan
        return GaugeResult(
            self.name, windows.total / span, ci, windows.least, windows.greatest, times, values
        )
