"""How deep a program's text may nest, so that everything that walks its tree can.

Brackets of every kind nest at most `MAX_BRACKETS` deep; the tree of one expression, unary
chains and long sums included, is at most `MAX_EXPRESSION` nodes high.
"""

from __future__ import annotations

from serq.diagnostics import Diagnostic, Place
from serq.lang import tree as t
from serq.lang.tokens import OPERATORS
from serq.lang.walk import children, walk

MAX_BRACKETS = 200
MAX_EXPRESSION = 1_000
MAX_OPERATORS = 20_000

_OPENERS = frozenset("([{")
_CLOSERS = frozenset(")]}")
_BOUNDARIES = frozenset(";{}")
_DEEPENS = OPERATORS | {"!", "~", "("}
# The operators that open, close, end or deepen something.
NESTING = _OPENERS | _CLOSERS | _BOUNDARIES | _DEEPENS
_EXPRESSIONS = (t.Num, t.Ref, t.Call, t.CostOf, t.Draw, t.Unary, t.Binary, t.Cond, t.Aggregate, t.Input)


class Nesting:
    """Follows the brackets and operators of a text as it is scanned.

    `suspicious` tells that some expression may be too high, which its tree then decides.
    """

    def __init__(self) -> None:
        self.suspicious = False
        self._depth = 0
        self._run = 0

    def enter(self, operator: str) -> str | None:
        """Take one operator or bracket in; returns what is wrong when it goes too deep."""
        if operator in _OPENERS:
            self._depth += 1
            if self._depth > MAX_BRACKETS:
                return f"brackets nest more than {MAX_BRACKETS} deep"
        elif operator in _CLOSERS:
            self._depth = max(0, self._depth - 1)
        if operator in _BOUNDARIES:
            self._run = 0
        elif operator in _DEEPENS:
            self._run += 1
            self.suspicious |= self._run >= MAX_EXPRESSION
            if self._run > MAX_OPERATORS:
                return f"this expression has more than {MAX_OPERATORS:,} operations".replace(",", " ")
        return None


def expressions_too_deep(roots: tuple[t.Node, ...], file: str | None) -> list[Diagnostic]:
    """One diagnostic for every expression whose tree is too high."""
    found: list[Diagnostic] = []
    heights: dict[int, int] = {}
    # Parents come before children in a walk, so its reverse knows the heights of the children.
    for node in reversed(list(walk(*roots))):
        below = [c for c in children(node) if isinstance(c, _EXPRESSIONS)]
        if isinstance(node, _EXPRESSIONS):
            heights[id(node)] = 1 + max((heights[id(c)] for c in below), default=0)
        else:
            found += [_too_high(c, heights[id(c)], file) for c in below if heights[id(c)] > MAX_EXPRESSION]
    found += [_too_high(r, heights[id(r)], file) for r in roots if heights.get(id(r), 0) > MAX_EXPRESSION]
    return found


def _too_high(node: t.Node, height: int, file: str | None) -> Diagnostic:
    message = f"this expression is {height} operations deep, more than {MAX_EXPRESSION}"
    return Diagnostic("SQ114", message, Place(file, node.span), hint="split it with `let`, `def` or `set`")
