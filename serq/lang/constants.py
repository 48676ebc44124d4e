"""The value of a constant expression: a `let`, a `cap`, a count, an index (api.md §2.4, 002 *Constants*).

The expression has been resolved: the constants it names are numbers by now.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from serq.ir.symbolic import sampled
from serq.lang import arithmetic, tree
from serq.lang.findings import Findings
from serq.lang.tree import Expr
from serq.lang.vocabulary import BLOCK_SIZE, SUPPLIED


@dataclass(frozen=True, slots=True)
class Constant(tree.Num):
    """A number read under the name of a `let`: where the spelling matters it is no literal."""

    name: str = ""


class NotConstant(Exception):
    """Raised by `value_of` at the part of an expression that is no constant."""

    def __init__(self, message: str, node: tree.Node, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.node = node
        self.hint = hint


def value_of(expr: Expr) -> float:
    """The value of a constant expression; raises `NotConstant` where it is none."""
    match expr:
        case tree.Num(value=value):
            return value
        case tree.Ref(name=name, index=None, members=()) if name.text == "inf":
            return math.inf
        case tree.Unary(op=op, operand=operand):
            return arithmetic.UNARY[op](value_of(operand))
        case tree.Binary(op=binary, left=left, right=right):
            return arithmetic.BINARY[binary](value_of(left), value_of(right))
        case tree.Cond(test=test, then=then, otherwise=otherwise):
            # Every part is read, so that a part that is no constant is refused whatever the test says.
            chosen = value_of(test) != 0.0
            values = value_of(then), value_of(otherwise)
            return values[0] if chosen else values[1]
        case tree.Call(function=function, arguments=arguments):
            return _call(expr, function.text, arguments)
        case tree.Draw():
            raise NotConstant("a constant cannot draw", expr)
        case tree.Input():
            raise NotConstant("an input is the whole of a `let` in `fn main()`", expr)
        case tree.Ref():
            raise _not_a_name(expr)
        case _:
            raise NotConstant("this is not a constant", expr)


def _call(expr: tree.Call, name: str, arguments: tuple[Expr, ...]) -> float:
    function = arithmetic.FUNCTIONS.get(name)
    if name == BLOCK_SIZE:
        hint = "name the size with a `let` that the pool's `block` reads too"
        raise NotConstant("`blocksize` is not read in a constant", expr, hint)
    if function is None:
        raise NotConstant(f"`{name}` is not a function of constants", expr.function)
    wanted = 2 if name in ("min", "max", "pow") else 1
    if len(arguments) != wanted:
        raise NotConstant(f"`{name}` takes {plural(wanted, 'argument')}, not {len(arguments)}", expr.function)
    return function(*(value_of(a) for a in arguments))


def _not_a_name(ref: tree.Ref) -> NotConstant:
    name = spelled(ref)
    if ref.name.text in SUPPLIED:
        return NotConstant(f"`{name}` is read while the program runs: it is not a constant", ref)
    return NotConstant(f"`{name}` is not a constant", ref, "declare it above with `let`")


def evaluate(expr: Expr, findings: Findings, what: str) -> float | None:
    """The value of a constant that may not be NaN, or None once its mistake is reported (SQ321, SQ322)."""
    try:
        value = value_of(expr)
    except NotConstant as error:
        findings.error("SQ321", error.message, error.node, hint=error.hint)
        return None
    if math.isnan(value):
        hint = "a constant is a number or `inf`; `0 / 0` and `inf - inf` are neither"
        findings.error("SQ322", f"{what} is not a number", expr, hint=hint)
        return None
    return value


def whole(expr: Expr, findings: Findings, what: str, *, most: float = math.inf) -> int | None:
    """A constant that counts something: a whole number from 1 (SQ323)."""
    value = evaluate(expr, findings, what)
    if value is None:
        return None
    if not (math.isfinite(value) and value == math.floor(value) and 1 <= value <= most):
        limit = "" if most == math.inf else f" to {int(most)}"
        findings.error("SQ323", f"{what} must be a whole number from 1{limit}, not {shown(value)}", expr)
        return None
    return int(value)


def number(value: float, at: tree.Node) -> tree.Num:
    """A value as the number it stands for, placed where it was read."""
    return tree.Num(at.span, value, shown(value))


def shown(value: float) -> str:
    """A number as a message or a listing writes it."""
    value = sampled(value)
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if math.isnan(value):
        return "NaN"
    return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(value)


def spelled(ref: tree.Ref) -> str:
    """A reference as written, its indices abbreviated."""
    text = ref.name.text + ("[...]" if ref.index is not None else "")
    text += "".join(f".{m.text}" for m in ref.members)
    return text + ("[...]" if ref.member_index is not None else "")


def plural(count: int, noun: str) -> str:
    """`1 argument`, `2 arguments`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
