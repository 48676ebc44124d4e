"""The forms between the text and the IR, as text: each says the same program."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest

from serq.ir.decode import loads
from serq.lang import stages
from serq.lang.compile import Compiled, compile_file, compile_text
from serq.lang.format import format_source
from serq.lang.parser import parse
from serq.lang.settings import Settings
from serq.lang.tree import Node
from tests.lang.test_conformance_programs import EXAMPLES, WRITTEN, compiled

SETTINGS = Settings(horizon=10.0)
_SUGAR = (
    *("tool (", "tool on", "transfer (", "mark ", "def ", "let "),
    *("engine ", "device ", "at admission", "Size "),
)


def plain(value: Any) -> Any:
    """A tree without the places it was read from and the spelling of its numbers."""
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    if not isinstance(value, Node):
        return value
    kept = [
        f.name
        for f in fields(value)
        if f.name not in ("span", "file", "text") or type(value).__name__ == "Name"
    ]
    return type(value).__name__, *(plain(getattr(value, name)) for name in kept if name != "span")


def _programs() -> list[Any]:
    return [*WRITTEN, *EXAMPLES]


def _compiled(program: Any) -> Compiled:
    return compiled(program) if isinstance(program, str) else compile_file(program, SETTINGS)


@pytest.mark.parametrize("program", _programs(), ids=str)
def test_the_parsed_form_parses_to_the_same_tree(program: Any) -> None:
    made = _compiled(program)
    assert plain(parse(stages.show(made, "parsed"))) == plain(made.parsed)


@pytest.mark.parametrize("program", _programs(), ids=str)
def test_the_resolved_form_compiles_to_the_same_program(program: Any) -> None:
    made = _compiled(program)
    program_settings = Settings(
        horizon=made.program.horizon,
        warmup=made.program.warmup,
        seed=made.program.seed,
        arrivals=made.program.arrivals,
        trace=made.program.trace,
    )
    again = compile_text(stages.show(made, "resolved"), settings=program_settings)
    assert again.program == made.program


@pytest.mark.parametrize("program", _programs()[::4], ids=str)
def test_the_lowered_form_has_kernel_statements_only(program: Any) -> None:
    text = stages.show(_compiled(program), "lowered")
    for form in _SUGAR:
        assert not re.search(rf"^\s*{re.escape(form)}", text, re.MULTILINE), form
    assert "session {" in text


def test_the_ir_form_is_the_program() -> None:
    made = compiled(WRITTEN[0])
    assert loads(stages.show(made, "ir")) == made.program


def test_a_resolved_form_names_no_constant_or_definition() -> None:
    text = (
        "let K = 3; def f(x) { x + K } fn main() { stage s : fifo; pool a[2] { } workload { arrive batch(K); } "
        "server { observe u = sum j in 2 (used(a[j])); run s (cost(s, f(1))); } }"
    )
    shown = stages.show(compile_text(text, settings=SETTINGS), "resolved")
    assert format_source(shown) == format_source(
        "fn main() { stage s : fifo; pool a[2] { } workload { arrive batch(3); } "
        "server { observe u = used(a[0]) + used(a[1]); run s (cost(s, 1 + 3)); } }"
    )


def test_a_lowered_form_says_what_sugar_stands_for() -> None:
    text = (
        "fn main() { stage d : delay; workload { arrive batch(1); turn { Size n = 1; } session { turn; tool 2; } } "
        "server { branch with (0.5) { run d (cost(d, n)); } } }"
    )
    shown = stages.show(compile_text(text, settings=SETTINGS), "lowered")
    assert "run tool (cost(tool, 2));" in shown
    assert "branch (~bernoulli(0.5)) {" in shown
    assert "stage tool : ps(present);" in shown
    assert shown.index("turn;") < shown.index("branch") < shown.index("run tool")
