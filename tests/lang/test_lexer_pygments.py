"""Highlighting: the Pygments lexer and the VS Code grammar know the same words as the language."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String  # type: ignore[import-untyped]

from serq.ir.tables import CONTEXT_VARIABLES, DISTRIBUTIONS, FUNCTIONS
from serq.lang import pygments_lexer as highlighting
from serq.lang.automaton import automaton
from serq.lang.pygments_lexer import SerqLexer
from tests.lang.sources import SOURCES

EDITOR = Path(__file__).parents[2] / "editors" / "vscode"
LISTS = (
    highlighting.DECLARATIONS,
    highlighting.STATEMENTS,
    highlighting.CLAUSES,
    highlighting.KINDS,
    highlighting.SETTINGS,
)


def _tokens(text: str) -> list[tuple[Any, str]]:
    return [(kind, value) for kind, value in SerqLexer().get_tokens(text) if value.strip()]


def test_the_words_are_those_of_the_grammar() -> None:
    words = " ".join(LISTS).split()
    assert sorted(words) == sorted(automaton().words)


@pytest.mark.parametrize("number", range(len(SOURCES)))
def test_programs_have_no_unknown_piece(number: int) -> None:
    text = SOURCES[number]
    tokens = list(SerqLexer().get_tokens(text))
    assert not [value for kind, value in tokens if kind is Error]
    assert "".join(value for _, value in tokens).strip() == text.replace("\r\n", "\n").strip()


def test_kinds_of_words() -> None:
    text = (
        'use "x.sq"; def half(v) { v / 2 } stage s : fifo; set exp = ~exp(1) + max(a, batch.tokens); // end'
    )
    assert _tokens(text)[:5] == [
        (Keyword.Declaration, "use"),
        (String.Double, '"x.sq"'),
        _tokens(";")[0],
        (Keyword.Declaration, "def"),
        (Name.Function, "half"),
    ]
    by_text = {value: kind for kind, value in _tokens(text)}
    assert by_text["fifo"] is Keyword.Type
    assert by_text["set"] is Keyword
    assert by_text["max"] is Name.Builtin
    assert by_text["tokens"] is Name.Attribute
    assert by_text["2"] is Number
    assert by_text["~"] is Operator
    assert by_text["// end"] is Comment.Single
    assert [kind for kind, value in _tokens(text) if value == "exp"] == [Name.Variable, Name.Builtin]


def test_the_lexer_answers_to_its_names() -> None:
    assert SerqLexer.aliases == ["serq", "sq"]
    assert SerqLexer.filenames == ["*.sq"]


# VS Code


def _alternatives(pattern: str) -> set[str]:
    found = re.search(r"\(\?:([\w|]+)\)", pattern)
    assert found
    return set(found.group(1).split("|"))


def test_the_editor_grammar_has_the_same_words() -> None:
    repository = json.loads((EDITOR / "syntaxes" / "serq.tmLanguage.json").read_text("utf-8"))["repository"]
    rules = {name: _alternatives(repository[name]["match"]) for name in ("declarations", "keywords", "kinds")}
    assert set().union(*rules.values()) == automaton().words
    assert {f.text for f in FUNCTIONS} <= _alternatives(repository["functions"]["match"])
    assert {v.text for v in CONTEXT_VARIABLES} <= _alternatives(repository["variables"]["match"])
    assert all(d.text in repository["draws"]["match"] for d in DISTRIBUTIONS)


def test_the_editor_extension_is_complete() -> None:
    package = json.loads((EDITOR / "package.json").read_text("utf-8"))
    (language,) = package["contributes"]["languages"]
    (grammar,) = package["contributes"]["grammars"]
    assert language["extensions"] == [".sq"]
    assert (EDITOR / language["configuration"]).is_file()
    loaded = json.loads((EDITOR / grammar["path"]).read_text("utf-8"))
    assert loaded["scopeName"] == grammar["scopeName"]
    included = [p["include"].removeprefix("#") for p in loaded["patterns"]]
    assert sorted(included) == sorted(loaded["repository"])
