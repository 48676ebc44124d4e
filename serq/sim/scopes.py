"""A hold statement compiled: which pools, how much, what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from serq.diagnostics import IrPath
from serq.sim.errors import Stop, amount

if TYPE_CHECKING:
    from serq.sim.pools import PoolState
    from serq.sim.records import Session, Waiting

Read = Callable[["Session"], float]
ReadPool = Callable[["Session"], "PoolState"]


@dataclass(slots=True)
class HoldPart:
    """One pool of a hold. The `fixed` flags say that an amount cannot change while the hold waits."""

    pool: ReadPool
    static_pool: PoolState | None
    units: Read
    units_fixed: bool
    reserve: Read | None
    reserve_fixed: bool


@dataclass(slots=True)
class HoldSite:
    """A hold statement of the program, ready to be executed."""

    number: int
    path: IrPath
    opens: int
    body: int
    parts: list[HoldPart]
    reuse: Read | None
    cache: Read | None
    lease: ReadPool | None
    lease_time: Read | None
    fixed: bool = False

    def pools(self, s: Session) -> list[PoolState]:
        """The pools its references name now; two may not be one (interp.md §8.1)."""
        found = [p.static_pool or p.pool(s) for p in self.parts]
        if len(found) > 1 and len({p.index for p in found}) < len(found):
            raise Stop(
                "SQ805",
                "two pools of one hold are the same member",
                hint="write one entry for the pool, with the sum of the units",
                path=self.path,
            )
        return found

    def evaluate(self, s: Session, w: Waiting) -> None:
        """Units and needs of the present attempt."""
        if w.fixed:
            return
        w.units = [amount(p.units(s), "the units of a hold") for p in self.parts]
        w.needs = [
            u if p.reserve is None else max(u, amount(p.reserve(s), "the reserve of a hold"))
            for p, u in zip(self.parts, w.units, strict=True)
        ]
        w.fixed = self.fixed

    def lasting_needs(self, s: Session, w: Waiting) -> list[float]:
        """Per pool, the largest amount that cannot change while the hold waits; 0 when all can."""
        w.units = [amount(p.units(s), "the units of a hold") for p in self.parts]
        lasting = []
        for part, units in zip(self.parts, w.units, strict=True):
            need = units if part.units_fixed else 0.0
            if part.reserve is not None and part.reserve_fixed:
                need = max(need, amount(part.reserve(s), "the reserve of a hold"))
            lasting.append(need)
        return lasting
