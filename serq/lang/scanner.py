"""Characters to tokens (api.md §1): numbers, names, strings, operators, comments.

The scanner knows no keyword: which words are keywords depends on where they stand, and the
parser decides that. It does know the two places where a word is told apart by what follows
it: `sum j in` (an AGGREGATE) and `args.number (` (an INPUT).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from serq.diagnostics import Diagnostic, Place, Span
from serq.lang.limits import NESTING, Nesting
from serq.lang.tokens import AGGREGATE, BAD, END, INPUT, NAME, NUMBER, STRING, Token, between

MAX_ERRORS = 50

_AGGREGATES = ("sum", "min", "max")

_TOKEN = re.compile(
    r"""
    [^\S\n]* (?:
    (?P<NAME> [^\W\d] \w* )
  | (?P<NUMBER> (?: [0-9] | \.[0-9] ) [0-9_.]* (?: [eE] [+-]? [0-9]+ )? )
  | (?P<hash> \# [^\n]* )
  | (?P<comment> // [^\n]* | /\* (?s:.*?) \*/ )
  | (?P<open_comment> /\* )
  | (?P<operator> <= | >= | == | != | && | \|\| | [-+*/^<>!?:~=.,;(){}\[\]] )
  | (?P<line> \n )
  | (?P<STRING> " [^"]* " )
  | (?P<open_string> " [^\n]* )
  | (?P<BAD> \S )
  )
    """,
    re.VERBOSE,
)


@dataclass(slots=True)
class Scan:
    """What the scanner found; `tokens` ends with an END token.

    `cut` says that reading stopped before the end of the text, so that the end of the tokens
    says nothing about the program; `deep` that some expression may be nested too deep.
    """

    tokens: list[Token]
    comments: list[Token]
    diagnostics: list[Diagnostic]
    cut: bool = False
    deep: bool = False


def scan(text: str, file: str | None = None) -> Scan:
    """Split a text into tokens and comments; every bad character is reported, none raises."""
    return _Scanner(text, file).scan()


class _Scanner:
    """The state of one scan: the current line and where it starts."""

    def __init__(self, text: str, file: str | None) -> None:
        self.text = text
        self.file = file
        self.line = 1
        self.line_start = 0
        self.found = Scan([], [], [])
        self.nesting = Nesting()

    def scan(self) -> Scan:
        tokens, enter = self.found.tokens, self.nesting.enter
        for match in _TOKEN.finditer(self.text):
            kind = str(match.lastgroup)
            if kind == "line":
                self.line += 1
                self.line_start = match.end()
                continue
            start, end = match.span(kind)
            piece = match[kind]
            column = start - self.line_start + 1
            at = (self.line, column, self.line, column + end - start)
            if kind == "operator":
                tokens.append(Token(piece, piece, at))
                wrong = enter(piece) if piece in NESTING else None
                if wrong:
                    self._stop("SQ114", wrong, Span(*at), "name the inner parts with `let`, `def` or `set`")
            elif kind == "NAME":
                if piece.isascii() or piece[0] == "_" or piece[0].isalpha():
                    tokens.append(Token(NAME, piece, at))
                else:
                    self._bad(piece, Span(*at))
            elif kind == "NUMBER":
                if piece.count(".") > 1:
                    self._number(piece, Span(*at))
                tokens.append(Token(NUMBER, piece, at))
            else:
                self._rare(kind, piece, start, end)
            if self.found.cut:
                break
        end_span = self._span(len(self.text), len(self.text))
        tokens.append(Token(END, "", end_span))
        self.found.tokens = _merged(tokens)
        self.found.deep = self.nesting.suspicious
        return self.found

    def _span(self, start: int, end: int) -> Span:
        """The span of text that stands on the current line."""
        column = start - self.line_start + 1
        return Span(self.line, column, self.line, column + end - start)

    def _number(self, text: str, span: Span) -> None:
        self._report("SQ102", f"`{_short(text)}` is not a number: it has more than one point", span)

    def _rare(self, kind: str, text: str, start: int, end: int) -> None:
        """Comments, strings and mistakes."""
        span = self._lines(text, start, end)
        if kind == "comment":
            self.found.comments.append(Token("comment", text, span))
        elif kind == "hash":
            # Meant as a comment: reported, and read as one.
            message, hint = _bad_character("#")
            self._report("SQ101", message, self._span(start, start + 1), hint)
        elif kind == "open_comment":
            self._stop("SQ103", "this comment has no closing `*/`", span)
        elif kind == "STRING":
            self.found.tokens.append(Token(STRING, text[1:-1], span))
        elif kind == "open_string":
            self._report("SQ104", 'this string has no closing `"`', span)
            self.found.tokens.append(Token(BAD, text, span))
        else:
            self._bad(text, span)

    def _lines(self, text: str, start: int, end: int) -> Span:
        """The span of a piece that may run over several lines; moves to its last line."""
        line, column = self.line, start - self.line_start + 1
        breaks = text.count("\n")
        if breaks:
            self.line += breaks
            self.line_start = start + text.rindex("\n") + 1
        return Span(line, column, self.line, end - self.line_start + 1)

    def _bad(self, text: str, span: Span) -> None:
        tokens = self.found.tokens
        # A run of bad characters is one mistake.
        if tokens and tokens[-1].kind == BAD and _touch(tokens[-1].span, span):
            tokens[-1].at = between(tokens[-1].span, span)
            return
        message, hint = _bad_character(text)
        self._report("SQ101", message, span, hint)
        tokens.append(Token(BAD, text, span))

    def _report(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        found = self.found
        found.diagnostics.append(Diagnostic(code, message, Place(self.file, span), hint=hint))
        if len(found.diagnostics) >= MAX_ERRORS and not found.cut:
            self._stop("SQ119", f"stopped after {MAX_ERRORS} errors", span)

    def _stop(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Report something after which nothing more is read."""
        self.found.cut = True
        self._report(code, message, span, hint)


def _touch(left: Span, right: Span) -> bool:
    return (left.end_line, left.end_column) == (right.line, right.column)


_HINTS = {
    "%": "write a remainder as `a - b * floor(a / b)`",
    "'": 'strings are written between `"`',
    "#": "comments start with `//`",
    "&": "logical and is written `&&`",
    "|": "logical or is written `||`",
    "×": "multiplication is written `*`",
    "\ufeff": "save the file as UTF-8 without a byte order mark",
    "\\": "the language has no escapes and no line continuations",
}


def _bad_character(text: str) -> tuple[str, str | None]:
    if text == "\ufeff":
        return "a byte order mark is not part of the language", _HINTS[text]
    shown = text if text.isprintable() else f"U+{ord(text[0]):04X}"
    return f"`{shown}` is not a character of the language", _HINTS.get(text)


def _merged(tokens: list[Token]) -> list[Token]:
    """Tell aggregates and external inputs apart from the names they are spelt with."""
    merged: list[Token] = []
    skip = 0
    for i, token in enumerate(tokens):
        if skip:
            skip -= 1
            continue
        merged.append(token)
        if token.kind != NAME:
            continue
        if token.text in _AGGREGATES:
            if tokens[i + 1].kind == NAME and tokens[i + 2].kind == NAME and tokens[i + 2].text == "in":
                token.kind = AGGREGATE
        elif token.text == "args" and [t.text for t in tokens[i + 1 : i + 4]] == [".", "number", "("]:
            merged[-1] = Token(INPUT, "args.number", between(token.span, tokens[i + 2].span))
            skip = 2
    return merged


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
