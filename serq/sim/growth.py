"""Growth and preemption (interp.md §8.5, §8.8): enlarge a hold, or abort the scope of a victim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serq.sim.errors import Stop
from serq.sim.numeric import EPS, round_up
from serq.sim.pools import PoolState, give_back, join_queue
from serq.sim.records import AT_STAGE, GROWING, JOINING, QUEUED, READY, Context, Hold, Member, Session

if TYPE_CHECKING:
    from serq.sim.machine import Machine


class Growth:
    """Grows holds, chooses victims, preempts them."""

    def __init__(self, machine: Machine) -> None:
        self.m = machine
        self._context = Context()

    def grow(self, s: Session, pool: PoolState, member: Member, by: float) -> bool:
        """Enlarge an allocation; False when the session stalls or preempts itself."""
        target = round_up(member.alloc + by, pool.block)
        need = target - member.alloc
        if need <= 0.0:
            return True
        while not pool.fits(need, member):
            victim = self.victim(pool)
            if victim is None:
                self._stall(s, pool, by)
                return False
            self.preempt(victim, pool, s)
            if victim is s:
                return False
        self.take(pool, member, need)
        return True

    def take(self, pool: PoolState, member: Member, need: float) -> None:
        """Units that fit become part of an allocation."""
        pool.cache.make_room(need)
        pool.used += need
        member.alloc += need

    def _stall(self, s: Session, pool: PoolState, by: float) -> None:
        s.status = GROWING
        s.grow_pool = pool
        s.grow_by = by
        pool.growers.append(s)

    def retry(self, pool: PoolState) -> None:
        """Give the growers of a pool what they wait for, in order, until one does not fit."""
        while pool.growers:
            s = pool.growers[0]
            member = innermost(s, pool)
            need = round_up(member.alloc + s.grow_by, pool.block) - member.alloc
            if need > 0.0:
                if not pool.fits(need, member):
                    return
                self.take(pool, member, need)
            pool.growers.pop(0)
            s.grow_pool = None
            if s.job is not None:
                s.status = AT_STAGE
            else:
                s.status = READY
                self.m.ready.append(s)

    # Victims

    def candidates(self, pool: PoolState) -> list[Session]:
        """Who may be preempted for a pool, in the order of their `admission`."""
        holding = [s for s in dict.fromkeys(pool.holders) if any(h.member(pool) for h in s.holds)]
        if not pool.engines:
            return holding
        found = [s for s in holding if s.status == AT_STAGE and any(e.serves(s) for e in pool.engines)]
        return sorted(found, key=lambda s: s.admission)

    def victim(self, pool: PoolState) -> Session | None:
        """The candidate with the least keys, the last among equals; None when the pool does not preempt."""
        keys = pool.victim_keys
        if keys is None:
            return None
        best: Session | None = None
        best_key: tuple[int, ...] = ()
        c = self._context
        for place, s in enumerate(self.candidates(pool)):
            c.Admission = float(place)
            c.Decoding = 1.0 if s.job is not None and s.job.decode else 0.0
            c.Position = innermost(s, pool).position
            key = keys(s, c)
            if best is None or key <= best_key:
                best, best_key = s, key
        return best

    def preempt(self, victim: Session, pool: PoolState, grower: Session) -> None:
        """Abort the victim's innermost scope on a pool and queue its hold again."""
        m = self.m
        hold = next(h for h in reversed(victim.holds) if h.member(pool) is not None)
        member = hold.member(pool)
        assert member is not None
        position = member.position
        if victim.preempted_at is None:
            victim.preempted_at = {}
        before = victim.preempted_at.get(pool.index)
        if before is not None and before >= position - EPS and not victim.stuck:
            victim.stuck = True
            pool.stuck += 1
        victim.preempted_at[pool.index] = position
        if victim.token is not None:
            victim.token.preempted = True
        victim.attrs[m.slot_computed] = position
        if m.hook is not None:
            m.hook.preemption(m, victim, grower, pool, position)
        self.detach(victim)
        self._unwind(victim, hold)
        pool.preemptions += 1
        if m.plan is not None:
            m.plan.preempted += 1
        tail = pool.spec.preempt is not None and pool.spec.preempt.tail
        victim.pc = hold.site.opens + 1
        join_queue(m, victim, hold.site, at_front=not tail, resumed=not tail)

    def _unwind(self, s: Session, outermost: Hold) -> None:
        while s.holds:
            hold = s.holds.pop()
            for member in hold.members:
                give_back(self.m, s, member, hold.site, member.position, s)
            if hold is outermost:
                return

    def detach(self, s: Session) -> None:
        """Leave whatever the session waits at."""
        if s.status == QUEUED and s.waiting is not None:
            s.waiting.pools[0].waiting.remove(s)
            s.waiting = None
        elif s.status == GROWING and s.grow_pool is not None:
            s.grow_pool.growers.remove(s)
            s.grow_pool = None
        elif s.status == JOINING:
            s.status = READY
        if s.job is not None:
            self.m.leave_stage(s.job)
            s.job = None


def innermost(s: Session, pool: PoolState) -> Member:
    """The part of the innermost hold on a pool; a run-time error without one."""
    return innermost_hold(s, pool)[1]


def innermost_hold(s: Session, pool: PoolState) -> tuple[Hold, Member]:
    """The innermost hold with a pool, and its part on it (interp.md §18)."""
    for hold in reversed(s.holds):
        member = hold.member(pool)
        if member is not None:
            return hold, member
    raise Stop(
        "SQ806",
        f"{s.name} has no hold of {pool.spec.label} to grow or load",
        hint="keep the statement inside the hold, before any release of the pool",
    )
