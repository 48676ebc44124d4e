"""The prefix cache of a pool (interp.md §8.4, §8.6, §8.7): entries, consumption, eviction, spilling.

Every entry occupies a slot; slots order the reading of eviction keys that draw
(rng.md §6) and nothing else.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import TYPE_CHECKING

from serq.sim.numeric import EPS, fmax, round_down
from serq.sim.records import QUEUED, Context, Job, Session

if TYPE_CHECKING:
    from serq.sim.machine import Machine
    from serq.sim.pools import PoolState

NO_SLOT = -1
NOBODY = -(2**62)
EvictKeys = Callable[["Entry | Session", Context], tuple[int, ...]]


class Entry:
    """A cached prefix. Its key is its owner's serial, or a negative number when it is dead.

    Eviction keys read an entry whose owner has ended in place of a session; `serial` is then nobody's.
    """

    __slots__ = ("attrs", "key", "last", "number", "owner", "serial", "size", "slot", "stream")

    def __init__(self, key: int, owner: int, size: float, slot: int) -> None:
        self.key = key
        self.owner = owner
        self.serial = NOBODY
        self.size = size
        self.slot = slot
        self.last = 0.0
        self.number = 0
        self.attrs: list[float] = []
        self.stream = None


class SpillRule:
    """Where evicted prefixes are written, how, and when."""

    __slots__ = ("to", "via", "when", "work")

    def __init__(
        self,
        to: int,
        via: int,
        work: Callable[[Entry | Session, Context], float],
        when: Callable[[Entry | Session, Context], float],
    ) -> None:
        self.to = to
        self.via = via
        self.work = work
        self.when = when


class PrefixCache:
    """The entries of one pool. `pool.cached` is their running total."""

    def __init__(self, machine: Machine, pool: PoolState) -> None:
        self.m = machine
        self.pool = pool
        self.entries: dict[int, Entry] = {}
        self.keys: EvictKeys | None = None
        self.spill: SpillRule | None = None
        self.copies_attrs = False
        self._by_release: list[tuple[int, int, Entry]] = []
        self._pushes = 0
        self._free_slots: list[int] = []
        self._slots = 0
        self._context = Context()

    def size_of(self, key: int) -> float:
        """The size of an entry, 0 without it."""
        entry = self.entries.get(key)
        return entry.size if entry else 0.0

    # Slots

    def _take_slot(self) -> int:
        if self._free_slots:
            return self._free_slots.pop()
        self._slots += 1
        return self._slots - 1

    def free_slot(self, slot: int) -> None:
        """Give a slot back."""
        if slot != NO_SLOT:
            self._free_slots.append(slot)

    # Changing entries

    def remove(self, entry: Entry) -> None:
        """Take an entry out; its slot stays with the caller."""
        del self.entries[entry.key]

    def drop(self, key: int) -> None:
        """Discard an entry without counting an eviction."""
        entry = self.entries.get(key)
        if entry is None:
            return
        self.remove(entry)
        self.free_slot(entry.slot)
        self.pool.cached -= entry.size

    def consume(self, s: Session, reuse: float) -> tuple[float, int]:
        """Take up to `reuse` of the session's prefix (interp.md §8.4.2): units taken, slot reserved."""
        entry = self.entries.get(s.serial)
        if entry is None:
            return 0.0, NO_SLOT
        full = round_down(entry.size, self.pool.block)
        own = min(full, reuse)
        if reuse < full:
            return own, self._bury(entry, own, s)
        self.pool.cached -= own
        if entry.size - own > EPS:
            entry.size -= own
            return own, NO_SLOT
        self.remove(entry)
        return own, entry.slot

    def _bury(self, entry: Entry, own: float, s: Session) -> int:
        """The rest of an entry becomes dead, with the age it has."""
        self.remove(entry)
        reserved = NO_SLOT
        slot = entry.slot
        if own > 0.0:
            reserved, slot = entry.slot, self._take_slot()
        dead = Entry(self.m.next_dead_key(), entry.owner, entry.size - own, slot)
        # The whole entry leaves and the rest enters: the last bit follows the additions.
        self.pool.cached -= entry.size
        self.pool.cached += dead.size
        dead.last, dead.number = entry.last, entry.number
        dead.attrs = list(s.attrs) if self.copies_attrs else []
        self.entries[dead.key] = dead
        self._push(dead)
        return reserved

    def put(self, s: Session, reader: Session, size: float, slot: int) -> None:
        """The session's entry becomes exactly one of this size, released now."""
        old = self.entries.get(s.serial)
        if old is not None:
            self.pool.cached -= old.size
            self.free_slot(slot)
            slot = old.slot
        elif slot == NO_SLOT:
            slot = self._take_slot()
        entry = Entry(s.serial, s.serial, size, slot)
        entry.attrs = list(reader.attrs) if self.copies_attrs else []
        self.entries[entry.key] = entry
        self._stamp(entry)
        self.pool.cached += size

    def keep_nothing(self, s: Session, own: float, slot: int) -> None:
        """A hold gave back and keeps nothing: consumed blocks return to a remainder, if one is left."""
        remainder = self.entries.get(s.serial)
        if remainder is not None and own > 0.0 and slot == NO_SLOT:
            remainder.size += own
            self.pool.cached += own
        else:
            self.free_slot(slot)

    def _stamp(self, entry: Entry) -> None:
        entry.last = self.m.now
        entry.number = self.m.next_release()
        self._push(entry)

    def _push(self, entry: Entry) -> None:
        # A dead entry keeps its number, so the stale item of the entry it came from may be its equal.
        heapq.heappush(self._by_release, (entry.number, self._pushes, entry))
        self._pushes += 1

    # Making room

    def make_room(self, need: float) -> None:
        """Evict until the need fits beside what is allocated and cached (interp.md §8.7)."""
        pool = self.pool
        while pool.used + pool.cached + need > pool.cap + EPS and self.entries:
            self._evict(self._victim())

    def _victim(self) -> Entry:
        if self.keys is None:
            return self._oldest()
        best: Entry | None = None
        best_key: tuple[tuple[int, ...], int] | None = None
        for entry in sorted(self.entries.values(), key=lambda e: e.slot):
            reader = self._describe(entry, entry.size)
            key = (self.keys(reader, self._context), entry.number)
            if best_key is None or key < best_key:
                best, best_key = entry, key
        assert best is not None
        return best

    def _oldest(self) -> Entry:
        while True:
            number, _, entry = self._by_release[0]
            if self.entries.get(entry.key) is entry and entry.number == number:
                return entry
            heapq.heappop(self._by_release)

    def _describe(self, entry: Entry, size: float) -> Entry | Session:
        """Fill the context of an entry; returns whose attributes its keys read."""
        c = self._context
        c.Size = size
        c.Last = entry.last
        c.Age = self.m.now - entry.last
        live = self.m.live_sessions.get(entry.owner) if entry.key >= 0 else None
        c.Queued = 1.0 if live is not None and live.status == QUEUED else 0.0
        return entry if live is None else live

    def _evict(self, entry: Entry) -> None:
        pool = self.pool
        removed = entry.size if pool.block is None else min(pool.block, entry.size)
        entry.size -= removed
        if entry.size <= EPS:
            self.remove(entry)
            self.free_slot(entry.slot)
            pool.evicted_entries += 1
        pool.cached -= removed
        pool.evicted_units += removed
        if self.m.hook is not None:
            self.m.hook.eviction(self.m, pool, entry, removed)
        if self.spill is not None:
            self._spill(entry, removed, self.spill)

    def _spill(self, entry: Entry, removed: float, rule: SpillRule) -> None:
        reader = self._describe(entry, removed)
        if not rule.when(reader, self._context):
            return
        work = fmax(rule.work(reader, self._context), 0.0)
        target = self.m.pools[rule.to]
        target.cache.make_room(0.0)
        target.cache.receive(entry, removed)
        self.pool.spills += 1
        self.m.stages[rule.via].start(Job(self.m.next_job(), None, work, self.m.now))

    def receive(self, source: Entry, units: float) -> None:
        """Units of an entry arrive from another pool."""
        entry = self.entries.get(source.key)
        if entry is None:
            entry = Entry(source.key, source.owner, 0.0, self._take_slot())
            entry.attrs = source.attrs
            self.entries[entry.key] = entry
        entry.size += units
        self._stamp(entry)
        self.pool.cached += units
