"""The program of the IR (004, *Program*, *Pools*, *Stages*, *Registers and claims*)."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Literal

from serq.ir.expressions import CostTarget, Expr, Node
from serq.ir.statements import Stmt

IR_VERSION = 13
MAX_SESSIONS = 1_000_000

AttrType = Literal["Size", "Value"] | CostTarget
Side = Literal["Workload", "Server"]


class EvictBy(Node):
    """Eviction in ascending order of keys; LRU is the absence of one."""

    keys: tuple[Expr, ...]


class PreemptBy(Node):
    """The victim has the least keys; `tail` requeues it as a newcomer."""

    keys: tuple[Expr, ...]
    tail: bool = False


class Spill(Node):
    """Write evicted prefixes to another pool through a stage."""

    to: int
    via: int
    work: Expr
    when: Expr


class Pool(Node):
    """A memory pool (CPool). `evict` None is LRU, `preempt` None is none, `queue` None is FIFO."""

    name: str
    index: int | None = None
    cap: float
    block: float | None = None
    evict: EvictBy | None = None
    preempt: PreemptBy | None = None
    queue: tuple[Expr, ...] | None = None
    spill: Spill | None = None
    admit_via: int | None = None
    reserve_held: bool = False

    @property
    def label(self) -> str:
        """The name with its array index, as reports print it."""
        return label(self.name, self.index)


class IterItem(Node):
    """Base of the statements of an iteration body (CIter)."""


class Serve(IterItem):
    """Serve residents not yet served."""

    only: Expr | None = None
    by: tuple[Expr, ...] | None = None


class Admit(IterItem):
    """Admit and serve newcomers."""

    only: Expr | None = None
    gate: Expr | None = None


class IterBranch(IterItem):
    """`then` for 1, `other` for 0."""

    guard: Expr
    then: tuple[IterItem, ...]
    other: tuple[IterItem, ...]


class IterSet(IterItem):
    """Update a register of this stage."""

    reg: int
    value: Expr


class Step(Node):
    """An engine (CStep). `serve` None is ExclusivePrefill, keys else; `iteration` None is the default procedure."""

    budget: Expr
    cost: Expr
    chunk: Expr
    granule: Expr | None = None
    serve: tuple[Expr, ...] | None
    memory: int | None = None
    iteration: tuple[IterItem, ...] | None = None


class Fifo(Node):
    """`servers` servers, jobs in arrival order."""

    tag: ClassVar[str] = "Fifo"
    servers: int


class Ps(Node):
    """Processor sharing of a capacity; a delay is `Ps(Ctx("N"))`."""

    tag: ClassVar[str] = "Ps"
    capacity: Expr


class Stage(Node):
    """A stage (CStage)."""

    name: str
    index: int | None = None
    kind: Fifo | Ps | Step

    @property
    def label(self) -> str:
        """The name with its array index, as reports print it."""
        return label(self.name, self.index)


class Poisson(Node):
    """Open arrivals of this rate, the first at time 0."""

    rate: float


class Renewal(Node):
    """Open arrivals whose gaps are drawn."""

    gap: Expr


class Closed(Node):
    """A population that stays this large."""

    population: int


class Batch(Node):
    """So many sessions at time 0."""

    size: int


Preset = tuple[tuple[int, float], ...]


class Session(Node):
    """An explicit session: preset attributes and, when given, its turns."""

    attrs: Preset = ()
    turns: tuple[Preset, ...] | None = None


class Sessions(Node):
    """Explicit sessions, all arriving at time 0."""

    sessions: tuple[Session, ...]


Arrival = Poisson | Renewal | Closed | Batch | Sessions | None


class Gauge(Node):
    """A function of the state whose time average is reported."""

    name: str
    expr: Expr


class EveryIteration(Node):
    """A claim about every iteration of an engine."""

    stage: int


class SomeIteration(Node):
    """A claim about at least one iteration of an engine."""

    stage: int


class Claim(Node):
    """A claim; `kind` None is AtEnd."""

    name: str
    given: Expr | None = None
    kind: EveryIteration | SomeIteration | None
    expr: Expr


class Register(Node):
    """A number an engine keeps between its iterations."""

    name: str
    stage: int
    init: float


class Program(Node):
    """A whole program with its execution settings: immutable, hashable by content."""

    attrs: tuple[str, ...]
    attr_types: tuple[AttrType, ...]
    sides: tuple[tuple[Side, ...], ...]
    observes: tuple[str, ...] = ()
    pools: tuple[Pool, ...] = ()
    stages: tuple[Stage, ...] = ()
    arrival: Arrival = None
    trace: str | None = None
    trace_ordered: bool = False
    init: int
    turn: int
    session: int
    blocks: tuple[tuple[Stmt, ...], ...]
    horizon: float
    warmup: float = 0.0
    seed: int = 1
    arrivals: int | None = None
    slot_cached: int = 0
    slot_serial: int = 1
    slot_turn: int = 2
    slot_new: int = 3
    slot_out: int = 4
    slot_think: int = 5
    slot_more: int = 6
    slot_forced: int = 7
    slot_computed: int = 8
    hidden: tuple[int, ...] = ()
    share: Literal["MaxMin", "Bottleneck"] | None = None
    gauges: tuple[Gauge, ...] = ()
    claims: tuple[Claim, ...] = ()
    registers: tuple[Register, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, in hexadecimal."""
        import hashlib

        from serq.ir.encode import dumps

        return hashlib.sha256(dumps(self).encode()).hexdigest()

    def __copy__(self) -> Program:
        # A copy is made to be changed, so it does not keep what was computed of the original.
        copy = super().__copy__()
        copy.__dict__.pop("digest", None)
        return copy

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self.digest == other.digest


def label(name: str, index: int | None) -> str:
    """`name` or `name[index]`."""
    return name if index is None else f"{name}[{index}]"
