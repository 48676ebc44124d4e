"""Values of constant expressions, as a run computes them (api.md §2.2; 004 *Progress and amounts*)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.tables import FUNCTION

NAN = math.nan


def constant(e: ex.Expr) -> float | None:
    """The value of an expression that reads and draws nothing, else None.

    A conditional with a constant test is its chosen arm alone. Depth is bounded by the
    recursion limit: call it inside `serq.ir.depth.deep_recursion`.
    """
    match e:
        case ex.Num(value=value):
            return value
        case ex.Cost(arg=arg):
            return constant(arg)
        case ex.Unary(op=op, arg=arg):
            x = constant(arg)
            return None if x is None else unary(op, x)
        case ex.Binary(op=op, left=left, right=right):
            x, y = constant(left), constant(right)
            return None if x is None or y is None else binary(op, x, y)
        case ex.Cond(test=test, then=then, other=other):
            x = constant(test)
            return None if x is None else constant(then if x != 0 else other)
        case ex.Call(fun=fun, args=args):
            return _call(fun, args)
        case _:
            return None


def _call(fun: str, args: tuple[ex.Expr | ex.PoolArg | ex.StageArg, ...]) -> float | None:
    values = [constant(a) if isinstance(a, ex.Expr) else None for a in args]
    known = [v for v in values if v is not None]
    if len(known) != len(args):
        return None
    match fun, known:
        case "Min", [x, y]:
            return minimum(x, y)
        case "Max", [x, y]:
            return maximum(x, y)
        case "Pow", [x, y]:
            return power(x, y)
        case _, [x] if fun in _ONE:
            return _ONE[fun](x)
        case _:
            return None


def unary(op: str, x: float) -> float:
    """The value of a unary operator."""
    return -x if op == "Neg" else float(x == 0)


def binary(op: str, x: float, y: float) -> float:
    """The value of a binary operator on two numbers."""
    match op:
        case "Add":
            return x + y
        case "Sub":
            return x - y
        case "Mul":
            return x * y
        case "Div":
            return divide(x, y)
        case "Pow":
            return power(x, y)
        case "And":
            return float(x != 0 and y != 0)
        case "Or":
            return float(x != 0 or y != 0)
        case _:
            return float(_COMPARE[op](x, y))


_COMPARE = {
    "Lt": operator.lt,
    "Le": operator.le,
    "Gt": operator.gt,
    "Ge": operator.ge,
    "Eq": operator.eq,
    "Ne": operator.ne,
}


def divide(x: float, y: float) -> float:
    """IEEE division: by zero an infinity or NaN."""
    if y != 0:
        return x / y
    if x == 0 or x != x:
        return NAN
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def power(x: float, y: float) -> float:
    """IEEE power: NaN where it is not real, an infinity where it overflows or divides by zero."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:
        if x == 0:
            odd = y % 2 == 1
            return math.copysign(math.inf, x) if odd else math.inf
        return NAN


def minimum(x: float, y: float) -> float:
    """The lesser; a NaN is ignored."""
    return x if y != y or x < y else y


def maximum(x: float, y: float) -> float:
    """The greater; a NaN is ignored."""
    return x if y != y or x > y else y


def _floor(x: float) -> float:
    return float(math.floor(x)) if math.isfinite(x) else x


def _ceil(x: float) -> float:
    if not math.isfinite(x):
        return x
    return math.copysign(float(math.ceil(x)), x)


def _sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0 else NAN


def _exp(x: float) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def _ln(x: float) -> float:
    if x == 0:
        return -math.inf
    return math.log(x) if x > 0 else NAN


def function(fun: str, x: float) -> float:
    """The value of a function of one number, by its IR name."""
    return _ONE[fun](x)


_ONE: dict[str, Callable[[float], float]] = {
    "Abs": abs,
    "Floor": _floor,
    "Ceil": _ceil,
    "Sqrt": _sqrt,
    "Exp": _exp,
    "Ln": _ln,
}


def moves(e: ex.Expr) -> bool:
    """Whether an expression reads the clock, the state or a register, or draws (interp.md §8.1)."""
    return any(
        isinstance(x, ex.Ctx | ex.Reg | ex.Sample) or (isinstance(x, ex.Call) and FUNCTION[x.fun].moves)
        for x in ex.walk(e)
    )


def reads(e: ex.Expr) -> set[int]:
    """The attribute slots an expression reads."""
    return {x.slot for x in ex.walk(e) if isinstance(x, ex.Attr)}


def round_up(units: float, block: float | None) -> float:
    """Units in whole blocks (interp.md §1)."""
    if block is None or not block > 0:
        return units
    return _ceil(divide(units, block)) * block


def feeding_guards(program: pr.Program) -> set[int]:
    """The attributes that guards of `while` read, directly or through assignments."""
    sets = [s for block in program.blocks for s in block if isinstance(s, st.Set)]
    guards = [s.guard for block in program.blocks for s in block if isinstance(s, st.While)]
    fed = {slot for g in guards for slot in reads(g)}
    while True:
        more = {slot for s in sets if s.slot in fed for slot in reads(s.value)}
        if more <= fed:
            return fed
        fed |= more
