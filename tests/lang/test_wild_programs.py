"""Whatever is written where in a program, it compiles or its mistakes are said, each at a place in the text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from serq.diagnostics import SerqError, lookup, render_text
from serq.ir.decode import loads
from serq.ir.encode import dumps
from serq.lang import Settings, compile_text
from serq.lang.stages import STAGES, show
from tests.generators.sq_programs import random_source
from tests.lang.sources import SOURCES, reworded

_SETTINGS = Settings(horizon=10.0)
_PROGRAMS = [text for text in SOURCES if "fn main" in text]


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
def test_reworded_programs(text: str, seed: int) -> None:
    _check(reworded(text, seed))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2000), st.integers(0, 2**32))
def test_reworded_random_programs(program: int, seed: int) -> None:
    _check(reworded(random_source(program), seed))
