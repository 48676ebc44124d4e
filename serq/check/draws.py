"""The supports of the distributions, one entry per row of `serq.ir.tables.DISTRIBUTIONS`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import z3

from serq.check import operations
from serq.check.flags import as_z3, land, lnot, lor
from serq.check.terms import INF, Term, Values, constant
from serq.check.variables import EXP_TAIL, Draw, Variables

Encode = Callable[[Variables, str, tuple[Term, ...]], Term]
# Of an Erlang draw with more phases the tail is taken for that of one phase, which is heavier.
_PHASES = 1000
# How often a draw of mean 1 exceeds a size.
Exceeds = Callable[[float], float]


def _value(t: Term) -> float | None:
    """The value of an argument that is a constant number."""
    return t.low if t.ordinary and t.low == t.high else None


def _scaled(variables: Variables, what: str, mean: Term, tail: float, exact: bool, exceeds: Exceeds) -> Term:
    """A draw from 0 to `tail` means."""
    value = _value(mean)
    if value == 0.0:
        return constant(0.0)
    if value is not None:
        low, high = sorted((0.0, value * tail))
        draw = Draw(value, lambda size: exceeds(size / abs(value)))
        return variables.term(what, low, high, exact=exact, draw=draw)
    unit = variables.term(f"{what} over its mean", 0.0, tail, exact=exact, draw=Draw(1.0, exceeds))
    return operations.multiply(variables.rounding, mean, unit)


def exponential(variables: Variables, what: str, args: tuple[Term, ...]) -> Term:
    """From 0 to 36.8 means: the unit draws are multiples of 2^-53."""
    return _scaled(variables, what, args[0], EXP_TAIL, True, _exponential_tail)


def _exponential_tail(size: float) -> float:
    return math.exp(-max(0.0, size))


def deterministic(variables: Variables, what: str, args: tuple[Term, ...]) -> Term:
    """The value itself."""
    return args[0]


def uniform(variables: Variables, what: str, args: tuple[Term, ...]) -> Term:
    """From low to below high, or to high where rounding reaches it."""
    low, high = _value(args[0]), _value(args[1])
    if low is not None and high is not None:
        if low == high:
            return args[0]
        return _between(variables, what, low, high)
    unit = variables.term(f"{what} as a share", 0.0, 1.0, exact=True, open_high=True, draw=Draw())
    r = variables.rounding
    width = operations.subtract(r, args[1], args[0])
    return operations.add(r, args[0], operations.multiply(r, width, unit))


def _between(variables: Variables, what: str, low: float, high: float) -> Term:
    """From low to the greatest double the interpreter yields, which rounding may make high itself."""
    last = low + (high - low) * (1.0 - 2.0**-53)
    return variables.term(what, min(low, last), max(low, last), exact=True, draw=Draw())


def erlang(variables: Variables, what: str, args: tuple[Term, ...]) -> Term:
    """From 0 to 36.8 means; whatever the phases, each is a part of the mean."""
    phases = _value(args[0])

    def exceeds(size: float) -> float:
        if phases is None or not 1 <= phases <= _PHASES:
            return _exponential_tail(size)
        x = max(0.0, size) * phases
        return min(
            1.0,
            sum(math.exp(i * math.log(x) - x - math.lgamma(i + 1)) for i in range(int(phases)))
            if x > 0
            else 1.0,
        )

    return _scaled(variables, what, args[1], EXP_TAIL * (1 + 1e-9), True, exceeds)


def hyperexponential(variables: Variables, what: str, args: tuple[Term, ...]) -> Term:
    """From 0 to 36.8 times the longer phase's mean."""
    cv2 = _value(args[1])
    if cv2 is None:
        return _scaled(variables, what, args[0], INF, False, _exponential_tail)
    c = max(cv2, 1.0)
    share = 0.5 * (1.0 + math.sqrt((c - 1.0) / (c + 1.0)))

    def exceeds(size: float) -> float:
        x = 2.0 * max(0.0, size)
        return share * math.exp(-x * share) + (1.0 - share) * math.exp(-x * (1.0 - share))

    # Rounding may move the tail; a witness keeps away from it.
    tail = EXP_TAIL / (2.0 * (1.0 - share)) if share < 1.0 else INF
    return _scaled(variables, what, args[0], tail * (1 + 1e-9), tail < INF, exceeds)


def bernoulli(variables: Variables, what: str, args: tuple[Term, ...]) -> Term:
    """1 only where p is above 0, and 0 only where p is below 1."""
    p = args[0]
    value = _value(p)
    if value is not None and not 0.0 < value < 1.0:
        return constant(1.0 if value >= 1.0 else 0.0)
    coin = variables.term(what, 0.0, 1.0, exact=True, whole=True)
    if value is not None:
        return coin
    never = land(lnot(p.pos), lor(p.nan, p.neg, p.num <= 0))
    always = land(lnot(p.nan), lnot(p.neg), lor(p.pos, p.num >= 1))
    num = z3.If(as_z3(never), z3.RealVal(0), z3.If(as_z3(always), z3.RealVal(1), coin.num))

    def compute(v: Values) -> float:
        chance = v.of(p)
        return v.of(coin) if 0.0 < chance < 1.0 else (1.0 if chance >= 1.0 else 0.0)

    return Term(num, compute, whole=True, low=0.0, high=1.0)


DRAWS: Mapping[str, Encode] = {
    "Exp": exponential,
    "Det": deterministic,
    "Uniform": uniform,
    "Erlang": erlang,
    "H2": hyperexponential,
    "Bernoulli": bernoulli,
}
