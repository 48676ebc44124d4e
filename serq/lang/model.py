"""What a program declares, by the names the IR knows it under (`kv`, `P.kv`, `D.nic.latency`).

The tables here are filled by `serq.lang.declare` and read by every later pass. They hold no rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from serq.diagnostics import Span
from serq.lang import tree
from serq.lang.findings import Findings
from serq.lang.tree import Expr, Name

F = TypeVar("F", bound="Family")


@dataclass(eq=False)
class Family:
    """A pool or stage, or an array of them: `count` members from `base`, indexed when declared with a size."""

    name: str
    node: tree.Node
    count: int = 1
    indexed: bool = False
    base: int = 0
    order: int = 0

    @property
    def place(self) -> Span:
        """Where its name is written, or what it was written as when it has none of its own."""
        name = getattr(self.node, "name", None)
        return name.span if isinstance(name, Name) else self.node.span

    def at(self, ref: tree.Node, index: Expr | None) -> tree.Ref:
        """A reference to the family under its own name."""
        return tree.Ref(ref.span, Name(ref.span, self.name), index)


@dataclass(eq=False)
class PoolFamily(Family):
    """A pool: its options, the capacity its owner gives it, the engine that admits its queue."""

    declaration: tree.Pool | None = None
    cap: Expr | None = None
    queue: str | None = None
    admitted_by: Engine | None = None

    @property
    def bare(self) -> str:
        """The name it is declared under, without its queue's."""
        return self.name.rpartition(".")[2]


@dataclass(eq=False)
class StageFamily(Family):
    """A stage: its kind as written, or the engine that runs it."""

    kind: tree.Kind | None = None
    engine: Engine | None = None


@dataclass(eq=False)
class Device:
    """A device: its time resources, its capacities, and the engine that runs on it."""

    name: str
    node: tree.Device
    count: int
    indexed: bool
    times: dict[str, tree.TimeResource] = field(default_factory=dict)
    caps: dict[str, tree.Capacity] = field(default_factory=dict)
    engine: Engine | None = None
    pools: list[PoolFamily] = field(default_factory=list)


@dataclass(eq=False)
class Engine:
    """An engine: its clauses by kind, its stage, the pools it admits and its memory."""

    name: str
    node: tree.Engine
    device: Device
    stage: StageFamily
    queue: str | None
    order: int = 0
    caps: dict[str, tree.Capacity] = field(default_factory=dict)
    tokens: tree.Tokens | None = None
    granule: tree.Granule | None = None
    schedule: tree.Schedule | None = None
    execute: tree.Execute | None = None
    request: tree.Request | None = None
    states: dict[str, tree.State] = field(default_factory=dict)
    admits: list[PoolFamily] = field(default_factory=list)
    locals: set[str] = field(default_factory=set)

    @property
    def memory(self) -> PoolFamily | None:
        """The pool whose holders the engine's residents are: the one on its device."""
        return self.device.pools[0] if self.device.pools else None

    def pools(self) -> Iterable[PoolFamily]:
        """The pools an engine's request may hold: its own and its device's."""
        return dict.fromkeys([*self.admits, *self.device.pools])


@dataclass(eq=False)
class Entry:
    """An entry of a queue: `decode` and `decode from P` are two."""

    queue: Queue
    node: tree.Entry
    locals: set[str] = field(default_factory=set)

    @property
    def label(self) -> str:
        """The name diagnostics use, `D.decode`."""
        return f"{self.queue.name}.{self.node.verb.text}"


@dataclass(eq=False)
class Queue:
    """A queue: its own pools by bare name, its stage and NIC, its entries and its relation as a reader."""

    name: str
    node: tree.Queue
    order: int
    count: int
    indexed: bool
    roles: frozenset[str]
    pools: dict[str, PoolFamily] = field(default_factory=dict)
    devices: dict[str, Device] = field(default_factory=dict)
    stage: StageFamily | None = None
    nic: StageFamily | None = None
    engine: Engine | None = None
    latency: Latency | None = None
    entries: list[Entry] = field(default_factory=list)
    pulls: Relation | None = None
    # Verbs whose entries were refused, and whether a relation was: what depends on them is not judged.
    refused: set[str] = field(default_factory=set)
    unrelated: bool = False
    leased: PoolFamily | None = None

    @property
    def is_gateway(self) -> bool:
        """Whether the queue's names are the request's own (a gateway's route reads and sets as the server)."""
        return "gateway" in self.roles

    def entry(self, verb: str, from_another: bool) -> Entry | None:
        """The entry of a verb, with or without a source."""
        for entry in self.entries:
            if entry.node.verb.text == verb and (entry.node.source is not None) == from_another:
                return entry
        return None


@dataclass(eq=False)
class Latency:
    """A wait of a constant length before a transfer: its delay stage and the time."""

    stage: StageFamily
    time: Expr


@dataclass(eq=False)
class Relation:
    """`D pull P` or `P push D`: who reads from whom, and the wait before each copy."""

    node: tree.Relation
    reader: Queue
    source: Queue
    latency: Latency | None = None

    @property
    def poster(self) -> Queue:
        """The queue that starts a copy: the reader of a pull, the source of a push."""
        return self.reader if self.node.kind == "pull" else self.source


@dataclass
class Model:
    """All declarations of a program; pools and stages are in the order of the IR."""

    findings: Findings
    pools: dict[str, PoolFamily] = field(default_factory=dict)
    stages: dict[str, StageFamily] = field(default_factory=dict)
    devices: dict[str, Device] = field(default_factory=dict)
    engines: dict[str, Engine] = field(default_factory=dict)
    queues: dict[str, Queue] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    shares: list[tree.Share | tree.Relation] = field(default_factory=list)
    registers: dict[str, tuple[Engine, tree.State]] = field(default_factory=dict)
    gauges: list[tree.Gauge] = field(default_factory=list)
    claims: list[tree.Claim] = field(default_factory=list)
    workload: tree.Workload | None = None
    server: tree.Server | None = None
    # Where the workload and the server stand among the items.
    workload_order: int = 0
    server_order: int = 0

    def add(self, table: dict[str, F], family: F) -> F:
        """Number a pool or stage after those declared so far."""
        last = next(reversed(table.values()), None)
        family.base = 0 if last is None else last.base + last.count
        table[family.name] = family
        return family

    def family(self, name: str) -> Family | None:
        """The pool or stage of a name."""
        return self.pools.get(name) or self.stages.get(name)


def size_of(node: tree.Node) -> tuple[int, bool]:
    """The members of a declaration and whether it was written as an array."""
    size = getattr(node, "size", None)
    return (int(size.value), True) if isinstance(size, tree.Num) else (1, False)
