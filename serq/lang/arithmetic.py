"""IEEE arithmetic for constants: the value of an operator or function of numbers (api.md §2.2, §3.1)."""

from __future__ import annotations

import math
from collections.abc import Callable

from serq.ir.symbolic import Symbolic

NAN = math.nan
INF = math.inf


def divide(a: float, b: float) -> float:
    """a / b; by zero an infinity or NaN."""
    if b:
        return a / b
    if a == 0.0 or math.isnan(a) or math.isnan(b):
        return NAN
    return math.copysign(INF, a) * math.copysign(1.0, b)


def power(x: float, y: float) -> float:
    """x to the y; overflow and poles are infinite, a fractional power of a negative NaN."""
    try:
        return math.pow(float(x), float(y))
    except OverflowError:
        return -INF if x < 0.0 and math.fmod(y, 2.0) in (1.0, -1.0) else INF
    except ValueError:
        if x == 0.0:
            return math.copysign(INF, x) if math.fmod(y, 2.0) in (1.0, -1.0) else INF
        return NAN


def least(a: float, b: float) -> float:
    """The lesser; a NaN is ignored."""
    return a if a <= b or math.isnan(b) else b


def greatest(a: float, b: float) -> float:
    """The greater; a NaN is ignored."""
    return a if a >= b or math.isnan(b) else b


def _exp(x: float) -> float:
    try:
        return math.exp(float(x))
    except OverflowError:
        return INF


def _ln(x: float) -> float:
    if x > 0.0:
        return math.log(float(x))
    return -INF if x == 0.0 else NAN


def _sqrt(x: float) -> float:
    return math.sqrt(float(x)) if x >= 0.0 else NAN


def _rounded(x: float, how: Callable[[float], int]) -> float:
    if isinstance(x, Symbolic):
        return x.call("Floor" if how is math.floor else "Ceil")
    return math.copysign(float(how(x)), x) if math.isfinite(x) else x


UNARY: dict[str, Callable[[float], float]] = {"-": lambda x: -x, "!": lambda x: float(x == 0.0)}
BINARY: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide,
    "^": power,
    "<": lambda a, b: float(a < b),
    "<=": lambda a, b: float(a <= b),
    ">": lambda a, b: float(a > b),
    ">=": lambda a, b: float(a >= b),
    "==": lambda a, b: float(a == b),
    "!=": lambda a, b: float(a != b),
    "&&": lambda a, b: float(a != 0.0 and b != 0.0),
    "||": lambda a, b: float(a != 0.0 or b != 0.0),
}
FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": least,
    "max": greatest,
    "abs": abs,
    "floor": lambda x: _rounded(x, math.floor),
    "ceil": lambda x: _rounded(x, math.ceil),
    "sqrt": _sqrt,
    "exp": _exp,
    "ln": _ln,
    "pow": power,
}
