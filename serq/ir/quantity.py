"""Expressions written with Python's operators, for the host API."""

from __future__ import annotations

from dataclasses import dataclass

from serq.ir.expressions import Binary, Call, Cond, Ctx, Expr, Num, Sample, Unary


@dataclass(frozen=True, eq=False)
class Quantity:
    """An expression of the IR under construction. Comparisons are methods, as `==` compares objects."""

    expr: Expr

    def __add__(self, other: Value) -> Quantity:
        return _binary("Add", self, other)

    def __radd__(self, other: Value) -> Quantity:
        return _binary("Add", other, self)

    def __sub__(self, other: Value) -> Quantity:
        return _binary("Sub", self, other)

    def __rsub__(self, other: Value) -> Quantity:
        return _binary("Sub", other, self)

    def __mul__(self, other: Value) -> Quantity:
        return _binary("Mul", self, other)

    def __rmul__(self, other: Value) -> Quantity:
        return _binary("Mul", other, self)

    def __truediv__(self, other: Value) -> Quantity:
        return _binary("Div", self, other)

    def __rtruediv__(self, other: Value) -> Quantity:
        return _binary("Div", other, self)

    def __pow__(self, other: Value) -> Quantity:
        return _binary("Pow", self, other)

    def __neg__(self) -> Quantity:
        return Quantity(Unary(op="Neg", arg=self.expr))

    def __lt__(self, other: Value) -> Quantity:
        return _binary("Lt", self, other)

    def __le__(self, other: Value) -> Quantity:
        return _binary("Le", self, other)

    def __gt__(self, other: Value) -> Quantity:
        return _binary("Gt", self, other)

    def __ge__(self, other: Value) -> Quantity:
        return _binary("Ge", self, other)

    def equals(self, other: Value) -> Quantity:
        """1 when equal."""
        return _binary("Eq", self, other)

    def differs(self, other: Value) -> Quantity:
        """1 when not equal."""
        return _binary("Ne", self, other)

    def and_(self, other: Value) -> Quantity:
        """1 when both are non-zero."""
        return _binary("And", self, other)

    def or_(self, other: Value) -> Quantity:
        """1 when either is non-zero."""
        return _binary("Or", self, other)

    def not_(self) -> Quantity:
        """1 for 0, else 0."""
        return Quantity(Unary(op="Not", arg=self.expr))


Value = Quantity | Expr | float | int


def lift(value: Value) -> Expr:
    """An expression from a quantity, an expression or a number."""
    if isinstance(value, Quantity):
        return value.expr
    if isinstance(value, Expr):
        return value
    return Num(value=float(value))


def _binary(op: str, left: Value, right: Value) -> Quantity:
    return Quantity(Binary(op=op, left=lift(left), right=lift(right)))


def call(fun: str, *args: Value) -> Quantity:
    """An arithmetic function by its IR name, such as `Floor`."""
    return Quantity(Call(fun=fun, args=tuple(lift(a) for a in args)))


def least(a: Value, b: Value) -> Quantity:
    """min(a, b)"""
    return call("Min", a, b)


def greatest(a: Value, b: Value) -> Quantity:
    """max(a, b)"""
    return call("Max", a, b)


def when(test: Value, then: Value, other: Value) -> Quantity:
    """test ? then : other"""
    return Quantity(Cond(test=lift(test), then=lift(then), other=lift(other)))


def context(var: str) -> Quantity:
    """A context variable by its IR name, such as `Nres`."""
    return Quantity(Ctx(var=var))


def draw(dist: str, *args: Value) -> Quantity:
    """A draw by its IR name, such as `Exp`."""
    return Quantity(Sample(dist=dist, args=tuple(lift(a) for a in args)))


NOW = context("Now")
