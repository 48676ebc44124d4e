"""What a token is: its kinds, the operators, and the spans between two of them."""

from __future__ import annotations

from dataclasses import dataclass

from serq.diagnostics import Span

NAME = "NAME"
NUMBER = "NUMBER"
STRING = "STRING"
AGGREGATE = "AGGREGATE"
INPUT = "INPUT"
BAD = "BAD"
END = "$END"

OPERATORS = frozenset(("+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "?"))


@dataclass(slots=True)
class Token:
    """A piece of the text; `kind` is NAME, NUMBER, STRING, ..., or the operator itself.

    `at` are the numbers of its span, which most tokens are never asked for.
    """

    kind: str
    text: str
    at: tuple[int, int, int, int]

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(*self.at)


def between(first: Span, last: Span) -> Span:
    """The span from the start of one to the end of another."""
    return Span(first.line, first.column, last.end_line, last.end_column)


def number_value(text: str) -> float:
    """The value of a number's spelling, `_` dropped; NaN for one with two points."""
    return float(text.replace("_", "")) if text.count(".") < 2 else float("nan")
