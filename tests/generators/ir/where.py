"""Where a statement stands: the holds around it and what they forbid; and the costs statements pay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.moments import Moment
from tests.generators.ir import expressions as gen
from tests.generators.ir import terms as t
from tests.generators.ir.draft import CACHED, ROUTE, Draft, Node, PoolFamily, StageFamily, assign, joint


@dataclass
class Held:
    """A pool held around a statement; `gone` once some path has released it."""

    ref: ex.CRef
    family: PoolFamily
    units: ex.Expr
    loops: int = 0
    gone: bool = False


@dataclass(frozen=True)
class Where:
    """The surroundings of a statement, from the session program down."""

    held: tuple[Held, ...] = ()
    routes: dict[int, int] = field(default_factory=dict)
    frozen: frozenset[int] = frozenset()
    leg: bool = False
    preemptible: bool = False
    forked: bool = False
    loops: int = 0
    depth: int = 3
    leases: list[ex.CRef] = field(default_factory=list)

    def inside(self, held: tuple[Held, ...]) -> Where:
        """Inside one more hold."""
        slots = {h.ref.index.slot for h in held if isinstance(h.ref.index, ex.Attr)}
        return replace(
            self,
            held=self.held + held,
            frozen=self.frozen | slots,
            preemptible=self.preemptible or any(h.family.preempts for h in held),
            depth=self.depth - 1,
        )

    def present(self) -> list[Held]:
        """The holds around that no path before has released."""
        return [h for h in self.held if not h.gone]

    def releasable(self) -> list[Held]:
        """Those whose release no earlier statement of a loop around can meet again."""
        return [h for h in self.present() if h.loops == self.loops]

    def deeper(self, **changes: object) -> Where:
        """Inside a branch, a loop or a leg."""
        return replace(self, depth=self.depth - 1, **changes)  # type: ignore[arg-type]

    def scope(self, moment: Moment = Moment.SESSION, registers: tuple[int, ...] = ()) -> gen.Scope:
        """The scope of an expression standing here."""
        hides = frozenset() if moment == Moment.SESSION else frozenset({CACHED})
        return gen.Scope(moment, registers, self.routes, budget_left=moment != Moment.SESSION, without=hides)


def route(draft: Draft, where: Where, count: int, keys: tuple[ex.Expr, ...] | None = None) -> list[Node]:
    """Choose the index later references to families of this size use; nothing where it may not change."""
    slot = draft.value(f"{ROUTE}{count}")
    where.routes[count] = slot
    if slot in where.frozen:
        return []
    keys = keys or gen.keys(draft, where.scope())
    limit = t.num(count)
    return [Node(st.Choose(var=slot, count=limit, key=keys))]


def priced(draft: Draft, target: ex.CostTarget, value: ex.Expr) -> tuple[list[Node], ex.Expr]:
    """A cost of a resource: written out, or set in a cost attribute just before."""
    cost = ex.Cost(target=target, arg=value)
    if not draft.dice.chance(0.08):
        return [], cost
    slot = draft.fresh("cost", target)
    return [assign(slot, cost)], t.attr(slot)


def flow(families: Sequence[StageFamily], refs: Sequence[ex.CRef], work: ex.Expr) -> Node:
    """One job over several stages."""
    cost = ex.Cost(target=joint(families), arg=work)
    return Node(st.Run(stage=refs[0], mode="Plain", work=cost, also=tuple(refs[1:])))
