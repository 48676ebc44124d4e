"""What an expression's value depends on: draws, presets, the state of the run, values carried round loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import z3

from serq.check.terms import INF, WHOLE_LIMIT, Rounding, Term, constant, truth
from serq.ir.expressions import Expr, walk
from serq.ir.symbolic import Input, Log, Symbolic

# The least unit draw is 2^-53, so an exponential draw is at most this many means.
EXP_TAIL = -math.log(2.0**-53) * (1 + 1e-12)
# Values carried round loops and read from the state are taken to stay below this (about 10^12).
MODERATE = 2.0**40


@dataclass(frozen=True)
class Draw:
    """What is known of a continuous draw: its mean where it has a tail, and how often a draw exceeds a magnitude."""

    mean: float | None = None
    exceeds: Callable[[float], float] = lambda size: 1.0


@dataclass(frozen=True, eq=False)
class Variable:
    """A value the program does not fix.

    `exact` says that every value the facts allow can occur, so that a witness may choose
    it; otherwise the facts only enclose what occurs, and a witness that reads it shows
    nothing. `open_high` leaves the upper bound out. `draw` is set for continuous draws; `asked`
    says that a range was given from outside.
    """

    name: str
    what: str
    exact: bool
    num: z3.ArithRef
    whole: bool
    low: float
    high: float
    open_high: bool = False
    draw: Draw | None = None
    asked: bool = False

    @property
    def mean(self) -> float | None:
        """The magnitude of the mean of a draw with a tail."""
        return None if self.draw is None or self.draw.mean is None else abs(self.draw.mean)

    @property
    def start(self) -> float:
        """The value of a variable nothing asks anything of: 0 where it may be."""
        return _inside(self.low, self.high)

    def allows(self, value: float) -> bool:
        """Whether a double lies in the support."""
        if self.whole and value != math.floor(value):
            return False
        return self.low <= value <= self.high and not (self.open_high and value == self.high)


class Variables:
    """All the variables of a model, and the facts about them; `integral` says that token counts are whole."""

    def __init__(self, integral: bool = False) -> None:
        self.integral = integral
        self.rounding = Rounding()
        self.table: dict[str, Variable] = {}
        self.assumptions: dict[str, str] = {}
        # Inputs left open, and what encodes the expressions of numbers made of them.
        self.inputs: dict[str, Term] = {}
        self.encode: Callable[[Expr], Term] | None = None
        self.log = Log()
        self._settled = 0
        self._numbers: dict[int, tuple[Symbolic, Term]] = {}

    def term(
        self,
        what: str,
        low: float,
        high: float,
        *,
        exact: bool,
        whole: bool = False,
        open_high: bool = False,
        draw: Draw | None = None,
        assumed: bool = False,
        asked: bool = False,
    ) -> Term:
        """A fresh variable as a term; `assumed` says that infinite bounds stand for moderate ones."""
        name = f"v{len(self.table)}"
        if assumed and (low == -INF or high == INF):
            low, high = max(low, -MODERATE), min(high, MODERATE)
            self.assumptions[name] = f"{what} stays within ±2^40"
        num = z3.ToReal(z3.Int(name)) if whole else z3.Real(name)
        variable = Variable(name, what, exact, num, whole, low, high, open_high, draw, asked)
        self.table[name] = variable
        self._bounds(variable, _constant_of(num))
        term_whole = whole and max(abs(low), abs(high)) <= WHOLE_LIMIT
        return Term(num, lambda v: v.variable(name, variable.start), whole=term_whole, low=low, high=high)

    def number(self, value: float) -> Term:
        """A number of the program, which may be made of inputs left open."""
        if not isinstance(value, Symbolic) or self.encode is None:
            return constant(value)
        key = id(value)
        if key not in self._numbers:
            self._numbers[key] = value, self.encode(value.expr)
        return self._numbers[key][1]

    def open(self, name: str, low: float, high: float) -> None:
        """Leave an input open: any value of a range, whole if its bounds are."""
        whole = low == math.floor(low) and high == math.floor(high)
        self.inputs[name] = self.term(name, low, high, exact=True, whole=whole, asked=True)

    def settle(self) -> None:
        """Take what was answered for the sample of the inputs since as known of the inputs."""
        answers = list(self.log.answers.items())[self._settled :]
        self._settled += len(answers)
        for question, answer in answers:
            assert self.encode is not None
            flag = truth(self.encode(question))
            if not isinstance(flag, bool):
                read = [_constant_of(self.inputs[x.name].num) for x in walk(question) if isinstance(x, Input)]
                self.rounding.know(flag if answer else z3.Not(flag), *read)

    def bounded(self, what: str, low: float, high: Term, slack: float = 0.0, *, whole: bool = False) -> Term:
        """A fresh reading from `low` to at most a term that is finite, and some slack."""
        term = self.term(what, low, high.high + slack, exact=False, whole=whole)
        if high.low != high.high:
            self.rounding.know(term.num <= high.num + exact_real(slack), _constant_of(term.num))
        return term

    def _bounds(self, v: Variable, about: z3.ExprRef) -> None:
        if v.low != -INF:
            self.rounding.know(v.num >= exact_real(v.low), about)
        if v.high != INF:
            bound = exact_real(v.high)
            self.rounding.know(v.num < bound if v.open_high else v.num <= bound, about)

    def free(self) -> None:
        """Let witnesses choose every variable's value: for questions about all states, whether they occur or not."""
        self.table = {name: replace(v, exact=True) for name, v in self.table.items()}

    def flagged(self, what: str, term: Term) -> Term:
        """The term, which may also be NaN or infinite."""
        nan, pos, neg = (self.rounding.fresh_flag(x) for x in ("nan", "pos", "neg"))
        self.rounding.know(z3.AtMost(nan, pos, neg, 1), nan, pos, neg)
        return Term(term.num, term.compute, nan, pos, neg, term.whole, term.low, term.high)


def _constant_of(num: z3.ArithRef) -> z3.ExprRef:
    """The name a variable's number is made of."""
    return num.arg(0) if num.num_args() else num


def _inside(low: float, high: float) -> float:
    return low if low != -INF and low > 0 else (high if high < 0 else 0.0)


@cache
def exact_real(value: float) -> z3.RatNumRef:
    """A double as an exact rational."""
    f = Fraction(value)
    return z3.RealVal(f"{f.numerator}/{f.denominator}")
