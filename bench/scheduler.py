"""One step of 64 running decodes against the recorded time of the real scheduler.

The real scheduler's schedule and update take 518 µs a step for 64 decodes on a machine
like the ones this project is tested on (oracle/README.md says how that is recorded);
the ratio to it is the only one here whose other side is not measured in the same run.
"""

from __future__ import annotations

import statistics
import time

from bench.timing import Result
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


def results(rounds: int = 5) -> list[Result]:
    """Steps per second of a whole run, linking and report included."""
    program = program_of(scenario())
    rates = []
    for _ in range(rounds):
        start = time.perf_counter()
        report = run(program)
        rates.append(report.data["stages"][0]["iterations"] / (time.perf_counter() - start))
    rate = statistics.median(rates)
    recorded = 1.0 / RECORDED_STEP
    what, name = f"step of {RUNNING} decodes", "recorded vLLM"
    return [Result(what, "steps/s", {"serq": rate, name: recorded}, {name: rate / recorded}, {name: 10.0})]
