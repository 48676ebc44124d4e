"""Values of terms over natural numbers, as `lean/Serq/Model/Expr.lean` has them.

Subtraction stops at 0, division by 0 is 0, a truth value is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from serq.generators.machine.lists import Naturals, nth
from serq.generators.model import Bin, If, Lit, Not, Term, Var

Read = Callable[[Var], int]


def over(a: int, b: int) -> int:
    """A quotient rounded down; 0 where the divisor is 0."""
    return a // b if b else 0


def less(a: int, b: int) -> int:
    """A difference, 0 at the least."""
    return max(0, a - b)


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": less,
    "mul": lambda a, b: a * b,
    "div": over,
    "ceil": lambda a, b: over(less(a + b, 1), b),
    "min": min,
    "max": max,
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "and": lambda a, b: int(a != 0 and b != 0),
    "or": lambda a, b: int(a != 0 or b != 0),
}


def evaluate(term: Term, read: Read) -> int:
    """The value of a term whose variables are read by `read`."""
    match term:
        case Lit(value=value):
            return value
        case Var():
            return read(term)
        case Bin(op=op, left=a, right=b):
            return _OPERATIONS[op](evaluate(a, read), evaluate(b, read))
        case Not(arg=a):
            return int(evaluate(a, read) == 0)
        case If(test=test, yes=yes, no=no):
            return evaluate(yes if evaluate(test, read) else no, read)


def lasts(term: Term) -> bool:
    """Whether every variable of a session's term keeps its value while the session waits."""
    match term:
        case Lit():
            return True
        case Var(name=name):
            return name in ("attr", "serial", "cached")
        case Bin(left=a, right=b):
            return lasts(a) and lasts(b)
        case Not(arg=a):
            return lasts(a)
        case If(test=a, yes=b, no=c):
            return lasts(a) and lasts(b) and lasts(c)


@dataclass(frozen=True)
class Env:
    """A session's environment. What is seldom read is computed when it is read, of an unchanging state."""

    attrs: Naturals
    serial: int
    cached: int
    now: int
    cached_in: Callable[[int], int]
    budget_left: Callable[[], int]

    def at(self, term: Term) -> int:
        """The value of a session's term."""
        return evaluate(term, self.read)

    def read(self, variable: Var) -> int:
        """The value of a session's variable."""
        match variable.name, variable.index:
            case "attr", int(slot):
                return nth(0, slot, self.attrs)
            case "serial", _:
                return self.serial
            case "cached", _:
                return self.cached
            case "now", _:
                return self.now
            case "cachedIn", int(pool):
                return self.cached_in(pool)
            case "budgetLeft", _:
                return self.budget_left()
        raise ValueError(f"a session does not read {variable}")


def round_up(block: int, n: int) -> int:
    """Up to whole blocks."""
    return over(less(n + block, 1), block) * block


def round_down(block: int, n: int) -> int:
    """Down to whole blocks."""
    return over(n, block) * block
