"""What a walk of the session records: readings of expressions and passes of statements, each with its condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from serq.check.encoder import Watched
from serq.check.solver import Fact
from serq.check.terms import Term
from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir import statements as st


@dataclass(frozen=True, eq=False)
class Scope:
    """A hold around a statement: where it stands and what it takes.

    `own` is the cached prefix it started from; `computed` what its growing runs have computed
    so far and `added` what `grow` has added, by position among its pools.
    """

    hold: st.Hold
    path: IrPath
    units: tuple[Term, ...]
    reserves: tuple[Term | None, ...]
    own: Term
    computed: Mapping[int, Term]
    added: Mapping[int, Term]
    outer: Scope | None

    def chain(self) -> list[Scope]:
        """This hold and those around it, from the inside."""
        result, scope = [], self
        current: Scope | None = scope
        while current is not None:
            result.append(current)
            current = current.outer
        return result


@dataclass(frozen=True, eq=False)
class State:
    """A session at a point of its way: attributes, which were assigned, when it gets here, the holds around it."""

    attrs: Mapping[int, Term]
    assigned: Mapping[int, Fact]
    live: Fact
    scope: Scope | None = None
    progress: Fact = field(default_factory=lambda: Fact(False, lambda v: False))
    turns: int = 0
    cached_before: bool = False


@dataclass(frozen=True, eq=False)
class Reading:
    """An expression of a statement, its value, and the state it is read in."""

    path: IrPath
    role: str
    expr: ex.Expr
    term: Term
    state: State
    stmt: st.Stmt
    ref: ex.CRef | None = None
    watched: tuple[Watched, ...] = ()


@dataclass(frozen=True, eq=False)
class Point:
    """A state in which the session may be preempted: in a run of some work, or waiting elsewhere.

    `engine` says that the run is at an engine; `growing` which pool it grows.
    """

    state: State
    work: Term | None = None
    growing: ex.CRef | None = None
    engine: bool = False


@dataclass(frozen=True, eq=False)
class Growth:
    """A statement that enlarges a hold: the hold as it then stands, and which of its pools."""

    path: IrPath
    scope: Scope
    part: int
    state: State


@dataclass(frozen=True, eq=False)
class Passing:
    """The end of a pass through a loop's body: whether another one follows, whether time passed."""

    path: IrPath
    state: State
    again: Fact
