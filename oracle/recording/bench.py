"""The time of a step of the real scheduler, asked of the recorder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from serq.oracle.recording.host import Recorder

RUNNING = (16, 64, 256)


@dataclass(frozen=True)
class StepTime:
    """Processor time of one decode step, in microseconds: the medians of `schedule()`, of
    `update_from_output()` and of both together, and the 95th percentile of both together."""

    vllm: str
    running: int
    prefix_caching: bool
    schedule_us: float
    update_us: float
    step_us: float
    step_p95_us: float


def bench(
    env: Path | None, running: Sequence[int] = RUNNING, steps: int = 500, recorder: Recorder | None = None
) -> list[StepTime]:
    """Step times by number of running requests, without and with prefix caching; raises `SerqError`."""
    if recorder is None:
        with Recorder(env) as own:
            return bench(env, running, steps, own)
    rows = []
    for cached in (False, True):
        for count in running:
            row = recorder.ask("bench", running=count, steps=steps, prefix_caching=cached)
            rows.append(
                StepTime(
                    vllm=row["vllm"],
                    running=count,
                    prefix_caching=cached,
                    schedule_us=row["schedule"]["median_us"],
                    update_us=row["update"]["median_us"],
                    step_us=row["step"]["median_us"],
                    step_p95_us=row["step"]["p95_us"],
                )
            )
    return rows
