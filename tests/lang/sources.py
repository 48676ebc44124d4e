"""Programs to parse, and what the tests of the language's text compare them by."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from serq.diagnostics import Diagnostic, SerqError, Span
from serq.lang import tree as t
from serq.lang.parser import parse
from serq.lang.scanner import scan
from serq.lang.structure import check_structure
from serq.lang.tokens import STRING

HERE = Path(__file__).parent
EXAMPLES = {
    str(p.relative_to(HERE.parents[1])): p for p in sorted((HERE.parents[1] / "examples").rglob("*.sq"))
}
PROGRAMS: dict[str, str] = {
    row["name"]: row["source"]
    for row in map(json.loads, (HERE / "programs.jsonl").read_text("utf-8").splitlines())
}
SOURCES: list[str] = [*PROGRAMS.values(), *(p.read_text("utf-8") for p in EXAMPLES.values())]

_VALUES = (
    *("0", "1", "0.5", "1e9", "inf", "-1", "(0 / 0)", "now", "n", "cached", "~exp(1)", "self", "2 ^ 60"),
    *("used(kv)", "queue(s)", "turn_in(kv)", "sum j in 3 (j)", "prefilled", "batch.tokens", "x.y", "f(n)"),
)
_BLANKS = (" ", "\n", "\t", "\r\n", "\n\n\n", " \n\t ")
_COMMENTS = (" // note\n", " /* c */ ", "\n// a line\n", " /* two\n   lines */ ", "\n\n/* x */\n", " /**/")


def bare(value: Any) -> Any:
    """A tree without spans: names and plain references as text, numbers as floats, other nodes as tuples."""
    if isinstance(value, tuple):
        return tuple(bare(v) for v in value)
    if isinstance(value, t.Name):
        return value.text
    if isinstance(value, t.Num):
        return value.value
    if isinstance(value, t.Ref) and not (value.index or value.members):
        return value.name.text
    if isinstance(value, t.Node):
        names: tuple[str, ...] = type(value).__match_args__
        return (type(value).__name__, *(bare(getattr(value, n)) for n in names[1:] if n != "file"))
    return value


def findings(text: str, read: Callable[[str], t.Node] = parse) -> list[Diagnostic]:
    """What is found in a program: its syntax errors, or else the mistakes in its shape."""
    try:
        tree = read(text)
    except SerqError as error:
        return list(error.diagnostics)
    return check_structure(tree) if isinstance(tree, t.Program) else []


def marked(text: str) -> tuple[str, Span | None]:
    """A text without its `«` and `»`, and the span between them."""
    start, end = text.find("«"), text.find("»") - 1
    plain = text.replace("«", "").replace("»", "")
    if start < 0:
        return plain, None
    return plain, Span(*_position(plain, start), *_position(plain, end))


def _position(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def rewritten(text: str, seed: int, comments: bool = True) -> str:
    """The same tokens with other blanks, and comments anywhere."""
    rng = Random(seed)
    pieces = _BLANKS + _COMMENTS if comments else _BLANKS
    out = ""
    for token in scan(text).tokens[:-1]:
        if rng.random() < 0.15:
            out += rng.choice(pieces)
        out += " " + (f'"{token.text}"' if token.kind == STRING else token.text)
    return out + (rng.choice(("", "\n", " // the end", "\n/* the end */")) if comments else "")


def mutated(text: str, seed: int) -> str:
    """The text with a few of its tokens dropped, doubled, swapped or replaced."""
    rng = Random(seed)
    tokens = [f'"{k.text}"' if k.kind == STRING else k.text for k in scan(text).tokens[:-1]]
    for _ in range(rng.randint(1, 4)):
        if not tokens:
            break
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(5):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, tokens[other])
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] = rng.choice(("{", "}", "(", ")", ";", "=", "1", "x", "set", "%", '"'))
            case _:
                del tokens[at : at + rng.randint(1, 20)]
    return " ".join(tokens)


def reworded(text: str, seed: int) -> str:
    """A program with some names, numbers and statements of it put where others stand."""
    dice = Random(seed)
    tokens = [t for t in scan(text).tokens if t.text]
    words = [f'"{t.text}"' if t.kind == STRING else t.text for t in tokens]
    names = [i for i, t in enumerate(tokens) if t.kind == "NAME"]
    numbers = [i for i, t in enumerate(tokens) if t.kind == "NUMBER"] or names
    for _ in range(dice.choice((1, 1, 2, 3))):
        way = dice.random()
        if way < 0.5:
            words[dice.choice(names)] = words[dice.choice(names)]
        elif way < 0.7:
            words[dice.choice(numbers)] = dice.choice(_VALUES)
        else:
            start, end = _statement(words, dice)
            moved = words[start:end]
            if way < 0.85:
                words[start:end] = [""] * len(moved)
            words[dice.randrange(len(words))] += " " + " ".join(moved)
    return " ".join(words)


def _statement(words: list[str], dice: Random) -> tuple[int, int]:
    ends = [i for i, word in enumerate(words) if word == ";"] or [len(words) - 1]
    end = dice.choice(ends)
    start = max((i for i in range(end) if words[i] in (";", "{", "}")), default=-1) + 1
    return start, end + 1
