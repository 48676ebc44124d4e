"""A program under construction: resources, attributes, names, and trees of statements laid out in blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.tables import BUILTIN_ATTRIBUTES, BUILTIN_VALUES
from tests.generators.ir import terms as t
from tests.generators.ir.dice import Dice

ROUTE = "route"
CACHED, SERIAL, TURN_NO, NEW, OUT, THINK, MORE, FORCED, COMPUTED = range(9)


@dataclass(frozen=True)
class Node:
    """A statement with its side and the bodies its block indices will name."""

    stmt: st.Stmt
    side: pr.Side = "Server"
    bodies: tuple[tuple[Node, ...], ...] = ()


@dataclass
class PoolFamily:
    """A pool or an array of pools, and what the generators must know of it."""

    name: str
    count: int
    array: bool
    role: str
    cap: float = 0.0
    block: float | None = None
    base: int = -1
    preempts: bool = False
    via: StageFamily | None = None

    def ref(self, index: ex.Expr | None = None) -> ex.CRef:
        """A reference to the family, or to one of its members."""
        return ex.CRef(base=self.base, count=self.count, index=index)

    @property
    def target(self) -> ex.PoolTarget:
        """What a cost of it names."""
        return ex.PoolTarget(base=self.base, count=self.count)


@dataclass
class StageFamily:
    """A stage or an array of stages, and what the generators must know of it."""

    name: str
    count: int
    array: bool
    role: str
    base: int = -1
    memory: PoolFamily | None = None
    queue: PoolFamily | None = None
    budget: float = 0.0

    def ref(self, index: ex.Expr | None = None) -> ex.CRef:
        """A reference to the family, or to one of its members."""
        return ex.CRef(base=self.base, count=self.count, index=index)

    @property
    def target(self) -> ex.StageTarget:
        """What a cost of it names."""
        return ex.StageTarget(base=self.base, count=self.count)


Family = PoolFamily | StageFamily


def joint(families: Iterable[Family]) -> ex.CostTarget:
    """The cost target of several resources: distinct, pools before stages, then by base."""
    parts = {(isinstance(f, StageFamily), f.base): f.target for f in families}
    targets = tuple(parts[key] for key in sorted(parts))
    return targets[0] if len(targets) == 1 else ex.JointTarget(targets=targets)


@dataclass
class Draft:
    """What the generators add to, and what becomes a program at the end."""

    dice: Dice
    integral: bool
    faulty: bool = False
    attrs: list[str] = field(default_factory=lambda: list(BUILTIN_ATTRIBUTES))
    types: list[pr.AttrType] = field(default_factory=lambda: [_builtin(n) for n in BUILTIN_ATTRIBUTES])
    observes: list[str] = field(default_factory=list)
    pool_families: list[PoolFamily] = field(default_factory=list)
    stage_families: list[StageFamily] = field(default_factory=list)
    pools: list[pr.Pool] = field(default_factory=list)
    stages: list[pr.Stage] = field(default_factory=list)
    registers: list[pr.Register] = field(default_factory=list)
    share: Literal["MaxMin", "Bottleneck"] | None = None
    forks: bool = False
    sums_two: bool = False
    prefixes: bool = False
    hidden: int | None = None

    def size(self, name: str) -> int:
        """The slot of a workload attribute."""
        return self._slot(name, "Size")

    def value(self, name: str) -> int:
        """The slot of a server attribute."""
        return self._slot(name, "Value")

    def fresh(self, stem: str, kind: pr.AttrType = "Value") -> int:
        """The slot of a new attribute."""
        return self._slot(f"{stem}{len(self.attrs)}", kind)

    def _slot(self, name: str, kind: pr.AttrType) -> int:
        if name not in self.attrs:
            self.attrs.append(name)
            self.types.append(kind)
        return self.attrs.index(name)

    def sizes(self) -> list[int]:
        """The workload's own attributes the statements may read."""
        return [i for i, kind in enumerate(self.types) if kind == "Size" and i > FORCED]

    def schedulable(self, slots: Iterable[int]) -> list[int]:
        """Those of `slots` a scheduler may read."""
        return [slot for slot in slots if slot != self.hidden]

    def observe(self, name: str) -> int:
        """The index of an observation."""
        if name not in self.observes:
            self.observes.append(name)
        return self.observes.index(name)

    def pools_of(self, *roles: str) -> list[PoolFamily]:
        """The pool families of these roles."""
        return [f for f in self.pool_families if f.role in roles]

    def stages_of(self, *roles: str) -> list[StageFamily]:
        """The stage families of these roles."""
        return [f for f in self.stage_families if f.role in roles]

    def member(self, family: Family, routes: dict[int, int] | None = None) -> ex.CRef:
        """A reference to one member, by a number or by a chosen index in range."""
        if not family.array:
            return family.ref()
        return family.ref(self.index(family.count, routes))

    def index(self, count: int, routes: dict[int, int] | None = None) -> ex.Expr:
        """An index in range: chosen before, by the session's serial, or a number where `routes` is none."""
        slot = (routes or {}).get(count)
        if slot is not None and self.dice.chance(0.8):
            return t.attr(slot)
        if routes is not None and count > 1 and self.dice.chance(0.15):
            return remainder(t.attr(SERIAL), count)
        return t.num(self.dice.randrange(count))

    def routes(self) -> dict[int, int]:
        """The attributes that hold an index chosen before, by the size of what they index."""
        return {int(n[len(ROUTE) :]): slot for slot, n in enumerate(self.attrs) if n.startswith(ROUTE)}

    def family_of(self, ref: ex.CRef) -> PoolFamily:
        """The pool family a reference names."""
        return next(f for f in self.pool_families if f.base == ref.base)


