"""The three benchmark programs against the peer, and compiling a long program."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyserq

from bench.timing import Contender, Result, measure
from serq.ir.decode import loads
from serq.lang.compile import compile_text
from serq.lang.settings import Settings
from serq.sim import run

PROGRAMS = Path(__file__).parent / "programs"
# Shortened so that five rounds of both take a minute; the rates do not depend on the length.
SETTINGS: dict[str, dict[str, Any]] = {
    "mg1_fifo": {"arrivals": 60_000},
    "closed_ps": {"horizon": 6_000.0},
    "engine64": {"horizon": 240.0},
}
# As many as take the peer about as long as one takes us, so that chance weighs the same on both.
PEER_COMPILES = 20
UNITS = {"mg1_fifo": "events", "closed_ps": "events", "engine64": "iterations"}


def _units(name: str, report: dict[str, Any]) -> float:
    if UNITS[name] == "events":
        return float(report["events"])
    return float(sum(s["iterations"] for s in report["stages"]))


def running(name: str) -> Result:
    """One program through both interpreters; their reports must be equal."""
    document = json.loads((PROGRAMS / f"{name}.ir.json").read_text())
    document.update(SETTINGS[name])
    text = json.dumps(document)
    ours, theirs = loads(text), pyserq.Program.from_json(text)
    reports: dict[str, dict[str, Any]] = {}

    def contender(label: str, go: Callable[[], str]) -> Contender:
        def work() -> float:
            reports[label] = json.loads(go())
            return _units(name, reports[label])

        return work

    contenders = {
        "serq": contender("serq", lambda: run(ours).json()),
        "peer": contender("peer", lambda: pyserq.run(theirs).json()),
    }
    result = measure(name, f"{UNITS[name]}/s", contenders, {"peer": 1 / 15})
    for report in reports.values():
        del report["serq_version"]
    if reports["serq"] != reports["peer"]:
        raise SystemExit(f"{name}: the reports differ, so their speeds mean nothing")
    return result


def long_program(lines: int = 2_000) -> str:
    """A program of so many lines: one server that assigns, branches, holds and runs."""
    body = []
    for k in range((lines - 20) // 5):
        body += [
            f"    set x{k} = min(w + {k}, {k + 7}) * 2;",
            f"    branch (x{k} > {k % 13}) {{",
            f"      hold kv (cost(kv, {k % 5 + 1})) {{ run desk (cost(desk, w)); }}",
            "    }",
            f"    observe o{k} = now - x{k} / 3;",
        ]
    head = ["fn main() {", "  pool kv { cap 100; }", "  stage desk : fifo(4);"]
    head += ["  workload {", "    arrive poisson(1);", "    turn { Size w = ~exp(1); }", "  }", "  server {"]
    return "\n".join([*head, *body, "  }", "}"]) + "\n"


def compiling() -> Result:
    """Text to IR of a 2,000-line program."""
    text = long_program()
    settings = Settings(horizon=10.0)

    def ours() -> float:
        compile_text(text, settings=settings)
        return 1.0

    def theirs() -> float:
        for _ in range(PEER_COMPILES):
            pyserq.compile(source=text, horizon=10.0)
        return PEER_COMPILES

    lines = len(text.splitlines())
    return measure(f"compile {lines} lines", "programs/s", {"serq": ours, "peer": theirs}, {"peer": 1 / 30})


def results() -> list[Result]:
    """All comparisons with the peer."""
    return [*(running(name) for name in SETTINGS), compiling()]
