"""Legs, refusals and waiting cycles (interp.md §12), and how sessions end (§6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serq.sim.errors import Stop
from serq.sim.numeric import round_up
from serq.sim.pools import end_hold, end_lease
from serq.sim.records import ENDED, JOINING, QUEUED, READY, LeaseRecord, Session
from serq.sim.rng import LEG_KIND

if TYPE_CHECKING:
    from serq.sim.machine import Machine
    from serq.sim.pools import PoolState

# How many of those that wait for each other a message names.
_NAMED = 5


class Legs:
    """Forks, joins, ends and refusals."""

    def __init__(self, machine: Machine) -> None:
        self.m = machine

    def fork(self, s: Session, entry: int) -> None:
        """Start a leg: same serial, a copy of the attributes, a stream of its own."""
        m = self.m
        leg = Session(m.next_session(), s.serial, list(s.attrs), s)
        leg.pc = entry
        leg.turns = s.turns
        leg.stream = m.bank.open(LEG_KIND, s.serial, s.forks)
        s.forks += 1
        s.legs = [*s.legs, leg]
        m.ready.append(leg)

    def join(self, s: Session) -> bool:
        """Wait for the legs; True when none runs."""
        if not s.legs:
            return True
        s.status = JOINING
        return False

    def _leave(self, s: Session) -> None:
        """Leave what it waits at, and release its holds from the inner to the outer."""
        self.m.growth.detach(s)
        while s.holds:
            end_hold_without_lease(self.m, s)

    def end_leg(self, leg: Session) -> None:
        """A leg is done: its leases pass to the session."""
        self._leave(leg)
        parent = leg.parent
        assert parent is not None
        leg.status = ENDED
        if leg.orphan:
            for lease in list(leg.leases):
                end_lease(self.m, lease)
            return
        for lease in leg.leases:
            self._pass_on(lease, leg, parent)
        leg.leases = ()
        parent.legs = [x for x in parent.legs if x is not leg]
        if not parent.legs and parent.status == JOINING:
            parent.status = READY
            self.m.ready.append(parent)

    def _pass_on(self, lease: LeaseRecord, leg: Session, parent: Session) -> None:
        # The leg's attributes stay as it left them for the cache clause, which now draws from the session's stream.
        leg.stream = parent.stream or self.m.open_stream(parent)
        lease.owner = parent
        lease.member.pool.rename_holder(leg, parent)
        parent.leases = [*parent.leases, lease]

    def end_session(self, s: Session) -> None:
        """A session ends: holds, then leases, then its place; a closed population replaces it."""
        if s.legs:
            raise Stop(
                "SQ809",
                f"{s.name} ends while {len(s.legs)} of its legs run",
                hint="write `join;` before the end",
            )
        m = self.m
        if s.holds or s.status != READY:
            self._leave(s)
        for lease in tuple(s.leases):
            end_lease(m, lease)
        s.status = ENDED
        del m.live_sessions[s.serial]
        m.bank.forget(s.serial)
        m.live -= 1
        if m.warm:
            m.ended += 1
        if m.hook is not None:
            m.hook.session_end(m, s)
        if m.closed:
            m.create_session()

    def refuse(self, s: Session) -> None:
        """A request that can never fit is refused: the session ends; a leg takes its session along."""
        if s.parent is not None:
            parent = s.parent
            was_orphan = s.orphan
            self.end_leg(s)
            if not was_orphan and parent.status != ENDED:
                self.refuse(parent)
            return
        for leg in s.legs:
            leg.orphan = True
        s.legs = ()
        self.end_session(s)

    # The end of the run

    def waiting_cycle(self) -> None:
        """Fail when sessions and legs wait only for each other's units, one of them at a join (interp.md §12).

        Those kept apart by a reserve alone are noted: the run then counts as it stands.
        """
        named = self._waiting_only_for_each_other(reserves=False)
        hint = "release what a leg needs before the join, or give the lease a finite time"
        if named is not None:
            raise Stop("SQ810", f"the run ends with {named} waiting only for each other", hint=hint)
        named = self._waiting_only_for_each_other(reserves=True)
        if named is not None:
            self.m.notes.append(
                f"the run ends with {named} waiting only for each other, counting reserves; {hint}"
            )

    def _waiting_only_for_each_other(self, *, reserves: bool) -> str | None:
        """The names of those that nothing outside them can free, when one of them is at a join."""
        stuck = {s for s in self.m.everyone() if s.status in (QUEUED, JOINING)}
        changed = True
        while changed:
            freed = {s for s in stuck if self._could_go_on(s, stuck, reserves)}
            stuck -= freed
            changed = bool(freed)
        if not any(s.status == JOINING for s in stuck):
            return None
        waiting = [s.name for s in sorted(stuck, key=lambda s: s.number)]
        names = ", ".join(waiting[:_NAMED])
        return names if len(waiting) <= _NAMED else f"{names} and {len(waiting) - _NAMED} more"

    def _could_go_on(self, s: Session, stuck: set[Session], reserves: bool) -> bool:
        if s.status == JOINING:
            return not s.legs or any(leg not in stuck for leg in s.legs)
        w = s.waiting
        assert w is not None
        amounts = (w.needs or w.units) if reserves else w.units
        lacking = [
            pool
            for pool, amount in zip(w.pools, amounts, strict=True)
            if not pool.fits(round_up(amount, pool.block))
        ]
        return not lacking or any(self._may_free(pool, stuck) for pool in lacking)

    def _may_free(self, pool: PoolState, stuck: set[Session]) -> bool:
        holders = list(pool.holder_counts)
        if not holders or any(s not in stuck for s in holders):
            return True
        return any(lease.finite and lease.member.pool is pool for s in holders for lease in s.leases)


def end_hold_without_lease(m: Machine, s: Session) -> None:
    """The innermost hold is released with its cache clause; at a session's end nothing is leased."""
    hold = s.holds.pop()
    hold.lease_pool = None
    end_hold(m, s, hold)
