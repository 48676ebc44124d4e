"""Assertions on the state after every event, for `--self-check` (001 §2: every unit has one owner).

Each part is a function of the machine that yields what is wrong; a run under
self-check stops at the first finding with SQ850.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from serq.sim.errors import Stop
from serq.sim.numeric import EPS
from serq.sim.records import AT_STAGE, GROWING, JOINING, QUEUED, READY, Session

if TYPE_CHECKING:
    from serq.sim.machine import Machine
    from serq.sim.pools import PoolState

# Running totals are sums of many terms; they may differ from fresh sums in the last bits.
_SLACK = 1e-6


def allocated_is_owned(m: Machine) -> Iterator[str]:
    """The units allocated are those of open holds and leases."""
    for pool in m.pools:
        owned = 0.0
        for s in m.everyone():
            owned += sum(x.alloc for h in s.holds for x in h.members if x.pool is pool)
            owned += sum(lease.member.alloc for lease in s.leases if lease.member.pool is pool)
        if abs(pool.used - owned) > _SLACK * max(1.0, owned):
            yield f"{pool.spec.label}: {pool.used:g} units allocated, holds and leases have {owned:g}"


def cached_is_entered(m: Machine) -> Iterator[str]:
    """The units cached are those of the entries, and every entry has some."""
    for pool in m.pools:
        entries = list(pool.cache.entries.values())
        total = sum(e.size for e in entries)
        if abs(pool.cached - total) > _SLACK * max(1.0, total):
            yield f"{pool.spec.label}: {pool.cached:g} units cached, entries have {total:g}"
        yield from (
            f"{pool.spec.label}: the entry of session {e.owner} has {e.size:g} units"
            for e in entries
            if not e.size > 0.0
        )


def nothing_beyond_capacity(m: Machine) -> Iterator[str]:
    """Allocated and cached units fit a finite pool, so that what is left is free."""
    spilled = {p.spec.spill.to for p in m.pools if p.spec.spill is not None}
    for pool in m.pools:
        if pool.used > pool.cap + EPS + _SLACK:
            yield f"{pool.spec.label}: {pool.used:g} units allocated, the capacity is {pool.cap:g}"
        # A spill may leave its destination over until it next makes room.
        total = pool.used + pool.cached
        if pool.index not in spilled and total > pool.cap + EPS + _SLACK * max(1.0, total):
            yield f"{pool.spec.label}: {total:g} units allocated and cached, the capacity is {pool.cap:g}"


def holders_are_counted(m: Machine) -> Iterator[str]:
    """The list of holders has one entry per hold and lease."""
    for pool in m.pools:
        counts: dict[Session, int] = {}
        for s in pool.holders:
            counts[s] = counts.get(s, 0) + 1
        if counts != pool.holder_counts:
            yield f"{pool.spec.label}: the counts of its holders are not those of its list"
        for s in m.everyone():
            own = sum(1 for h in s.holds if h.member(pool)) + sum(
                1 for x in s.leases if x.member.pool is pool
            )
            if own != counts.get(s, 0):
                yield f"{pool.spec.label}: {s.name} holds {own} allocations, listed {counts.get(s, 0)} times"


def everyone_is_in_one_place(m: Machine) -> Iterator[str]:
    """A session is ready, in one queue, at one stage, growing or joining: never in two places."""
    for s in m.everyone():
        queues = [p.spec.label for p in m.pools if s in p.waiting]
        growing = [p.spec.label for p in m.pools if s in p.growers]
        job = s.job is not None
        places = {
            READY: (0, 0, False),
            JOINING: (0, 0, False),
            QUEUED: (1, 0, False),
            AT_STAGE: (0, 0, True),
            GROWING: (0, 1, job),
        }.get(s.status)
        if places is not None and (len(queues), len(growing), job) != places:
            yield f"{s.name} is {s.status.name}, in queues {queues}, growing in {growing}, job {job}"


def positions_are_allocated(m: Machine) -> Iterator[str]:
    """The computed position of a hold stays within its allocation on the pool."""
    for s in m.everyone():
        for hold in s.holds:
            for member in hold.members:
                if hold.grown and member.position > member.alloc + EPS and _grows(m, s, member.pool):
                    where = member.pool.spec.label
                    yield f"{s.name}: position {member.position:g} beyond {member.alloc:g} on {where}"


def _grows(m: Machine, s: Session, pool: PoolState) -> bool:
    return s.job is not None and s.job.member is not None and s.job.member.pool is pool


CHECKS: tuple[Callable[[Machine], Iterator[str]], ...] = (
    allocated_is_owned,
    cached_is_entered,
    nothing_beyond_capacity,
    holders_are_counted,
    everyone_is_in_one_place,
    positions_are_allocated,
)


class SelfCheck:
    """Runs every check after every event."""

    def __init__(self, machine: Machine) -> None:
        self.m = machine

    def check(self) -> None:
        """Stop the run at the first finding."""
        for check in CHECKS:
            for finding in check(self.m):
                raise Stop(
                    "SQ850",
                    f"self-check `{check.__name__}`: {finding}",
                    hint="this is a fault of the interpreter: report it with the program and its seed",
                )
