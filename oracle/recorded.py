"""Recorded traces of a real scheduler: one record a step, and the files they are kept in."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.oracle.scenario import SUFFIX

HOME = Path(__file__).resolve().parent
SCENARIOS = HOME / "scenarios"
RECORDED = HOME / "recorded"


@dataclass(frozen=True)
class Step:
    """One call of the scheduler. Requests are numbered as in the scenario.

    `scheduled` pairs requests and tokens in scheduling order; `running`, `waiting` and
    `free` are after scheduling, the `_end` ones after the step's output is processed;
    `hits` pairs each request admitted or resumed with its tokens found in the prefix cache.
    """

    step: int
    scheduled: tuple[tuple[int, int], ...]
    admitted: tuple[int, ...]
    resumed: tuple[int, ...]
    preempted: tuple[int, ...]
    preempted_for: tuple[int, ...]
    finished: tuple[int, ...]
    running: tuple[int, ...]
    waiting: tuple[int, ...]
    free: int
    running_end: tuple[int, ...]
    free_end: int
    hits: tuple[tuple[int, int], ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing was scheduled and nobody preempted."""
        return not self.scheduled and not self.preempted


@dataclass(frozen=True)
class Trace:
    """A recorded run: by which version of vLLM, and its steps."""

    version: str
    steps: tuple[Step, ...]


def traces_of(scenario: Path) -> list[Path]:
    """The recorded traces of a scenario: beside it, or by version where serq keeps its own."""
    stem = scenario.name.removesuffix(SUFFIX)
    names = (f"{stem}.trace.json", f"{stem}.trace.json.gz")
    beside = [p for name in names if (p := scenario.parent / name).exists()][:1]
    if beside or scenario.parent.resolve() != SCENARIOS:
        return beside
    found = [p for name in names for p in RECORDED.glob(f"*/{name}")]
    return sorted(found, key=lambda p: version_key(p.parent.name), reverse=True)


def version_key(version: str) -> tuple[int, ...]:
    """A version's parts as numbers, to order by."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def recorded_scenarios() -> list[Path]:
    """Every scenario that ships with serq, by name."""
    return sorted(SCENARIOS.glob(f"*{SUFFIX}"))


def read_trace(path: Path) -> Trace:
    """Read a recorded trace; raises `SerqError` SQ902 when it is not one."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return trace_from(json.loads(raw))
    except (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SerqError(
            Diagnostic(
                "SQ902",
                f"{path.name} is not a recorded trace: {error}",
                Place(str(path)),
                hint="record it again",
            )
        ) from None


def trace_from(data: Mapping[str, Any]) -> Trace:
    """A trace from parsed JSON; raises KeyError or TypeError."""
    return Trace(str(data["vllm"]), tuple(_step(s) for s in data["steps"]))


def _step(s: dict[str, Any]) -> Step:
    return Step(
        step=s["step"],
        scheduled=tuple((r, n) for r, n in s["sched"]),
        admitted=tuple(s["new"]),
        resumed=tuple(s["resumed"]),
        preempted=tuple(s["preempted"]),
        preempted_for=tuple(s["preempted_for"]),
        finished=tuple(s["finished"]),
        running=tuple(s["running"]),
        waiting=tuple(s["waiting"]),
        free=s["free"],
        running_end=tuple(s["running_end"]),
        free_end=s["free_end"],
        hits=tuple(sorted((int(r), n) for r, n in s["hit"].items())),
    )
