"""What is said of a mistake in a definition's body, and of definitions that nest too deeply (api.md §7.2)."""

import pytest

from serq.diagnostics import Diagnostic, SerqError
from serq.lang import Settings, compile_text

DEEP = " + 1" * 900


def refused(head: str, server: str) -> list[Diagnostic]:
    text = (
        f"fn main() {{ {head} stage s : fifo;\n"
        f"workload {{ arrive batch(1); turn {{ Size n = 1; }} }}\nserver {{ {server} }} }}"
    )
    with pytest.raises(SerqError) as raised:
        compile_text(text, settings=Settings(horizon=10.0))
    return list(raised.value.diagnostics)


def test_a_mistake_in_a_body_names_the_calls() -> None:
    (found,) = refused("def f(x) { x + nope }", "set z = f(n);\n run s (cost(s, f(n)));")
    assert found.code == "SQ301"
    assert found.place.span is not None
    assert found.place.span.line == 1
    assert found.note == "in `f`, used at line 3, line 4"


def test_many_calls_are_not_all_named() -> None:
    (found,) = refused("def f(x) { x + nope }", "\n".join(["set z = f(n);"] * 6) + " run s (cost(s, z));")
    assert found.note == "in `f`, used at line 3, line 4, line 5 and elsewhere"


def test_a_mistake_in_an_argument_is_at_the_call() -> None:
    (found,) = refused("def f(x) { x + 1 }", "run s (cost(s, f(nope)));")
    assert found.place.span is not None
    assert found.place.span.line == 3
    assert found.note is None


@pytest.mark.parametrize("calls", [6, 40, 150])
def test_definitions_that_nest_too_deeply(calls: int) -> None:
    found = refused(f"def f(x) {{ x{DEEP} }}", f"run s (cost(s, {'f(' * calls}n{')' * calls}));")
    assert {d.code for d in found} == {"SQ008"}


def test_a_deep_chain_of_definitions() -> None:
    head = f"def f(x) {{ x{DEEP} }} def g(x) {{ {'f(' * 8}x{')' * 8} }} def h(x) {{ {'g(' * 5}x{')' * 5} }}"
    (found,) = refused(head, "run s (cost(s, h(h(n))));")
    assert found.code == "SQ008"
