"""The surface of a Lean file that the toolchain reads itself: its comments, its header, its statements."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Longest first: names swallow their primes, so that a quote after them opens a character.
_LEXEME = re.compile(
    r"""
      r(?P<hashes>\#*)".*?"(?P=hashes)
    | [^\W\d][\w'!?]*
    | «[^»\n]*»
    | "(?:\\.|[^"\\])*"
    | '(?:\\[^'\n]*|[^\\'\n])'
    | (?P<line>--[^\n]*)
    | (?P<block>/-)
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK_EDGE = re.compile(r"/-|-/")
_IMPORT = re.compile(
    r"\s*(?:public\s+)?(?:meta\s+)?import\s+(?P<all>all\s+)?(?P<name>(?:[\w'!?]+|«[^»\n]*»)(?:\.(?:[\w'!?]+|«[^»\n]*»))*)"
)
_OPENING = re.compile(r"\s*(?:module\b)?(?:\s*prelude\b)?")
_STATEMENT = re.compile(r"(?:^|(?<=\s))(?:theorem|lemma)\s+(?!:)\S", re.MULTILINE)


@dataclass(frozen=True)
class Header:
    """Imports in order, those of them with `all`, and the offset at which the header ends."""

    imports: tuple[str, ...]
    whole: frozenset[str]
    end: int


def without_comments(text: str) -> str:
    """The text with every comment blanked, so that offsets and lines stay."""
    pieces, at = [], 0
    while match := _LEXEME.search(text, at):
        if match["block"]:
            end = _block_end(text, match.start())
        elif match["line"]:
            end = match.end()
        else:
            pieces.append(text[at : match.end()])
            at = match.end()
            continue
        pieces.append(text[at : match.start()])
        pieces.append(re.sub(r"[^\n]", " ", text[match.start() : end]))
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def _block_end(text: str, start: int) -> int:
    depth, at = 1, start + 2
    while depth:
        edge = _BLOCK_EDGE.search(text, at)
        if edge is None:
            return len(text)
        depth += 1 if edge.group() == "/-" else -1
        at = edge.end()
    return at


def read_header(code: str) -> Header:
    """The header of a file, from its text without comments."""
    opening = _OPENING.match(code)
    end = len(code[: opening.end()].rstrip()) if opening else 0
    names, whole = [], set()
    while match := _IMPORT.match(code, end):
        name = match["name"].replace("«", "").replace("»", "")
        names.append(name)
        if match["all"]:
            whole.add(name)
        end = match.end()
    return Header(tuple(names), frozenset(whole), end)


def count_statements(code: str) -> int:
    """How many theorems are written in a text without comments."""
    return len(_STATEMENT.findall(code))
