"""The trace of a run as JSON lines: one object per arrival, admission, release, eviction, preemption, iteration."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any

from serq.sim.hooks import TraceHook
from serq.sim.records import Job, Session, Waiting

if TYPE_CHECKING:
    from serq.sim.caching import Entry
    from serq.sim.engine import Engine
    from serq.sim.machine import Machine
    from serq.sim.pools import PoolState


class TraceWriter(TraceHook):
    """Writes every notice as it comes; `time` and `event` are on each line."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out
        self._admitted: list[int] = []
        self._resumed: list[int] = []
        self._preempted: list[dict[str, int]] = []

    def _write(self, m: Machine, event: str, **fields: Any) -> None:
        line = json.dumps({"time": _finite(m.now), "event": event, **fields}, separators=(",", ":"))
        self._out.write(line + "\n")

    def arrival(self, m: Machine, s: Session) -> None:
        self._write(m, "arrival", session=s.serial)

    def session_end(self, m: Machine, s: Session) -> None:
        self._write(m, "end", session=s.serial)

    def admission(self, m: Machine, s: Session, w: Waiting) -> None:
        (self._resumed if w.resumed else self._admitted).append(s.serial)
        hold = s.holds[-1]
        pools = [
            {"pool": x.pool.spec.label, "units": _finite(x.alloc), "reused": _finite(x.own)}
            for x in hold.members
        ]
        self._write(m, "admission", session=s.serial, resumed=w.resumed, waited=m.now - w.since, pools=pools)

    def release(self, m: Machine, s: Session, pool: PoolState, units: float, kept: float) -> None:
        fields = {
            "session": s.serial,
            "pool": pool.spec.label,
            "units": _finite(units),
            "kept": _finite(kept),
        }
        self._write(m, "release", **fields)

    def eviction(self, m: Machine, pool: PoolState, entry: Entry, units: float) -> None:
        dead = entry.key < 0
        self._write(m, "eviction", pool=pool.spec.label, session=entry.owner, units=_finite(units), dead=dead)

    def preemption(
        self, m: Machine, victim: Session, grower: Session, pool: PoolState, position: float
    ) -> None:
        self._preempted.append({"session": victim.serial, "for": grower.serial})
        self._write(
            m,
            "preemption",
            session=victim.serial,
            **{"for": grower.serial},
            pool=pool.spec.label,
            position=_finite(position),
        )

    def plan_begins(self, m: Machine, engine: Engine) -> None:
        self._admitted, self._resumed, self._preempted = [], [], []

    def iteration(
        self, m: Machine, engine: Engine, assigned: list[tuple[Job, float]], duration: float
    ) -> None:
        batch = [
            {
                "session": job.session.serial if job.session else None,
                "mode": "decode" if job.decode else "prefill",
                "tokens": _finite(tokens),
            }
            for job, tokens in assigned
        ]
        self._write(
            m,
            "iteration",
            engine=engine.spec.label,
            duration=_finite(duration),
            batch=batch,
            admitted=self._admitted,
            resumed=self._resumed,
            preempted=self._preempted,
            waiting=[s.serial for pool in engine.admits for s in pool.waiting],
            pools=[_levels(p) for p in m.pools],
        )


def _levels(pool: PoolState) -> dict[str, Any]:
    free = pool.cap - pool.used - pool.cached
    return {
        "pool": pool.spec.label,
        "allocated": _finite(pool.used),
        "cached": _finite(pool.cached),
        "free": _finite(free),
    }


def _finite(x: float) -> float | int | str:
    if x != x or x - x != 0.0:
        return "NaN" if x != x else ("inf" if x > 0 else "-inf")
    return int(x) if x == int(x) and abs(x) < 2**53 else x
