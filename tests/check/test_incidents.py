"""The gallery of public reports: the checker and a run both say what the manifest says, and the repair is safe."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping

import pytest

from serq.check import RULES, CheckReport, Finding, Verdict
from serq.ir.edit import with_sessions
from tools.incidents import FOLDER, SAFETY, VERDICTS, Incident, Shown, incidents, shown, told

GALLERY = {one.name: one for one in incidents()}
EACH = pytest.mark.parametrize("name", GALLERY)
UNSAFE = pytest.mark.parametrize("name", [n for n, one in GALLERY.items() if one.data["verdict"] != "safe"])
SAFE = pytest.mark.parametrize("name", [n for n, one in GALLERY.items() if one.data["verdict"] == "safe"])
RANGED = pytest.mark.parametrize("name", [n for n, one in GALLERY.items() if "ranges" in one.data])
LENGTHS = pytest.mark.parametrize(
    "name", [n for n, one in GALLERY.items() if one.data["program"] == "lengths.sq"]
)
COMPARE = {"==": operator.eq, "<": operator.lt, ">": operator.gt}
Expected = Mapping[str, tuple[str, object]]


def holds(expected: Expected, found: Shown, before: Shown) -> bool:
    """Whether a run cost what a manifest expects; `before` stands for the run without the repair."""
    return all(
        COMPARE[how](getattr(found, what), getattr(before, what) if value == "before" else value)
        for what, (how, value) in expected.items()
    )


# The manifests


@EACH
def test_the_manifest_is_whole(name: str) -> None:
    data = GALLERY[name].data
    assert data["verdict"] in VERDICTS
    assert data["link"].startswith("https://github.com/")
    assert data["report"].split("#")[1].split(",")[0].split("'")[0] in data["link"]
    assert (
        data["gist"] and data["numbers"] and all(isinstance(x, int | float) for x in data["numbers"].values())
    )
    assert (FOLDER / data["program"]).exists()
    assert data["repairs"] and all(r["words"] and r["inputs"] and r["almost"] for r in data["repairs"])
    if data["verdict"] == "safe":
        assert data["rule"] is None and data["expect"] and all(r["expect"] for r in data["repairs"])
    else:
        assert data["rule"] in SAFETY and data["rule"] in {r.name for r in RULES}
        assert data["witness"].get("sessions") or data["witness"].get("values")


def test_the_gallery_has_every_kind() -> None:
    assert {one.data["verdict"] for one in GALLERY.values()} == set(VERDICTS)


def test_every_program_has_a_manifest() -> None:
    assert {p.name for p in FOLDER.glob("*.sq")} == {one.data["program"] for one in GALLERY.values()}


@LENGTHS
def test_the_numbers_are_those_of_the_program(name: str) -> None:
    one = GALLERY[name]
    inputs, numbers = one.data["inputs"], one.data["numbers"]
    usable = inputs["num_blocks"] - 1
    derived = {
        "num_gpu_blocks": inputs["num_blocks"],
        "usable_blocks": usable,
        "usable_tokens": 16 * usable,
        "kv_tokens": 16 * usable,
        "max_model_len": inputs["max_len"],
        "max_num_batched_tokens": inputs.get("budget", 8192),
        "blocks_needed": math.ceil(numbers.get("prompt", 0) / 16),
        "first_round_blocks": 10 * math.ceil((6 + 50) / 16),
    }
    common = numbers.keys() & derived.keys()
    assert common and all(numbers[k] == derived[k] for k in common)
    if "prompt" in numbers:
        assert any(s["prompt"] == numbers["prompt"] for s in one.sessions or ())


# What is reported


@EACH
def test_the_checker_says_what_the_manifest_says(name: str) -> None:
    one = GALLERY[name]
    assert told(one.checked(), one.data["rule"]) == one.data["verdict"]


@EACH
def test_a_run_shows_it(name: str) -> None:
    one = GALLERY[name]
    found = one.shown()
    assert found.verdict == one.data["verdict"]
    assert holds(one.data.get("expect", {}), found, found)


@UNSAFE
def test_the_witness_of_the_manifest_is_one(name: str) -> None:
    one = GALLERY[name]
    if one.sessions is None:
        values = one.data["witness"]["values"]
        assert any(values.items() <= left.items() for left in one.shown().waiting)
    else:
        assert told(one.checked_witness(), one.data["rule"]) == one.data["verdict"]


@RANGED
def test_the_witness_of_the_checker_shows_it_too(name: str) -> None:
    one = GALLERY[name]
    if one.data["rule"] is None:
        return
    for finding in one.refuted:
        values = {k: x for k, x in finding.witness if k in one.data["ranges"]}
        assert values and one.shown(sessions=[values]).verdict == one.data["verdict"]


@pytest.mark.parametrize("name", [n for n, one in GALLERY.items() if "also" in one.data])
def test_what_is_said_beside_it(name: str) -> None:
    one = GALLERY[name]
    also = one.data["also"]
    assert one.shown(also.get("inputs"), also.get("sessions")).verdict == also["verdict"]


# The repairs


@EACH
def test_every_repair_is_proved_safe_and_runs(name: str) -> None:
    one = GALLERY[name]
    before = one.shown()
    for repair in one.repairs:
        report = one.checked(repair["inputs"])
        unsafe = [f.sentence() for f in report.findings if f.verdict is not Verdict.PROVED]
        assert report.findings and not unsafe, unsafe
        found = one.shown(repair["inputs"])
        assert found.verdict == "safe"
        assert holds(repair.get("expect", {}), found, before)


@UNSAFE
def test_a_smaller_repair_is_refuted(name: str) -> None:
    one = GALLERY[name]
    for repair in one.repairs:
        assert _one_less(repair["inputs"], repair["almost"])
        report = one.checked(repair["almost"])
        refuted = [f for f in report.findings if f.verdict is Verdict.REFUTED]
        assert refuted
        if "ranges" in one.data:
            values = {k: x for k, x in refuted[0].witness if k in one.data["ranges"]}
            assert one.shown(repair["almost"], [values]).verdict != "safe"


@SAFE
def test_a_smaller_repair_costs_more(name: str) -> None:
    one = GALLERY[name]
    before = one.shown()
    for repair in one.repairs:
        assert _one_less(repair["inputs"], repair["almost"])
        found = one.shown(repair["almost"])
        assert not holds(repair["expect"], found, before)


def _one_less(inputs: Mapping[str, float], almost: Mapping[str, float]) -> bool:
    """Whether two repairs differ by one, or by less, in each input."""
    return inputs.keys() == almost.keys() and all(0 < abs(inputs[k] - almost[k]) <= 1 for k in inputs)


def test_a_short_request_waits_for_the_steps_of_a_long_prefill() -> None:
    one = GALLERY["long_context"]
    for budget, waits in one.data["steps"].items():
        for prompt, steps in waits.items():
            long, short = {"prompt": float(prompt), "out": 1.0}, {"prompt": 20.0, "out": 1.0}
            assert steps == math.ceil(float(prompt) / float(budget))
            assert one.shown({"budget": float(budget)}, [long, short]).first_end == steps
    numbers = one.data["numbers"]
    assert one.data["steps"]["8192"] == {"100000": numbers["steps_least"], "180000": numbers["steps_most"]}


# The comparison notices a manifest that is wrong


@pytest.mark.parametrize(
    ("name", "inputs", "says"),
    [("usable_blocks", {"num_blocks": 129}, "safe"), ("first_chunk_only", {"full": 1}, "deadlock")],
)
def test_other_inputs_come_to_something_else(name: str, inputs: Mapping[str, float], says: str) -> None:
    one = GALLERY[name]
    assert told(one.checked(inputs)) == says != one.data["verdict"]
    assert one.shown(inputs).verdict == says


def test_an_open_question_is_not_safe() -> None:
    findings = [Finding("starvation", "SQ868", (), v) for v in (Verdict.PROVED, Verdict.UNKNOWN)]
    assert told(CheckReport(tuple(findings[:1]), ("starvation",))) == "safe"
    assert told(CheckReport(tuple(findings), ("starvation",))) == "unknown"


def test_a_run_cut_short_is_not_a_hang() -> None:
    one: Incident = GALLERY["two_long_prompts"]
    assert shown(with_sessions(one.program(), [{"prompt": 9.0, "out": 2.0}])).verdict == "safe"
