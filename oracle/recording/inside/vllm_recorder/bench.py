"""How long a step of the real scheduler takes, by the number of running requests.

Times are the thread's processor time, which a busy machine disturbs less than the clock on the wall.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from .build import VERSION, build, make_request
from .drive import answer

_PROMPT = 32
_BLOCK = 16


def _scenario(running: int, steps: int, cached: bool) -> dict[str, Any]:
    length = _PROMPT + steps + 2
    return {
        "budget": max(2048, running * _PROMPT),
        "max_seqs": running,
        "block_size": _BLOCK,
        "num_blocks": running * (length // _BLOCK + 2) + 1,
        "prefix_caching": cached,
        "requests": [{"prompt": _PROMPT, "out": steps + 2} for _ in range(running)],
    }


def _quantiles(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "median_us": round(1e6 * statistics.median(ordered), 1),
        "p95_us": round(1e6 * ordered[int(0.95 * len(ordered))], 1),
    }


def bench(running: int, steps: int, cached: bool) -> dict[str, Any]:
    """Time `steps` decode steps with `running` requests: `schedule()` and `update_from_output()` apart."""
    scenario = _scenario(running, steps, cached)
    start = time.thread_time()
    scheduler, hasher = build(scenario)
    built = time.thread_time()
    for index in range(running):
        scheduler.add_request(make_request(scenario, index, hasher))
    added = time.thread_time()
    # The first step is the prefill of every request.
    output = scheduler.schedule()
    scheduler.update_from_output(output, answer(output, scheduler))
    plan, update = [], []
    for _ in range(steps):
        before = time.thread_time()
        output = scheduler.schedule()
        planned = time.thread_time()
        outcome = answer(output, scheduler)
        answered = time.thread_time()
        scheduler.update_from_output(output, outcome)
        after = time.thread_time()
        assert output.total_num_scheduled_tokens == running
        plan.append(planned - before)
        update.append(after - answered)
    scheduler.shutdown()
    return {
        "vllm": VERSION,
        "running": running,
        "steps": steps,
        "prefix_caching": cached,
        "build_s": round(built - start, 4),
        "add_s": round(added - built, 4),
        "schedule": _quantiles(plan),
        "update": _quantiles(update),
        "step": _quantiles([a + b for a, b in zip(plan, update, strict=True)]),
    }
