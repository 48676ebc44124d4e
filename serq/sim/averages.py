"""The time averages of a run (interp.md §5, §16): recorded once per settle, restarted at the warm-up's end.

The recording function is generated for the program's stages and pools, because it
runs at every event: it is the loop over all averages, written out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from serq.sim.flows import SharedState

if TYPE_CHECKING:
    from serq.sim.machine import Machine

POOL_READS = {
    "used": "p{0}.used",
    "cached": "p{0}.cached",
    "queue": "len(p{0}.waiting)",
    "holders": "len(p{0}.holder_counts)",
}

_TEMPLATE = """
def make(m, start):
    last = start
    {zeros}
    def record():
        nonlocal last, {names}
        dt = m.now - last
        if dt:
            {account}
            last = m.now
        {take}
    def restart(now):
        nonlocal last, {integrals}
        last = now
        {clear}
    def state():
        return last, {{{pairs}}}
    return record, restart, state
"""


class Averages:
    """All time averages; they share the instant of their last change, the last settle.

    `record()` accounts the time that has passed and takes the new values.
    """

    record: Callable[[], None]

    def __init__(self, machine: Machine) -> None:
        self.m = machine
        reads = {"live": "m.live"}
        for stage in machine.stages:
            reads[f"number_{stage.index}"] = f"s{stage.index}.count"
            shared = isinstance(stage, SharedState)
            busy = f"s{stage.index}.utilization()" if shared else f"(1.0 if s{stage.index}.count else 0.0)"
            reads[f"utilization_{stage.index}"] = busy
        for pool in machine.pools:
            for what, read in POOL_READS.items():
                reads[f"{what}_{pool.index}"] = read.format(pool.index)
        names: dict[str, Any] = {f"s{s.index}": s for s in machine.stages}
        names.update({f"p{p.index}": p for p in machine.pools})
        exec(_source(reads), names)
        self.record, self._restart, self._state = names["make"](machine, 0.0)

    def restart(self, now: float) -> None:
        """The warm-up ends: integrals start anew, values stay."""
        self._restart(now)
        for stage in self.m.stages:
            for stepped in stage.mix:
                stepped.restart(now)

    def mean(self, name: str) -> float:
        """The average of a value over [warmup, end]: `live`, `number_I`, `utilization_I`, `used_I`, …"""
        last, values = self._state()
        value, integral = values[name]
        span = self.m.end - self.m.program.warmup
        return float((integral + value * (self.m.end - last)) / span if span > 0.0 else value)


def _source(reads: dict[str, str]) -> str:
    line, deeper = "\n        ", "\n            "
    # A value of 0 adds nothing; most are 0 most of the time.
    account = deeper.join(f"if v_{n}: i_{n} += v_{n} * dt" for n in reads)
    return _TEMPLATE.format(
        zeros="\n    ".join(f"v_{n} = i_{n} = 0.0" for n in reads),
        names=", ".join(f"v_{n}, i_{n}" for n in reads),
        integrals=", ".join(f"i_{n}" for n in reads),
        account=account,
        take=line.join(f"v_{n} = {read}" for n, read in reads.items()),
        clear=line.join(f"i_{n} = 0.0" for n in reads),
        pairs=", ".join(f"{n!r}: (v_{n}, i_{n})" for n in reads),
    )
