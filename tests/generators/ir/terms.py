"""Short constructors for expressions and references of the IR."""

from __future__ import annotations

from serq.ir import expressions as ex


def num(value: float) -> ex.Num:
    """A constant."""
    return ex.Num(value=float(value))


def attr(slot: int) -> ex.Attr:
    """A session attribute."""
    return ex.Attr(slot=slot)


def ctx(var: str) -> ex.Ctx:
    """A context variable."""
    return ex.Ctx(var=var)


NOW = ctx("Now")


def binary(op: str, left: ex.Expr, right: ex.Expr) -> ex.Binary:
    """A binary operator."""
    return ex.Binary(op=op, left=left, right=right)


def add(left: ex.Expr, right: ex.Expr) -> ex.Binary:
    """A sum."""
    return binary("Add", left, right)


def sub(left: ex.Expr, right: ex.Expr) -> ex.Binary:
    """A difference."""
    return binary("Sub", left, right)


def mul(left: ex.Expr, right: ex.Expr) -> ex.Binary:
    """A product."""
    return binary("Mul", left, right)


def div(left: ex.Expr, right: ex.Expr) -> ex.Binary:
    """A quotient."""
    return binary("Div", left, right)


def neg(arg: ex.Expr) -> ex.Unary:
    """A negation."""
    return ex.Unary(op="Neg", arg=arg)


def call(fun: str, *args: ex.Expr | ex.PoolArg | ex.StageArg) -> ex.Call:
    """A function."""
    return ex.Call(fun=fun, args=args)


def least(left: ex.Expr, right: ex.Expr) -> ex.Call:
    """The lesser of two."""
    return call("Min", left, right)


def most(left: ex.Expr, right: ex.Expr) -> ex.Call:
    """The greater of two."""
    return call("Max", left, right)


def floor(arg: ex.Expr) -> ex.Call:
    """Rounded down."""
    return call("Floor", arg)


def clamp(arg: ex.Expr, low: float, high: float) -> ex.Expr:
    """An expression held within [low, high]; a NaN reads as `high`."""
    return most(num(low), least(arg, num(high)))


def draw(dist: str, *args: float | ex.Expr) -> ex.Sample:
    """A draw."""
    return ex.Sample(dist=dist, args=tuple(a if isinstance(a, ex.Expr) else num(a) for a in args))


def of_pool(fun: str, ref: ex.CRef) -> ex.Call:
    """A query of a pool."""
    return call(fun, ex.PoolArg(ref=ref))


def of_stage(fun: str, ref: ex.CRef) -> ex.Call:
    """A query of a stage."""
    return call(fun, ex.StageArg(ref=ref))
