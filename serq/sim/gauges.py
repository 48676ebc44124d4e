"""Gauges (interp.md §15, report.md §2): the time average of a function of the state.

When the end of the run is known from the start, windows are filled as the run goes
and change points are not kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
    times: list[float]
    values: list[float]


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
        if value < self.least:
            self.least = value
        if value > self.greatest:
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
        self._kept: list[tuple[float, float]] | None = [] if keep or end is None else None
        self._point: tuple[float, float] | None = None

    def sample(self, now: float) -> None:
        """Read the state an instant leaves; called once per instant."""
        value = self.read()
        point = self._point
        if point is None:
            self._point = (now, value)
        elif value != point[1] or (value == 0.0 and order_key(value) != order_key(point[1])):
            self._close(point, now)
            self._point = (now, value)

    def _close(self, point: tuple[float, float], now: float) -> None:
        if self._windows is not None:
            self._windows.add(point[1], point[0], now)
        if self._kept is not None:
            self._kept.append(point)

    def finish(self, end: float) -> GaugeResult:
        """Statistics over [warmup, end]; without an interval when an interrupted run kept no points."""
        points = [*(self._kept or []), *([self._point] if self._point else [])]
        times, values = [p[0] for p in points], [p[1] for p in points]
        span = end - self._warmup
        if not span > 0.0:
            nan = math.nan
            return GaugeResult(self.name, nan, nan, nan, nan, times, values)
        windows = self._windows
        if windows is None or (windows.end != end and self._kept is not None):
            windows = _Windows(self._warmup, end)
            for (t, v), following in zip(points, [*points[1:], (end, 0.0)], strict=True):
                windows.add(v, t, following[0])
        elif self._point is not None:
            windows.add(self._point[1], self._point[0], end)
        whole = windows.end == end
        ci = spread([s / windows.width for s in windows.sums]) if whole else math.nan
        return GaugeResult(
            self.name, windows.total / span, ci, windows.least, windows.greatest, times, values
        )
