"""IEEE arithmetic for constants: the value of an operator or function of numbers (api.md §2.2, §3.1)."""

from __future__ import annotations

import math
from collections.abc import Callable

from serq.ir.symbolic import Symbolic
from serq.ir.validate import constants


def power(x: float, y: float) -> float:
    """x to the y; an open input is read at its sample."""
    return constants.power(float(x), float(y))


def least(a: float, b: float) -> float:
    """The lesser; a NaN is ignored."""
    return a if a <= b or math.isnan(b) else b


def greatest(a: float, b: float) -> float:
    """The greater; a NaN is ignored."""
    return a if a >= b or math.isnan(b) else b


def _at_sample(fun: str) -> Callable[[float], float]:
    """A function of one number, by its IR name; an open input is read at its sample."""
    return lambda x: constants.function(fun, float(x))


def _rounded(x: float, how: Callable[[float], int]) -> float:
    if isinstance(x, Symbolic):
        return x.call("Floor" if how is math.floor else "Ceil")
    return math.copysign(float(how(x)), x) if math.isfinite(x) else x


UNARY: dict[str, Callable[[float], float]] = {"-": lambda x: -x, "!": lambda x: float(x == 0.0)}
BINARY: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": constants.divide,
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
    "sqrt": _at_sample("Sqrt"),
    "exp": _at_sample("Exp"),
    "ln": _at_sample("Ln"),
    "pow": power,
}
