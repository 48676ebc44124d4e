"""Nodes of the syntax tree: pools, stages, devices, engines, queues, and what joins them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from serq.lang.tree.expressions import Expr, Let, Name, Node, Ref
from serq.lang.tree.statements import Binding, Block, Set, Statement, Take

# Pools, stages and devices


@dataclass(frozen=True, slots=True)
class Cap(Node):
    """`cap e;`"""

    value: Expr


@dataclass(frozen=True, slots=True)
class BlockSize(Node):
    """`block e;`"""

    value: Expr


@dataclass(frozen=True, slots=True)
class Evict(Node):
    """`evict lru;` (no keys) or `evict by (key, ...);`"""

    keys: tuple[Expr, ...] | None


@dataclass(frozen=True, slots=True)
class Preempt(Node):
    """`preempt none;`, `preempt lifo;` or `preempt by (key, ...) [requeue head | requeue tail];`"""

    policy: Literal["none", "lifo", "by"]
    keys: tuple[Expr, ...]
    requeue: Literal["head", "tail"] | None


@dataclass(frozen=True, slots=True)
class QueueOrder(Node):
    """`queue fifo;` (no keys) or `queue by (key, ...);`"""

    keys: tuple[Expr, ...] | None


@dataclass(frozen=True, slots=True)
class ReserveHeld(Node):
    """`reserve held;`"""


@dataclass(frozen=True, slots=True)
class Spill(Node):
    """`spill pool via stage (work) when (test);`"""

    pool: Ref
    via: Ref
    work: Expr
    when: Expr


PoolOption = Cap | BlockSize | Evict | Preempt | QueueOrder | ReserveHeld | Spill


@dataclass(frozen=True, slots=True)
class Owner(Node):
    """`on NAME` (a device or an engine) or `on NAME.DEVICE` (an engine and its device)."""

    name: Name
    device: Name | None


@dataclass(frozen=True, slots=True)
class Pool(Node):
    """`pool NAME [size] [on owner] { option* }`."""

    name: Name
    size: Expr | None
    owner: Owner | None
    options: tuple[PoolOption, ...]


@dataclass(frozen=True, slots=True)
class Fifo(Node):
    """`fifo` or `fifo(servers)`."""

    servers: Expr | None


@dataclass(frozen=True, slots=True)
class Ps(Node):
    """`ps(capacity)`."""

    capacity: Expr


@dataclass(frozen=True, slots=True)
class Delay(Node):
    """`delay`."""


Kind = Fifo | Ps | Delay


@dataclass(frozen=True, slots=True)
class Stage(Node):
    """`stage NAME [size] : kind;`"""

    name: Name
    size: Expr | None
    kind: Kind


@dataclass(frozen=True, slots=True)
class TimeResource(Node):
    """`f (x, ...) = e;` of a device: a demand to time."""

    name: Name
    parameters: tuple[Name, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class Capacity(Node):
    """`NAME [size] cap e;` of a device or an engine."""

    name: Name
    size: Expr | None
    cap: Expr


@dataclass(frozen=True, slots=True)
class Device(Node):
    """`device NAME [size] { resource* }`."""

    name: Name
    size: Expr | None
    resources: tuple[TimeResource | Capacity, ...]


# Engines


@dataclass(frozen=True, slots=True)
class Tokens(Node):
    """`tokens cap e;`"""

    cap: Expr


@dataclass(frozen=True, slots=True)
class Granule(Node):
    """`granule e;`"""

    value: Expr


@dataclass(frozen=True, slots=True)
class State(Node):
    """`state NAME = e;`"""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Order(Node):
    """`admission`, `by (key, ...)` or `decode first` of an `advance running`."""

    kind: Literal["admission", "by", "decode first"]
    keys: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Advance(Node):
    """`advance running [only (e)] [order] [each at most (e)];`"""

    only: Expr | None
    order: Order | None
    at_most: Expr | None


@dataclass(frozen=True, slots=True)
class Taking(Node):
    """`taking take, ... [reuse (e)]` of an `admit waiting`."""

    takes: tuple[Take, ...]
    reuse: Expr | None


@dataclass(frozen=True, slots=True)
class Admit(Node):
    """`admit waiting [only (e)] [while (e)] [each at most (e)] [taking ...];`"""

    only: Expr | None
    gate: Expr | None
    at_most: Expr | None
    taking: Taking | None


@dataclass(frozen=True, slots=True)
class ExclusivePrefill(Node):
    """`exclusive prefill [each at most (e)];`"""

    at_most: Expr | None


@dataclass(frozen=True, slots=True)
class ScheduleBlock(Node):
    """`{ statement* }` of a schedule's `branch`."""

    statements: tuple[ScheduleStatement, ...]


@dataclass(frozen=True, slots=True)
class ScheduleBranch(Node):
    """`branch (test) { ... } [else { ... }]` of a schedule."""

    test: Expr
    then: ScheduleBlock
    otherwise: ScheduleBlock | None


ScheduleStatement = Advance | Admit | ExclusivePrefill | ScheduleBranch | Set


@dataclass(frozen=True, slots=True)
class Schedule(Node):
    """`schedule { let ... statement ... }`."""

    lets: tuple[Let, ...]
    statements: tuple[ScheduleStatement, ...]


@dataclass(frozen=True, slots=True)
class Execute(Node):
    """`execute (e);`"""

    value: Expr


@dataclass(frozen=True, slots=True)
class Admission(Node):
    """`at admission { x = e; ... }` of a request."""

    bindings: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class RequestCache(Node):
    """`cache (e);`, the last item of a request."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Request(Node):
    """`request (p, ...) { before at admission { ... } body cache (e); }`.

    Without an `at admission`, `before` is empty and every statement is in `body`.
    """

    parameters: tuple[Name, ...]
    before: tuple[Statement, ...]
    admission: Admission | None
    body: tuple[Statement, ...]
    cache: RequestCache | None


EngineItem = Capacity | Tokens | Granule | State | Schedule | Execute | Request


@dataclass(frozen=True, slots=True)
class Engine(Node):
    """`engine NAME [size] on DEVICE { item* }`; in a queue it has no name."""

    name: Name | None
    size: Expr | None
    device: Name
    items: tuple[EngineItem, ...]


# Queues and relations


@dataclass(frozen=True, slots=True)
class Serve(Node):
    """`serve kind [latency e];`"""

    kind: Kind
    latency: Expr | None


@dataclass(frozen=True, slots=True)
class Nic(Node):
    """`nic kind;`"""

    kind: Kind


@dataclass(frozen=True, slots=True)
class Entry(Node):
    """`verb [(p, ...)] [from QUEUE] block`."""

    verb: Name
    parameters: tuple[Name, ...]
    source: Name | None
    body: Block


QueueMember = Pool | Device | Engine | Serve | Nic | Entry


@dataclass(frozen=True, slots=True)
class Queue(Node):
    """`queue NAME [size] [: role, ...] { member* }`."""

    name: Name
    size: Expr | None
    roles: tuple[Name, ...]
    members: tuple[QueueMember, ...]


Policy = Literal["maxmin", "bottleneck"]


@dataclass(frozen=True, slots=True)
class Relation(Node):
    """`reader pull source ...` or `source push reader [latency e] share policy;`, as written."""

    kind: Literal["pull", "push"]
    reader: Name
    source: Name
    latency: Expr | None
    share: Policy


@dataclass(frozen=True, slots=True)
class Share(Node):
    """`share maxmin;` or `share bottleneck;`"""

    policy: Policy
