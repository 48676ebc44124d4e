"""The formatter: one layout for every program, comments kept.

A block stands on one line when it fits there and holds at most three elements without blocks and
comments; otherwise every element has its own line. Single blank lines between elements stay.
Lines longer than 100 columns are broken at clauses, commas and operators.
"""

from __future__ import annotations

from dataclasses import dataclass

from serq.lang.layout import COMMENT, Block, Element, layout
from serq.lang.parser import parse
from serq.lang.scanner import scan
from serq.lang.spacing import Marks, break_rank, is_spaced, marks
from serq.lang.tokens import Token

WIDTH = 100
_INDENT = "  "
_CONTINUATION = "    "
_MAX_FLAT = 3


def format_source(text: str, file: str | None = None) -> str:
    """The canonical layout of a program, a library or an instance.

    Formatting again changes nothing, and the result parses to the same tree but for its spans.
    Raises `SerqError` when the text does not parse.
    """
    program = parse(text, file)
    scanned = scan(text, file)
    printer = _Printer(marks(program, scanned.tokens))
    printer.entries(layout(scanned.tokens, scanned.comments), "")
    return "".join(line + "\n" for line in printer.lines)


@dataclass
class _Word:
    """A token or comment as it is printed, and the rank of a line break before it."""

    text: str
    spaced: bool
    rank: int | None = None
    ends_line: bool = False


class _Printer:
    def __init__(self, found: Marks) -> None:
        self.marks = found
        self.lines: list[str] = []
        self.last_line = 0

    def entries(self, block: Block, indent: str) -> None:
        """The elements and comments of a block, each on a line of its own or trailing another."""
        first = True
        for entry in block.entries:
            start = _start_line(entry)
            if isinstance(entry, Token) and start == self.last_line and self.lines:
                self.lines[-1] += "  " + _comment(entry)
            else:
                if not first and start > self.last_line + 1:
                    self.lines.append("")
                if isinstance(entry, Token):
                    self.lines.append(indent + _comment(entry))
                else:
                    self.element(entry, indent)
            self.last_line = _end_line(entry)
            first = False

    def element(self, element: Element, indent: str) -> None:
        """One element, on one line when it fits there."""
        if all(_is_flat(b) for b in element.blocks) and not _breaks(element):
            line = indent + _joined(self.words(element))
            if len(line) <= WIDTH:
                self.lines.append(line)
                return
        if element.blocks:
            self.broken(element, indent)
        else:
            self.fill(self.words(element), indent)

    def broken(self, element: Element, indent: str) -> None:
        """An element whose blocks stand on lines of their own."""
        start = 0
        for i, piece in enumerate(element.pieces):
            if isinstance(piece, Block):
                words = self.words(Element(element.pieces[start:i]), head=element.first)
                self.open(words, indent, resumed=start > 0)
                if words and words[-1].ends_line:
                    self.lines.append(indent + "{")
                else:
                    self.lines[-1] += " {"
                if piece.open is not None:
                    self.last_line = piece.open.span.end_line
                self.entries(piece, indent + _INDENT)
                self.lines.append(indent + "}")
                start = i + 1
        rest = self.words(Element(element.pieces[start:]), head=element.first)
        if rest:
            self.open(rest, indent, resumed=True)

    def open(self, words: list[_Word], indent: str, resumed: bool) -> None:
        """Words before a block or after one; after one they go on on the line of its brace."""
        if not resumed:
            self.fill(words, indent)
            return
        if words:
            brace = _Word("}", False)
            words[0].spaced = words[0].text != ";"
            self.lines.pop()
            self.fill([brace, *words], indent)

    def words(self, element: Element, head: Token | None = None) -> list[_Word]:
        """The printed words of an element, its blocks written on the line."""
        words: list[_Word] = []
        if not element.pieces:
            return words
        in_claim = (head or element.first).text == "claim"
        before: Token | None = None
        depth = 0
        for i, piece in enumerate(element.pieces):
            if isinstance(piece, Block):
                words += self.flat_block(piece)
                before = None
                continue
            if piece.kind == COMMENT:
                text = _comment(piece)
                words.append(_Word(text, True, ends_line=text.startswith("//") or "\n" in text))
                continue
            if piece.kind in (")", "]"):
                depth -= 1
            if before is None:
                words.append(_Word(piece.text if piece.kind != "STRING" else f'"{piece.text}"', bool(words)))
            else:
                words.append(self.word(before, piece, depth, in_claim))
                if piece.kind == "(" and _closes_at_once(element, i):
                    words[-1].spaced = False
            if piece.kind in ("(", "["):
                depth += 1
            before = piece
        return words

    def word(self, before: Token, token: Token, depth: int, in_claim: bool) -> _Word:
        text = f'"{token.text}"' if token.kind == "STRING" else token.text
        spaced = is_spaced(before, token, self.marks, in_claim and depth == 0)
        return _Word(text, spaced, break_rank(before, token, depth) if spaced else None)

    def flat_block(self, block: Block) -> list[_Word]:
        words = [_Word("{", True)]
        for element in block.elements:
            inner = self.words(element)
            inner[0].spaced = True
            words += inner
        return [*words, _Word("}", True)]

    def fill(self, words: list[_Word], indent: str) -> None:
        """Lines of words, broken at the best places when they are too long."""
        margin = indent
        while words:
            end = next((i + 1 for i, w in enumerate(words) if w.ends_line), len(words))
            cut = _cut(words[:end], WIDTH - len(margin))
            self.lines.append(margin + _joined(words[:cut]))
            words = words[cut:]
            margin = indent + _CONTINUATION


def _cut(words: list[_Word], room: int) -> int:
    """How many words stand on a line: all that fit, or those up to the best break among them."""
    width = 0
    best: tuple[int, int] | None = None
    for i, word in enumerate(words):
        if i and word.rank is not None and (best is None or word.rank <= best[0]):
            best = (word.rank, i)
        width += len(word.text) + (1 if word.spaced and i else 0)
        if width > room and best is not None:
            return best[1]
    return len(words)


def _joined(words: list[_Word]) -> str:
    text = ""
    for i, word in enumerate(words):
        text += (" " if word.spaced and i else "") + word.text
    return text


def _is_flat(block: Block) -> bool:
    if len(block.entries) != len(block.elements) or len(block.elements) > _MAX_FLAT:
        return False
    inner = [b for e in block.elements for b in e.blocks]
    if inner and (len(block.elements) > 1 or any(b.entries for b in inner)):
        return False
    return not any(_breaks(e) for e in block.elements)


def _closes_at_once(element: Element, at: int) -> bool:
    """Whether nothing stands in a parenthesis: `gw.route()`."""
    following = element.pieces[at + 1]
    return isinstance(following, Token) and following.kind == ")"


def _breaks(element: Element) -> bool:
    """Whether an element cannot stand on one line: functions, and comments that end a line."""
    if element.first.text == "fn" and element.blocks and element.blocks[0].entries:
        return True
    comments = [_comment(p) for p in element.pieces if isinstance(p, Token) and p.kind == COMMENT]
    return any(c.startswith("//") or "\n" in c for c in comments)


def _comment(token: Token) -> str:
    return "\n".join(line.rstrip() for line in token.text.split("\n"))


def _start_line(entry: Element | Token) -> int:
    token = entry if isinstance(entry, Token) else next(p for p in entry.pieces if isinstance(p, Token))
    return token.span.line


def _end_line(entry: Element | Token) -> int:
    if isinstance(entry, Token):
        return entry.span.end_line
    last = entry.pieces[-1]
    token = last.close if isinstance(last, Block) else last
    return token.span.end_line if token is not None else 0
