"""Files that are no programs, and texts too deep or too strange: a diagnostic each, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from serq.diagnostics import SerqError
from serq.lang.format import format_source
from serq.lang.limits import MAX_BRACKETS, MAX_EXPRESSION
from serq.lang.parser import parse, parse_instance
from serq.lang.scanner import MAX_ERRORS
from serq.lang.source import MAX_BYTES, decode_source, read_source
from tests.lang.sources import findings


def _codes(error: SerqError) -> list[str]:
    return [d.code for d in error.diagnostics]


# Files


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "p.sq"
    path.write_bytes("let é = 1;\r\n".encode())
    assert read_source(path) == "let é = 1;\r\n"


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SerqError, match="there is no file") as caught:
        read_source(tmp_path / "none.sq")
    assert _codes(caught.value) == ["SQ001"]


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(SerqError, match="is a folder") as caught:
        read_source(tmp_path)
    assert _codes(caught.value) == ["SQ001"]


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "file.sq/below"])
def test_a_path_that_cannot_be(tmp_path: Path, name: str) -> None:
    (tmp_path / "file.sq").write_text("")
    with pytest.raises(SerqError) as caught:
        read_source(str(tmp_path / name) if "\0" not in name else name)
    assert _codes(caught.value) == ["SQ001"]


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "large.sq"
    path.write_bytes(b" " * (MAX_BYTES + 1))
    with pytest.raises(SerqError) as caught:
        read_source(path)
    assert _codes(caught.value) == ["SQ010"]


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b"\xff\xfe", 1, 1),
        (b"let a\n= \x80;", 2, 3),
        (b"ab\0", 1, 3),
        ("é\n\0".encode(), 2, 1),
        (b"\x7fELF\x02\x00", 1, 6),
    ],
)
def test_a_file_that_is_not_text(data: bytes, line: int, column: int) -> None:
    with pytest.raises(SerqError) as caught:
        decode_source(data, "p.sq")
    (found,) = caught.value.diagnostics
    assert found.code == "SQ120"
    assert found.place.span is not None
    assert (found.place.span.line, found.place.span.column) == (line, column)


# Texts


def test_an_empty_text_is_an_empty_library() -> None:
    assert parse("").main is None
    assert parse("\n\n  // nothing\n").prelude == ()
    assert [d.code for d in findings("")] == ["SQ201"]


def test_a_byte_order_mark_says_what_to_do() -> None:
    (found,) = findings("\ufefffn main() { }")
    assert (found.code, found.hint) == ("SQ101", "save the file as UTF-8 without a byte order mark")


def test_line_ends_count_as_one() -> None:
    text = "fn main() {\r\n  pool p { foo 1; }\r\n}\r\n"
    (found,) = findings(text)
    assert found.place.span is not None
    assert (found.place.span.line, found.place.span.column) == (2, 12)


def _let(value: str) -> str:
    return f"let a = {value};"


def _nested(depth: int) -> dict[str, str]:
    blocks = "branch (1) { " * depth + "end;" + " }" * depth
    return {
        "parentheses": _let("(" * depth + "1" + ")" * depth),
        "calls": _let("f(" * depth + "1" + ")" * depth),
        "indices": _let("a[" * depth + "1" + "]" * depth),
        "unary": _let("-" * depth + "1"),
        "not": _let("!" * depth + "1"),
        "ternaries": _let("a ? b : " * depth + "c"),
        "inner ternaries": _let("a ? " * depth + "b" + " : c" * depth),
        "powers": _let("1 ^ " * depth + "1"),
        "sums": _let("1 + " * depth + "1"),
        "blocks": "fn main() { server { " + blocks + " } }",
        "schedules": "fn main() { engine E on d { schedule { " + blocks.replace("end;", "") + " } } }",
        "functions": "fn main() { " * depth + "}" * depth,
    }


@pytest.mark.parametrize("what", _nested(1))
@pytest.mark.parametrize("depth", [1_001, 30_000])
def test_nesting_too_deep(what: str, depth: int) -> None:
    text = _nested(depth)[what]
    assert [d.code for d in findings(text)] == ["SQ114"]
    with pytest.raises(SerqError):
        format_source(text)


@pytest.mark.parametrize("what", _nested(1))
def test_nesting_that_is_deep_enough(what: str) -> None:
    depth = (
        MAX_EXPRESSION - 1 if what in ("unary", "not", "ternaries", "powers", "sums") else MAX_BRACKETS - 5
    )
    text = _nested(depth)[what]
    parse(text)
    assert format_source(format_source(text)) == format_source(text)


@pytest.mark.parametrize("what", ["unary", "ternaries", "powers", "sums"])
def test_the_limit_on_an_expression_is_exact(what: str) -> None:
    parse(_nested(MAX_EXPRESSION - 1)[what])
    assert [d.code for d in findings(_nested(MAX_EXPRESSION)[what])] == ["SQ114"]


def test_a_wide_expression_is_not_a_deep_one() -> None:
    parse(_let("f(" + ", ".join(["a * b + c"] * 2_000) + ")"))


@pytest.mark.parametrize("piece", ["(", "[", "{", "branch (1) { ", "f(", "sum j in 2 ("])
def test_brackets_that_are_never_closed(piece: str) -> None:
    for depth in (3, 1_500):
        assert findings("fn main() { server { set x = " + piece * depth)


@pytest.mark.parametrize(
    "text",
    [
        "fn main() { " + "pool p { cap 1; } " * 30_000 + "}",
        "let a = " + "1" * 1_000_000 + ";",
        "let " + "a" * 1_000_000 + " = 1;",
        "// " + "x" * 1_000_000,
        "/" * 1_000_000,
    ],
    ids=["pools", "digits", "name", "comment", "slashes"],
)
def test_a_megabyte_on_one_line(text: str) -> None:
    assert "\n" not in text
    parse(text)


_MISTAKES = {
    "bad": "@" * 1_000_000,
    "bads": "@ " * 500_000,
    "semicolons": ";" * 300_000,
    "braces": "}" * 300_000,
    "words": "foo " * 250_000,
    "quotes": '"' * 300_001,
    "comments": "/* " * 300_000,
    "points": "1" + "." * 1_000_000,
    "numbers": "1.1.1 " * 200_000,
    "lets": "fn main() { " + "let = 1;\n" * 100_000,
}


@pytest.mark.parametrize("what", _MISTAKES)
def test_a_megabyte_of_mistakes(what: str) -> None:
    found = findings(_MISTAKES[what])
    assert 1 <= len(found) <= 2 * MAX_ERRORS + 2


def test_many_errors_end_with_one_that_says_so() -> None:
    found = findings("fn main() {\n" + "let = 1;\n" * 200 + "}")
    assert len(found) == MAX_ERRORS + 1
    assert found[-1].code == "SQ119"


def test_instances_are_as_safe() -> None:
    for text in (_let("(" * 5_000), _let("-" * 5_000 + "1"), "run { " * 2_000, "@" * 1000, "\0"):
        assert findings(text, parse_instance)
