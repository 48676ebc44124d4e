"""Random session bodies of the fragment and what they run on, as records that can be shrunk (generators.md §10).

A body is a tree of statements drawn in any order and nesting: `random_programs` makes the program of
it, and keeps it in the fragment whatever the tree is, so that every part of it may be left out.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from serq.generators.random_terms import Term, number, random_amount, random_test, reading

# The parts of an iteration's cost: `random_programs.iteration_cost`.
Cost = tuple[int, int, int, int, int, int]
MEMORY, SLOTS, PLAIN = "kv", "reqs", "aux"
ATTRIBUTES = ("x", "y", "z")
SCRATCH = ("u", "v")
# What amounts read: those drawn more often stand more often.
READ = (
    *ATTRIBUTES * 3,
    *SCRATCH * 2,
    "computed",
    "cached",
    "serial",
    "turn_no",
    "now",
    "left",
    f"cached in {MEMORY}",
    f"cached in {MEMORY}",
    f"cached in {PLAIN}",
)
LASTING = (*ATTRIBUTES * 3, *SCRATCH, "computed", "serial", "turn_no")
SERVED = (*ATTRIBUTES, "remaining", "remaining", "residents", "decoders", "decoding")


@dataclass(frozen=True)
class See:
    """An observation."""

    value: Term


@dataclass(frozen=True)
class Let:
    """An assignment of a scratch attribute."""

    name: str
    value: Term


@dataclass(frozen=True)
class Wait:
    """A delay."""

    work: Term


@dataclass(frozen=True)
class Compute:
    """A run on the engine; it grows the memory where that is held, if it is to."""

    work: Term
    decode: bool = False
    grows: bool = True


@dataclass(frozen=True)
class Part:
    """The units a hold takes of a pool; `over` lets them be more than the pool has."""

    pool: str
    units: Term
    reserve: Term | None = None
    over: bool = False


@dataclass(frozen=True)
class Take:
    """A hold."""

    parts: tuple[Part, ...]
    body: Block
    reuse: Term | None = None
    cache: Term | None = None


@dataclass(frozen=True)
class If:
    """A branch."""

    test: Term
    then: Block
    other: Block = ()


@dataclass(frozen=True)
class Repeat:
    """A loop that counts: a while, or one that ends the session (`ending`)."""

    times: Term
    body: Block
    ending: bool = False


@dataclass(frozen=True)
class Stop:
    """The end of the session."""


Step = See | Let | Wait | Compute | Take | If | Repeat | Stop
Block = tuple[Step, ...]


@dataclass(frozen=True)
class Turn:
    """The values of one turn: what it waits before, and the attributes a body reads."""

    wait: int = 0
    x: int = 1
    y: int = 1
    z: int = 0


@dataclass(frozen=True)
class BodyCase:
    """A random program: the turns of each session, what they run on, the body of a turn.

    `pools` are those there are, in order of declaration; capacity of the memory is in blocks.
    `preset` gives a session's only turn to the session itself; `twice` takes two turns, whether
    there are two or not.
    """

    sessions: tuple[tuple[Turn, ...], ...]
    body: Block
    pools: tuple[str, ...] = ()
    budget: int = 4
    block: int = 1
    blocks: int = 4
    slots: int = 1
    plain: int = 1
    chunk: int = 0
    lifted: bool = False
    cost: Cost = (1, 0, 0, 0, 0, 0)
    keyed: str = ""
    key: Term = field(default_factory=lambda: number(0))
    only: Term | None = None
    preset: bool = False
    twice: bool = False

    def capacity(self, pool: str) -> int:
        """The units of a pool."""
        return {MEMORY: self.blocks * self.block, SLOTS: self.slots, PLAIN: self.plain}[pool]


def random_body_case(d: random.Random, cost: Cost) -> BodyCase:
    """A random program with an iteration's cost."""
    pools = [p for p, chance in ((MEMORY, 0.92), (SLOTS, 0.75), (PLAIN, 0.6)) if d.random() < chance]
    d.shuffle(pools)
    keyed = [p for p in pools if p != MEMORY]
    return BodyCase(
        sessions=tuple(_turns(d) for _ in range(d.choice((2, 3, 3)))),
        body=_Drawer(d, pools).body(),
        pools=tuple(pools),
        budget=d.choice((3, 4, 6, 8)),
        block=d.choice((1, 1, 2, 2, 3)),
        blocks=d.choice((3, 3, 4, 5)),
        slots=d.choice((1, 2, 3, 3)),
        plain=d.choice((1, 2, 3, 3)),
        chunk=d.choice((0, 0, 1, 2, 3)),
        lifted=d.random() < 0.4,
        cost=cost,
        keyed=d.choice(keyed) if keyed and d.random() < 0.6 else "",
        key=random_amount(d, (*LASTING, "cached", "now", "left", f"cached in {MEMORY}"), plain=True),
        only=random_test(d, SERVED, plain=True) if d.random() < 0.1 else None,
        preset=d.random() < 0.2,
        twice=d.random() < 0.2,
    )


def _turns(d: random.Random) -> tuple[Turn, ...]:
    return tuple(
        Turn(d.choice((0, 0, 1, 2, 4)), d.randint(1, 5), d.randint(0, 4), d.randint(0, 3))
        for _ in range(d.choice((1, 1, 2)))
    )


def cached_pools(block: Block) -> frozenset[str]:
    """The pools that some hold with a cache clause takes."""
    found: frozenset[str] = frozenset()
    for step in block:
        match step:
            case Take(parts=parts, body=body, cache=cache):
                names = () if cache is None else (p.pool for p in parts)
                found = found.union(names, cached_pools(body))
            case Repeat(body=body):
                found |= cached_pools(body)
            case If(then=then, other=other):
                found |= cached_pools(then) | cached_pools(other)
    return found


