"""One step of 64 running decodes against the recorded time of the real scheduler.

The real scheduler's schedule and update take 518 µs a step for 64 decodes on a machine
like the ones this project is tested on (oracle/README.md says how that is recorded);
the ratio to it is the only one here whose other side is not measured in the same run.
"""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

from bench.timing import Result
from serq.oracle.recording.bench import bench as recorded_bench
from serq.oracle.request import program_of
from serq.oracle.scenario import Request, Scenario
from serq.sim import run

RECORDED_STEP = 518e-6
RUNNING = 64
STEPS = 2_000


def scenario(running: int = RUNNING, steps: int = STEPS) -> Scenario:
    """So many requests of 32 prompt tokens that decode for so many steps, with room for all."""
    return Scenario(
        name="decodes",
        budget=2_048,
        max_seqs=running,
        block_size=16,
        num_blocks=running * 200,
        requests=tuple(Request(prompt=32, out=steps) for _ in range(running)),
    )


def rate(running: int, rounds: int = 5) -> float:
    """Steps per second of a whole run, linking and report included: the median over rounds."""
    program = program_of(scenario(running))
    rates = []
    for _ in range(rounds):
        start = time.perf_counter()
        report = run(program)
        rates.append(report.data["stages"][0]["iterations"] / (time.perf_counter() - start))
    return statistics.median(rates)


def against(running: int, seconds: float, name: str) -> Result:
    """Our step of so many decodes against another's time for one."""
    ours, theirs = rate(running), 1.0 / seconds
    what = f"step of {running} decodes"
    return Result(what, "steps/s", {"serq": ours, name: theirs}, {name: ours / theirs}, {name: 10.0})


def results() -> list[Result]:
    """Against the recorded time, and against the scheduler itself where `SERQ_VLLM` names an environment."""
    found = [against(RUNNING, RECORDED_STEP, "recorded vLLM")]
    env = os.environ.get("SERQ_VLLM")
    if env:
        rows = recorded_bench(Path(env), running=(16, 64, 256))
        found += [
            against(row.running, row.step_us * 1e-6, f"vLLM {row.vllm}")
            for row in rows
            if not row.prefix_caching
        ]
    return found
