"""The encodings of the operators and arithmetic functions, one entry per row of `serq.ir.tables`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import z3

from serq.check import intervals
from serq.check.flags import Flag, choose, land, lnot, lor
from serq.check.terms import (
    INF,
    WHOLE_LIMIT,
    Rounding,
    Term,
    Values,
    boolean,
    constant,
    equal,
    ite,
    less,
    truth,
)
from serq.ir.validate import constants

One = Callable[[Rounding, Term], Term]
Two = Callable[[Rounding, Term, Term], Term]

# ln of the least and the greatest double, outwards.
_LN_LOW, _LN_HIGH = -745.2, 709.8


def _binary_compute(op: str, a: Term, b: Term) -> Callable[[Values], float]:
    return lambda v: constants.binary(op, v.of(a), v.of(b))


def _whole(a: Term, b: Term, bounds: intervals.Bounds) -> bool:
    return a.whole and b.whole and max(abs(bounds[0]), abs(bounds[1])) <= WHOLE_LIMIT


def add(r: Rounding, a: Term, b: Term) -> Term:
    """Sum; of opposite infinities NaN."""
    bounds = intervals.add((a.low, a.high), (b.low, b.high))
    return _sum(r, a, b, a.num + b.num, bounds, (b.pos, b.neg), "Add")


def subtract(r: Rounding, a: Term, b: Term) -> Term:
    """Difference; of equal infinities NaN."""
    bounds = intervals.add((a.low, a.high), (-b.high, -b.low))
    return _sum(r, a, b, a.num - b.num, bounds, (b.neg, b.pos), "Sub")


def _sum(
    r: Rounding,
    a: Term,
    b: Term,
    exact: z3.ArithRef,
    bounds: intervals.Bounds,
    signs: tuple[Flag, Flag],
    op: str,
) -> Term:
    whole = _whole(a, b, bounds)
    zero = (a.low == a.high == 0) or (b.low == b.high == 0)
    num = exact if whole or zero else r.near(exact, bounds)
    b_pos, b_neg = signs
    nan = lor(a.nan, b.nan, land(a.pos, b_neg), land(a.neg, b_pos))
    pos = land(lnot(nan), lor(a.pos, b_pos))
    neg = land(lnot(nan), lor(a.neg, b_neg))
    return Term(num, _binary_compute(op, a, b), nan, pos, neg, whole, *bounds)


def multiply(r: Rounding, a: Term, b: Term) -> Term:
    """Product; of 0 and an infinity NaN."""
    bounds = intervals.multiply((a.low, a.high), (b.low, b.high))
    whole = _whole(a, b, bounds)
    exact = a.num * b.num
    num = exact if whole or _exact_scale(a) or _exact_scale(b) else r.near(exact, bounds, underflow=True)
    a_inf, b_inf = lor(a.pos, a.neg), lor(b.pos, b.neg)
    nan = lor(a.nan, b.nan, land(a_inf, b.finite, b.num == 0), land(b_inf, a.finite, a.num == 0))
    infinite = land(lor(a_inf, b_inf), lnot(nan))
    a_minus, b_minus = lor(a.neg, land(a.finite, a.num < 0)), lor(b.neg, land(b.finite, b.num < 0))
    minus = choose(a_minus, lnot(b_minus), b_minus)
    return Term(
        num,
        _binary_compute("Mul", a, b),
        nan,
        land(infinite, lnot(minus)),
        land(infinite, minus),
        whole,
        *bounds,
    )


def _exact_scale(t: Term) -> bool:
    """A constant whose products never round (0, 1, -1 and powers of two from 1 up)."""
    if t.low != t.high or t.low in (INF, -INF):
        return False
    return t.low == 0 or (abs(t.low) >= 1 and math.frexp(abs(t.low))[0] == 0.5)


def divide(r: Rounding, a: Term, b: Term, *, quotient: bool = False) -> Term:
    """Quotient; by 0 an infinity of either sign or NaN.

    `quotient` marks a division of whole numbers whose result goes straight to `floor` or
    `ceil`: rounding does not move it past a whole number when dividend and divisor together
    stay below 2^53, so the exact quotient stands for it.
    """
    bounds = intervals.divide((a.low, a.high), (b.low, b.high))
    by_zero = _may_be_zero(b)
    if b.low == b.high and b.low != 0:
        exact: z3.ArithRef = a.num / b.num
    else:
        exact = r.fresh("q")
        r.know(z3.If(b.num == 0, exact == 0, exact * b.num == a.num), exact)
    keep = quotient and a.whole and b.whole and _magnitude(a) + _magnitude(b) < WHOLE_LIMIT
    num = exact if keep or _power_of_two(b) else r.near(exact, bounds, underflow=True)
    a_inf, b_inf = lor(a.pos, a.neg), lor(b.pos, b.neg)
    zero: Flag = land(b.finite, b.num == 0) if by_zero else False
    nan = lor(a.nan, b.nan, land(a_inf, b_inf), land(zero, a.finite, a.num == 0) if by_zero else False)
    infinite = land(lnot(nan), lor(a_inf, zero))
    a_minus = lor(a.neg, land(a.finite, a.num < 0))
    minus = choose(a_minus, lnot(_minus(r, b, zero)), _minus(r, b, zero)) if infinite is not False else False
    return Term(
        z3.If(b_inf, z3.RealVal(0), num)
        if not isinstance(b_inf, bool)
        else (z3.RealVal(0) if b_inf else num),
        _binary_compute("Div", a, b),
        nan,
        land(infinite, lnot(minus)),
        land(infinite, minus),
        False,
        *(bounds if b_inf is False else (min(bounds[0], 0.0), max(bounds[1], 0.0))),
    )


def _minus(r: Rounding, b: Term, zero: Flag) -> Flag:
    """When a divisor counts as negative; a zero may have either sign."""
    unknown: Flag = False if zero is False else land(zero, r.fresh_flag("zero"))
    return lor(b.neg, land(b.finite, b.num < 0), unknown)


def _may_be_zero(t: Term) -> bool:
    return t.low <= 0 <= t.high


def _power_of_two(t: Term) -> bool:
    # Underflow apart, dividing by a power of two is exact; quotients that small are none of ours.
    return t.low == t.high and t.low != 0 and math.frexp(abs(t.low))[0] == 0.5 and 1 <= abs(t.low) <= 2.0**64


def _magnitude(t: Term) -> float:
    return max(abs(t.low), abs(t.high))


def negate(r: Rounding, a: Term) -> Term:
    """Negation."""
    return Term(-a.num, lambda v: -v.of(a), a.nan, a.neg, a.pos, a.whole, *intervals.negate((a.low, a.high)))


def logical_not(r: Rounding, a: Term) -> Term:
    """1 for 0, else 0."""
    return boolean(lnot(truth(a)), lambda v: v.of(a) == 0.0)


def _comparison(op: str, flag: Callable[[Term, Term], Flag]) -> Two:
    def encode(r: Rounding, a: Term, b: Term) -> Term:
        return boolean(flag(a, b), lambda v: constants.binary(op, v.of(a), v.of(b)) != 0.0)

    return encode


def _and(r: Rounding, a: Term, b: Term) -> Term:
    return boolean(land(truth(a), truth(b)), lambda v: v.of(a) != 0.0 and v.of(b) != 0.0)


def _or(r: Rounding, a: Term, b: Term) -> Term:
    return boolean(lor(truth(a), truth(b)), lambda v: v.of(a) != 0.0 or v.of(b) != 0.0)


def power(r: Rounding, a: Term, b: Term) -> Term:
    """Power: small constant whole exponents as products, others by sign alone."""
    compute = _binary_compute("Pow", a, b)
    if b.low == b.high and b.low in (0.0, 1.0, 2.0, 3.0) and b.ordinary and a.ordinary:
        return _product(r, a, int(b.low), compute)
    result, nan, pos, neg = r.fresh("pow"), r.fresh_flag("nan"), r.fresh_flag("pos"), r.fresh_flag("neg")
    r.know(z3.AtMost(nan, pos, neg, 1), nan, pos, neg)
    # A negative zero to a negative power is an infinity of its sign.
    if a.ordinary and b.ordinary and (a.low > 0 or (a.low >= 0 and b.low >= 0)):
        r.know(z3.And(result >= 0, z3.Not(nan), z3.Not(neg)), result, nan, neg)
        return Term(result, compute, nan, pos, neg, low=0.0)
    return Term(result, compute, nan, pos, neg)


def _product(r: Rounding, a: Term, count: int, compute: Callable[[Values], float]) -> Term:
    if count == 0:
        return constant(1.0)
    exact, bounds = a.num, (a.low, a.high)
    for _ in range(count - 1):
        exact, bounds = exact * a.num, intervals.multiply(bounds, (a.low, a.high))
    if count == 2:
        bounds = (max(bounds[0], 0.0), bounds[1])
    whole = a.whole and max(abs(bounds[0]), abs(bounds[1])) <= WHOLE_LIMIT
    num = exact if whole or count == 1 else r.near(exact, bounds, steps=4, underflow=True)
    return Term(num, compute, whole=whole, low=bounds[0], high=bounds[1])


def minimum(r: Rounding, a: Term, b: Term) -> Term:
    """The lesser; a NaN is ignored."""
    return _pick("Min", lor(less(a, b, or_equal=True), b.nan), a, b, min)


def maximum(r: Rounding, a: Term, b: Term) -> Term:
    """The greater; a NaN is ignored."""
    return _pick("Max", lor(less(b, a, or_equal=True), b.nan), a, b, max)


def _pick(fun: str, first: Flag, a: Term, b: Term, pick: Callable[[float, float], float]) -> Term:
    concrete = constants.minimum if fun == "Min" else constants.maximum
    chosen = ite(first, lambda v: True, a, b)
    low, high = chosen.low, chosen.high
    if a.ordinary and b.ordinary:
        low, high = pick(a.low, b.low), pick(a.high, b.high)
    return Term(
        chosen.num,
        lambda v: concrete(v.of(a), v.of(b)),
        chosen.nan,
        chosen.pos,
        chosen.neg,
        chosen.whole,
        low,
        high,
    )


def absolute(r: Rounding, a: Term) -> Term:
    """Absolute value."""
    low = 0.0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    num = z3.If(a.num >= 0, a.num, -a.num)
    return Term(
        num,
        lambda v: abs(v.of(a)),
        a.nan,
        lor(a.pos, a.neg),
        False,
        a.whole,
        low,
        max(abs(a.low), abs(a.high)),
    )


def floor(r: Rounding, a: Term) -> Term:
    """Rounded down."""
    low, high = intervals.whole_inside(a.low, a.high)
    high = min(high, a.high)
    return _rounded_to_whole(a, z3.ToReal(z3.ToInt(a.num)), "Floor", low, high)


def ceil(r: Rounding, a: Term) -> Term:
    """Rounded up."""
    low, high = intervals.whole_inside(a.low, a.high)
    return _rounded_to_whole(a, -z3.ToReal(z3.ToInt(-a.num)), "Ceil", max(low, a.low), high)


def _rounded_to_whole(a: Term, num: z3.ArithRef, fun: str, low: float, high: float) -> Term:
    concrete = constants._ONE[fun]
    whole = max(abs(low), abs(high)) <= WHOLE_LIMIT
    return Term(a.num if a.whole else num, lambda v: concrete(v.of(a)), a.nan, a.pos, a.neg, whole, low, high)


def square_root(r: Rounding, a: Term) -> Term:
    """Square root, by its order with 0, 1 and its argument; NaN below 0."""
    result = r.fresh("sqrt")
    r.know(
        z3.And(
            z3.Implies(a.num >= 1, z3.And(result >= 1, result <= a.num)),
            z3.Implies(z3.And(a.num >= 0, a.num < 1), z3.And(result >= a.num, result <= 1)),
        ),
        result,
    )
    nan = lor(a.nan, a.neg, land(a.finite, a.num < 0) if a.low < 0 else False)
    high = math.inf if a.high == INF or a.high < 0 else math.nextafter(math.sqrt(a.high), INF)
    bounds = (0.0, max(high, 1.0)) if nan is False else (-INF, INF)
    return Term(result, lambda v: constants._ONE["Sqrt"](v.of(a)), nan, a.pos, False, False, *bounds)


def exponential(r: Rounding, a: Term) -> Term:
    """e to the power, by its sign and its order with 1."""
    result, overflow = r.fresh("exp"), r.fresh_flag("over")
    r.know(
        z3.And(result >= 0, z3.Implies(a.num >= 0, result >= 1), z3.Implies(a.num <= 0, result <= 1)), result
    )
    over: Flag = False if a.high <= 709 and a.ordinary else land(a.finite, a.num > 709, overflow)
    num = z3.If(a.neg, z3.RealVal(0), result) if not isinstance(a.neg, bool) else result
    high = math.exp(a.high) * (1 + 1e-12) if a.high <= 709 else INF
    return Term(
        num, lambda v: constants._ONE["Exp"](v.of(a)), a.nan, lor(a.pos, over), False, low=0.0, high=high
    )


def logarithm(r: Rounding, a: Term) -> Term:
    """Natural logarithm, by its sign; -inf at 0, NaN below."""
    result = r.fresh("ln")
    r.know(
        z3.And(
            result >= z3.Q(-7452, 10),
            result <= z3.Q(7098, 10),
            z3.Implies(a.num >= 1, result >= 0),
            z3.Implies(a.num <= 1, result <= 0),
        ),
        result,
    )
    nan = lor(a.nan, a.neg, land(a.finite, a.num < 0) if a.low < 0 else False)
    at_zero: Flag = land(a.finite, a.num == 0) if _may_be_zero(a) else False
    return Term(
        result, lambda v: constants._ONE["Ln"](v.of(a)), nan, a.pos, at_zero, low=_LN_LOW, high=_LN_HIGH
    )


UNARY: Mapping[str, One] = {"Neg": negate, "Not": logical_not}
BINARY: Mapping[str, Two] = {
    "Add": add,
    "Sub": subtract,
    "Mul": multiply,
    "Div": divide,
    "Pow": power,
    "Lt": _comparison("Lt", less),
    "Le": _comparison("Le", lambda a, b: less(a, b, or_equal=True)),
    "Gt": _comparison("Gt", lambda a, b: less(b, a)),
    "Ge": _comparison("Ge", lambda a, b: less(b, a, or_equal=True)),
    "Eq": _comparison("Eq", equal),
    "Ne": _comparison("Ne", lambda a, b: lnot(equal(a, b))),
    "And": _and,
    "Or": _or,
}
ONE_ARGUMENT: Mapping[str, One] = {
    "Abs": absolute,
    "Floor": floor,
    "Ceil": ceil,
    "Sqrt": square_root,
    "Exp": exponential,
    "Ln": logarithm,
}
TWO_ARGUMENTS: Mapping[str, Two] = {"Min": minimum, "Max": maximum, "Pow": power}
