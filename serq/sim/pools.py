"""Pools (interp.md §8): the state of one, its queue, admission, and giving units back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from serq.ir.program import Pool
from serq.sim.caching import NO_SLOT, PrefixCache
from serq.sim.numeric import EPS, INF, fmax, fmin, round_down, round_up
from serq.sim.records import (
    QUEUED,
    READY,
    Context,
    Hold,
    LeaseRecord,
    Member,
    Session,
    Waiting,
)
from serq.sim.statistics import RunningMean

if TYPE_CHECKING:
    from serq.sim.engine import Engine
    from serq.sim.machine import Machine
    from serq.sim.scopes import HoldSite

Keys = Callable[[Session, Context], tuple[int, ...]]


class PoolState:
    """One pool of a run. `used` and `cached` are running totals (interp.md §2)."""

    def __init__(self, machine: Machine, index: int, spec: Pool) -> None:
        self.m = machine
        self.index = index
        self.spec = spec
        self.cap = spec.cap
        self.block = spec.block
        self.used = 0.0
        self.cached = 0.0
        self.holders: list[Session] = []
        self.holder_counts: dict[Session, int] = {}
        self.waiting: list[Session] = []
        self.growers: list[Session] = []
        self.cache = PrefixCache(machine, self)
        self.served_by: Engine | None = None
        # The engines whose memory it is.
        self.engines: list[Engine] = []
        self.queue_keys: Keys | None = None
        self.keys_show = False
        self.victim_keys: Keys | None = None
        self.admissions = 0
        self.evicted_entries = 0
        self.evicted_units = 0.0
        self.preemptions = 0
        self.spills = 0
        self.rejected = 0
        self.stuck = 0
        self.waits = RunningMean()
        self._context = Context()

    # What expressions read

    def free(self) -> float:
        """Capacity less what is allocated."""
        return self.cap - self.used

    def cached_in(self, serial: int) -> float:
        """The reusable prefix of a session, in whole blocks."""
        return round_down(self.cache.size_of(serial), self.block)

    # Capacity

    def outstanding(self, besides: Member | None = None) -> float:
        """What holds reserved and have not allocated, on a pool that says `reserve held`."""
        if not self.spec.reserve_held:
            return 0.0
        total = -0.0
        for s in dict.fromkeys(self.holders):
            for hold in s.holds:
                member = hold.member(self)
                if member is not None and member is not besides:
                    total += max(0.0, member.reserved - member.alloc)
        return total

    def fits(self, units: float, besides: Member | None = None) -> bool:
        """Whether units, already in whole blocks, fit; cached prefixes never block."""
        if self.spec.reserve_held:
            return self.used + self.outstanding(besides) + units <= self.cap + EPS
        return self.used + units <= self.cap + EPS

    def add_holder(self, s: Session) -> None:
        """One more allocation of a session."""
        self.holders.append(s)
        self.holder_counts[s] = self.holder_counts.get(s, 0) + 1

    def remove_holder(self, s: Session) -> None:
        """The session's first allocation goes."""
        self.holders.remove(s)
        left = self.holder_counts[s] - 1
        if left:
            self.holder_counts[s] = left
        else:
            del self.holder_counts[s]

    def rename_holder(self, old: Session, new: Session) -> None:
        """An allocation passes from a leg to its session, in place."""
        self.holders[self.holders.index(old)] = new
        self.holder_counts[new] = self.holder_counts.get(new, 0) + 1
        left = self.holder_counts[old] - 1
        if left:
            self.holder_counts[old] = left
        else:
            del self.holder_counts[old]

    # The queue

    def head(self) -> Session | None:
        """The waiter to be tried (interp.md §8.2)."""
        waiting = self.waiting
        if not waiting:
            return None
        first = waiting[0]
        if (
            self.queue_keys is None
            or (len(waiting) == 1 and not self.keys_show)
            or (first.waiting is not None and first.waiting.resumed)
        ):
            return first
        best, best_key = first, self._key(first)
        for s in waiting[1:]:
            key = self._key(s)
            if key < best_key:
                best, best_key = s, key
        return best

    def _key(self, s: Session) -> tuple[int, ...]:
        assert self.queue_keys is not None and s.waiting is not None
        self._context.Waited = self.m.now - s.waiting.since
        return self.queue_keys(s, self._context)

    def try_head(self) -> bool:
        """Admit the head if every pool of its hold has room (interp.md §8.3)."""
        s = self.head()
        if s is None:
            return False
        w = s.waiting
        assert w is not None
        w.site.evaluate(s, w)
        for pool, need in zip(w.pools, w.needs, strict=True):
            if not pool.fits(round_up(need, pool.block)):
                return False
        self.waiting.remove(s)
        admit(self.m, s, w)
        return True

    def serve(self) -> None:
        """Retry growers, then admit from the front until the head does not fit (interp.md §5)."""
        if self.growers:
            self.m.growth.retry(self)
        if self.served_by is None:
            while self.waiting and self.try_head():
                pass


