"""The terms of the Lean model as data: what a program of the fragment becomes before it is text.

Each class mirrors a constructor or structure of `lean/Serq/Model/{Expr,Program}.lean`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Op = Literal["add", "sub", "mul", "div", "ceil", "min", "max", "lt", "le", "eq", "ne", "and", "or"]


@dataclass(frozen=True)
class Lit:
    """A natural number."""

    value: int


@dataclass(frozen=True)
class Var:
    """A variable of the moment: `attr` of a slot (`residentAttr` in an `only`), `cachedIn` and `queued`
    of a pool, or a bare name.
    """

    name: str
    index: int | None = None


@dataclass(frozen=True)
class Bin:
    """An operation on two numbers; `div` rounds down, `ceil` up."""

    op: Op
    left: Term
    right: Term


@dataclass(frozen=True)
class Not:
    """1 for 0, else 0."""

    arg: Term


@dataclass(frozen=True)
class If:
    """A conditional."""

    test: Term
    yes: Term
    no: Term


Term = Lit | Var | Bin | Not | If


@dataclass(frozen=True)
class Need:
    """What a hold takes of one pool."""

    pool: int
    units: Term
    reserve: Term | None = None


@dataclass(frozen=True)
class Assign:
    """Set an attribute."""

    slot: int
    value: Term


@dataclass(frozen=True)
class See:
    """Record an observation."""

    name: int
    value: Term


@dataclass(frozen=True)
class NextTurn:
    """Take the next turn."""


@dataclass(frozen=True)
class Choice:
    """One block or the other."""

    test: Term
    yes: Block
    no: Block


@dataclass(frozen=True)
class Forever:
    """Repeat a block; nothing follows."""

    body: Block


@dataclass(frozen=True)
class Repeat:
    """Repeat a block while a guard is not 0."""

    test: Term
    body: Block


@dataclass(frozen=True)
class Work:
    """A run: in a delay, or on the engine, where it may grow the memory."""

    place: Literal["delay", "prefill", "decode"]
    work: Term
    grows: bool = False


@dataclass(frozen=True)
class Hold:
    """Acquire, run the body, release."""

    needs: tuple[Need, ...]
    body: Block
    reuse: Term | None = None
    cache: Term | None = None


@dataclass(frozen=True)
class Finish:
    """End the session; nothing follows."""


Statement = Assign | See | NextTurn | Choice | Forever | Repeat | Work | Hold | Finish
Block = tuple[Statement, ...]


@dataclass(frozen=True)
class PoolSpec:
    """A pool."""

    cap: int
    block: int = 1
    by_engine: bool = False
    key: Term | None = None


@dataclass(frozen=True)
class Deployment:
    """The pools and the engine."""

    pools: tuple[PoolSpec, ...]
    budget: int
    chunk: Term
    memory: int | None
    cost: Term
    only: Term | None = None


Values = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Client:
    """What a session starts with, and its turns."""

    presets: Values = ()
    turns: tuple[Values, ...] = ()


@dataclass(frozen=True)
class Slots:
    """The slots the machine itself writes."""

    turn: int
    more: int
    computed: int


@dataclass(frozen=True)
class Translated:
    """A program of the fragment, with the names its text uses and the digest of its IR."""

    attrs: tuple[str, ...]
    pool_names: tuple[str, ...]
    observes: tuple[str, ...]
    deployment: Deployment
    clients: tuple[Client, ...]
    slots: Slots
    code: Block
    horizon: int | None
    digest: str
