"""Distributions (rng.md §3): one function per row of the table, each reading a unit stream."""

from __future__ import annotations

from math import log

from serq.sim.numeric import div, fmax, sqrt
from serq.sim.rng import Unit


def draw_exp(unit: Unit, mean: float) -> float:
    """Exponential of this mean."""
    return -mean * log(1.0 - unit())


def draw_det(unit: Unit, value: float) -> float:
    """The value; takes no unit."""
    return value


def draw_uniform(unit: Unit, low: float, high: float) -> float:
    """Uniform on [low, high)."""
    return low + (high - low) * unit()


def draw_erlang(unit: Unit, phases: float, mean: float) -> float:
    """A sum of exponential phases."""
    count = int(fmax(phases, 1.0))
    part = mean / count
    total = -0.0
    for _ in range(count):
        total += -part * log(1.0 - unit())
    return total


def draw_h2(unit: Unit, mean: float, cv2: float) -> float:
    """Balanced two-phase hyperexponential."""
    c = fmax(cv2, 1.0)
    p = 0.5 * (1.0 + sqrt(div(c - 1.0, c + 1.0)))
    first = unit() < p
    part = div(mean, 2.0 * p) if first else div(mean, 2.0 * (1.0 - p))
    return -part * log(1.0 - unit())


def draw_bernoulli(unit: Unit, p: float) -> float:
    """1 with probability p."""
    return 1.0 if unit() < p else 0.0
