"""Statements of the IR (004, *Statements (CStmt)*) as immutable models.

Bodies are block indices into `Program.blocks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from serq.ir.expressions import CRef, Expr, Node


class Stmt(Node):
    """Base of all statements."""


class Turn(Stmt):
    """Draw the next turn's attributes."""


class End(Stmt):
    """End the session."""


class Join(Stmt):
    """Wait until every leg the session forked has ended."""


class Set(Stmt):
    """Assign an attribute."""

    slot: int
    value: Expr


class Observe(Stmt):
    """Record a sample of an observation."""

    observe: int
    value: Expr


class HoldPool(Node):
    """One pool of a hold: what it takes, and what must have room."""

    pool: CRef
    units: Expr
    reserve: Expr | None = None


class Lease(Node):
    """The pool whose allocation outlives the hold, and for how long at most."""

    pool: CRef
    duration: Expr


class Hold(Stmt):
    """Acquire, run the body, release."""

    pools: tuple[HoldPool, ...]
    reuse: Expr | None = None
    body: int
    cache: Expr | None = None
    lease: Lease | None = None


class Grow(Stmt):
    """Enlarge the innermost hold of a pool."""

    pool: CRef
    amount: Expr


class Drop(Stmt):
    """Discard the session's own cached prefix."""

    pool: CRef


class Release(Stmt):
    """Give a hold's allocation back now, or end a lease."""

    pool: CRef


class Load(Stmt):
    """Computed tokens arrived from outside."""

    pool: CRef
    amount: Expr


Mode = Literal["Plain", "Prefill", "Decode"]


class Run(Stmt):
    """Work at a stage, or at several at once."""

    stage: CRef
    mode: Mode
    work: Expr
    growing: CRef | None = None
    also: tuple[CRef, ...] = ()


class Branch(Stmt):
    """`then` for 1, `other` for 0."""

    guard: Expr
    then: int
    other: int


class Loop(Stmt):
    """Repeat a body."""

    body: int


class While(Stmt):
    """Repeat a body while its guard is 1."""

    guard: Expr
    body: int


class Choose(Stmt):
    """The index below `count` with the least keys."""

    var: int
    count: Expr
    key: tuple[Expr, ...]


class Fork(Stmt):
    """Run a body beside the session."""

    body: int


def bodies(stmt: Stmt) -> tuple[int, ...]:
    """The blocks directly inside a statement."""
    inside = _BODIES.get(type(stmt))
    return () if inside is None else inside(stmt)


_BODIES: dict[type[Stmt], Callable[[Any], tuple[int, ...]]] = {
    Hold: lambda s: (s.body,),
    Loop: lambda s: (s.body,),
    While: lambda s: (s.body,),
    Fork: lambda s: (s.body,),
    Branch: lambda s: (s.then, s.other),
}


def assigned(stmt: Stmt) -> int | None:
    """The attribute slot a statement assigns, if any."""
    if isinstance(stmt, Set):
        return stmt.slot
    return stmt.var if isinstance(stmt, Choose) else None


def references(stmt: Stmt) -> Iterator[CRef]:
    """The pool and stage references of a statement, not those inside its expressions."""
    match stmt:
        case Hold(pools=pools, lease=lease):
            yield from (p.pool for p in pools)
            if lease is not None:
                yield lease.pool
        case Grow(pool=ref) | Drop(pool=ref) | Release(pool=ref) | Load(pool=ref):
            yield ref
        case Run(stage=stage, growing=growing, also=also):
            yield stage
            yield from also
            if growing is not None:
                yield growing
        case _:
            return
