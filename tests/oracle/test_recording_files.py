"""The committed scenarios and recordings: of their schema, canonical, coherent, and showing what they are for."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import serq.oracle
from serq.diagnostics import Severity
from serq.oracle.recording.files import (
    SCENARIO_SUFFIX,
    TRACE_SUFFIX,
    read_scenario,
    read_trace,
    scenario_name,
    scenario_text,
)
from serq.oracle.recording.random_scenarios import CLASSES, draw, shows
from serq.oracle.recording.record import Difference, differences
from serq.oracle.recording.rules import REQUEST_KEYS, SCENARIO_KEYS

ORACLE = Path(serq.oracle.__file__).resolve().parent
SCENARIOS = sorted((ORACLE / "scenarios").glob(f"*{SCENARIO_SUFFIX}"))
TRACES = sorted((ORACLE / "recorded").glob(f"*/*{TRACE_SUFFIX}"))
VERSIONS = ("0.31.0", "0.33.0")
SIZE_LIMIT = 5_000_000

Trace = dict[str, Any]


@cache
def trace(version: str, name: str) -> Trace:
    return read_trace(ORACLE / "recorded" / version / f"{name}{TRACE_SUFFIX}")


def names(version: str) -> list[str]:
    return [p.name.removesuffix(TRACE_SUFFIX) for p in TRACES if p.parent.name == version]


def schema(kind: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((ORACLE / "schema" / f"{kind}-1.schema.json").read_text())
    return data


def validator(kind: str) -> jsonschema_rs.Draft202012Validator:
    known = jsonschema_rs.Registry([(s["$id"], s) for s in (schema("scenario"), schema("trace"))])
    return jsonschema_rs.Draft202012Validator(schema(kind), registry=known)


def test_there_are_enough() -> None:
    assert len(SCENARIOS) >= 100
    for version in VERSIONS:
        assert names(version) == [scenario_name(p) for p in SCENARIOS]


def test_the_recordings_are_small() -> None:
    assert sum(p.stat().st_size for p in TRACES) < SIZE_LIMIT


def test_every_scenario_is_of_its_schema_and_canonical() -> None:
    valid = validator("scenario")
    for path in SCENARIOS:
        data, found = read_scenario(path)
        assert [d for d in found if d.severity is Severity.ERROR] == []
        assert [e.message for e in valid.iter_errors(data)] == [], path.name
        assert path.read_text() == scenario_text(data), path.name
        assert data["class"] and data["about"].endswith("."), path.name


def test_every_trace_is_of_its_schema() -> None:
    valid = validator("trace")
    for path in TRACES:
        data = read_trace(path)
        assert [e.message for e in valid.iter_errors(data)] == [], path
        assert data["vllm"] == path.parent.name


@pytest.mark.parametrize("spoil", ["unknown", "missing", "negative"])
def test_the_schema_refuses_a_spoiled_trace(spoil: str) -> None:
    data = json.loads(json.dumps(trace("0.33.0", "01_published")))
    if spoil == "unknown":
        data["steps"][3]["extra"] = 1
    elif spoil == "missing":
        del data["in_force"]["chunk"]
    else:
        data["scenario"]["requests"][0]["prompt"] = -1
    assert not validator("trace").is_valid(data)


def test_schema_and_rules_know_the_same_keys() -> None:
    scenario = schema("scenario")
    assert scenario["properties"].keys() == SCENARIO_KEYS.keys()
    assert scenario["required"] == [k for k, v in SCENARIO_KEYS.items() if v.required]
    request = scenario["properties"]["requests"]["items"]
    assert request["properties"].keys() == REQUEST_KEYS.keys()
    assert request["required"] == [k for k, v in REQUEST_KEYS.items() if v.required]


def test_traces_are_packed_the_same_each_time() -> None:
    for path in TRACES:
        header = path.read_bytes()[:10]
        # No file name, and time 0.
        assert header[3:8] == b"\0\0\0\0\0"


def test_a_trace_has_the_scenario_of_its_file() -> None:
    scenarios = {scenario_name(p): read_scenario(p)[0] for p in SCENARIOS}
    for path in TRACES:
        data = read_trace(path)
        assert data["scenario"] == scenarios[path.name.removesuffix(TRACE_SUFFIX)]
        for key in ("budget", "max_seqs"):
            assert data["in_force"][key] == data["scenario"][key]
        assert data["in_force"]["usable_blocks"] == data["scenario"]["num_blocks"] - 1


def incoherent(data: Trace) -> list[str]:
    """What in a trace contradicts itself or what the scheduler promises."""
    forced, rows, found = data["in_force"], data["scenario"]["requests"], []
    tokens: Counter[int] = Counter()
    for number, s in enumerate(data["steps"]):
        held = {b for ids in s["block_ids"].values() for b in ids}
        loads = {i: r["load"][0] for i, r in enumerate(rows) if "load" in r}
        here = set(s["running"]) | set(s["waiting"])
        # A load that ends with this step has written until then.
        loading = set(data["steps"][max(0, number - 1)].get("loading", ()))
        checks = {
            "number": s["step"] == number,
            "total": s["total"] == sum(n for _, n in s["sched"]) <= forced["budget"],
            "places": len(s["running"]) <= forced["max_seqs"],
            "who runs": {i for i, _ in s["sched"]} <= set(s["running"]),
            "no admission beside a preemption": not (s["preempted"] and (s["new"] or s["resumed"])),
            "memory": len(held) + s["free"] + s.get("pending", 0) == forced["usable_blocks"],
            "no block twice": len(held) == sum(len(ids) for ids in s["block_ids"].values())
            or forced["prefix_caching"],
            "who holds": {int(k) for k in s["blocks"]} - here <= loading,
            "blocks": {k: len(v) for k, v in s["block_ids"].items()} == s["blocks"],
            "room": all(n * forced["block_size"] >= s["computed"][k] for k, n in s["blocks"].items()),
            "hits": all(int(k) in loads or h % forced["block_size"] == 0 for k, h in s["hit"].items()),
            "hits need a cache": forced["prefix_caching"]
            or all(h in (0, loads.get(int(k))) for k, h in s["hit"].items()),
            "who is hit": set(map(int, s["hit"])) == {*s["new"], *s["resumed"]},
            "victims": len(s["preempted"]) == len(s["preempted_for"]) == len(s["preempted_computed"]),
            "who is left": set(s["running_end"]) == set(s["running"]) - set(s["finished"]),
            "who came": all(rows[i].get("arrive", 0) <= number for i in s["added"]),
        }
        found += [f"step {number}: {name}" for name, holds in checks.items() if not holds]
        tokens.update(s["sampled"])
    if any(tokens[int(i)] != rows[int(i)]["out"] for i in data["summary"]["done"]):
        found.append("answers")
    return found


@pytest.mark.parametrize("version", ["0.30.0", *VERSIONS])
def test_every_trace_is_coherent(version: str) -> None:
    for name in names(version):
        assert incoherent(trace(version, name)) == [], name


def test_an_incoherent_trace_is_found() -> None:
    data = json.loads(json.dumps(trace("0.33.0", "03_preempt_decode")))
    data["steps"][5]["free"] += 1
    data["steps"][7]["sched"].pop()
    assert incoherent(data) == ["step 5: memory", "step 7: total"]


@pytest.mark.parametrize("version", ["0.30.0", *VERSIONS])
def test_the_published_answers_are_recorded(version: str) -> None:
    """Published steps count from 1, and the one empty step after the last finish is among them."""
    published = {"01_published": "alone", "36_published_serve": "serve/admission"}
    for number, name in enumerate(("chunked", "hol", "longchunk", "mixed", "preempt", "seqcap")):
        published[f"3{number}_published_{name}"] = name
    for ours, theirs in published.items():
        summary = trace(version, ours)["summary"]
        expected = json.loads((ORACLE / "published" / f"{theirs}.out.json").read_text())
        for key in ("first", "done"):
            assert {i: step + 1 for i, step in summary[key].items()} == expected[key], (version, ours)
        # 0.30.0 cuts a request alone at the threshold, which spares `alone` a preemption and changes no time.
        spared = (version, theirs) == ("0.30.0", "alone")
        assert summary["preemptions"] == expected["preemptions"] - spared
        assert summary["steps_with_flush"] == expected["steps"]


@pytest.mark.parametrize("version", ["0.30.0", *VERSIONS])
def test_the_published_cache_replay_is_recorded(version: str) -> None:
    data = trace(version, "37_published_cache_trace")
    lines = (ORACLE / "published" / "cache_trace.out.csv").read_text().split()
    keys = lines[0].split(",")
    rows = [dict(zip(keys, map(float, line.split(",")), strict=True)) for line in lines[1:]]
    rows.sort(key=lambda r: (r["sent"], r["turn"], r["session"]))
    hits = {int(i): hit for s in data["steps"] for i, hit in s["hit"].items()}
    summary = data["summary"]
    for index, row in enumerate(rows):
        found = (summary["first"][str(index)] + 1, summary["done"][str(index)] + 1, hits[index])
        assert found == (row["first"], row["done"], row["cached"]), index


def test_random_scenarios_are_the_drawn_ones_and_show_their_class() -> None:
    seen: Counter[str] = Counter()
    for name in names("0.33.0"):
        found = re.fullmatch(r"random_(\w+)_(\d+)", name)
        if found is None:
            continue
        kind, data = found[1], trace("0.33.0", name)
        seen[kind] += 1
        drawn = draw(kind, int(found[2]))
        for row, recorded in zip(drawn["requests"], data["scenario"]["requests"], strict=True):
            if "after" in row:
                other, pause = row.pop("after")
                row["arrive"] = data["summary"]["done"][str(other)] + 1 + pause
            assert row == recorded
        assert {**drawn, "requests": []} == {**data["scenario"], "requests": []}
        assert shows(kind, data), name
    assert seen == dict.fromkeys(CLASSES, 2)


def self_preempting(data: Trace) -> list[int]:
    """The steps in which a request preempted itself."""
    return [
        s["step"]
        for s in data["steps"]
        if any(a == b for a, b in zip(s["preempted"], s["preempted_for"], strict=True))
    ]


def hits(data: Trace) -> dict[int, int]:
    return {int(i): hit for s in data["steps"] for i, hit in s["hit"].items()}


def recorded(name: str) -> Trace:
    return trace("0.33.0", name)


def scheduled(name: str) -> int:
    """The tokens of all steps: what is computed, again and again where it is thrown away."""
    return sum(s["total"] for s in recorded(name)["steps"])


def test_requests_over_the_memory_hang_and_one_block_more_repairs_it() -> None:
    for name in ("40_incident_low_override", "41_incident_null_block", "43_incident_over_memory"):
        summary = recorded(name)["summary"]
        assert summary["stuck"] and summary["oversize"], name
        # Everybody behind the first that never fits waits with it.
        assert summary["unfinished"][0] == summary["oversize"][0]
    assert recorded("40_incident_low_override")["summary"]["unfinished"] == [10, 11]
    assert recorded("42_incident_null_block_repaired")["summary"]["ended"] == "done"
    assert recorded("45_incident_one_block")["summary"]["done"] == {}
    assert recorded("70_exact_memory")["summary"]["ended"] == "done"
    assert recorded("71_over_memory_by_one")["summary"]["stuck"]


def test_without_the_full_sequence_check_work_is_thrown_away_and_no_step_is_won() -> None:
    livelock = recorded("44_incident_over_memory_no_full_isl")["summary"]
    assert livelock["ended"] == "limit" and livelock["preemptions"] > 20
    pairs = {"46_incident_thrash_no": "47_incident_thrash", "48_incident_two_long_no": "49_incident_two_long"}
    for thrash, calm in pairs.items():
        without, with_check = (recorded(f"{name}_full_isl")["summary"] for name in (thrash, calm))
        assert without["preemptions"] > 15 and with_check["preemptions"] == 0
        assert without["done"] == with_check["done"]
        assert scheduled(f"{thrash}_full_isl") > 1.3 * scheduled(f"{calm}_full_isl")


def test_priority_is_the_order_of_the_line_and_nothing_else() -> None:
    summary = recorded("50_incident_priority_inversion")["summary"]
    assert summary["first"]["3"] == min(summary["done"].values()) + 1
    assert (
        summary["preemptions"] == recorded("51_incident_priority_no_pressure")["summary"]["preemptions"] == 0
    )


def test_a_threshold_lets_a_short_prompt_start_beside_a_long_one() -> None:
    assert recorded("52_incident_short_behind_long")["summary"]["first"]["1"] == 10
    assert recorded("53_incident_short_behind_long_threshold")["summary"]["first"]["1"] == 1


def test_the_oldest_is_never_preempted() -> None:
    steps = recorded("54_incident_oldest_progresses")["steps"]
    victims = {i for s in steps for i in s["preempted"]}
    assert victims and 0 not in victims
    running = max(len(s["running"]) for s in recorded("55_incident_concurrency_is_no_cap")["steps"])
    # 33 usable blocks hold two requests at full length; eight run.
    assert running == 8


def test_named_scenarios_show_what_they_say() -> None:
    assert len(self_preempting(recorded("56_self_preempt_again"))) == 3
    assert max(len(s["preempted"]) for s in recorded("57_preempt_cascade")["steps"]) == 3
    (two,) = (s for s in recorded("60_preempt_order_of_return")["steps"] if len(s["preempted"]) == 2)
    assert (two["preempted"], two["waiting"]) == ([6, 5], [5, 6])
    # A full hit computes the last block again; one token more keeps it.
    assert hits(recorded("78_prefix_full_hit")) == {0: 0, 1: 48, 2: 64, 3: 64, 4: 80, 5: 64}
    assert hits(recorded("81_prefix_hit_held_from_eviction"))[3] == 16
    assert set(hits(recorded("83_prefix_no_caching")).values()) == {0}
    resumed = [s for s in recorded("82_prefix_resume_partly")["steps"] if s["resumed"]]
    assert resumed[0]["hit"] == {"1": 80, "2": 0}
    # 12 blocks are free and 2 new ones needed; the 7 of the hit and the 4 kept free are too many.
    (late,) = (s for s in recorded("96_watermark_prefix")["steps"] if 2 in s["new"])
    assert late["step"] == recorded("96_watermark_prefix")["summary"]["done"]["1"] + 1
    alone = recorded("94_watermark_first_is_exempt")
    assert [s["step"] for s in alone["steps"] if s["new"]] == [0, 20, alone["summary"]["done"]["1"] + 1]


def test_blocks_that_are_not_full_are_taken_first() -> None:
    """Ten blocks are asked for: five never used, three that are not full, and of the cached ones only two."""
    steps = recorded("80_prefix_eviction_order")["steps"]
    oldest = steps[0]["block_ids"]["0"]
    (asked,) = (s for s in steps if 3 in s["new"])
    last = max((s for s in steps if "3" in s["block_ids"]), key=lambda s: len(s["block_ids"]["3"]))
    assert asked["step"] == 30
    assert len(set(last["block_ids"]["3"]) & set(oldest)) == 2
    assert hits(recorded("80_prefix_eviction_order"))[4] == 32


def test_a_served_victim_leaves_blocks_that_were_never_computed() -> None:
    """The priority policy takes a request out of a step that had served it; its chunk is in the cache all the same."""
    steps = trace("0.33.0", "93_priority_prefix")["steps"]
    (taken,) = (s for s in steps if s["preempted"])
    (back,) = (s for s in steps if s["resumed"])
    assert taken["preempted_computed"] == [160]
    assert back["hit"] == {"0": 176}


def between(old: str, new: str) -> list[Difference]:
    common = [name for name in names(old) if name in names(new)]
    return differences((name, trace(old, name), trace(new, name)) for name in common)


def loads(name: str) -> bool:
    return any("load" in row for row in recorded(name)["scenario"]["requests"])


def test_until_0_30_who_holds_blocks_can_wait_behind_who_does_not() -> None:
    """Only under the priority policy: there the better head is tried first, whoever holds what."""
    found = [d for d in between("0.30.0", "0.31.0") if loads(d.name)]
    assert [d.name for d in found] == ["101_incident_loads_priority", "102_incident_loads_later_head"]
    for difference in found:
        older, newer = (trace(v, difference.name) for v in ("0.30.0", "0.31.0"))
        assert older["summary"]["stuck"] and newer["summary"]["ended"] == "done"
        assert not older["summary"]["oversize"]


def test_the_threshold_of_a_request_alone_came_after_0_30() -> None:
    found = [d for d in between("0.30.0", "0.31.0") if not loads(d.name)]
    assert len(found) >= 10
    for difference in found:
        before, after = (trace(v, difference.name)["steps"][difference.step] for v in ("0.30.0", "0.31.0"))
        chunk = trace("0.30.0", difference.name)["in_force"]["chunk"]
        ((alone, short),), ((same, whole),) = before["sched"], after["sched"]
        assert alone == same and not before["waiting"] and not after["waiting"]
        assert short == chunk < whole, difference.name


def test_a_self_preemption_ends_a_priority_step_before_0_33() -> None:
    found = between("0.31.0", "0.33.0")
    assert [d.name for d in found] == ["12_priority", "92_priority_self_preempt_others_after"]
    for difference in found:
        before, after = (trace(v, difference.name)["steps"][difference.step] for v in ("0.31.0", "0.33.0"))
        assert before["preempted"] == before["preempted_for"] == after["preempted"]
        assert before["sched"] == after["sched"][: len(before["sched"])]
        assert len(after["sched"]) > len(before["sched"])
