"""Comments that say which findings of the checker a program expects, and why.

`// serq: allow(starvation) because the load is below 1` after code speaks of its line; alone
on a line, of the next one with code. It also speaks of the rest of what begins on that line,
or ends before the comment: a statement without the statements in its braces, or a pool, stage
or device with all its options. So the layout of a program does not change what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from serq.diagnostics import Diagnostic, Place
from serq.diagnostics.suppression import Suppression
from serq.lang.layout import COMMENT, Block, Element, layout
from serq.lang.scanner import scan
from serq.lang.tokens import END, Token

_MARK = re.compile(r"(?://|/\*)\s*serq\s*:\s*")
_ALLOW = re.compile(r"allow\s*\(([^()]*)\)\s*(?:because\b\s*(.*))?", re.DOTALL)
# What has options in its braces and no statements.
_WITH_OPTIONS = ("pool", "stage", "device")

Found = tuple[list[Suppression], list[Diagnostic]]


def suppressions(sources: Mapping[str, str]) -> Found:
    """Every suppression in the texts of a program, by file; and what means to be one and is not (SQ896)."""
    found: list[Suppression] = []
    wrong: list[Diagnostic] = []
    for file, text in sources.items():
        if _MARK.search(text):
            _read(text, file, found, wrong)
    return found, wrong


def _read(text: str, file: str, found: list[Suppression], wrong: list[Diagnostic]) -> None:
    scanned = scan(text, file)
    code = [t for t in scanned.tokens if t.kind != END]
    elements = list(_elements(layout(scanned.tokens, scanned.comments)))
    for comment in scanned.comments:
        mark = _MARK.match(comment.text)
        if mark is None:
            continue
        place = Place(file, comment.span)
        said = comment.text[mark.end() :].removesuffix("*/").strip()
        match = _ALLOW.fullmatch(said)
        rules = _names(match[1]) if match else ()
        if match is None or not rules:
            message = f"`{' '.join(said.split())}` is not a suppression"
            hint = "write `serq: allow(RULE) because REASON`"
            wrong.append(Diagnostic("SQ896", message, place, hint=hint))
            continue
        reason = " ".join((match[2] or "").split())
        found.append(Suppression(rules, reason, place, _lines(comment, code, elements)))


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in (part.strip() for part in text.split(",")) if name)


def _lines(comment: Token, code: list[Token], elements: list[Element]) -> frozenset[int]:
    """The lines a comment speaks of."""
    here = comment.span
    trails = any(t.span.end_line == here.line and t.span.column < here.column for t in code)
    if trails:
        line = here.line
    else:
        line = next((t.span.line for t in code if t.span.line >= here.end_line), here.line)
    lines = {line}
    for element in elements:
        if element.first.span.line == line or (trails and _end(element) == line):
            lines.update(_own(element))
    return frozenset(lines)


def _end(element: Element) -> int:
    """The line an element ends on."""
    last = element.pieces[-1]
    token = last if isinstance(last, Token) else last.close
    return token.span.end_line if token is not None else 0


def _own(element: Element) -> Iterator[int]:
    """The lines of an element, without the elements in its braces unless they are options."""
    for piece in element.pieces:
        if isinstance(piece, Token):
            if piece.kind != COMMENT:
                yield piece.span.line
        elif element.first.text in _WITH_OPTIONS:
            for inner in piece.elements:
                yield from _own(inner)


def _elements(block: Block) -> Iterator[Element]:
    for element in block.elements:
        yield element
        for inner in element.blocks:
            yield from _elements(inner)
