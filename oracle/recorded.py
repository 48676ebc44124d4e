"""Recorded traces of a real scheduler: one record a step, and the files they are kept in."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.oracle.scenario import SUFFIX

HOME = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Step:
    """One call of the scheduler. Requests are numbered as in the scenario.

    `scheduled` pairs requests and tokens in scheduling order; `running`, `waiting` and
    `free` are after scheduling, the `_end` ones after the step's output is processed.
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

    @property
    def empty(self) -> bool:
        """Whether nothing was scheduled and nobody preempted."""
        return not self.scheduled and not self.preempted


@dataclass(frozen=True)
class Trace:
    """A recorded run: by which scheduler, and its steps."""

    recorder: str
    steps: tuple[Step, ...]


def trace_path(scenario: Path) -> Path | None:
    """The recorded trace beside a scenario, compressed or not; None without one."""
    stem = scenario.name.removesuffix(SUFFIX)
    for name in (f"{stem}.trace.json", f"{stem}.trace.json.gz"):
        if (scenario.parent / name).exists():
            return scenario.parent / name
    return None


def recorded_scenarios() -> list[Path]:
    """Every scenario that ships with serq, by name."""
    return sorted((HOME / "recorded").glob(f"*{SUFFIX}"))


def read_trace(path: Path) -> Trace:
    """Read a recorded trace; raises `SerqError` SQ902 when it is not one."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        data = json.loads(raw)
        return Trace(f"vLLM {data['vllm']}", tuple(_step(s) for s in data["steps"]))
    except (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SerqError(
            Diagnostic(
                "SQ902",
                f"{path.name} is not a recorded trace: {error}",
                Place(str(path)),
                hint="record it again",
            )
        ) from None


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
    )
