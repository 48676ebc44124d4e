"""Statistics exactly as the report defines them (report.md §2)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from serq.sim.numeric import order_key

BATCHES = 20
_STUDENT = 2.093
_LOG_WIDTH = math.log1p(0.01)
_LOWEST = -(2**31)


class RunningMean:
    """Count and mean by running updates."""

    __slots__ = ("count", "mean")

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0

    def add(self, x: float) -> None:
        """One more value."""
        self.count += 1
        self.mean += (x - self.mean) / self.count

    @property
    def value(self) -> float:
        """The mean, NaN without values."""
        return self.mean if self.count else math.nan


class SteppedAverage:
    """The time average of a value that keeps the instant of its own last change."""

    __slots__ = ("integral", "last", "value")

    def __init__(self) -> None:
        self.value = 0.0
        self.integral = 0.0
        self.last = 0.0

    def set(self, now: float, value: float) -> None:
        """The value from now on."""
        self.integral += self.value * (now - self.last)
        self.last = now
        self.value = value

    def restart(self, now: float) -> None:
        """Forget what was; the value stays."""
        self.integral = 0.0
        self.last = now

    def mean(self, start: float, end: float) -> float:
        """The average over [start, end]."""
        span = end - start
        return (self.integral + self.value * (end - self.last)) / span if span > 0.0 else self.value


def half_width(values: Sequence[float], batches: int = BATCHES) -> float:
    """The 95 % half-width over batch means; infinite below two samples a batch."""
    size = len(values) // batches
    if len(values) < 2 * batches:
        return math.inf
    means = [_sum(values[k * size : (k + 1) * size]) / size for k in range(batches)]
    return spread(means)


def spread(means: Sequence[float]) -> float:
    """The half-width that batch means give."""
    n = len(means)
    centre = _sum(means) / n
    variance = _sum([(x - centre) * (x - centre) for x in means]) / (n - 1)
    return _STUDENT * math.sqrt(variance / n)


def _sum(values: Sequence[float]) -> float:
    total = -0.0
    for v in values:
        total += v
    return total


class Samples:
    """The samples of an observation or client metric, with where they were taken when asked for.

    Statistics are computed from the values in recording order when they are asked for.
    """

    __slots__ = ("detailed", "sessions", "times", "turns", "values")

    def __init__(self, detailed: bool) -> None:
        self.values = array("d")
        self.detailed = detailed
        self.times = array("d")
        self.sessions: list[int] = []
        self.turns = array("d")

    def add(self, x: float, now: float, serial: int, turn: float) -> None:
        """Record a sample."""
        self.values.append(x)
        if self.detailed:
            self.times.append(now)
            self.sessions.append(serial)
            self.turns.append(turn)

    def moments(self) -> tuple[float, float]:
        """Mean and squared coefficient of variation by running updates; NaN where undefined."""
        n, mean, m2 = 0, 0.0, 0.0
        for x in self.values:
            n += 1
            d = x - mean
            mean += d / n
            m2 += d * (x - mean)
        square = mean * mean
        return mean if n else math.nan, (m2 / (n - 1)) / square if n > 1 and square else math.nan

    def p99(self) -> float:
        """The element at rank ceil(0.99 n)."""
        n = len(self.values)
        if n == 0:
            return math.nan
        # Only zeros and NaN need the total order of doubles.
        plain = 0.0 not in self.values and not any(x != x for x in self.values)
        ordered = sorted(self.values) if plain else sorted(self.values, key=order_key)
        return ordered[min(max(math.ceil(0.99 * n), 1), n) - 1]

    def ci(self) -> float:
        """The half-width of the 95 % interval; infinite below 40 samples."""
        return half_width(self.values)


class Histogram:
    """Buckets of 1 % relative width with counts and extremes."""

    __slots__ = ("_buckets", "_known", "count", "total")

    def __init__(self) -> None:
        self._buckets: dict[int, list[float]] = {}
        self._known: tuple[float, list[float]] | None = None
        self.count = 0
        self.total = 0.0

    def add(self, x: float) -> None:
        """One more value."""
        self.count += 1
        self.total += x
        # Requests of one batch have the same gap: the last bucket is found again without a logarithm.
        if self._known is not None and self._known[0] == x:
            self._known[1][0] += 1
            return
        index = math.floor(math.log(x) / _LOG_WIDTH) if x > 0.0 else _LOWEST
        bucket = self._buckets.setdefault(index, [0, x, x])
        bucket[0] += 1
        bucket[1] = min(bucket[1], x)
        bucket[2] = max(bucket[2], x)
        self._known = (x, bucket)

    def add_many(self, x: float, times: int) -> None:
        """The same value several times; the total is the sum term by term."""
        self.add(x)
        assert self._known is not None
        self._known[1][0] += times - 1
        self.count += times - 1
        total = self.total
        for _ in range(times - 1):
            total += x
        self.total = total

    def mean(self) -> float:
        """The exact mean; NaN without values."""
        return self.total / self.count if self.count else math.nan

    def quantile(self, q: float) -> float:
        """The middle of the bucket of rank ceil(q n), within what the bucket holds."""
        if self.count == 0:
            return math.nan
        rank = max(math.ceil(q * self.count), 1)
        for index in sorted(self._buckets):
            number, least, greatest = self._buckets[index]
            rank -= int(number)
            if rank <= 0:
                middle = 0.0 if index == _LOWEST else math.exp((index + 0.5) * _LOG_WIDTH)
                return min(max(middle, least), greatest)
        return math.nan
