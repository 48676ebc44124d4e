"""Runs that show a finding: tried here, and told as a command.

A witness fixes inputs and what sessions preset; the rest is drawn, so a few seeds are run,
for a bounded number of events, until one comes to what the rule speaks of.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from serq.check import CheckReport, Finding
from serq.cli.load import Loaded, load
from serq.cli.options import Choices
from serq.diagnostics import IrPath, SerqError
from serq.ir.edit import with_sessions, with_settings
from serq.ir.program import Program
from serq.ir.validate.names import number
from serq.sim.errors import RunError
from serq.sim.hooks import TraceHook
from serq.sim.machine import Machine
from serq.sim.pools import PoolState
from serq.sim.records import GROWING, JOINING, QUEUED
from serq.sim.report import Report
from serq.sim.run import run

Ranges = Mapping[str, tuple[float, float]]
# So many seeds are tried, of so many arrivals, admissions, preemptions and iterations each, and all together.
_SEEDS = 32
_EVENTS = 4000
_ALL_EVENTS = 40_000


@dataclass
class Events:
    """The events that runs may still take."""

    left: int


@dataclass(frozen=True)
class Reproducer:
    """A program as the command line gave it, and what was left open."""

    loaded: Loaded
    chosen: Choices
    inputs: Ranges
    attributes: Ranges
    events: Events = field(default_factory=lambda: Events(_ALL_EVENTS))

    def told(self, report: CheckReport) -> CheckReport:
        """The report with a command in the note of every finding that a run was seen to show."""
        findings = []
        for f in report.findings:
            if f.diagnostic is not None and not f.suppressed and f.rule in _SHOWS:
                command = self.command(f)
                if command is not None:
                    note = f"{f.diagnostic.note}; " if f.diagnostic.note else ""
                    found = replace(f.diagnostic, note=f"{note}see it in `{command}`")
                    f = replace(f, diagnostic=found)
            findings.append(f)
        return replace(report, findings=tuple(findings))

    def command(self, finding: Finding) -> str | None:
        """A command whose run shows a finding, or None when none of the runs tried does."""
        witness = dict(finding.witness)
        inputs = {n: witness.get(n, bounds[1]) for n, bounds in self.inputs.items()}
        preset = {n: witness.get(n, bounds[0]) for n, bounds in self.attributes.items()}
        try:
            program = self._program(inputs)
            own = with_sessions(program, [preset] * _sessions(finding)) if preset else program
        except SerqError:
            return None
        for seed in [program.seed, *(s for s in range(1, _SEEDS + 1) if s != program.seed)]:
            if self.events.left <= 0:
                return None
            if shows(with_settings(own, seed=seed), finding, self.events):
                return self._text(inputs, preset, seed, _sessions(finding))
        return None

    def _program(self, inputs: Mapping[str, float]) -> Program:
        if not inputs:
            return self.loaded.program
        return load(Path(self.loaded.file), self.chosen.given(inputs)).program

    def _text(
        self, inputs: Mapping[str, float], preset: Mapping[str, float], seed: int, sessions: int
    ) -> str:
        words = ["serq", "run", self.loaded.file, *self.chosen.words(without=("seed",))]
        for name, value in inputs.items():
            words += ["--set", f"{name}={number(value)}"]
        words += ["--seed", str(seed)]
        for _ in range(sessions if preset else 0):
            words += ["--session", ",".join(f"{name}={number(value)}" for name, value in preset.items())]
        return shlex.join(words)


def _sessions(finding: Finding) -> int:
    return 2 if finding.rule in ("growth-deadlock", "hold-and-wait") else 1


class _Enough(TraceHook):
    """Ends a run after so many events, of its own or of all runs."""

    def __init__(self, events: Events) -> None:
        self.own = _EVENTS
        self.alone = False
        self.all = events

    def _count(self, m: Machine) -> None:
        self.own -= 1
        self.all.left -= 1
        if self.own <= 0 or self.all.left <= 0:
            m.stop_requested = True

    def arrival(self, m: Machine, s: Any) -> None:
        self._count(m)

    def admission(self, m: Machine, s: Any, w: Any) -> None:
        self._count(m)

    def preemption(self, m: Machine, victim: Any, grower: Any, pool: Any, position: float) -> None:
        self.alone |= victim is grower and set(pool.holder_counts) == {victim}
        self._count(m)

    def iteration(self, m: Machine, engine: Any, assigned: Any, duration: float) -> None:
        self._count(m)


def shows(program: Program, finding: Finding, events: Events) -> bool:
    """Whether a run of a program comes to what a finding says, within some events."""
    machines: list[Machine] = []
    hook = _Enough(events)
    try:
        report = run(program, hook=hook, on_machine=machines.append)
    except RunError as error:
        stop = error.diagnostics[0]
        return stop.code in _STOPS.get(finding.rule, ()) and _same_statement(stop.place.path, finding.path)
    except SerqError:
        return False
    if finding.rule == "outgrows-pool":
        return hook.alone or any(_outgrown(pool) for pool in machines[0].pools)
    return finding.rule in _ENDS and _ENDS[finding.rule](report, machines[0])


def _outgrown(pool: PoolState) -> bool:
    """Whether the only holder of a pool waits to grow in it, or cannot be admitted again."""
    head = pool.head()
    again = head is not None and head.waiting is not None and head.waiting.resumed
    return (len(pool.holder_counts) == 1 and bool(pool.growers)) or (not pool.holder_counts and again)


def _same_statement(a: IrPath, b: IrPath) -> bool:
    """Whether two paths lead to one statement; declarations have no place in a run."""
    return a[:3] == b[:3] or b[0] != "blocks"


def _pools(*fields: str) -> Callable[[Report, Machine], bool]:
    return lambda report, machine: any(pool[field] for pool in report.data["pools"] for field in fields)


def _all_wait(report: Report, machine: Machine) -> bool:
    """Whether every session and leg that is left waits for room or for its legs."""
    left = list(machine.everyone())
    return (
        not report.interrupted and len(left) > 1 and all(s.status in (QUEUED, GROWING, JOINING) for s in left)
    )


_STOPS: Mapping[str, Sequence[str]] = {
    "amount-negative": ("SQ802",),
    "guard-not-test": ("SQ801",),
    "index-outside": ("SQ805", "SQ815"),
    "loop-without-time": ("SQ804",),
    "iteration-cost": ("SQ807",),
    "hold-and-wait": ("SQ810",),
}
_ENDS: Mapping[str, Callable[[Report, Machine], bool]] = {
    "hold-never-fits": _pools("rejected", "over_cap"),
    "growth-deadlock": _pools("growing_stalled"),
    "hold-and-wait": _all_wait,
}
_SHOWS = {*_STOPS, *_ENDS, "outgrows-pool"}
