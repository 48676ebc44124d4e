"""Every program in the documentation compiles, or is refused as the page says."""

from __future__ import annotations

import pytest

from serq.diagnostics import SerqError
from serq.lang.compile import compile_text
from serq.lang.format import format_source
from serq.lang.parser import parse, parse_instance
from serq.lang.settings import Settings
from serq.sim import run
from tests.docs.snippets import FRAMES, Snippet, snippets

SNIPPETS = list(snippets())
_WORDS = {"refused", "instance", "library"}


def _accept(snippet: Snippet, *, whole: bool = False) -> None:
    """Read a snippet as what it is; with `whole`, run it too."""
    if "instance" in snippet.words:
        parse_instance(snippet.text)
    elif "library" in snippet.words:
        assert parse(snippet.text).main is None
    else:
        program = compile_text(snippet.program, file=snippet.place, settings=Settings(horizon=50.0)).program
        if whole:
            run(program)


@pytest.mark.parametrize("snippet", [s for s in SNIPPETS if s.refused is None], ids=lambda s: s.place)
def test_a_program_compiles(snippet: Snippet) -> None:
    _accept(snippet)


@pytest.mark.parametrize("snippet", [s for s in SNIPPETS if s.refused], ids=lambda s: s.place)
def test_a_program_that_shows_a_mistake_is_refused_for_it(snippet: Snippet) -> None:
    with pytest.raises(SerqError) as caught:
        _accept(snippet, whole=True)
    assert snippet.refused in {d.code for d in caught.value.diagnostics}


@pytest.mark.parametrize("snippet", [s for s in SNIPPETS if s.page.name == "codes.md"], ids=lambda s: s.place)
def test_generated_programs_are_in_the_one_layout(snippet: Snippet) -> None:
    try:
        formatted = format_source(snippet.text)
    except SerqError:
        assert snippet.refused
    else:
        assert formatted == snippet.text


def test_fences_say_nothing_unknown() -> None:
    for s in SNIPPETS:
        rest = [w for w in s.words if w != s.refused and not w.startswith(("fragment=", "file="))]
        assert set(rest) <= _WORDS, s.place
        assert s.frame is None or s.frame in FRAMES, s.place


def test_every_frame_is_used() -> None:
    assert {s.frame for s in SNIPPETS} >= set(FRAMES)
