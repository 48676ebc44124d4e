"""Nodes of the syntax tree: statements of sessions and servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from serq.lang.tree.expressions import Expr, Name, Node, Ref

# Statements


@dataclass(frozen=True, slots=True)
class Block(Node):
    """`{ statement* }`."""

    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Turn(Node):
    """`turn;`"""


@dataclass(frozen=True, slots=True)
class SizeSet(Node):
    """`Size x = e;`"""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class CostSet(Node):
    """`Cost x = e;`"""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class CostField(Node):
    """`resource : value` in a cost record."""

    resource: Ref
    value: Expr


@dataclass(frozen=True, slots=True)
class CostRecord(Node):
    """`Cost x = { R : e, ... };`"""

    name: Name
    fields: tuple[CostField, ...]


@dataclass(frozen=True, slots=True)
class Set(Node):
    """`set x = e;`, in a session, a server or a schedule."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Observe(Node):
    """`observe x = e;`"""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Take(Node):
    """`pool (units) [reserve (reserve)]`: what a hold or an admission takes of one pool."""

    pool: Ref
    units: Expr
    reserve: Expr | None


@dataclass(frozen=True, slots=True)
class Binding(Node):
    """`x = e` of an `at admission`."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Lease(Node):
    """`lease pool (duration)`."""

    pool: Ref
    duration: Expr


@dataclass(frozen=True, slots=True)
class Hold(Node):
    """`hold take, ... [reuse (e)] [at admission (x = e, ...)] block [cache (e)] [lease P (e)]`."""

    takes: tuple[Take, ...]
    reuse: Expr | None
    bindings: tuple[Binding, ...]
    body: Block
    cache: Expr | None
    lease: Lease | None


@dataclass(frozen=True, slots=True)
class Grow(Node):
    """`grow pool (amount);`"""

    pool: Ref
    amount: Expr


@dataclass(frozen=True, slots=True)
class Drop(Node):
    """`drop pool;`"""

    pool: Ref


@dataclass(frozen=True, slots=True)
class Release(Node):
    """`release pool;`"""

    pool: Ref


@dataclass(frozen=True, slots=True)
class Load(Node):
    """`load pool (amount);`"""

    pool: Ref
    amount: Expr


Mode = Literal["prefill", "decode"]


@dataclass(frozen=True, slots=True)
class Run(Node):
    """`run stage, ... [mode] (work) [growing pool];`; no stage means the queue's own."""

    stages: tuple[Ref, ...]
    mode: Mode | None
    work: Expr
    growing: Ref | None


@dataclass(frozen=True, slots=True)
class EngineRun(Node):
    """`prefill (amount) [growing pool];` or `decode ...`, in an engine's request."""

    mode: Mode
    amount: Expr
    growing: Ref | None


@dataclass(frozen=True, slots=True)
class Branch(Node):
    """`branch (test) block [else block]`; `drawn` when written `branch with (probability)`."""

    test: Expr
    drawn: bool
    then: Block
    otherwise: Block | None


@dataclass(frozen=True, slots=True)
class While(Node):
    """`while (test) block`."""

    test: Expr
    body: Block


@dataclass(frozen=True, slots=True)
class Loop(Node):
    """`loop block`."""

    body: Block


@dataclass(frozen=True, slots=True)
class Fork(Node):
    """`fork block`."""

    body: Block


@dataclass(frozen=True, slots=True)
class Join(Node):
    """`join;`"""


@dataclass(frozen=True, slots=True)
class Choose(Node):
    """`choose x in count by (key, ...);`"""

    name: Name
    count: Expr
    keys: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class End(Node):
    """`end;`"""


@dataclass(frozen=True, slots=True)
class Delivery(Node):
    """`to pool (amount)` of an entry call."""

    pool: Ref
    amount: Expr


@dataclass(frozen=True, slots=True)
class EntryCall(Node):
    """`Q[i].verb (a, ...) [from P[j]] [to pool (e)];`; `queue` has no members."""

    queue: Ref
    verb: Name
    arguments: tuple[Expr, ...]
    source: Ref | None
    to: Delivery | None


@dataclass(frozen=True, slots=True)
class CallStatement(Node):
    """`f (a, ...);`: a statement `def`, or the request of an engine named `f`."""

    function: Name
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Mark(Node):
    """`mark x;`"""

    name: Name


@dataclass(frozen=True, slots=True)
class Transfer(Node):
    """`transfer [[index] | on stage, ...] work from source to target (amount);`"""

    index: Expr | None
    stages: tuple[Ref, ...]
    work: Expr
    source: Ref
    target: Ref
    amount: Expr


@dataclass(frozen=True, slots=True)
class Tool(Node):
    """`tool [[index] | on stage, ...] work;`"""

    index: Expr | None
    stages: tuple[Ref, ...]
    work: Expr


Statement = (
    Turn
    | SizeSet
    | CostSet
    | CostRecord
    | Set
    | Observe
    | Hold
    | Grow
    | Drop
    | Release
    | Load
    | Run
    | EngineRun
    | Branch
    | While
    | Loop
    | Fork
    | Join
    | Choose
    | End
    | EntryCall
    | CallStatement
    | Mark
    | Transfer
    | Tool
)


# The statements that give an attribute, or in a schedule a register, its value.
Assignment = Set | SizeSet | CostSet | CostRecord | Choose
ASSIGNMENTS: tuple[type[Assignment], ...] = (Set, SizeSet, CostSet, CostRecord, Choose)
