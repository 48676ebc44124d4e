"""Nodes of the syntax tree: the workload and the server, gauges and claims, and whole texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from serq.lang.tree.deployment import Device, Engine, Pool, Queue, Relation, Share, Stage
from serq.lang.tree.expressions import Expr, Let, Name, Node, Num, Ref, Text
from serq.lang.tree.statements import Block

# The workload and the server


@dataclass(frozen=True, slots=True)
class Arrive(Node):
    """`arrive law (e);`; `value` is None for `none` only."""

    law: Literal["poisson", "renewal", "closed", "batch", "none"]
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Trace(Node):
    """`trace "file" [ordered];`"""

    path: Text
    ordered: bool


@dataclass(frozen=True, slots=True)
class InitBlock(Node):
    """`init block`."""

    body: Block


@dataclass(frozen=True, slots=True)
class TurnBlock(Node):
    """`turn block`."""

    body: Block


@dataclass(frozen=True, slots=True)
class Session(Node):
    """`session block`; refused outside a workload."""

    body: Block


@dataclass(frozen=True, slots=True)
class Hidden(Node):
    """`hidden x, ...;`"""

    names: tuple[Name, ...]


WorkloadItem = Arrive | Trace | InitBlock | TurnBlock | Session | Hidden


@dataclass(frozen=True, slots=True)
class Workload(Node):
    """`workload { item* }`."""

    items: tuple[WorkloadItem, ...]


@dataclass(frozen=True, slots=True)
class Server(Node):
    """`server block`."""

    body: Block


# Claims and gauges


@dataclass(frozen=True, slots=True)
class Gauge(Node):
    """`gauge x = e;`"""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Claim(Node):
    """`claim x [given (e)] : every iteration of S (e);`, `some iteration of S (e)` or `at end (e)`."""

    name: Name
    given: Expr | None
    form: Literal["every", "some", "end"]
    stage: Ref | None
    property: Expr


# Programs


@dataclass(frozen=True, slots=True)
class ExprDef(Node):
    """`def f(p, ...) { e }`: a name for an expression."""

    name: Name
    parameters: tuple[Name, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class BlockDef(Node):
    """`def f(p, ...) block`: a name for statements, possibly none."""

    name: Name
    parameters: tuple[Name, ...]
    body: Block


Def = ExprDef | BlockDef


@dataclass(frozen=True, slots=True)
class Use(Node):
    """`use "path";`"""

    path: Text


@dataclass(frozen=True, slots=True)
class Setting(Node):
    """`horizon e;` of a `run { ... }`: one of `horizon`, `warmup`, `seed`, `arrivals`."""

    name: Name
    value: Num


@dataclass(frozen=True, slots=True)
class Settings(Node):
    """`run { setting* }`: part of an instance, refused in a model."""

    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Fn(Node):
    """`fn NAME (p, ...) { item* }`; only one `fn main()` is well formed."""

    name: Name
    parameters: tuple[Name, ...]
    items: tuple[Item, ...]


Item = (
    Let
    | ExprDef
    | BlockDef
    | Use
    | Pool
    | Stage
    | Device
    | Engine
    | Workload
    | Server
    | Session
    | Queue
    | Relation
    | Share
    | Gauge
    | Claim
    | Settings
    | Fn
)


@dataclass(frozen=True, slots=True)
class Program(Node):
    """A file: what precedes its first `fn`, that function (None in a library), what follows it.

    A well-formed program has only `Let`, `Def` and `Use` in `prelude`, a `main` of that name and
    nothing in `rest`.
    """

    file: str | None
    prelude: tuple[Item, ...]
    main: Fn | None
    rest: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Instance(Node):
    """An instance file: bindings of inputs and at most one `run { ... }`."""

    file: str | None
    bindings: tuple[Let, ...]
    settings: Settings | None
