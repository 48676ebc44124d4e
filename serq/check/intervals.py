"""Bounds of the doubles that sums, products and quotients yield: rounding keeps order, so it bounds itself."""

from __future__ import annotations

import math

INF = math.inf
Bounds = tuple[float, float]


def sound(low: float, high: float) -> Bounds:
    """Bounds; NaN gives up, and what overflows is unbounded."""
    return (-INF if low != low else low), (INF if high != high else high)


def add(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of a sum."""
    return sound(a[0] + b[0], a[1] + b[1])


def negate(a: Bounds) -> Bounds:
    """Bounds of a negation."""
    return -a[1], -a[0]


def multiply(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of a product."""
    corners = [0.0 if x == 0 or y == 0 else x * y for x in a for y in b]
    return sound(min(corners), max(corners))


def divide(a: Bounds, b: Bounds) -> Bounds:
    """Bounds of a quotient; none when the divisor may be 0."""
    if b[0] <= 0 <= b[1]:
        return (-INF, INF)
    corners = [_quotient(x, y) for x in a for y in b]
    if any(c != c for c in corners):
        return (-INF, INF)
    return sound(min(corners), max(corners))


def _quotient(x: float, y: float) -> float:
    if x in (INF, -INF) and y in (INF, -INF):
        return math.nan
    return x / y


def whole_inside(low: float, high: float) -> Bounds:
    """Bounds as doubles that are whole, moved inwards no further than to whole numbers."""
    return (low if low in (INF, -INF) else float(math.floor(low))), (
        high if high in (INF, -INF) else float(math.ceil(high))
    )
