"""Expressions as text, with the parentheses their meaning needs (api.md §2.1)."""

from __future__ import annotations

from collections.abc import Iterable

from serq.lang import tree
from serq.lang.constants import shown
from serq.lang.tree import Expr, Ref

_LEVELS = {
    "||": 2,
    "&&": 3,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "==": 4,
    "!=": 4,
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
    "^": 8,
}
_COND, _COMPARISON, _UNARY, _POWER, _PRIMARY = 1, 4, 7, 8, 9


def expression(expr: Expr, level: int = _COND) -> str:
    """An expression where one of a level may stand: parenthesised when it is looser."""
    text, own = _written(expr)
    return text if own >= level else f"({text})"


def expressions(exprs: Iterable[Expr]) -> str:
    """Expressions between commas."""
    return ", ".join(expression(e) for e in exprs)


def _written(expr: Expr) -> tuple[str, int]:
    match expr:
        case tree.Num(value=value):
            text = shown(value)
            return text, _UNARY if text.startswith("-") else _PRIMARY
        case Ref():
            return reference(expr), _PRIMARY
        case tree.Call(function=function, arguments=arguments):
            return f"{function.text}({expressions(arguments)})", _PRIMARY
        case tree.CostOf(resources=resources, amount=amount):
            names = ", ".join(reference(r) for r in resources)
            return f"cost({names}, {expression(amount)})", _PRIMARY
        case tree.Draw(distribution=distribution, arguments=arguments):
            return f"~{distribution.text}({expressions(arguments)})", _UNARY
        case tree.Unary(op=op, operand=operand):
            return f"{op}{expression(operand, _UNARY)}", _UNARY
        case tree.Binary():
            return _binary(expr)
        case tree.Cond(test=test, then=then, otherwise=otherwise):
            arms = f"{expression(then)} : {expression(otherwise)}"
            return f"{expression(test, _COND + 1)} ? {arms}", _COND
        case tree.Aggregate(kind=kind, index=index, count=count, body=body):
            return f"{kind.text} {index.text} in {_count(count)} ({expression(body)})", _PRIMARY
        case tree.Input(external=external, default=default):
            return f'args.number("{external.value}", {expression(default)})', _PRIMARY


def _binary(expr: tree.Binary) -> tuple[str, int]:
    own = _LEVELS[expr.op]
    left, right = own, own + 1
    if own == _COMPARISON:
        left = own + 1
    elif own == _POWER:
        left, right = _PRIMARY, _UNARY
    return f"{expression(expr.left, left)} {expr.op} {expression(expr.right, right)}", own


def _count(count: Expr) -> str:
    match count:
        case tree.Num() | Ref(index=None, members=()):
            return expression(count, _PRIMARY)
        case _:
            return f"({expression(count)})"


def reference(ref: Ref) -> str:
    """A name with its index and members."""
    text = ref.name.text
    if ref.index is not None:
        text += f"[{expression(ref.index)}]"
    text += "".join(f".{m.text}" for m in ref.members)
    if ref.member_index is not None:
        text += f"[{expression(ref.member_index)}]"
    return text
