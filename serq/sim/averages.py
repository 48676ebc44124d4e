"""The time averages of a run (interp.md §5, §16): recorded once per settle, restarted at the warm-up's end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serq.sim.flows import SharedState
from serq.sim.statistics import TimeAverage

if TYPE_CHECKING:
    from serq.sim.machine import Machine
    from serq.sim.pools import PoolState
    from serq.sim.stages import StageState


class PoolAverages:
    """What a pool averages over time."""

    __slots__ = ("cached", "holders", "pool", "queue", "used")

    def __init__(self, pool: PoolState) -> None:
        self.pool = pool
        self.used, self.cached, self.queue, self.holders = (TimeAverage() for _ in range(4))


class StageAverages:
    """What a stage averages over time."""

    __slots__ = ("number", "shared", "stage", "utilization")

    def __init__(self, stage: StageState) -> None:
        self.stage = stage
        self.number, self.utilization = TimeAverage(), TimeAverage()
        self.shared = isinstance(stage, SharedState)


class Averages:
    """All time averages; they share the instant of their last change, the last settle."""

    def __init__(self, machine: Machine) -> None:
        self.m = machine
        self.last = 0.0
        self.live = TimeAverage()
        self.stages = [StageAverages(s) for s in machine.stages]
        self.pools = [PoolAverages(p) for p in machine.pools]
        self._all = [self.live]
        for s in self.stages:
            self._all += [s.number, s.utilization]
        for p in self.pools:
            self._all += [p.used, p.cached, p.queue, p.holders]

    def restart(self, now: float) -> None:
        """The warm-up ends: integrals start anew, values stay."""
        for average in self._all:
            average.integral = 0.0
        self.last = now
        for stage in self.m.stages:
            for stepped in stage.mix:
                stepped.restart(now)

    def record(self) -> None:
        """After a settle: account the time that has passed, then take the new values."""
        now = self.m.now
        dt = now - self.last
        if dt:
            for average in self._all:
                value = average.value
                if value:
                    average.integral += value * dt
            self.last = now
        self.live.value = self.m.live
        for s in self.stages:
            count = s.stage.present()
            s.number.value = count
            if s.shared:
                s.utilization.value = s.stage.utilization()
            else:
                s.utilization.value = 1.0 if count else 0.0
        for p in self.pools:
            pool = p.pool
            p.used.value = pool.used
            p.cached.value = pool.cached
            p.queue.value = len(pool.waiting)
            p.holders.value = len(pool.holder_counts)
