"""Terms: an IEEE double as z3 sees it, together with a way to compute it from witness values.

A term is a finite number, an infinity or NaN. Finite parts are z3 reals. An operation
that may round yields a fresh real within one rounding of the exact result, so that
what holds of all terms holds of all doubles; operations on whole numbers below 2^53
are exact. Overflow beyond 1.8e308 is outside the encoding (`Inputs.assumptions` says
which values are taken to be moderate).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

import z3

from serq.check.flags import Flag, choose, land, lnot, lor
from serq.check.free import Names

INF = math.inf
NAN = math.nan
WHOLE_LIMIT = 2.0**53
_ULP = Fraction(1, 2**53)
# Larger than the least subnormal: the absolute error of an underflow, kept short for the solver.
_TINY = Fraction(1, 2**60)


@dataclass(eq=False)
class Values:
    """A witness under evaluation: the values of variables, what was computed, which variables were read."""

    given: Mapping[str, float]
    read: dict[str, float] = field(default_factory=dict)
    _memo: dict[int, tuple[Term, float]] = field(default_factory=dict)
    _tests: dict[int, tuple[object, bool]] = field(default_factory=dict)

    def of(self, term: Term) -> float:
        """The value of a term, computed once."""
        key = id(term)
        if key not in self._memo:
            # The term is kept beside its value, so that no other takes its identity.
            self._memo[key] = term, term.compute(self)
        return self._memo[key][1]

    def tested(self, fact: object, test: Callable[[Values], bool]) -> bool:
        """The outcome of a fact's test, computed once."""
        key = id(fact)
        if key not in self._tests:
            self._tests[key] = fact, test(self)
        return self._tests[key][1]

    def variable(self, name: str, default: float = 0.0) -> float:
        """The value of a variable; one the solver left open is `default`."""
        return self.read.setdefault(name, self.given.get(name, default))


Compute = Callable[[Values], float]


@dataclass(frozen=True, eq=False)
class Term:
    """A value: its finite part, when it is NaN or infinite, whether it is whole, bounds of its finite part."""

    num: z3.ArithRef
    compute: Compute
    nan: Flag = False
    pos: Flag = False
    neg: Flag = False
    whole: bool = False
    low: float = -INF
    high: float = INF

    @property
    def finite(self) -> Flag:
        """When it is a number."""
        return lnot(lor(self.nan, self.pos, self.neg))

    @property
    def ordinary(self) -> bool:
        """Whether it is known to be a finite number."""
        return self.nan is False and self.pos is False and self.neg is False


class Rounding:
    """Makes the fresh reals of roundings and keeps what is known of them."""

    def __init__(self) -> None:
        self.facts: dict[str, list[z3.BoolRef]] = {}
        # What holds of a rounded number when nothing is rounded.
        self.unrounded: dict[str, z3.BoolRef] = {}
        self._names = Names()
        self._numbers = itertools.count()

    def fresh(self, stem: str) -> z3.ArithRef:
        """A real nothing is known of."""
        return z3.Real(f"{stem}!{next(self._numbers)}")

    def fresh_flag(self, stem: str) -> z3.BoolRef:
        """A truth value nothing is known of."""
        return z3.Bool(f"{stem}!{next(self._numbers)}")

    def know(self, fact: z3.BoolRef, *about: z3.ExprRef) -> None:
        """Add a fact about fresh names; they can meet it whatever all other names are.

        A question that does not reach the names may therefore leave the fact out.
        """
        for name in about:
            self.facts.setdefault(name.decl().name(), []).append(fact)

    def near(
        self, exact: z3.ArithRef, bounds: tuple[float, float], *, steps: int = 1, underflow: bool = False
    ) -> z3.ArithRef:
        """A real within so many roundings of another, of the same sign, inside bounds of the doubles."""
        rounded = self.fresh("r")
        self.unrounded[rounded.decl().name()] = rounded == exact
        slack = _real(steps * _ULP)
        tiny = _real(_TINY) if underflow else _real(0)
        above = z3.And(
            rounded >= exact - exact * slack - tiny, rounded <= exact + exact * slack + tiny, rounded >= 0
        )
        below = z3.And(
            rounded <= exact - exact * slack + tiny, rounded >= exact + exact * slack - tiny, rounded <= 0
        )
        self.know(z3.If(exact >= 0, above, below), rounded)
        if bounds[0] != -INF:
            self.know(rounded >= _real(Fraction(bounds[0])), rounded)
        if bounds[1] != INF:
            self.know(rounded <= _real(Fraction(bounds[1])), rounded)
        return rounded

    def relevant(self, parts: Sequence[z3.BoolRef]) -> list[z3.BoolRef]:
        """The facts about the names in what is asked, and about the names in those facts, and so on."""
        return list(self._reached(parts)[0].values())

    def names(self, parts: Sequence[z3.BoolRef]) -> list[str]:
        """The names that what is asked depends on, in order."""
        return sorted(self._reached(parts)[1])

    def _reached(self, parts: Sequence[z3.BoolRef]) -> tuple[dict[int, z3.BoolRef], set[str]]:
        chosen: dict[int, z3.BoolRef] = {}
        seen: set[str] = set()
        waiting = [name for part in parts for name in sorted(self._names.of(part))]
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for fact in self.facts.get(name, ()):
                if fact.get_id() not in chosen:
                    chosen[fact.get_id()] = fact
                    waiting.extend(sorted(self._names.of(fact) - seen))
        return chosen, seen


