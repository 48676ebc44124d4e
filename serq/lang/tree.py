"""The syntax tree: one frozen dataclass per construct of the language's syntax table.

Nodes say what was written and where; they carry no logic. Sugar stays as written (a `tool`
is a `Tool`, not a run), parentheses are not kept, and comments are not part of the tree.
Every node starts with its `span`; every declared or mentioned name is a `Name` with its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from serq.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Node:
    """What every node has: the piece of the text it was read from."""

    span: Span


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name where it is declared or mentioned."""

    text: str


@dataclass(frozen=True, slots=True)
class Text(Node):
    """A string: a file name or the external name of an input, without its quotes."""

    value: str


# Expressions


@dataclass(frozen=True, slots=True)
class Num(Node):
    """A number; `text` is its spelling (`1_000`, `.5`)."""

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Ref(Node):
    """A name as it is read: `x`, `kv[i]`, `Q.kv`, `Q[i].kv`, `running.count`, `Q.nic.latency`, `P.nic[i]`.

    `index` is that of the first name, `members` are the names after dots, and `member_index`
    is the index after the last of those.
    """

    name: Name
    index: Expr | None = None
    members: tuple[Name, ...] = ()
    member_index: Expr | None = None


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`f(a, ...)`: a function of the language, a query or an expression `def`."""

    function: Name
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class CostOf(Node):
    """`cost(R, ..., e)`: the amount `e` as a cost of the resources."""

    resources: tuple[Ref, ...]
    amount: Expr


@dataclass(frozen=True, slots=True)
class Draw(Node):
    """`~d(a, ...)`: a fresh sample of a distribution."""

    distribution: Name
    arguments: tuple[Expr, ...]


UnaryOp = Literal["-", "!"]
BinaryOp = Literal["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`-e` or `!e`."""

    op: UnaryOp
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Two operands and the operator between them."""

    op: BinaryOp
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Cond(Node):
    """`test ? then : otherwise`."""

    test: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """`sum j in n (e)`, `min j in n (e)` or `max j in n (e)`; `kind` is the first word."""

    kind: Name
    index: Name
    count: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Input(Node):
    """`args.number("external", default)`: a value the outside may replace."""

    external: Text
    default: Expr


Expr = Num | Ref | Call | CostOf | Draw | Unary | Binary | Cond | Aggregate | Input


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
class Let(Node):
    """`let x = e;`"""

    name: Name
    value: Expr


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


# The statements that give an attribute, or in a schedule a register, its value.
Assignment = Set | SizeSet | CostSet | CostRecord | Choose
ASSIGNMENTS: tuple[type[Assignment], ...] = (Set, SizeSet, CostSet, CostRecord, Choose)
