"""Examples are in the one layout, say what they must, and their committed IR is what they compile to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from serq.cli.load import load
from serq.cli.options import Choices
from serq.ir.validate import validate
from serq.lang.compile import compile_text
from serq.lang.format import format_source
from serq.lang.settings import Settings
from serq.sim import run
from tools.examples import EXAMPLES, Example, examples
from tools.generated import example_ir

PROGRAMS = list(examples())
TEXTS = [p for e in PROGRAMS for p in (e.path, *e.instances.values())]
SETTINGS = Settings(horizon=10.0)


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.relative_to(EXAMPLES).as_posix())
def test_is_in_the_one_layout(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_source(text) == text


@pytest.mark.parametrize("example", PROGRAMS, ids=lambda e: e.name)
def test_the_layout_leaves_the_ir_unchanged(example: Example) -> None:
    text = example.path.read_text(encoding="utf-8")
    # Another layout: every blank a line break, comments kept to their lines.
    loose = "\n".join(line if "//" in line else line.replace(" ", "\n") for line in text.split("\n"))
    first, second = compile_text(loose, settings=SETTINGS), compile_text(text, settings=SETTINGS)
    assert format_source(format_source(loose)) == format_source(loose)
    assert first.program == second.program
    assert compile_text(format_source(loose), settings=SETTINGS).program == second.program


@pytest.mark.parametrize("example", PROGRAMS, ids=lambda e: e.name)
def test_the_header_says_what_is_modelled_its_sources_and_what_it_cannot_say(example: Example) -> None:
    lines = example.path.read_text(encoding="utf-8").split("\n")
    header = "\n".join(lines[: next(i for i, line in enumerate(lines) if not line.startswith("//"))])
    for part in ("What it models:", "Sources:", "What it cannot say"):
        assert f"\n// {part}" in header


@pytest.mark.parametrize("example", PROGRAMS, ids=lambda e: e.name)
def test_the_committed_ir_validates_and_is_what_the_program_compiles_to(example: Example) -> None:
    assert example.committed.read_text(encoding="utf-8") == example_ir.ir_text(example)
    assert validate(load(example.committed, Choices()).program) == ()


def test_a_committed_ir_finds_its_trace() -> None:
    program = load(EXAMPLES / "replay" / "ir" / "vllm_replay.ir.json", Choices()).program
    assert run(program).data["turns"] == 9


def test_the_manifest_lists_every_committed_ir_and_its_inputs() -> None:
    rows = json.loads(example_ir.MANIFEST.read_text(encoding="utf-8"))["files"]
    assert set(rows) == {p.relative_to(EXAMPLES.parent).as_posix() for p in EXAMPLES.rglob("*.ir.json")}
    assert all(len(row["sha256"]) == 64 and len(row["inputs"]) >= 2 for row in rows.values())
