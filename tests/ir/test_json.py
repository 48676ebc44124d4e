"""JSON in and out: exact round trips, and every mistake in a document's shape with its path."""

from __future__ import annotations

import json
from typing import Any

import pytest

from serq.diagnostics import SerqError, format_path
from serq.ir.decode import from_data, loads
from serq.ir.depth import MAX_DEPTH
from serq.ir.encode import dumps, program_data
from tests.conformance import cases

NAMES = sorted(cases())


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_written_value_for_value_and_in_the_reference_order(name: str) -> None:
    data = cases()[name]["ir"]
    written = program_data(from_data(data))
    assert written == data
    assert list(written) == list(data)


@pytest.mark.parametrize("name", ["eng-claims", "share-maxmin", "explicit-sessions", "eng-register-undo"])
def test_canonical_text_reads_back_to_the_same_program(name: str) -> None:
    program = from_data(cases()[name]["ir"])
    again = loads(dumps(program))
    assert again == program
    assert hash(again) == hash(program)
    assert dumps(again) == dumps(program)


def test_programs_are_immutable_and_differ_by_content() -> None:
    program = from_data(cases()["fifo-mm1"]["ir"])
    with pytest.raises(Exception, match="frozen"):
        program.horizon = 3.0  # type: ignore[misc]
    other = program.model_copy(update={"seed": program.seed + 1})
    assert other != program and other.digest != program.digest


def minimal() -> dict[str, Any]:
    return json.loads(json.dumps(cases()["fifo-mm1"]["ir"]))


def refused(data: Any) -> list[tuple[str, str]]:
    with pytest.raises(SerqError) as caught:
        from_data(data, "x.json")
    return [(d.code, format_path(d.place.path)) for d in caught.value.diagnostics]


def test_infinities_are_strings_and_other_strings_are_refused() -> None:
    data = minimal()
    data["pools"] = [
        {"name": "p", "cap": "inf", "block": None, "evict": "Lru", "preempt": "None", "queue": None}
    ]
    assert from_data(data).pools[0].cap == float("inf")
    data["pools"][0]["cap"] = "-inf"
    assert program_data(from_data(data))["pools"][0]["cap"] == "-inf"
    data["pools"][0]["cap"] = "infinity"
    assert refused(data) == [("SQ006", "pools[0].cap")]


@pytest.mark.parametrize("version", [12, 14, "13", None, True, 13.5])
def test_another_version_is_refused(version: Any) -> None:
    data = minimal()
    data["version"] = version
    assert refused(data) == [("SQ003", "")]


def test_every_mistake_is_reported_at_once_with_its_path() -> None:
    data = minimal()
    data["extra"] = 1
    data["stages"][0]["colour"] = "red"
    data["blocks"][1][0] = {"Sett": [9, {"Num": 1}]}
    data["warmup"] = "soon"
    data["seed"] = -1
    data["gauges"] = [{"name": "g"}]
    assert sorted(refused(data)) == [
        ("SQ004", "gauges[0]"),
        ("SQ005", "extra"),
        ("SQ005", "stages[0].colour"),
        ("SQ006", "warmup"),
        ("SQ007", "blocks[1][0]"),
        ("SQ009", "seed"),
    ]


@pytest.mark.parametrize(
    ("expr", "code"),
    [
        ({"Binary": ["Plus", {"Num": 1}, {"Num": 2}]}, "SQ007"),
        ({"Binary": ["Add", {"Num": 1}]}, "SQ006"),
        ({"Ctx": "Nwo"}, "SQ007"),
        ({"Sample": ["Normal", []]}, "SQ007"),
        ({"Call": ["Maximum", []]}, "SQ007"),
        ({"Agg": ["Mean", 0]}, "SQ007"),
        ({"Num": float("nan")}, "SQ009"),
        ({"Num": 10**400}, "SQ009"),
        ({"Num": 1, "Attr": 2}, "SQ006"),
        ([], "SQ006"),
        ("Num", "SQ006"),
        ({"Attr": -1}, "SQ009"),
        ({"Attr": 1.0}, "SQ006"),
        ({"Attr": True}, "SQ006"),
    ],
)
def test_a_bad_expression_is_located(expr: Any, code: str) -> None:
    data = minimal()
    data["blocks"][1][0]["Set"][1] = {"Unary": ["Neg", expr]}
    found = refused(data)
    assert [c for c, _ in found] == [code]
    assert found[0][1].startswith("blocks[1][0].Set[1].Unary[1]")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "SQ002"),
        ("{", "SQ002"),
        ("[1, 2", "SQ002"),
        ("nonsense", "SQ002"),
        ("[]", "SQ006"),
        ("3", "SQ006"),
    ],
)
def test_what_is_not_a_document_is_said_so(text: str, code: str) -> None:
    with pytest.raises(SerqError) as caught:
        loads(text, "x.json")
    assert [d.code for d in caught.value.diagnostics] == [code]


def nested(depth: int) -> dict[str, Any]:
    data = minimal()
    expr: Any = {"Num": 1.0}
    for _ in range(depth):
        expr = {"Binary": ["Add", expr, {"Num": 1.0}]}
    data["blocks"][1][0]["Set"][1] = expr
    return data


def test_deep_expressions_are_read_written_and_limited() -> None:
    program = from_data(nested(4_096))
    assert loads(dumps(program)) == program
    with pytest.raises(SerqError) as caught:
        from_data(nested(2 * MAX_DEPTH))
    assert [d.code for d in caught.value.diagnostics] == ["SQ008"]


def test_hopelessly_deep_text_is_refused() -> None:
    with pytest.raises(SerqError) as caught:
        loads("[" * 200_000)
    assert [d.code for d in caught.value.diagnostics] == ["SQ008"]
