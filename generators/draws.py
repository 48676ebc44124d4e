"""What is drawn, as far as the claims generator needs to know: whether it is certainly a natural number."""

from __future__ import annotations

from serq.ir import expressions as ex
from serq.ir.validate.constants import constant

# Distributions whose values are at least 0 when all their parameters are.
_FROM_ZERO = ("Exp", "Det", "Uniform", "Erlang", "H2", "Bernoulli")


def is_natural(e: ex.Expr) -> bool:
    """Whether every value of an expression is a natural number."""
    value = constant(e)
    if value is not None:
        return value >= 0 and value.is_integer()
    match e:
        case ex.Cost(arg=arg):
            return is_natural(arg)
        case ex.Sample(dist="Bernoulli"):
            return True
        case ex.Sample(dist="Det", args=(value_,)):
            return is_natural(value_)
        case ex.Call(fun="Floor" | "Ceil", args=(ex.Expr() as inner,)):
            return is_at_least_zero(inner)
        case ex.Call(fun="Min" | "Max", args=(ex.Expr() as a, ex.Expr() as b)):
            return is_natural(a) and is_natural(b)
        case ex.Binary(op="Add" | "Mul", left=a, right=b):
            return is_natural(a) and is_natural(b)
        case ex.Cond(then=a, other=b):
            return is_natural(a) and is_natural(b)
        case _:
            return False


def is_at_least_zero(e: ex.Expr) -> bool:
    """Whether no value of an expression is negative or undefined."""
    value = constant(e)
    if value is not None:
        return 0 <= value < float("inf")
    match e:
        case ex.Cost(arg=arg):
            return is_at_least_zero(arg)
        case ex.Sample(dist=dist, args=args) if dist in _FROM_ZERO:
            return all(is_at_least_zero(a) for a in args)
        case ex.Call(fun="Min" | "Max", args=(ex.Expr() as a, ex.Expr() as b)):
            return is_at_least_zero(a) and is_at_least_zero(b)
        case ex.Binary(op="Add" | "Mul", left=a, right=b):
            return is_at_least_zero(a) and is_at_least_zero(b)
        case ex.Binary(op="Div", left=a, right=b):
            return is_at_least_zero(a) and (constant(b) or 0.0) > 0.0
        case ex.Cond(then=a, other=b):
            return is_at_least_zero(a) and is_at_least_zero(b)
        case _:
            return is_natural(e)