class _Drawer:
    """Draws a body; `left` is how many statements it may still have."""

    def __init__(self, d: random.Random, pools: Sequence[str]) -> None:
        self.d = d
        self.pools = pools
        self.left = d.randint(7, 12)
        absent = {f"cached in {p}" for p in (MEMORY, SLOTS, PLAIN) if p not in pools}
        self.read = tuple(n for n in READ if n not in absent)

    def body(self) -> Block:
        """The body of a turn, with a hold if there is a pool."""
        found = list(self._block(frozenset(), 0, self.d.randint(1, 2)))
        for _ in range(self.d.choice((1, 1, 2))):
            more = self._take(frozenset(), 0) if self.pools else self._compute()
            found.insert(self.d.randint(0, len(found)), more)
        if MEMORY in self.pools and self.d.random() < 0.6:
            found.insert(self.d.randint(0, len(found)), self._contended())
        return tuple(found)

    def _contended(self) -> Take:
        """A hold of the memory in which a newer holder is in a delay, or computes what needs no memory, while
        an older one grows."""
        d = self.d
        # Who came later mostly lasts longer.
        lasting = Term("add", (number(1), Term("mul", (reading("serial"), number(2)))))
        first = Wait(lasting) if d.random() < 0.4 else Compute(lasting, decode=True, grows=False)
        most = Compute(number(d.randint(4, 12)), d.random() < 0.2)
        last: Step = Compute(reading("y"), decode=True)
        if PLAIN in self.pools and d.random() < 0.75:
            last = Take((Part(PLAIN, number(1)),), (last,))
        return Take((Part(MEMORY, number(d.randint(1, 3))),), (first, most, last))

    def _block(self, held: frozenset[str], depth: int, most: int) -> Block:
        found: list[Step] = []
        for _ in range(most):
            if self.left <= 0:
                break
            self.left -= 1
            found.append(self._step(held, depth))
        return tuple(found)

    def _step(self, held: frozenset[str], depth: int) -> Step:
        d = self.d
        weights = {"see": 2.0, "let": 2.0, "wait": 1.5, "compute": 4.0}
        if depth < 3:
            weights |= {"if": 2.0, "repeat": 1.5}
        if len(held) < 3 and depth < 3 and set(self.pools) - held:
            weights["take"] = 4.0
        match d.choices(list(weights), list(weights.values()))[0]:
            case "see":
                return See(random_amount(d, self.read))
            case "let":
                return Let(d.choice(SCRATCH), random_amount(d, self.read))
            case "wait":
                return Wait(random_amount(d, self.read, depth=1))
            case "compute":
                return self._compute()
            case "if":
                return self._branch(held, depth)
            case "repeat":
                return self._repeat(held, depth, d.random() < 0.25)
            case _:
                return self._take(held, depth)

    def _compute(self) -> Compute:
        d = self.d
        return Compute(random_amount(d, self.read), d.random() < 0.5, d.random() < 0.85)

    def _branch(self, held: frozenset[str], depth: int) -> If:
        d = self.d
        then = self._block(held, depth + 1, d.randint(1, 2))
        if d.random() < 0.2:
            then = (*then, Stop())
        other = self._block(held, depth + 1, d.randint(1, 2)) if d.random() < 0.5 else ()
        return If(random_test(d, self.read), then, other)

    def _repeat(self, held: frozenset[str], depth: int, ending: bool) -> Repeat:
        d = self.d
        times = number(2) if d.random() < 0.5 else Term("min", (reading(d.choice(ATTRIBUTES)), number(3)))
        return Repeat(times, self._block(held, depth + 1, d.randint(1, 2)), ending)

    def _take(self, held: frozenset[str], depth: int) -> Take:
        """A hold of some of the pools that are not held; what is inside often grows the memory."""
        d = self.d
        free = [p for p in self.pools if p not in held]
        # A second hold inside the first takes one pool more, a third none.
        chosen = d.sample(free, d.randint(1, min(2, len(free))))
        nested = frozenset(self.pools) if held else held.union(chosen)
        body = list(self._block(nested, depth + 1, d.randint(1, 3)))
        if MEMORY in chosen:
            for step, chance in self._filling():
                if d.random() < chance:
                    body.insert(d.randint(0, len(body)), step)
        elif d.random() < 0.8 or not body:
            body.insert(d.choice((0, len(body))), self._compute())
        caching = d.random() < 0.55
        reuse = random_amount(d, self.read, depth=1) if caching and d.random() < 0.4 else None
        cache = random_amount(d, (*self.read, *ATTRIBUTES)) if caching else None
        return Take(tuple(self._part(p) for p in chosen), tuple(body), reuse, cache)

    def _filling(self) -> tuple[tuple[Step, float], ...]:
        """What makes sessions contend for the memory: runs that take much of it, and a delay."""
        more = Term("add", (reading("x"), reading(self.d.choice(ATTRIBUTES))))
        return (
            (Compute(more), 0.6),
            (Compute(reading("x"), decode=True), 0.7),
            (Wait(reading("x")), 0.3),
        )

    def _part(self, pool: str) -> Part:
        d = self.d
        if d.random() < 0.07:
            return Part(pool, random_amount(d, LASTING, depth=1), over=True)
        if d.random() < (0.5 if pool == MEMORY else 0.7):
            return Part(pool, number(1))
        if d.random() < 0.3:
            return Part(pool, reading(d.choice(ATTRIBUTES)))
        reserve = random_amount(d, self.read, depth=1) if d.random() < 0.3 else None
        return Part(pool, random_amount(d, self.read), reserve)
