"""The gallery of public reports: the checker and a run both say what the manifest says, and the repair is safe."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from serq.check import Verdict, run_checks
from serq.check.report import CheckReport
from serq.ir.edit import with_sessions
from serq.ir.program import Program
from serq.lang.compile import compile_file
from serq.lang.settings import Settings
from serq.sim import run
from serq.sim.machine import Machine

FOLDER = Path(__file__).parents[2] / "examples" / "incidents"
NAMES = sorted(p.stem for p in FOLDER.glob("*.json"))
HANGS = ("deadlock", "starvation", "livelock", "overflow")
# The rules that can speak of a hang; a repaired program has them all proved.
SAFETY = (
    "amount-negative",
    "hold-never-fits",
    "outgrows-pool",
    "growth-deadlock",
    "hold-and-wait",
    "starvation",
    "loop-without-time",
)
EACH = pytest.mark.parametrize("name", NAMES)
HORIZON = 400.0


@dataclass(frozen=True)
class Incident:
    """A manifest and its program under some inputs."""

    data: Mapping[str, Any]

    def program(self, inputs: Mapping[str, float]) -> Program:
        settings = Settings(horizon=self.data.get("horizon", HORIZON))
        given = {**self.data["inputs"], **inputs}
        return compile_file(FOLDER / self.data["program"], settings=settings, inputs=given).program

    def checked(self, inputs: Mapping[str, float]) -> CheckReport:
        ranges = {k: tuple(v) for k, v in self.data.get("ranges", {}).items()}
        return run_checks(self.program(inputs), rules=SAFETY, ranges=ranges, overall=None)

    def fate(self, inputs: Mapping[str, float]) -> str:
        program = self.program(inputs)
        if "sessions" in self.data:
            program = with_sessions(program, self.data["sessions"])
        return fate(program)


def incident(name: str) -> Incident:
    return Incident(json.loads((FOLDER / f"{name}.json").read_text()))


def fate(program: Program) -> str:
    """What a run came to: safe, or how it hung."""
    machines: list[Machine] = []
    data = run(program, on_machine=machines.append).data
    pools = data["pools"]
    if any(p["rejected"] for p in pools):
        return "overflow"
    if any(p["stuck"] for p in pools):
        return "livelock"
    waits = [machines[0].now - w.waiting.since for pool in machines[0].pools for w in pool.waiting]
    if any(p["over_cap"] for p in pools) or (waits and min(waits) > 0.5 * program.horizon):
        return "deadlock"
    return "starvation" if waits and max(waits) > 0.5 * program.horizon else "safe"


@EACH
def test_the_manifest_is_whole(name: str) -> None:
    data = incident(name).data
    assert data["verdict"] in HANGS
    assert data["link"].startswith("https://github.com/")
    assert data["repair"]["words"] and data["gist"] and data["report"]


@EACH
def test_the_checker_refutes_it(name: str) -> None:
    one = incident(name)
    refuted = [f for f in one.checked({}).of(one.data["rule"]) if f.verdict is Verdict.REFUTED]
    assert refuted
    if "ranges" in one.data:
        assert refuted[0].witness


@EACH
def test_a_run_shows_it(name: str) -> None:
    one = incident(name)
    assert one.fate({}) == one.data["verdict"]


@EACH
def test_the_repair_is_proved_safe(name: str) -> None:
    one = incident(name)
    report = one.checked(one.data["repair"]["inputs"])
    unsafe = [f.sentence() for f in report.findings if f.verdict is not Verdict.PROVED]
    assert report.findings and not unsafe, unsafe


@EACH
def test_the_repaired_run_is_safe(name: str) -> None:
    one = incident(name)
    assert one.fate(one.data["repair"]["inputs"]) in ("safe", one.data["repair"].get("fate"))


@EACH
def test_a_smaller_repair_is_not_enough(name: str) -> None:
    one = incident(name)
    if "almost" not in one.data:
        return
    report = one.checked(one.data["almost"])
    assert any(f.verdict is Verdict.REFUTED for f in report.findings)
