"""What the published oracle recorded, and what the example programs give for the same requests."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from serq.cli.load import load
from serq.cli.options import Choices
from serq.ir.edit import with_sessions
from serq.ir.program import Program
from serq.sim import Report, run
from tools.examples import EXAMPLES, ROOT

PUBLISHED = ROOT / "oracle" / "published"
REQUEST = EXAMPLES / "oracle" / "vllm_request.sq"
REPLAY = EXAMPLES / "replay" / "vllm_replay.sq"
_INPUTS = ("budget", "max_seqs", "block_size", "num_blocks", "chunk")
_REPLAYED = ("sent", "first", "done", "cached_tokens")

Row = tuple[float, ...]


def scenarios() -> list[str]:
    """The names of the published scenarios of single requests."""
    return sorted(p.name.removesuffix(".out.json") for p in PUBLISHED.glob("*.out.json"))


def recorded(name: str) -> dict[str, Any]:
    """Recorded: the step of each request's first and last token, and the preemptions."""
    data = json.loads((PUBLISHED / f"{name}.out.json").read_text(encoding="utf-8"))
    return {key: data[key] for key in ("first", "done", "preemptions")}


def simulated(name: str) -> dict[str, Any]:
    """The same of `oracle/vllm_request.sq` with the scenario's numbers and requests."""
    scenario = json.loads((PUBLISHED / f"{name}.json").read_text(encoding="utf-8"))
    report = run(request_program(scenario), detailed=True)
    found: dict[str, Any] = {
        metric.name: {str(s): x for s, x in zip(metric.sessions, metric.samples, strict=True)}
        for metric in report.observes
    }
    return found | {"preemptions": sum(p["preemptions"] for p in report.data["pools"])}


def request_program(scenario: dict[str, Any]) -> Program:
    """`oracle/vllm_request.sq` with a scenario's numbers, and its requests as sessions."""
    inputs = tuple(("set", (name, str(scenario[name]))) for name in _INPUTS if name in scenario)
    program = load(REQUEST, Choices((("horizon", 10_000.0), *inputs))).program
    values = [{"arrive": 0, **request} for request in scenario["requests"]]
    return with_sessions(program, values)


def replayed() -> Iterator[tuple[str, Row, Row]]:
    """For each turn of the replayed trace: its name, what was recorded, and what the replay gives."""
    instance = REPLAY.parent / "instances" / "vllm_replay" / "default.sq"
    program = load(REPLAY, Choices((("instance", instance),))).program
    report = run(program, detailed=True)
    found = _by_turn(report)
    for row in _rows(PUBLISHED / "cache_trace.out.csv"):
        turn = int(row["session"]), int(row["turn"])
        yield (
            f"{turn[0]}:{turn[1]}",
            tuple(float(row[n]) for n in ("sent", "first", "done", "cached")),
            found[turn],
        )


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _by_turn(report: Report) -> dict[tuple[int, int], Row]:
    metrics = {m.name: m for m in report.observes}
    values: dict[tuple[int, int], list[float]] = {}
    for name in _REPLAYED:
        m = metrics[name]
        for session, turn, x in zip(m.sessions, m.turns, m.samples, strict=True):
            values.setdefault((session, int(turn)), []).append(x)
    return {turn: tuple(row) for turn, row in values.items()}
