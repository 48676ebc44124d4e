"""Inputs, replaced definitions, settings and instances (api.md §7.2, §9)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from serq.diagnostics import SerqError
from serq.ir import program as pr
from serq.ir import statements as st
from serq.lang.compile import Compiled, compile_text
from serq.lang.parser import parse_instance
from serq.lang.settings import Settings, apply_instance

SETTINGS = Settings(horizon=10.0)


def _program(declarations: str, value: str = "N") -> str:
    return f"""use "std/args";
fn main() {{
  {declarations}
  workload {{ arrive batch(1); }}
  server {{ set z = {value}; }}
}}
"""


def _compile(
    declarations: str,
    value: str = "N",
    *,
    inputs: Mapping[str, str | float] | None = None,
    defs: Mapping[str, str] | None = None,
) -> Compiled:
    return compile_text(_program(declarations, value), settings=SETTINGS, inputs=inputs, defs=defs)


def _value(made: Compiled) -> float:
    statement = made.program.blocks[2][1]
    assert isinstance(statement, st.Set)
    value = statement.value
    return value.value  # type: ignore[attr-defined,no-any-return]


def _codes(
    declarations: str,
    *,
    inputs: Mapping[str, str | float] | None = None,
    defs: Mapping[str, str] | None = None,
) -> list[str]:
    with pytest.raises(SerqError) as refused:
        _compile(declarations, inputs=inputs, defs=defs)
    return [d.code for d in refused.value.diagnostics]


DECLARED = 'let K = 4; let N = args.number("ext", K + 1);'


@pytest.mark.parametrize(
    ("supplied", "value"),
    [
        ({}, 5.0),
        ({"ext": 7}, 7.0),
        ({"ext": "2 * 3"}, 6.0),
        ({"ext": "K * 2"}, 8.0),
        ({"ext": "inf"}, math.inf),
    ],
)
def test_an_input_is_its_default_or_what_is_supplied(supplied: dict[str, str | float], value: float) -> None:
    assert _value(_compile(DECLARED, inputs=supplied)) == value


def test_a_later_let_reads_the_supplied_value() -> None:
    assert _value(_compile(DECLARED + " let M = N * 10;", "M", inputs={"ext": 2})) == 20.0


@pytest.mark.parametrize(
    ("supplied", "code"),
    [
        ({"nope": 1}, "SQ253"),
        ({"N": 1}, "SQ253"),
        ({"ext": "1 +"}, "SQ254"),
        ({"ext": ""}, "SQ254"),
        ({"ext": "nope"}, "SQ321"),
        ({"ext": "~exp(1)"}, "SQ321"),
        ({"ext": "0 / 0"}, "SQ322"),
        ({"ext": math.nan}, "SQ322"),
    ],
)
def test_a_value_that_is_refused(supplied: dict[str, str | float], code: str) -> None:
    assert _codes(DECLARED, inputs=supplied) == [code]


def test_a_supplied_value_is_shown_where_it_was_given() -> None:
    with pytest.raises(SerqError) as refused:
        _compile(DECLARED, inputs={"ext": "2 * nope"})
    (found,) = refused.value.diagnostics
    assert found.place.file == "--set ext"
    assert found.place.span is not None and found.place.span.column == 5


@pytest.mark.parametrize(
    "declarations",
    [
        'let N = args.number("ext", 2); pool p[N] { }',
        'let N = args.number("ext", 2); let M = N + 1; pool p[M] { }',
        'let N = args.number("ext", 2); queue q[N] { serve fifo; }',
    ],
)
def test_an_input_may_not_change_an_array_size(declarations: str) -> None:
    assert _codes(declarations, inputs={"ext": 3}) == ["SQ257"]
    assert _value(_compile(declarations, inputs={"ext": 2})) == 2.0


def test_an_input_may_change_what_is_not_an_array() -> None:
    made = _compile(
        'let N = args.number("ext", 2); stage s : fifo(N); gauge g = sum j in N (j);', inputs={"ext": 3}
    )
    assert made.program.stages[0].kind == pr.Fifo(servers=3)


def test_a_definition_takes_the_body_supplied_for_it() -> None:
    declared = "def g(x) { 2 * x } def f(x) { x + 1 } let N = f(2);"
    assert _value(_compile(declared)) == 3.0
    assert _value(_compile(declared, defs={"f": "x * 10"})) == 20.0
    assert _value(_compile(declared, defs={"f": "g(x)"})) == 4.0


@pytest.mark.parametrize(
    ("defs", "code"),
    [
        ({"nope": "1"}, "SQ255"),
        ({"f": "x +"}, "SQ254"),
        ({"f": "y * 10"}, "SQ321"),
        ({"h": "1"}, "SQ256"),
        ({"f": "late(x)"}, "SQ240"),
    ],
)
def test_a_body_that_is_refused(defs: dict[str, str], code: str) -> None:
    declared = "def f(x) { x + 1 } def late(x) { x } def h(x) { set y = x; } let N = f(2);"
    assert code in _codes(declared, defs=defs)


def test_a_run_needs_a_horizon() -> None:
    with pytest.raises(SerqError) as refused:
        compile_text(_program("let N = 1;"), settings=Settings())
    assert [d.code for d in refused.value.diagnostics] == ["SQ270"]


@pytest.mark.parametrize(
    "settings",
    [
        Settings(horizon=math.inf),
        Settings(horizon=0.0),
        Settings(horizon=10.0, warmup=10.0),
        Settings(horizon=10.0, arrivals=0),
        Settings(horizon=10.0, arrivals=5),
    ],
)
def test_settings_that_make_no_run(settings: Settings) -> None:
    with pytest.raises(SerqError):
        compile_text(_program("let N = 1;"), settings=settings)


def test_an_instance_lies_over_what_was_given_before() -> None:
    text = "let rate = 2 * K;\nlet servers = 3;\nrun { horizon 50; seed 7; arrivals 9; }\n"
    instance = parse_instance(text)
    settings, inputs = apply_instance(
        Settings(horizon=10.0, warmup=2.0), {"rate": 1.0, "size": 4.0}, instance, text
    )
    assert settings == Settings(horizon=50.0, warmup=2.0, seed=7, arrivals=9)
    assert inputs == {"rate": "2 * K", "servers": 3.0, "size": 4.0}


@pytest.mark.parametrize("setting", ["seed 1.5", "arrivals 2.5", "seed 1e999"])
def test_a_setting_that_is_not_whole(setting: str) -> None:
    text = f"run {{ {setting}; }}\n"
    with pytest.raises(SerqError) as refused:
        apply_instance(SETTINGS, {}, parse_instance(text, "case.sq"), text)
    (found,) = refused.value.diagnostics
    assert (found.code, found.place.file) == ("SQ271", "case.sq")


def test_a_trace_overrides_the_programs() -> None:
    text = _program("let N = 1;").replace("arrive batch(1);", 'arrive poisson(1); trace "a.csv" ordered;')
    assert compile_text(text, settings=SETTINGS).program.trace == "a.csv"
    assert compile_text(text, settings=Settings(horizon=10.0, trace="b.csv")).program.trace == "b.csv"
