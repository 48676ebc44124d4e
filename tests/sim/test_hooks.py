"""What a run tells its hook, and the trace file made of it."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

from serq.sim import run
from serq.sim.trace_writer import TraceWriter
from tests.conformance import cases, program


def trace(name: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    run(program(name), hook=TraceWriter(out))
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_trace_counts_what_the_report_counts() -> None:
    name = "eng-growing"
    lines, report = trace(name), cases()[name]["report"]
    count = Counter(line["event"] for line in lines)
    assert count["arrival"] == report["arrivals"]
    assert count["iteration"] == sum(s["iterations"] for s in report["stages"])
    assert count["preemption"] == sum(p["preemptions"] for p in report["pools"]) > 0
    # A hold on several pools is one admission, counted by each of its pools.
    assert sum(len(x["pools"]) for x in lines if x["event"] == "admission") == sum(
        p["admissions"] for p in report["pools"]
    )
    evicted = sum(x["units"] for x in lines if x["event"] == "eviction")
    assert evicted == sum(p["evicted_units"] for p in report["pools"]) > 0


def test_an_iteration_line_says_everything_about_it() -> None:
    lines = [x for x in trace("eng-growing") if x["event"] == "iteration"]
    for line in lines:
        assert set(line) == {
            "time",
            "event",
            "engine",
            "duration",
            "batch",
            "admitted",
            "resumed",
            "preempted",
            "waiting",
            "pools",
        }
        for pool in line["pools"]:
            assert set(pool) == {"pool", "allocated", "cached", "free"}
    assert any(x["resumed"] for x in lines) and any(x["preempted"] for x in lines)
    victims = [p for x in lines for p in x["preempted"]]
    assert all(set(v) == {"session", "for"} for v in victims)


def test_times_never_run_back() -> None:
    times = [line["time"] for line in trace("eng-multiturn-cache")]
    assert times == sorted(times)


def test_a_hook_does_not_change_the_run() -> None:
    for name in ("eng-multiturn-cache", "pd-fork-push", "cache-lru"):
        plain = run(program(name)).json()
        assert run(program(name), hook=TraceWriter(io.StringIO())).json() == plain