@cache
def _real(value: Fraction | int) -> z3.RatNumRef:
    f = Fraction(value)
    return z3.RealVal(f"{f.numerator}/{f.denominator}")


def constant(value: float) -> Term:
    """A number of the program."""
    if value != value:
        return Term(z3.RealVal(0), lambda v: NAN, nan=True, whole=True, low=0.0, high=0.0)
    if value in (INF, -INF):
        return Term(
            z3.RealVal(0), lambda v: value, pos=value > 0, neg=value < 0, whole=True, low=0.0, high=0.0
        )
    whole = value == math.floor(value) and abs(value) <= WHOLE_LIMIT
    return Term(_real(Fraction(value)), lambda v: value, whole=whole, low=value, high=value)


def truth(term: Term) -> Flag:
    """When a term is non-zero; NaN and infinities are."""
    if term.low == term.high and term.ordinary:
        return term.low != 0
    if term.ordinary and (term.low > 0 or term.high < 0):
        return True
    return lor(term.nan, term.pos, term.neg, term.num != 0)


def boolean(flag: Flag, compute: Callable[[Values], bool]) -> Term:
    """A truth value as the term 0 or 1."""
    if isinstance(flag, bool):
        value = 1.0 if flag else 0.0
        return Term(z3.RealVal(int(value)), lambda v: value, whole=True, low=value, high=value)
    num = z3.If(flag, z3.RealVal(1), z3.RealVal(0))
    return Term(num, lambda v: 1.0 if compute(v) else 0.0, whole=True, low=0.0, high=1.0)


def ite(test: Flag, decide: Callable[[Values], bool], then: Term, other: Term) -> Term:
    """`then` where the test holds, else `other`."""
    if then is other:
        return then
    if isinstance(test, bool):
        return then if test else other
    return Term(
        z3.If(test, then.num, other.num),
        lambda v: v.of(then) if decide(v) else v.of(other),
        nan=choose(test, then.nan, other.nan),
        pos=choose(test, then.pos, other.pos),
        neg=choose(test, then.neg, other.neg),
        whole=then.whole and other.whole,
        low=min(then.low, other.low),
        high=max(then.high, other.high),
    )


def less(a: Term, b: Term, *, or_equal: bool = False) -> Flag:
    """IEEE `a < b` or `a <= b`; false for NaN."""
    return land(lnot(a.nan), lnot(b.nan), lor(_less_specials(a, b, or_equal), _less_numbers(a, b, or_equal)))


def _less_specials(a: Term, b: Term, or_equal: bool) -> Flag:
    strict = lor(land(a.neg, lnot(b.neg)), land(b.pos, lnot(a.pos)))
    return lor(strict, land(a.neg, b.neg), land(a.pos, b.pos)) if or_equal else strict


def _less_numbers(a: Term, b: Term, or_equal: bool) -> Flag:
    both = land(a.finite, b.finite)
    if a.high < b.low or (or_equal and a.high <= b.low):
        return both
    if a.low > b.high or (not or_equal and a.low >= b.high):
        return False
    return land(both, a.num <= b.num if or_equal else a.num < b.num)


def equal(a: Term, b: Term) -> Flag:
    """IEEE `a == b`; false for NaN."""
    specials = lor(land(a.pos, b.pos), land(a.neg, b.neg))
    if a.high < b.low or a.low > b.high:
        return specials
    return lor(specials, land(a.finite, b.finite, a.num == b.num))


def identical(a: Term, b: Term) -> Flag:
    """The same value, NaN included."""
    return lor(land(a.nan, b.nan), equal(a, b))
