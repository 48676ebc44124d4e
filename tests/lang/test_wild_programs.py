"""Whatever is written where in a program, it compiles or its mistakes are said, each at a place in the text."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from serq.diagnostics import SerqError, lookup, render_text
from serq.ir.decode import loads
from serq.ir.encode import dumps
from serq.lang import Settings, compile_text
from serq.lang.scanner import scan
from serq.lang.stages import STAGES, show
from serq.lang.tokens import STRING
from tests.generators.sq_programs import random_source
from tests.lang.sources import SOURCES

_SETTINGS = Settings(horizon=10.0)
_PROGRAMS = [text for text in SOURCES if "fn main" in text]
_VALUES = (
    *("0", "1", "0.5", "1e9", "inf", "-1", "(0 / 0)", "now", "n", "cached", "~exp(1)", "self", "2 ^ 60"),
    *("used(kv)", "queue(s)", "turn_in(kv)", "sum j in 3 (j)", "prefilled", "batch.tokens", "x.y", "f(n)"),
)


def rewritten(text: str, seed: int) -> str:
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


def _check(text: str) -> None:
    try:
        made = compile_text(text, file="p.sq", settings=_SETTINGS)
    except SerqError as error:
        assert error.diagnostics
        assert len(set(error.diagnostics)) == len(error.diagnostics)
        for diagnostic in error.diagnostics:
            span = diagnostic.place.span
            assert lookup(diagnostic.code) is not None
            assert span is not None
            assert 1 <= span.line <= span.end_line <= len(text.split("\n"))
        render_text(error.diagnostics, {"p.sq": text})
    else:
        assert loads(dumps(made.program)) == made.program
        assert all(show(made, stage) for stage in STAGES)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(_PROGRAMS), st.integers(0, 2**32))
def test_rewritten_programs(text: str, seed: int) -> None:
    _check(rewritten(text, seed))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2000), st.integers(0, 2**32))
def test_rewritten_random_programs(program: int, seed: int) -> None:
    _check(rewritten(random_source(program), seed))
