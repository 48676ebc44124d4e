"""Where blanks stand between two tokens of a line, and where a line may be broken."""

from __future__ import annotations

from dataclasses import dataclass

from serq.diagnostics import Span
from serq.lang import tree as t
from serq.lang.tokens import INPUT, NAME, OPERATORS, Token
from serq.lang.walk import walk

_TAKING_CLAUSES = {"reserve", "reuse", "at", "cache", "lease", "taking", "growing", "from", "to"}
_OTHER_CLAUSES = {"by", "each", "while", "only", "share", "latency", "given", "via", "when", "requeue"}
_CLAUSES = _TAKING_CLAUSES | _OTHER_CLAUSES
_OPERAND_NEXT = OPERATORS | {"=", "(", ":"}
_TIGHT_BEFORE = frozenset((",", ";", ")", "]", "."))
_TIGHT_AFTER = frozenset(("(", "[", ".", "~", "!"))
_LOOSEST_FIRST = (
    ("?", ":"),
    ("||",),
    ("&&",),
    ("<", "<=", ">", ">=", "==", "!="),
    ("+", "-"),
    ("*", "/"),
    ("^",),
)


@dataclass
class Marks:
    """Tokens that the tree tells apart, by where they start: unary operators and called names."""

    unary: set[tuple[int, int]]
    called: set[tuple[int, int]]


def marks(program: t.Program, tokens: list[Token]) -> Marks:
    """The marks of a parsed text."""
    starts = {_start(token.span): i for i, token in enumerate(tokens)}
    found = Marks(set(), set())
    for node in walk(program):
        match node:
            case t.Unary():
                found.unary.add(_first(node, tokens, starts))
            case t.CostOf():
                found.called.add(_first(node, tokens, starts))
            case t.Call(function=name) | t.Draw(distribution=name) | t.ExprDef(name=name):
                found.called.add(_start(name.span))
            case t.BlockDef(name=name) | t.Fn(name=name):
                found.called.add(_start(name.span))
            case t.Fifo() | t.Ps():
                found.called.add(_start(node.span))
            case t.Arrive():
                found.called.add(_start(tokens[starts[_start(node.span)] + 1].span))
    return found


def _first(node: t.Node, tokens: list[Token], starts: dict[tuple[int, int], int]) -> tuple[int, int]:
    """Where an expression begins inside the parentheses its span takes in."""
    index = starts[_start(node.span)]
    while tokens[index].kind == "(":
        index += 1
    return _start(tokens[index].span)


def _start(span: Span) -> tuple[int, int]:
    return span.line, span.column


def is_spaced(left: Token, right: Token, marks: Marks, in_claim: bool) -> bool:
    """Whether a blank stands between two tokens of one line."""
    if right.kind in _TIGHT_BEFORE or left.kind in _TIGHT_AFTER:
        return False
    if left.kind == "-" and _start(left.span) in marks.unary:
        return False
    if right.kind == ":":
        return not in_claim
    if right.kind == "[":
        return False
    if right.kind == "(":
        return not (left.kind == INPUT or _start(left.span) in marks.called)
    return True


def break_rank(left: Token, right: Token, depth: int) -> int | None:
    """How good a place for a line break this is, best lowest; None where there is none."""
    if left.kind == ",":
        return depth * 10 + 1
    if depth == 0 and right.kind == NAME and right.text in _CLAUSES and left.kind not in _OPERAND_NEXT:
        return 0
    if right.kind in OPERATORS or right.kind == ":":
        rank = next(i for i, row in enumerate(_LOOSEST_FIRST) if right.kind in row)
        return depth * 10 + 2 + rank
    return None
