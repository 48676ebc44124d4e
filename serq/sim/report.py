"""The report of a run (report.md §1): its fields, and JSON in the reference's number format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from serq import __version__
from serq.sim.claims import ClaimResult, IterationClaim
from serq.sim.gauges import GaugeResult
from serq.sim.numeric import round_up
from serq.sim.records import Session
from serq.sim.statistics import Samples

if TYPE_CHECKING:
    from serq.sim.machine import Machine
    from serq.sim.pools import PoolState
    from serq.sim.stages import StageState

REPORT_VERSION = 1


# What a turn's number is at most: 32 bits hold it.
_LAST_TURN = float(2**32 - 1)


@dataclass
class Metric:
    """An observation or client metric: statistics, and its samples when they were kept in detail."""

    name: str
    count: int
    mean: float
    ci: float
    cv2: float
    p99: float
    samples: Sequence[float]
    times: Sequence[float]
    sessions: Sequence[int]
    turns: Sequence[int]


@dataclass
class Report:
    """What a run found. `data` holds the JSON fields in order; the lists beside it the raw samples.

    `notes` are remarks on the run that are no part of the JSON.
    """

    data: dict[str, Any]
    observes: list[Metric]
    client: list[Metric]
    gauges: list[GaugeResult]
    claims: list[ClaimResult]
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)

    def json(self) -> str:
        """One line of JSON, as `serq run --json` prints it."""
        return encode(self.data)


def build_report(m: Machine) -> Report:
    """Close the statistics of a machine whose run is over."""
    program = m.program
    observes = [_metric(n, s) for n, s in zip(program.observes, m.observations, strict=True)]
    clients = m.clients
    client = [
        _metric(n, s)
        for n, s in (("ttft", clients.ttft), ("tpot", clients.tpot), ("response", clients.response))
    ]
    gauges = [g.finish(m.end) for g in m.linked.gauges]
    claims = [c.result() if isinstance(c, IterationClaim) else c.conclude(m) for c in m.linked.claims]
    data: dict[str, Any] = {
        "serq_version": __version__,
        "horizon": program.horizon,
        "end": m.end,
        "warmup": program.warmup,
        "seed": program.seed,
        "events": m.event_count,
        "arrivals": m.arrivals,
        "ended": m.ended,
        "turns": m.turns,
        "mean_live": m.averages.mean("live"),
        "observes": {x.name: _statistics(x) for x in observes},
        "client": {x.name: _statistics(x) for x in client},
        "gauges": {g.name: {"mean": g.mean, "ci": g.ci, "min": g.least, "max": g.greatest} for g in gauges},
    }
    if claims:
        data["claims"] = [vars(c) for c in claims]
    data["stages"] = [_stage(m, s) for s in m.stages]
    over = _over_cap(m)
    data["pools"] = [_pool(m, p, over) for p in m.pools]
    if m.stop_requested:
        data["interrupted"] = True
    return Report(data, observes, client, gauges, claims, m.stop_requested, m.notes)


def _metric(name: str, s: Samples) -> Metric:
    mean, cv2 = s.moments()
    count, p99 = len(s.values), s.p99()
    turns = [_turn_number(k) for k in s.turns]
    return Metric(name, count, mean, s.ci(), cv2, p99, s.values, s.times, s.sessions, turns)


def _turn_number(turn: float) -> int:
    """The number in a session's turn attribute, which a program may have set to anything."""
    return int(min(max(turn, 0.0), _LAST_TURN)) if turn == turn else 0


def _statistics(x: Metric) -> dict[str, Any]:
    return {"count": x.count, "mean": x.mean, "ci": x.ci, "cv2": x.cv2, "p99": x.p99}


def _stage(m: Machine, stage: StageState) -> dict[str, Any]:
    start, mean = m.program.warmup, m.averages.mean
    span = m.end - start
    mix = [x.mean(start, m.end) for x in stage.mix]
    return {
        "name": stage.spec.name,
        "index": stage.spec.index,
        "mean_number": mean(f"number_{stage.index}"),
        "utilization": mean(f"utilization_{stage.index}"),
        "completed": stage.completed,
        "throughput": stage.completed / span if span > 0.0 else math.nan,
        "mean_wait": stage.mean_wait if stage.completed else math.nan,
        "mean_service": stage.mean_service if stage.completed else math.nan,
        "iterations": stage.iterations,
        "prefill_only": mix[0],
        "decode_only": mix[1],
        "mixed": mix[2],
        "mean_decodes": mix[3],
        "mean_decode_batch": stage.decode_batch.value,
        "mean_decode_step": stage.decode_step.value,
        "mean_itl": stage.gaps.mean(),
        "itl_p50": stage.gaps.quantile(0.5),
        "itl_p99": stage.gaps.quantile(0.99),
        "idle_with_work": stage.idle_with_work,
    }


def _pool(m: Machine, pool: PoolState, over: dict[int, dict[str, Any]]) -> dict[str, Any]:
    mean = m.averages.mean
    stalled = bool(pool.growers) and set(pool.holder_counts) <= set(pool.growers)
    return {
        "name": pool.spec.name,
        "index": pool.spec.index,
        "mean_used": mean(f"used_{pool.index}"),
        "mean_cached": mean(f"cached_{pool.index}"),
        "mean_queue": mean(f"queue_{pool.index}"),
        "mean_holders": mean(f"holders_{pool.index}"),
        "mean_wait": pool.waits.value,
        "admissions": pool.admissions,
        "evicted_entries": pool.evicted_entries,
        "evicted_units": pool.evicted_units,
        "preemptions": pool.preemptions,
        "spills": pool.spills,
        "rejected": pool.rejected,
        "stuck": pool.stuck,
        "over_cap": over.get(pool.index),
        "growing_at_end": len(pool.growers),
        "growing_stalled": stalled,
    }


def _over_cap(m: Machine) -> dict[int, dict[str, Any]]:
    """Queue heads that ask a pool for more than its capacity as the run ends (interp.md §8.9)."""
    over: dict[int, dict[str, Any]] = {}
    for queue in m.pools:
        head: Session | None = queue.head()
        if head is None or head.waiting is None:
            continue
        w = head.waiting
        w.site.evaluate(head, w)
        for pool, need in zip(w.pools, w.needs, strict=True):
            if round_up(need, pool.block) > pool.cap and pool.index not in over:
                over[pool.index] = {"queue": queue.spec.label, "need": need}
    return over


def encode(value: Any) -> str:
    """A value in the report's JSON: no spaces, no exponents, null for what is not finite."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return format_number(value) if value - value == 0.0 else "null"
        case str():
            import json

            return json.dumps(value, ensure_ascii=False)
        case dict():
            return "{" + ",".join(f"{encode(k)}:{encode(v)}" for k, v in value.items()) + "}"
        case _:
            return "[" + ",".join(encode(v) for v in value) + "]"


def format_number(value: float) -> str:
    """A double with the fewest digits that read back, never with an exponent; `NaN`, `inf`, `-inf` else."""
    if value != value:
        return "NaN"
    if value - value != 0.0:
        return "inf" if value > 0 else "-inf"
    if value == 0.0:
        return "-0" if math.copysign(1.0, value) < 0 else "0"
    from decimal import Decimal

    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
