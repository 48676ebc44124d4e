"""IEEE arithmetic as the interpreter defines it (interp.md §1): no operation raises.

Generated code calls these where Python's own operators differ from IEEE.
"""

from __future__ import annotations

import math
import struct

INF = math.inf
NAN = math.nan
# What an invalid operation gives on the reference's machines has its sign set, and so
# comes before every number in the total order.
INVALID = -math.nan

# The one tolerance on amounts that come from sums; time has none.
EPS = 1e-9

_pack = struct.Struct("<d").pack
_unpack = struct.Struct("<q").unpack


def div(a: float, b: float) -> float:
    """a / b; by zero an infinity or NaN."""
    if b:
        return a / b
    if a == 0.0 or a != a:
        return a if a != a else INVALID
    return math.copysign(INF, a) * math.copysign(1.0, b)


def fmin(a: float, b: float) -> float:
    """The lesser, the second of equals; a NaN is ignored."""
    return a if a < b or b != b else b


def fmax(a: float, b: float) -> float:
    """The greater, the second of equals; a NaN is ignored."""
    return a if a > b or b != b else b


def floor(x: float) -> float:
    """Rounded down; infinities, NaN and the sign of zero stay."""
    return float(math.floor(x)) or x * 0.0 if x - x == 0.0 else x


def ceil(x: float) -> float:
    """Rounded up; infinities, NaN and the sign of zero stay."""
    return float(math.ceil(x)) or x * 0.0 if x - x == 0.0 else x


def sqrt(x: float) -> float:
    """Square root; NaN below 0."""
    return math.sqrt(x) if x >= 0.0 else (x if x != x else INVALID)


def exp(x: float) -> float:
    """e to the x; overflow is infinite."""
    try:
        return math.exp(x)
    except OverflowError:
        return INF


def ln(x: float) -> float:
    """Natural logarithm; -inf at 0, NaN below, whose sign is not set: it comes after every number."""
    if x > 0.0:
        return math.log(x)
    if x == 0.0:
        return -INF
    return x if x != x else NAN


def power(x: float, y: float) -> float:
    """x to the y as the C library computes it."""
    try:
        return math.pow(x, y)
    except OverflowError:
        odd = y == math.floor(y) and y % 2.0 == 1.0
        return -INF if x < 0.0 and odd else INF
    except ValueError:
        if x == 0.0:
            odd = y == math.floor(y) and y % 2.0 == 1.0
            return math.copysign(INF, x) if odd else INF
        return INVALID


def order_key(x: float) -> int:
    """An integer that orders doubles totally: NaN at the ends, -0 before 0."""
    bits: int = _unpack(_pack(x))[0]
    return bits if bits >= 0 else bits ^ 0x7FFF_FFFF_FFFF_FFFF


def round_up(units: float, block: float | None) -> float:
    """Units in whole blocks, at least as many."""
    if block is None or units - units != 0.0:
        return units
    return ceil(units / block) * block


def round_down(units: float, block: float | None) -> float:
    """Units in whole blocks, at most as many."""
    if block is None or units - units != 0.0:
        return units
    return floor(units / block) * block