def _builtin(name: str) -> pr.AttrType:
    return "Value" if name in BUILTIN_VALUES else "Size"


def remainder(number: ex.Expr, count: int) -> ex.Expr:
    """A whole number modulo another."""
    return t.sub(number, t.mul(t.num(count), t.floor(t.div(number, t.num(count)))))


def place(families: Sequence[Family]) -> None:
    """Give every family its base, in declaration order."""
    base = 0
    for family in families:
        family.base = base
        base += family.count


def assign(slot: int, value: ex.Expr, side: pr.Side = "Server") -> Node:
    """An assignment."""
    return Node(st.Set(slot=slot, value=value), side)


def record(draft: Draft, name: str, value: ex.Expr, side: pr.Side = "Server") -> Node:
    """An observation."""
    return Node(st.Observe(observe=draft.observe(name), value=value), side)


def run(
    family: StageFamily,
    ref: ex.CRef,
    work: ex.Expr,
    mode: st.Mode = "Plain",
    growing: ex.CRef | None = None,
    side: pr.Side = "Server",
) -> Node:
    """Work at one stage."""
    cost = ex.Cost(target=family.target, arg=work)
    return Node(st.Run(stage=ref, mode=mode, work=cost, growing=growing), side)


def branch(
    guard: ex.Expr, then: Sequence[Node], other: Sequence[Node] = (), side: pr.Side = "Server"
) -> Node:
    """A branch."""
    return Node(st.Branch(guard=guard, then=0, other=0), side, (tuple(then), tuple(other)))


def repeat(guard: ex.Expr, body: Sequence[Node], side: pr.Side = "Server") -> Node:
    """A while loop."""
    return Node(st.While(guard=guard, body=0), side, (tuple(body),))


class Layout:
    """The blocks and sides of a program's statement trees."""

    def __init__(self) -> None:
        self.blocks: list[tuple[st.Stmt, ...]] = []
        self.sides: list[tuple[pr.Side, ...]] = []

    def block(self, nodes: Sequence[Node]) -> int:
        """Lay a body out; its index."""
        index = len(self.blocks)
        self.blocks.append(())
        self.sides.append(tuple(n.side for n in nodes))
        self.blocks[index] = tuple(self._statement(n) for n in nodes)
        return index

    def _statement(self, node: Node) -> st.Stmt:
        indices = [self.block(body) for body in node.bodies]
        match node.stmt:
            case st.Branch():
                return node.stmt.model_copy(update={"then": indices[0], "other": indices[1]})
            case st.Hold() | st.Loop() | st.While() | st.Fork():
                return node.stmt.model_copy(update={"body": indices[0]})
            case stmt:
                return stmt


def with_side(nodes: Iterable[Node], side: pr.Side) -> tuple[Node, ...]:
    """The same trees on another side."""
    return tuple(replace(n, side=side, bodies=tuple(with_side(b, side) for b in n.bodies)) for n in nodes)
