"""A program in the kernel's terms, still with names: what linking turns into the IR one to one.

Expressions are trees under the IR's names (see `serq.lang.scopes`); blocks hold kernel statements only.
`serq ir --stage lowered` prints this form.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from serq.diagnostics import Span
from serq.lang import tree
from serq.lang.model import Engine, Model, PoolFamily, StageFamily
from serq.lang.tree import Block, Expr


@dataclass
class KernelServe:
    """`advance running`: serve residents not yet served."""

    node: tree.Node
    only: Expr | None
    by: tuple[Expr, ...] | None


@dataclass
class KernelAdmit:
    """`admit waiting`: admit and serve newcomers."""

    node: tree.Node
    only: Expr | None
    gate: Expr | None


@dataclass
class KernelBranch:
    """A branch of a schedule."""

    node: tree.Node
    guard: Expr
    then: tuple[KernelItem, ...]
    otherwise: tuple[KernelItem, ...]


@dataclass
class KernelSet:
    """A register's update."""

    node: tree.Set
    register: str
    value: Expr


KernelItem = KernelServe | KernelAdmit | KernelBranch | KernelSet


@dataclass
class KernelStep:
    """An engine's clauses as the IR's step stage has them; `serve` None is exclusive prefill."""

    budget: Expr
    cost: Expr
    chunk: Expr
    granule: Expr | None
    serve: tuple[Expr, ...] | None
    iteration: tuple[KernelItem, ...] | None


@dataclass
class KernelPool:
    """A pool family with its options resolved."""

    family: PoolFamily
    cap: float
    block: float | None
    evict: tuple[Expr, ...] | None = None
    preempt: tuple[Expr, ...] | None = None
    tail: bool = False
    queue: tuple[Expr, ...] | None = None
    spill: tree.Spill | None = None
    reserve_held: bool = False


@dataclass
class KernelStage:
    """A stage family: servers, a capacity, or an engine's step."""

    family: StageFamily
    kind: int | Expr | KernelStep
    engine: Engine | None = None


@dataclass
class Kernel:
    """A whole program; `session` still has its `turn;`, each of which runs `server`."""

    model: Model
    pools: list[KernelPool] = field(default_factory=list)
    stages: list[KernelStage] = field(default_factory=list)
    arrival: tree.Arrive | None = None
    trace: tree.Trace | None = None
    init: Block | None = None
    turn: Block | None = None
    session: Block | None = None
    server: Block | None = None
    hidden: tuple[tree.Name, ...] = ()
    gauges: list[tree.Gauge] = field(default_factory=list)
    claims: list[tree.Claim] = field(default_factory=list)
    share: str | None = None
    registers: dict[str, float] = field(default_factory=dict)
    client_tool: tree.Node | None = None
    # What `Size` and `Cost` statements declare, and the fields of cost records, by attribute.
    declared: dict[tuple[str, Span], str] = field(default_factory=dict)
    records: dict[str, tuple[str, ...]] = field(default_factory=dict)
