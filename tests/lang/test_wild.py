"""Whatever the text, the outcome is a tree or a `SerqError` whose diagnostics point into it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from serq.diagnostics import Diagnostic, SerqError, lookup, render_text
from serq.diagnostics import catalogue as _catalogue  # noqa: F401  registers the codes
from serq.lang import tree as t
from serq.lang.automaton import automaton
from serq.lang.parser import parse, parse_expression, parse_instance
from serq.lang.structure import check_structure
from serq.lang.walk import walk
from tests.lang.sources import SOURCES, mutated

_PIECES = [
    *sorted(automaton().words),
    *(
        "x",
        "kv",
        "é",
        "args.number",
        "sum j in 2",
        "keep",
        "enter",
        "if",
        "step",
        "cost(s, 1)",
        "0.5",
        "1_0",
        "1.2.3",
    ),
    *("+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!", "?", ":", "~", "="),
    *(
        ".",
        ",",
        ";",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        '"',
        '"s"',
        "//",
        "/*",
        "*/",
        "\n",
        "%",
        "'",
        "\0",
        "\ufeff",
    ),
]
SOUP = st.lists(st.sampled_from(_PIECES), max_size=60).map(" ".join)
BLOCKS = ("", "fn main() {", "fn main() { server {", "fn main() { pool p {", "fn main() { workload {")
ENGINES = (
    "fn main() { engine E on d {",
    "fn main() { engine E on d { schedule {",
    "fn main() { queue Q : decode {",
)


def _check(text: str) -> None:
    for read in (parse, parse_instance, parse_expression):
        try:
            tree: t.Node = read(text, "p.sq")
        except SerqError as error:
            assert error.diagnostics
            found = error.diagnostics
        else:
            found = tuple(check_structure(tree)) if isinstance(tree, t.Program) else ()
            _spans_nest(tree)
        for diagnostic in found:
            _points_into(diagnostic, text)
        render_text(found, {"p.sq": text})


def _points_into(diagnostic: Diagnostic, text: str) -> None:
    assert lookup(diagnostic.code) is not None
    assert diagnostic.place.file == "p.sq"
    span = diagnostic.place.span
    if span is None:
        return
    lines = text.split("\n")
    assert 1 <= span.line <= span.end_line <= len(lines)
    assert 1 <= span.column <= len(lines[span.line - 1]) + 1
    assert (span.line, span.column) <= (span.end_line, span.end_column)


def _spans_nest(tree: t.Node) -> None:
    for node in walk(tree):
        assert (node.span.line, node.span.column) <= (node.span.end_line, node.span.end_column)


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(BLOCKS + ENGINES), SOUP)
def test_token_soup(start: str, soup: str) -> None:
    _check(f"{start} {soup}")


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(SOURCES), st.integers(0, 2**32))
def test_mutated_programs(text: str, seed: int) -> None:
    _check(mutated(text, seed))


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(SOURCES), st.integers(0), st.integers(0))
def test_pieces_of_programs(text: str, start: int, length: int) -> None:
    start %= len(text)
    _check(text[start : start + length % len(text)])


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    _check(text)
