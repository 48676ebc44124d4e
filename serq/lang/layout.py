"""The text of a program as nested lists of elements, comments in their places.

An element is what ends with `;` or with a block: a statement, an option, a declaration. This is
the structure the formatter lays out; it knows tokens and comments, not what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from serq.lang.tokens import END, Token

COMMENT = "comment"
_CONTINUES = {"branch": ("else",), "hold": ("cache", "lease", ";")}


@dataclass
class Block:
    """`{ ... }`: the entries are elements and the comments between them."""

    open: Token | None
    entries: list[Element | Token] = field(default_factory=list)
    close: Token | None = None

    @property
    def elements(self) -> list[Element]:
        """The entries that are not comments."""
        return [e for e in self.entries if isinstance(e, Element)]


@dataclass
class Element:
    """A statement, an option or a declaration: its tokens, comments within it, and its blocks."""

    pieces: list[Token | Block] = field(default_factory=list)

    @property
    def first(self) -> Token:
        """The token it begins with."""
        return next(p for p in self.pieces if isinstance(p, Token) and p.kind != COMMENT)

    @property
    def blocks(self) -> list[Block]:
        """The blocks in it."""
        return [p for p in self.pieces if isinstance(p, Block)]


def layout(tokens: list[Token], comments: list[Token]) -> Block:
    """The structure of a text that parses; the outermost block has no braces."""
    pieces = sorted([*tokens, *comments], key=lambda t: (t.span.line, t.span.column, t.kind == END))
    return _Reader(pieces).block(None)


class _Reader:
    def __init__(self, pieces: list[Token]) -> None:
        self.pieces = pieces
        self.at = 0

    def block(self, opening: Token | None) -> Block:
        block = Block(opening)
        while self._here().kind not in ("}", END):
            if self._here().kind == COMMENT:
                block.entries.append(self._take())
            else:
                block.entries += self._element()
        return block

    def _element(self) -> Iterator[Element | Token]:
        """An element, then the comments that turn out to stand after it."""
        element = Element()
        while not self._ended(element):
            token = self._take()
            opens = token.kind == "{" and not self._is_record(element)
            if opens:
                block = self.block(token)
                block.close = self._take()
                element.pieces.append(block)
            else:
                element.pieces.append(token)
        after = _settle_end(element)
        yield element
        yield from after

    def _is_record(self, element: Element) -> bool:
        last = element.pieces[-1] if element.pieces else None
        return isinstance(last, Token) and last.text == "="

    def _ended(self, element: Element) -> bool:
        if not element.pieces:
            return False
        last, here = element.pieces[-1], self._here()
        if isinstance(last, Token) and last.kind == ";":
            return True
        if here.kind == END or (here.kind == "}" and not _has_record(element)):
            return True
        if isinstance(last, Block):
            return self._upcoming().text not in _CONTINUES.get(element.first.text, ())
        # A hold's clauses after its block end with a parenthesis, and their `;` may be left out.
        held = last.kind == ")" and element.first.text == "hold" and element.blocks
        if held and _parentheses(element) == 0:
            return self._upcoming().text not in ("lease", ";")
        return False

    def _here(self) -> Token:
        return self.pieces[self.at]

    def _upcoming(self) -> Token:
        at = self.at
        while self.pieces[at].kind == COMMENT:
            at += 1
        return self.pieces[at]

    def _take(self) -> Token:
        self.at += 1
        return self.pieces[self.at - 1]


def _has_record(element: Element) -> bool:
    return any(isinstance(p, Token) and p.kind == "{" for p in element.pieces)


def _parentheses(element: Element) -> int:
    """How many parentheses are open after the last block of an element."""
    kinds = [p.kind if isinstance(p, Token) else "block" for p in element.pieces]
    tail = kinds[len(kinds) - kinds[::-1].index("block") :] if "block" in kinds else kinds
    return tail.count("(") - tail.count(")")


def _settle_end(element: Element) -> list[Token]:
    """Write a hold's optional `;` after its clauses and only there; returns the comments after it."""
    if element.first.text != "hold" or not element.blocks:
        return []
    last = element.pieces[-1]
    semicolon = element.pieces.pop() if isinstance(last, Token) and last.kind == ";" else None
    after: list[Token] = []
    while isinstance(element.pieces[-1], Token) and element.pieces[-1].kind == COMMENT:
        comment = element.pieces.pop()
        assert isinstance(comment, Token)
        after.insert(0, comment)
    last = element.pieces[-1]
    if isinstance(last, Token):
        span = semicolon.span if isinstance(semicolon, Token) else last.span
        element.pieces.append(Token(";", ";", span))
    return after
