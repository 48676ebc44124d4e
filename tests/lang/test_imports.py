"""`use "file.sq"`: libraries next to the program, and diagnostics that point into them (api.md §7.2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from serq.diagnostics import SerqError, render_text
from serq.lang.compile import compile_file, compile_text
from serq.lang.settings import Settings

SETTINGS = Settings(horizon=10.0)
PROGRAM = """{before}
fn main() {{
  stage s : fifo;
  workload {{ arrive batch(1); turn {{ Size n = 2; }} }}
  server {{ {statements} }}
}}
"""


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _program(folder: Path, before: str, statements: str) -> Path:
    return _write(folder, "main.sq", PROGRAM.format(before=before, statements=statements))


def test_definitions_of_a_library_are_written_out(tmp_path: Path) -> None:
    _write(tmp_path, "lib/costs.sq", "def twice(x) { 2 * x }\ndef chore(x) { run s (cost(s, twice(x))); }\n")
    path = _program(tmp_path, 'use "lib/costs.sq";', "chore(n);")
    written = _program(tmp_path, "", "run s (cost(s, 2 * n));")
    assert compile_file(written, SETTINGS).program == compile_file(path, SETTINGS).program


def test_a_library_uses_another_from_its_own_folder(tmp_path: Path) -> None:
    _write(tmp_path, "lib/a.sq", 'use "b.sq";\ndef thrice(x) { twice(x) + x }\n')
    _write(tmp_path, "lib/b.sq", 'use "a.sq";\ndef twice(x) { 2 * x }\n')
    path = _program(tmp_path, 'use "lib/a.sq";\nuse "lib/a.sq";', "run s (cost(s, thrice(n)));")
    assert compile_file(path, SETTINGS).program.stages


def test_a_mistake_in_a_library_is_placed_there(tmp_path: Path) -> None:
    library = _write(tmp_path, "lib.sq", "// costs\ndef twice(x) { 2 * y }\n")
    path = _program(tmp_path, 'use "lib.sq";', "run s (cost(s, twice(n)));")
    with pytest.raises(SerqError) as refused:
        compile_file(path, SETTINGS)
    (found,) = refused.value.diagnostics
    assert (found.code, found.place.file) == ("SQ301", str(library))
    assert found.place.span is not None and (found.place.span.line, found.place.span.column) == (2, 20)
    assert "2 | def twice(x) { 2 * y }" in render_text([found], {str(library): library.read_text()})


def test_the_texts_of_libraries_are_kept_for_rendering(tmp_path: Path) -> None:
    library = _write(tmp_path, "lib.sq", "def twice(x) { 2 * x }\n")
    path = _program(tmp_path, 'use "lib.sq";', "run s (cost(s, twice(n)));")
    sources = compile_file(path, SETTINGS).sources
    assert sources == {str(path): path.read_text(), str(library): library.read_text()}


@pytest.mark.parametrize(
    ("library", "code"),
    [
        (None, "SQ230"),
        ("let x = 1;\n", "SQ232"),
        ("fn main() { }\n", "SQ232"),
        ("pool p { }\n", "SQ232"),
        ('use "std/args";\n', "SQ233"),
        ("def f(x) { x ", "SQ112"),
        ('use "missing.sq";\n', "SQ230"),
    ],
)
def test_what_a_library_may_not_be(tmp_path: Path, library: str | None, code: str) -> None:
    if library is not None:
        _write(tmp_path, "lib.sq", library)
    path = _program(tmp_path, 'use "lib.sq";', "run s (cost(s, n));")
    with pytest.raises(SerqError) as refused:
        compile_file(path, SETTINGS)
    assert code in {d.code for d in refused.value.diagnostics}


def test_a_text_has_no_libraries() -> None:
    text = PROGRAM.format(before='use "lib.sq";', statements="run s (cost(s, n));")
    with pytest.raises(SerqError) as refused:
        compile_text(text, settings=SETTINGS)
    assert [d.code for d in refused.value.diagnostics] == ["SQ231"]


def test_a_missing_program_is_a_diagnostic(tmp_path: Path) -> None:
    with pytest.raises(SerqError) as refused:
        compile_file(tmp_path / "nothing.sq", SETTINGS)
    assert [d.code for d in refused.value.diagnostics] == ["SQ001"]
