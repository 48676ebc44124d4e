"""Random streams (rng.md): ChaCha with 12 rounds, seeded from 64 bits, drawn a block at a time.

Numpy computes many blocks at once: the first blocks of many streams (`StreamBank`)
or many blocks of one (`unit_stream`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]

MACHINE = 0x5851F42D4C957F2D
EVICTION = 0x2545F4914F6CDD1D
TRACE = 0x6A09E667F3BCC908
WORKLOAD_KIND, SESSION_KIND, LEG_KIND = 1, 2, 3

_MASK = (1 << 64) - 1
_CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)
_EARLY = 8
_EARLY_BITS = 8
_LATE_LANES = 64
_MOST_BLOCKS = 512
_KEPT_CHUNKS = 256


def mix(x: int) -> int:
    """The splitmix64 step (rng.md §2.1)."""
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def _mix_many(x: U64) -> U64:
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def substream(seed: int, a: int, b: int, kind: int) -> int:
    """The seed of a session's, turn's or leg's stream (rng.md §2)."""
    h = mix(seed & _MASK)
    for part in (a, b, kind):
        h = mix(h ^ part)
    return h


def keys(seeds: U64) -> U32:
    """Eight key words per seed (rng.md §1.1), shape (8, n)."""
    state = seeds.copy()
    words = np.empty((8, len(seeds)), dtype=np.uint32)
    for k in range(8):
        state = state * np.uint64(6364136223846793005) + np.uint64(11634580027462260723)
        folded = (((state >> np.uint64(18)) ^ state) >> np.uint64(27)).astype(np.uint32)
        turn = (state >> np.uint64(59)).astype(np.uint32)
        words[k] = (folded >> turn) | (folded << ((np.uint32(32) - turn) & np.uint32(31)))
    return words


def _quarter(a: U32, b: U32, c: U32, d: U32) -> tuple[U32, U32, U32, U32]:
    a = a + b
    d = d ^ a
    d = (d << np.uint32(16)) | (d >> np.uint32(16))
    c = c + d
    b = b ^ c
    b = (b << np.uint32(12)) | (b >> np.uint32(20))
    a = a + b
    d = d ^ a
    d = (d << np.uint32(8)) | (d >> np.uint32(24))
    c = c + d
    b = b ^ c
    b = (b << np.uint32(7)) | (b >> np.uint32(25))
    return a, b, c, d


def blocks(key: U32, counters: U64) -> U32:
    """The block function (rng.md §1.2): key (8, n) and counters (n) to words (16, n)."""
    n = len(counters)
    start = np.zeros((16, n), dtype=np.uint32)
    start[:4] = np.array(_CONSTANTS, dtype=np.uint32)[:, None]
    start[4:12] = key
    start[12] = counters.astype(np.uint32)
    start[13] = (counters >> np.uint64(32)).astype(np.uint32)
    a, b, c, d = start[0:4], start[4:8], start[8:12], start[12:16]
    for _ in range(6):
        a, b, c, d = _quarter(a, b, c, d)
        # The diagonals become columns when each row is rotated by its number.
        b, c, d = b[[1, 2, 3, 0]], c[[2, 3, 0, 1]], d[[3, 0, 1, 2]]
        a, b, c, d = _quarter(a, b, c, d)
        b, c, d = b[[3, 0, 1, 2]], c[[2, 3, 0, 1]], d[[1, 2, 3, 0]]
    return np.concatenate((a, b, c, d)) + start


def units(words: U32) -> Any:
    """Unit draws in [0, 1) of whole blocks (rng.md §1.3), shape (8, n)."""
    wide = words.astype(np.uint64)
    joined = wide[0::2] | (wide[1::2] << np.uint64(32))
    return (joined >> np.uint64(11)).astype(np.float64) * 2.0**-53


class WordStream:
    """A stream read a 32-bit word at a time."""

    def __init__(self, seed: int) -> None:
        self._key = keys(np.array([seed & _MASK], dtype=np.uint64))
        self._next_block = 0
        self._words: list[int] = []
        self._at = 0

    def u32(self) -> int:
        """The next word."""
        if self._at == len(self._words):
            counters = np.arange(self._next_block, self._next_block + _LATE_LANES, dtype=np.uint64)
            self._words = blocks(self._key, counters).T.reshape(-1).tolist()
            self._next_block += _LATE_LANES
            self._at = 0
        self._at += 1
        return self._words[self._at - 1]

    def below(self, n: int) -> int:
        """A whole number in [0, n), 32-bit (rng.md §1.3)."""
        product = self.u32() * n
        high, low = product >> 32, product & 0xFFFFFFFF
        if low > (1 << 32) - n:
            high += (low + ((self.u32() * n) >> 32)) >> 32
        return high


