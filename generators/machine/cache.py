"""Cached prefixes, as `lean/Serq/Model/Cache.lean` has them: consumed, evicted, kept.

Entries are in release order, so the first is the least recently released.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from serq.generators.machine.expressions import less, round_down, round_up
from serq.generators.machine.lists import without
from serq.generators.machine.state import Entry, Pool

Entries = tuple[Entry, ...]
Amount = Callable[[int], int]


def consume(i: int, amount: Amount, entries: Entries) -> tuple[int, Entries]:
    """How much of a session's own entry is consumed, and the entries left; the remainder stays, dead."""
    for k, e in enumerate(entries):
        if e.owner == i:
            taken = amount(e.size)
            left = less(e.size, taken)
            remainder = (replace(e, owner=None, size=left),) if left else ()
            return taken, (*entries[:k], *remainder, *entries[k + 1 :])
    return 0, entries


def consumed(block: int, bound: int | None, size: int) -> int:
    """What an admission consumes of an entry: its whole blocks, within the bound if there is one."""
    return round_down(block, size if bound is None else min(bound, size))


def evict(cap: int, block: int, allocated: int, need: int, entries: Entries) -> Entries:
    """The entries left when blocks are evicted until the need fits, or nothing is cached.

    An entry loses all the blocks it must at once; Lean proves this equal to going block by block.
    """
    total = sum(e.size for e in entries)
    for k, e in enumerate(entries):
        over = less(allocated + total + need, cap)
        if not over:
            return entries[k:]
        if e.size > round_up(block, over):
            return (replace(e, size=e.size - round_up(block, over)), *entries[k + 1 :])
        total -= e.size
    return ()


def make_room(pool: Pool, cap: int, block: int, need: int) -> Pool:
    """A pool after making room for so many more units."""
    return replace(pool, entries=evict(cap, block, pool.allocated, need, pool.entries))


def keep(i: int, size: int, time: int, number: int, entries: Entries) -> Entries:
    """The entries after a session keeps so many units, stamped with the release."""
    others = tuple(e for e in entries if e.owner != i)
    return (*others, Entry(i, size, time, number))


def take(pool: Pool, cap: int, block: int, i: int, units: int, amount: Amount | None) -> tuple[int, Pool]:
    """A pool from which a session takes units after consuming its own prefix; with the amount consumed."""
    own, entries = (0, pool.entries) if amount is None else consume(i, amount, pool.entries)
    room = make_room(replace(pool, entries=entries), cap, block, units)
    return own, replace(room, allocated=room.allocated + units, holders=(*room.holders, i))


def give_back(pool: Pool, i: int, units: int, kept: int, time: int, number: int) -> Pool:
    """A pool to which a session gives back units, keeping some of them cached."""
    return replace(
        pool,
        allocated=less(pool.allocated, units),
        holders=without(i, pool.holders),
        entries=keep(i, kept, time, number, pool.entries) if kept else pool.entries,
    )
