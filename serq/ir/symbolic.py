"""Numbers that remember how they were made of a program's inputs.

A symbolic number is a float at a sample of the inputs, and the expression it came from.
Sums and products of it are symbolic again; every comparison is answered for the sample and
written to a log. So what is built from symbolic numbers is right for all inputs that give
the answers in the log, and reading one as a plain float pins it to its value there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

from serq.ir import expressions as ex
from serq.ir.validate import constants

N = TypeVar("N", bound=ex.Node)


class Input(ex.Expr):
    """An input of the program, inside the expression of a symbolic number."""

    name: str


@dataclass
class Log:
    """The answers given for the sample: a comparison each, and how it came out."""

    answers: dict[ex.Binary, bool] = field(default_factory=dict)

    def note(self, op: str, left: ex.Expr, right: ex.Expr, answer: bool) -> None:
        """Write an answer down, once."""
        self.answers.setdefault(ex.Binary(op=op, left=left, right=right), answer)


class Symbolic(float):
    """A float that keeps its expression."""

    expr: ex.Expr
    log: Log

    def __new__(cls, value: float, expr: ex.Expr, log: Log) -> Symbolic:
        """A number of this value and expression."""
        made = super().__new__(cls, value)
        made.expr = expr
        made.log = log
        return made

    @property
    def sample(self) -> float:
        """The value at the sample; nothing that depends on it holds for other inputs."""
        return float.__mul__(self, 1.0)

    def call(self, fun: str) -> Symbolic:
        """A function of one argument of it."""
        value = constants.constant(ex.Call(fun=fun, args=(ex.Num(value=self.sample),)))
        assert value is not None
        return Symbolic(value, ex.Call(fun=fun, args=(self.expr,)), self.log)

    def _with(self, op: str, other: object, *, swapped: bool = False) -> Any:
        if not isinstance(other, float | int):
            return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        value = constants.binary(op, sampled(a), sampled(b))
        return Symbolic(value, ex.Binary(op=op, left=_expr(a), right=_expr(b)), self.log)

    def _compared(self, op: str, other: object) -> Any:
        if not isinstance(other, float | int):
            return NotImplemented
        answer = constants.binary(op, self.sample, sampled(other)) != 0.0
        self.log.note(op, self.expr, _expr(other), answer)
        return answer

    def _pinned(self) -> float:
        self.log.note("Eq", self.expr, ex.Num(value=self.sample), True)
        return self.sample

    def __add__(self, other: object) -> Any:
        """A sum."""
        return self._with("Add", other)

    def __radd__(self, other: object) -> Any:
        """A sum."""
        return self._with("Add", other, swapped=True)

    def __sub__(self, other: object) -> Any:
        """A difference."""
        return self._with("Sub", other)

    def __rsub__(self, other: object) -> Any:
        """A difference."""
        return self._with("Sub", other, swapped=True)

    def __mul__(self, other: object) -> Any:
        """A product."""
        return self._with("Mul", other)

    def __rmul__(self, other: object) -> Any:
        """A product."""
        return self._with("Mul", other, swapped=True)

    def __truediv__(self, other: object) -> Any:
        """A quotient, as IEEE has it."""
        return self._with("Div", other)

    def __rtruediv__(self, other: object) -> Any:
        """A quotient, as IEEE has it."""
        return self._with("Div", other, swapped=True)

    def __neg__(self) -> Any:
        """Its negation."""
        return Symbolic(-self.sample, ex.Unary(op="Neg", arg=self.expr), self.log)

    def __abs__(self) -> Any:
        """Its magnitude."""
        return self.call("Abs")

    def __floor__(self) -> Any:
        """The whole number below, symbolic too."""
        return self.call("Floor")

    def __ceil__(self) -> Any:
        """The whole number above, symbolic too."""
        return self.call("Ceil")

    def __lt__(self, other: object) -> Any:
        """Answered for the sample, and noted."""
        return self._compared("Lt", other)

    def __le__(self, other: object) -> Any:
        """Answered for the sample, and noted."""
        return self._compared("Le", other)

    def __gt__(self, other: object) -> Any:
        """Answered for the sample, and noted."""
        return self._compared("Gt", other)

    def __ge__(self, other: object) -> Any:
        """Answered for the sample, and noted."""
        return self._compared("Ge", other)

    def __eq__(self, other: object) -> Any:
        """Answered for the sample, and noted."""
        return self._compared("Eq", other)

    def __ne__(self, other: object) -> Any:
        """Answered for the sample, and noted."""
        return self._compared("Ne", other)

    def __bool__(self) -> bool:
        """Answered for the sample, and noted."""
        return bool(self._compared("Ne", 0.0))

    __hash__ = float.__hash__

    def __float__(self) -> float:
        """The value there, pinned."""
        return self._pinned()

    def __int__(self) -> int:
        """The value there, pinned."""
        return int(self._pinned())

    def __trunc__(self) -> int:
        """The value there, pinned."""
        return int(self._pinned())

    def __round__(self, digits: Any = None) -> Any:
        """The value there, pinned."""
        return round(self._pinned(), digits)

    def __mod__(self, other: object) -> Any:
        """The remainder of the value there, pinned."""
        return self._pinned() % other  # type: ignore[operator]

    def __pow__(self, other: object, _: Any = None) -> Any:
        """A power of the value there, pinned."""
        return self._pinned() ** other  # type: ignore[operator]

    def __rpow__(self, other: object, _: Any = None) -> Any:
        """A power to the value there, pinned."""
        return other ** self._pinned()  # type: ignore[operator]

    def is_integer(self) -> bool:
        """Whether the value there is whole, pinned."""
        return self._pinned().is_integer()

    def as_integer_ratio(self) -> tuple[int, int]:
        """The value there as a fraction, pinned."""
        return self._pinned().as_integer_ratio()

    def __reduce__(self) -> Any:
        """Copies are of the number as it is."""
        return Symbolic, (self.sample, self.expr, self.log)


def sampled(value: float) -> float:
    """A number's value at the sample, without a note: for guesses and texts alone."""
    return value.sample if isinstance(value, Symbolic) else float(value)


def _expr(value: float) -> ex.Expr:
    return value.expr if isinstance(value, Symbolic) else ex.Num(value=float(value))


def keep(node: N, **values: float | None) -> N:
    """A node with its symbolic numbers put back, which validation makes plain floats."""
    kept = {name: value for name, value in values.items() if isinstance(value, Symbolic)}
    return node.model_copy(update=kept) if kept else node


def number(value: float) -> ex.Num:
    """A constant of the IR."""
    return keep(ex.Num(value=sampled(value)), value=value)


def exactly(value: float) -> float:
    """A number as a float, its expression kept."""
    return value if isinstance(value, Symbolic) else float(value)