Unit = Callable[[], float]


def unit_stream(seed: int, first: list[float] | None = None) -> Unit:
    """A stream read a unit draw at a time: a call gives the next draw in [0, 1).

    `first` are the draws of block 0 when they are known already.
    """
    return chain.from_iterable(_draws(seed, first)).__next__


def _draws(seed: int, first: list[float] | None) -> Iterator[list[float]]:
    """Ever longer lists of a stream's draws."""
    block = 0
    if first is not None:
        yield first
        block = 1
    key = keys(np.array([seed & _MASK], dtype=np.uint64))
    count = 4
    while True:
        counters = np.arange(block, block + count, dtype=np.uint64)
        draws: list[float] = units(blocks(key, counters)).T.reshape(-1).tolist()
        yield draws
        block += count
        count = min(2 * count, _MOST_BLOCKS)


class _Chunk:
    """The seeds and first draws of neighbouring streams; `left` are still to be opened."""

    __slots__ = ("draws", "left", "seeds", "start")

    def __init__(self, seeds: U64, start: int) -> None:
        zero = np.zeros(len(seeds), dtype=np.uint64)
        self.start = start
        self.left = len(seeds)
        self.seeds: list[int] = seeds.tolist()
        self.draws: list[list[float]] = units(blocks(keys(seeds), zero)).T.tolist()


class StreamBank:
    """The streams of sessions, turns and legs; first blocks are computed for many neighbours at once.

    Early turns of neighbouring sessions are neighbours, and so are the later turns
    of one session. Every stream is opened once, so a chunk goes when all of it has been.
    """

    def __init__(self, seed: int) -> None:
        self._mixed = np.uint64(mix(seed & _MASK))
        self._early: dict[int, _Chunk] = {}
        self._late: dict[int, _Chunk] = {}

    def open(self, kind: int, serial: int, part: int) -> Unit:
        """The stream of a session's turn (`WORKLOAD_KIND`), statements or leg."""
        if part > _EARLY:
            return self._open_late(kind, serial, part)
        # One whole number per chunk: its first serial, the part and the kind.
        key = serial >> _EARLY_BITS << 6 | part << 2 | kind
        chunk = self._early.get(key)
        if chunk is None:
            chunk = self._open_early(kind, serial, part, key)
        chunk.left = left = chunk.left - 1
        if not left:
            self._early.pop(key, None)
        lane = serial - chunk.start
        return unit_stream(chunk.seeds[lane], chunk.draws[lane])

    def _open_early(self, kind: int, serial: int, part: int, key: int) -> _Chunk:
        start = serial >> _EARLY_BITS << _EARLY_BITS
        lanes = np.arange(start, start + (1 << _EARLY_BITS), dtype=np.uint64)
        chunk = _Chunk(self._seeds(lanes, np.uint64(part), kind), start)
        self._early[key] = chunk
        if len(self._early) > _KEPT_CHUNKS:
            del self._early[next(iter(self._early))]
        return chunk

    def _open_late(self, kind: int, serial: int, part: int) -> Unit:
        chunk = self._late.get(kind + 4 * serial)
        if chunk is None or not chunk.start <= part < chunk.start + _LATE_LANES:
            parts = np.arange(part, part + _LATE_LANES, dtype=np.uint64)
            chunk = _Chunk(self._seeds(np.uint64(serial), parts, kind), part)
            self._late[kind + 4 * serial] = chunk
        return unit_stream(chunk.seeds[part - chunk.start], chunk.draws[part - chunk.start])

    def forget(self, serial: int) -> None:
        """A session has ended: no later turn of it will be drawn."""
        if self._late:
            self._late.pop(WORKLOAD_KIND + 4 * serial, None)
            self._late.pop(LEG_KIND + 4 * serial, None)

    def _seeds(self, serial: U64 | np.uint64, part: U64 | np.uint64, kind: int) -> U64:
        mixed = _mix_many(np.atleast_1d(self._mixed ^ serial))
        return _mix_many(_mix_many(mixed ^ part) ^ np.uint64(kind))
