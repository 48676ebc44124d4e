"""The trace hook: typed notices of what a run does, for traces, comparisons and exports.

A hook reads and does not act. Every method has an empty default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from serq.sim.records import Job, Session, Waiting

if TYPE_CHECKING:
    from serq.sim.caching import Entry
    from serq.sim.engine import Engine
    from serq.sim.machine import Machine
    from serq.sim.pools import PoolState


class TraceHook:
    """Base of all hooks; override what is wanted."""

    def arrival(self, m: Machine, s: Session) -> None:
        """A session was created."""

    def session_end(self, m: Machine, s: Session) -> None:
        """A session ended."""

    def admission(self, m: Machine, s: Session, w: Waiting) -> None:
        """A hold was admitted; `w.resumed` is set after a preemption that went to the head."""

    def release(self, m: Machine, s: Session, pool: PoolState, units: float, kept: float) -> None:
        """Units were given back, and so many kept cached."""

    def eviction(self, m: Machine, pool: PoolState, entry: Entry, units: float) -> None:
        """Cached units were evicted."""

    def preemption(
        self, m: Machine, victim: Session, grower: Session, pool: PoolState, position: float
    ) -> None:
        """A victim is about to be preempted for a grower (itself: a self-preemption)."""

    def plan_begins(self, m: Machine, engine: Engine) -> None:
        """An engine is about to plan an iteration; it may come to nothing."""

    def iteration(
        self, m: Machine, engine: Engine, assigned: list[tuple[Job, float]], duration: float
    ) -> None:
        """An iteration starts."""

    def iteration_end(
        self, m: Machine, engine: Engine, batch: list[tuple[Job, float]], finished: list[Job]
    ) -> None:
        """An iteration's tokens have been applied."""
