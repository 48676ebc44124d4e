"""Comments, headers and statements, as the toolchain reads them without Lean."""

from __future__ import annotations

import pytest

from serq.generators.toolchain.header import count_statements, read_header, without_comments


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a -- sorry", "a         "),
        ("a /- sorry -/ b", "a             b"),
        ("a /- b /- c -/ d -/ e", "a                   e"),
        ("/-! x\n y -/ z", "     \n      z"),
        ('"-- not a comment" --x', '"-- not a comment"    '),
        ('r#"a " -- "# --x', 'r#"a " -- "#    '),
        ("'\"' -- x", "'\"'     "),
        ("h' --'", "h'    "),
        ("«a -- b» -- c", "«a -- b»     "),
        ('"\\"--" --', '"\\"--"   '),
        ("a /- never closed", "a                "),
    ],
)
def test_comments_are_blanked(text: str, code: str) -> None:
    assert without_comments(text) == code


def test_a_header_is_read_through_its_comments() -> None:
    text = (
        "/- x -/ module -- y\npublic import A.B\nimport all C /- import D -/\n"
        "public meta import «E-F».G\ndef import' := 1"
    )
    header = read_header(without_comments(text))
    assert header.imports == ("A.B", "C", "E-F.G")
    assert header.whole == {"C"}
    assert text[header.end :].startswith("\ndef")


def test_a_file_without_a_header_begins_at_its_start() -> None:
    assert read_header("def modules := 1").end == 0
    assert read_header("module\n\ndef a := 1").end == len("module")


def test_statements_are_counted() -> None:
    text = (
        "theorem a : b := c\n@[simp] theorem d : e := f\n-- theorem g\nlemma h : i := j\ndef theorems := 1\n"
    )
    assert count_statements(without_comments(text)) == 3