def admit(m: Machine, s: Session, w: Waiting) -> None:
    """Admission (interp.md §8.4): consume the prefix, make room, allocate, ready the session."""
    site = w.site
    reuse = INF if site.reuse is None else fmax(site.reuse(s), 0.0)
    members = []
    most = 0.0
    for pool, units, need in zip(w.pools, w.units, w.needs, strict=True):
        alloc = round_up(units, pool.block)
        own, slot = 0.0, NO_SLOT
        if site.cache is not None:
            own, slot = pool.cache.consume(s, round_down(reuse, pool.block))
        pool.cache.make_room(alloc)
        pool.used += alloc
        pool.add_holder(s)
        pool.admissions += 1
        most = max(most, own)
        members.append(Member(pool, alloc, own, round_up(need, pool.block), slot))
    if m.warm:
        w.pools[0].waits.add(m.now - w.since)
    s.admission = m.next_admission()
    s.attrs[m.slot_cached] = most
    s.holds.append(Hold(site, members, w.lease_pool))
    s.waiting = None
    s.status = READY
    s.pc = site.body
    m.ready.append(s)
    if m.hook is not None:
        m.hook.admission(m, s, w)


def join_queue(m: Machine, s: Session, site: HoldSite, at_front: bool, resumed: bool) -> None:
    """A hold is reached, or reached again after a preemption (interp.md §8.1); may refuse the session."""
    w = Waiting(site, site.pools(s), m.now, resumed)
    if site.lease is not None:
        w.lease_pool = site.lease(s)
    for pool, need in zip(w.pools, site.lasting_needs(s, w), strict=True):
        if round_up(need, pool.block) > pool.cap:
            pool.rejected += 1
            m.legs.refuse(s)
            return
    s.waiting = w
    s.status = QUEUED
    queue = w.pools[0].waiting
    if at_front:
        queue.insert(0, s)
    else:
        queue.append(s)


def give_back(
    m: Machine, s: Session, member: Member, site: HoldSite, computed: float, reader: Session
) -> None:
    """Units return to a pool, some of them cached (interp.md §8.6)."""
    pool = member.pool
    pool.used -= member.alloc
    pool.remove_holder(s)
    kept = 0.0
    if site.cache is not None:
        wanted = fmax(site.cache(reader), 0.0)
        kept = round_down(fmin(wanted, computed), pool.block)
        if kept > 0.0:
            pool.cache.put(s, reader, kept, member.slot)
        else:
            pool.cache.keep_nothing(s, member.own, member.slot)
    if m.hook is not None:
        m.hook.release(m, s, pool, member.alloc, kept)


def computed_amount(hold: Hold, member: Member) -> float:
    """What a hold has computed: its position when anything advanced one, else its allocation."""
    return member.position if hold.grown else member.alloc


def end_hold(m: Machine, s: Session, hold: Hold) -> None:
    """A hold's scope ends: each pool is given back, or turned into a lease."""
    for member in hold.members:
        if member.pool is hold.lease_pool:
            start_lease(m, s, hold, member)
        else:
            give_back(m, s, member, hold.site, computed_amount(hold, member), s)


def start_lease(m: Machine, s: Session, hold: Hold, member: Member) -> None:
    """An allocation outlives its scope (interp.md §8.6)."""
    assert hold.site.lease_time is not None
    duration = fmax(hold.site.lease_time(s), 0.0)
    lease = LeaseRecord(hold.site, member, computed_amount(hold, member), s, duration < INF)
    s.leases = [*s.leases, lease]
    if duration < INF:
        m.schedule(m.now + duration, partial(expire, m), lease)


def end_lease(m: Machine, lease: LeaseRecord) -> None:
    """A lease ends now; its cache clause reads the attributes of who left it."""
    lease.alive = False
    owner = lease.owner
    owner.leases = [x for x in owner.leases if x is not lease]
    give_back(m, lease.owner, lease.member, lease.site, lease.computed, lease.reader)


def expire(m: Machine, lease: LeaseRecord) -> None:
    """The event at the end of a lease's time."""
    if lease.alive:
        end_lease(m, lease)
        m.retry_pools()


def release(m: Machine, s: Session, pool: PoolState) -> None:
    """The release statement: the innermost hold's allocation, else the first lease, else nothing."""
    for hold in reversed(s.holds):
        member = hold.member(pool)
        if member is not None:
            hold.members.remove(member)
            give_back(m, s, member, hold.site, computed_amount(hold, member), s)
            if s.preempted_at:
                s.preempted_at.pop(pool.index, None)
            return
    for lease in s.leases:
        if lease.member.pool is pool:
            end_lease(m, lease)
            return
