"""The word list: each word is found where it counts, and prose stays free."""

from __future__ import annotations

import pytest

from serq.generators.toolchain.header import without_comments
from serq.generators.toolchain.scan import RULES, as_diagnostics, runs_code, scan


def words(text: str) -> list[str]:
    return [f.word for f in scan(text, without_comments(text))]


@pytest.mark.parametrize(
    "line",
    [
        "set_option debug.skipKernelTC true",
        "set_option warn.sorry false in",
        "set_option warningAsError false",
        "theorem t : p := sorry",
        "theorem t : p := by exact sorryAx _ true",
        "axiom a : p",
        "private axiom a : p",
        "theorem t : p := by native_decide",
        "theorem t : p := by decide +native",
        "theorem t : p := by decide (config := { native := true })",
        "#eval 1",
        "run_cmd x",
        "example := by_elab x",
        'elab "x" : term => y',
        'macro "x" : term => y',
        "macro_rules | x => y",
        'syntax "x" : term',
        "meta def f := 1",
        "@[simp] private meta def f := 1",
        "public meta import Lean",
        "unsafe def f := 1",
        "@[implemented_by g] def f := 1",
        '@[extern "g"] def f := 1',
        "@[csimp] def t : f = g := h",
        "@[simp, csimp] theorem t : f = g := h",
        "attribute [csimp] t",
        "attribute [local csimp] t",
        "@[init g] def f := 1",
        "attribute [init g] f",
        "initialize x : Nat ← y",
        "simproc x (y) := z",
        "#exit",
        'infixl:65 " +/- " => f',
    ],
)
def test_a_word_of_the_list_is_found(line: str) -> None:
    assert words(f"module\n{line}\n")


@pytest.mark.parametrize(
    "line",
    [
        "-- no sorry, no axiom, no macro, no unsafe code",
        "/-- The syntax of programs; extern and meta are words. -/",
        "def admit (n : Nat) := n",
        "theorem axiom_free : 1 = 1 := rfl",
        "@[csimp] theorem t : @f = @g := h",
        'notation "⟪" x "⟫" => f x -- a comment',
        "def initial := 1",
        "def prefix_of := List.isPrefixOf",
    ],
)
def test_prose_and_other_names_are_free(line: str) -> None:
    assert not words(f"module\n{line}\n")


def test_words_of_lean_alone_are_refused_in_comments_as_well() -> None:
    assert words("-- set_option debug.skipKernelTC true") == ["skipKernelTC"]


def test_every_rule_has_an_example_above() -> None:
    examples = test_a_word_of_the_list_is_found.pytestmark[0].args[1]  # type: ignore[attr-defined]
    found = {f.rule for line in examples for f in scan(line, without_comments(line))}
    assert found == set(RULES)


def test_code_that_runs_is_told_from_a_missing_proof() -> None:
    assert runs_code(scan("#eval 1", "#eval 1"))
    assert not runs_code(scan("sorry", "sorry"))


def test_a_finding_has_its_place() -> None:
    text = "module\n  theorem t : p := sorry\n"
    (found,) = as_diagnostics("A.lean", text, scan(text, without_comments(text)))
    assert (found.code, found.place.file) == ("SQ957", "A.lean")
    assert found.place.span is not None
    assert (found.place.span.line, found.place.span.column, found.place.span.end_column) == (2, 20, 25)
