"""Drift: what differs between the facts of two versions, and between an installed one and the recorded ones."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from serq.oracle.recording.drift import RELIED, Drift, changes, compare_facts

SCHEDULE = "vllm.v1.core.sched.scheduler:Scheduler.schedule"
SETTINGS = "vllm.config:SchedulerConfig"


def facts(version: str = "0.33.0") -> dict[str, Any]:
    data: dict[str, Any] = json.loads((RELIED / f"{version}.json").read_text())
    return data


def test_each_recorded_version_has_its_facts() -> None:
    recorded = {p.name for p in (RELIED.parents[1] / "recorded").iterdir() if p.is_dir()}
    assert recorded == {p.stem for p in RELIED.glob("*.json")}
    for version in recorded:
        found = facts(version)
        assert found["vllm"] == version
        assert not [
            n
            for part in ("parameters", "settings", "bodies")
            for n, f in found[part].items()
            if "missing" in f
        ]


@pytest.mark.parametrize("version", ["0.30.0", "0.31.0", "0.33.0"])
def test_a_recorded_version_has_not_drifted_from_itself(version: str) -> None:
    assert changes(facts(version)) == []


def test_planted_changes_are_found() -> None:
    now = copy.deepcopy(facts())
    now["bodies"][SCHEDULE] = "0" * 16
    now["settings"][SETTINGS]["scheduler_reserve_full_isl"] = "False"
    now["settings"][SETTINGS]["watermark_extra"] = "0.1"
    del now["settings"][SETTINGS]["watermark"]
    now["parameters"][SCHEDULE]["budget"] = "required"
    now["parameters"]["vllm.v1.request:Request"] = {"missing": "ImportError: no Request"}
    assert [d.text for d in changes(now)] == [
        f"{SCHEDULE}.budget is new (required)",
        "vllm.v1.request:Request is not there: ImportError: no Request",
        f"{SETTINGS}.scheduler_reserve_full_isl was True and is False",
        f"{SETTINGS}.watermark is gone (it was 0.0)",
        f"{SETTINGS}.watermark_extra is new (0.1)",
        f"{SCHEDULE} has another text: what it decides may differ",
    ]


@pytest.mark.parametrize(
    ("version", "nearest"),
    [("0.34.1", "0.33.0"), ("0.32.0", "0.31.0"), ("0.9.2", "0.30.0"), ("0.33.1.dev5+g1", "0.33.0")],
)
def test_another_version_is_compared_with_the_nearest(version: str, nearest: str) -> None:
    found = changes({**facts(nearest), "vllm": version})
    assert found == [Drift("version", "vllm", nearest, version)]
    assert version in found[0].text and nearest in found[0].text


def test_a_missing_body_is_told() -> None:
    now = copy.deepcopy(facts())
    now["bodies"][SCHEDULE] = {"missing": "AttributeError: schedule"}
    assert [d.kind for d in compare_facts(facts(), now)] == ["missing"]


def test_what_is_known_to_differ_between_the_recorded_versions() -> None:
    names = {d.name for d in compare_facts(facts("0.30.0"), facts("0.31.0"))}
    assert {SCHEDULE, f"{SETTINGS}.long_prefill_token_threshold_adaptive"} <= names
    assert SCHEDULE in {d.name for d in compare_facts(facts("0.31.0"), facts("0.33.0"))}


def test_the_recorded_facts_name_no_place_on_a_disk() -> None:
    for path in sorted(Path(RELIED).glob("*.json")):
        assert '"/' not in path.read_text()
