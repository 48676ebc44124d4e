"""The gallery of public reports: each manifest with its program, what the checker says of it and what a run shows."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from serq.check import CheckReport, Finding, Verdict, run_checks
from serq.ir import program as pr
from serq.ir.edit import with_sessions
from serq.ir.program import Program
from serq.lang.compile import compile_file
from serq.lang.settings import Settings
from serq.sim import run
from serq.sim.engine import Engine
from serq.sim.errors import RunError
from serq.sim.hooks import TraceHook
from serq.sim.machine import Machine
from serq.sim.records import Job, Session
from tools.examples import EXAMPLES

FOLDER = EXAMPLES / "incidents"
VERDICTS = ("safe", "deadlock", "starvation", "livelock", "overflow")
# The rules that can speak of a hang; of a safe program they are all proved.
SAFETY = (
    "amount-negative",
    "hold-never-fits",
    "outgrows-pool",
    "growth-deadlock",
    "hold-and-wait",
    "starvation",
    "loop-without-time",
)
HORIZON = 400.0
Inputs = Mapping[str, float]


@dataclass(frozen=True)
class Shown:
    """What a run came to: a verdict, and what it cost.

    `recomputed` are the tokens computed more than once and `needed` those computed at all, of the
    sessions that ended; `first_end` is the time at which the first of them did.
    """

    verdict: str
    recomputed: float
    needed: float
    first_end: float
    waiting: tuple[Mapping[str, float], ...]


@dataclass(frozen=True)
class Incident:
    """A manifest by name; `repairs[0]` is the smallest."""

    name: str
    data: Mapping[str, Any]

    @property
    def repairs(self) -> Sequence[Mapping[str, Any]]:
        """Each with its words, its inputs, and the inputs that are almost it."""
        return self.data["repairs"]  # type: ignore[no-any-return]

    @property
    def sessions(self) -> Sequence[Mapping[str, float]] | None:
        """The sessions that show it; None when those of the program do."""
        return self.data["witness"].get("sessions")  # type: ignore[no-any-return]

    def program(self, inputs: Inputs | None = None) -> Program:
        """The program under the inputs of the report, or others."""
        settings = Settings(horizon=self.data.get("horizon", HORIZON))
        given = {**self.data["inputs"], **(inputs or {})}
        return compile_file(FOLDER / self.data["program"], settings=settings, inputs=given).program

    def checked(self, inputs: Inputs | None = None) -> CheckReport:
        """What the checker says for every request the ranges admit."""
        ranges = {k: tuple(v) for k, v in self.data.get("ranges", {}).items()}
        return run_checks(self.program(inputs), rules=SAFETY, ranges=ranges, overall=None)

    def checked_witness(self) -> CheckReport:
        """What the checker says of the witness's sessions alone."""
        program = self.program()
        return run_checks(with_sessions(program, self.sessions or ()), rules=SAFETY, overall=None)

    def shown(
        self, inputs: Inputs | None = None, sessions: Sequence[Mapping[str, float]] | None = None
    ) -> Shown:
        """What a run of the witness's sessions, or others, shows."""
        program = self.program(inputs)
        chosen = sessions or self.sessions
        return shown(program if chosen is None else with_sessions(program, chosen))

    @cached_property
    def refuted(self) -> tuple[Finding, ...]:
        """The refutations of the manifest's rule."""
        return tuple(f for f in self.checked().of(self.data["rule"]) if f.verdict is Verdict.REFUTED)


def incidents() -> Iterator[Incident]:
    """Every manifest, by name."""
    for path in sorted(FOLDER.glob("*.json")):
        yield Incident(path.stem, json.loads(path.read_text(encoding="utf-8")))


def told(report: CheckReport, rule: str | None = None) -> str:
    """The verdict a report, or a rule in it, comes to; `unknown` when something is neither proved nor refuted."""
    findings = report.of(rule) if rule else report.findings
    for finding in findings:
        if finding.diagnostic is not None and finding.verdict is Verdict.REFUTED:
            return _word(finding.rule, finding.diagnostic.message)
    return "safe" if all(f.verdict is Verdict.PROVED for f in report.findings) else "unknown"


def _word(rule: str, message: str) -> str:
    match rule:
        case "hold-never-fits":
            return "deadlock" if "waits for ever" in message else "overflow"
        case "outgrows-pool":
            return "livelock" if "preempts itself" in message else "deadlock"
        case "growth-deadlock" | "hold-and-wait":
            return "deadlock"
        case "loop-without-time":
            return "livelock"
        case _:
            return rule


class _Costs(TraceHook):
    """Counts tokens, and what the sessions that ended needed of them."""

    def __init__(self) -> None:
        self.tokens: dict[int, float] = {}
        self.computed = 0.0
        self.needed = 0.0
        self.first = math.inf

    def iteration(
        self, m: Machine, engine: Engine, assigned: list[tuple[Job, float]], duration: float
    ) -> None:
        for job, n in assigned:
            self.tokens[job.session.serial] = self.tokens.get(job.session.serial, 0.0) + n

    def session_end(self, m: Machine, s: Session) -> None:
        self.first = min(self.first, m.now)
        if s.serial in self.tokens:
            values = dict(zip(m.program.attrs, s.attrs, strict=True))
            self.needed += values["prompt"] + values["out"] - 1
            self.computed += self.tokens.pop(s.serial)


def shown(program: Program) -> Shown:
    """What a run comes to, and what it cost."""
    costs = _Costs()
    verdict, waiting = came_to(program, costs)
    return Shown(verdict, costs.computed - costs.needed, costs.needed, costs.first, waiting)


def came_to(program: Program, hook: TraceHook | None = None) -> tuple[str, tuple[Mapping[str, float], ...]]:
    """Whether a run is safe, or how it hung, or the code it stops with; and the sessions left waiting."""
    machines: list[Machine] = []
    try:
        data = run(program, on_machine=machines.append, hook=hook).data
    except RunError as error:
        code = error.diagnostics[0].code
        return "livelock" if code == "SQ804" else code, ()
    waiting = [s for pool in machines[0].pools for s in pool.waiting]
    left = tuple(dict(zip(program.attrs, s.attrs, strict=True)) for s in waiting)
    waits = [machines[0].now - s.waiting.since for s in waiting if s.waiting is not None]
    again = any(s.stuck and _early(s, program, data["arrivals"]) for s in machines[0].everyone())
    return _fate(data, waits, program.horizon, again), left


def _early(s: Session, program: Program, arrivals: int) -> bool:
    """Whether a session has had time to end: where others keep coming, one of the first half."""
    endless = isinstance(program.arrival, pr.Poisson | pr.Renewal | pr.Closed)
    return not endless or s.root.serial < 0.5 * arrivals


def _fate(data: Mapping[str, Any], waits: Sequence[float], horizon: float, again: bool) -> str:
    """`again`: some session that is left was preempted without having got further than before."""
    pools = data["pools"]
    if any(p["rejected"] for p in pools):
        return "overflow"
    if again:
        return "livelock"
    if any(p["over_cap"] or p["growing_stalled"] for p in pools) or (waits and min(waits) > 0.5 * horizon):
        return "deadlock"
    return "starvation" if waits and max(waits) > 0.5 * horizon else "safe"
