"""Holds: whose allocation a statement acts on, and whether its index names one member (004 *Ownership*)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.validate.constants import moves, reads
from serq.ir.validate.facts import Facts, Located
from serq.ir.validate.paths import same_ref


@dataclass(frozen=True, eq=False)
class Scope:
    """A hold around a statement, and the ones around it."""

    hold: st.Hold
    outer: Scope | None

    def find(self, ref: ex.CRef) -> ex.CRef | None:
        """The reference of this or an outer hold that is written like `ref`."""
        scope: Scope | None = self
        while scope is not None:
            for part in scope.hold.pools:
                if same_ref(part.pool, ref):
                    return part.pool
            scope = scope.outer
        return None

    def preempting(self, facts: Facts) -> str | None:
        """A pool of this or an outer hold that may preempt its holders."""
        scope: Scope | None = self
        while scope is not None:
            for part in scope.hold.pools:
                for pool in facts.pools_of(part.pool):
                    if pool.preempt is not None:
                        return pool.name
            scope = scope.outer
        return None


def distinct_pools(facts: Facts) -> None:
    """A hold names each reference once, and leases only a pool of its own."""
    for located in facts.statements_of(st.Hold):
        assert isinstance(located.stmt, st.Hold)
        parts = [part.pool for part in located.stmt.pools]
        for i, ref in enumerate(parts):
            if any(same_ref(ref, earlier) for earlier in parts[:i]):
                facts.add(
                    "SQ604",
                    f"a hold takes `{facts.names.pools(ref)}` twice",
                    located.at("pools", i, 0),
                    "take it once, with the units added",
                )


def ownership(facts: Facts) -> None:
    """Walk the session with the holds around each statement."""
    leased = [
        located.stmt.lease.pool
        for located in facts.statements_of(st.Hold)
        if isinstance(located.stmt, st.Hold) and located.stmt.lease is not None
    ]
    Walk(facts, leased).block(facts.session, None)


class Walk:
    """One pass over the session's tree of blocks."""

    def __init__(self, facts: Facts, leased: list[ex.CRef]) -> None:
        self._facts = facts
        self._leased = leased
        self._changes = Changes(facts)

    def block(self, block: tuple[Located, ...], scope: Scope | None) -> None:
        """Check a block's statements inside the holds of `scope`."""
        for located in block:
            self._statement(located, scope)

    def _statement(self, located: Located, scope: Scope | None) -> None:
        bodies = self._facts.bodies(located)
        match located.stmt:
            case st.Hold():
                inner = Scope(located.stmt, scope)
                self._hold(located, located.stmt, inner)
                self.block(bodies[0], inner)
                return
            case st.Grow(pool=ref):
                self._acts(located, ref, scope, "grow", located.at(0))
            case st.Load(pool=ref):
                self._acts(located, ref, scope, "load", located.at(0))
            case st.Release(pool=ref):
                self._acts(located, ref, scope, "release", located.at())
            case st.Run(growing=ref) if ref is not None:
                self._acts(located, ref, scope, "growing", located.at("growing"))
            case st.Fork():
                self._fork(located, scope)
                scope = None
            case _:
                pass
        for body in bodies:
            self.block(body, scope)

    def _acts(self, located: Located, ref: ex.CRef, scope: Scope | None, word: str, path: IrPath) -> None:
        facts, name = self._facts, self._facts.names.pools(ref)
        held = scope.find(ref) if scope else None
        if held is None:
            if word == "release" and any(same_ref(ref, lease) for lease in self._leased):
                return
            also = ", or lease it by one" if word == "release" else ""
            facts.add(
                "SQ603",
                f"`{word} {name}` outside a hold of `{name}`",
                path,
                f"put it in a hold of `{name}`{also}, written as the hold writes it, index included",
            )
        elif held.index is not None and moves(held.index):
            facts.add(
                "SQ607",
                f"`{word} {name}` reads again an index that moves between the admission and here",
                path,
                "set an attribute to the member before the hold, and use it as the index",
            )

    def _hold(self, located: Located, hold: st.Hold, scope: Scope) -> None:
        facts = self._facts
        if hold.lease is not None and not any(same_ref(hold.lease.pool, p.pool) for p in hold.pools):
            facts.add(
                "SQ605",
                f"a hold leases `{facts.names.pools(hold.lease.pool)}`, which it does not take",
                located.at("lease", 0),
                "lease one of the hold's pools, written as the hold writes it, index included",
            )
        changed = self._changes.of(hold.body)
        preempting = scope.preempting(facts)
        for i, part in enumerate(hold.pools):
            if part.pool.index is None:
                continue
            path = located.at("pools", i, 0, "index")
            self._stable(part.pool, part.pool.index, changed, path)
            if preempting is not None:
                self._again(part.pool, part.pool.index, preempting, path)

    def _stable(self, ref: ex.CRef, index: ex.Expr, changed: Changed, path: IrPath) -> None:
        slots = sorted(slot for slot in reads(index) if changed(slot))
        if slots:
            names = self._facts.names
            facts, listed = self._facts, ", ".join(f"`{names.attr(s)}`" for s in slots)
            facts.add(
                "SQ606",
                f"the body of a hold of `{names.pools(ref)}` changes {listed}, which the index reads",
                path,
                "change it before the hold or after it, or index by an attribute the body leaves alone",
            )

    def _again(self, ref: ex.CRef, index: ex.Expr, preempting: str, path: IrPath) -> None:
        program = self._facts.program
        if moves(index) or reads(index) & {program.slot_cached, program.slot_computed}:
            self._facts.add(
                "SQ608",
                f"a hold of `{self._facts.names.pools(ref)}` may be preempted (`{preempting}` preempts), "
                "and its index may name another member when it is admitted again",
                path,
                "set an attribute to the member before the hold, and use it as the index",
                "the index reads the clock, the state, a draw, or what admission and preemption set",
            )

    def _fork(self, located: Located, scope: Scope | None) -> None:
        preempting = scope.preempting(self._facts) if scope else None
        if preempting is not None:
            self._facts.add(
                "SQ613",
                f"a `fork` stands in a hold that `{preempting}` may preempt",
                located.path,
                "fork before the hold: a preempted hold runs again and would fork a second leg",
            )


Changed = Callable[[int], bool]


class Changes:
    """Which attributes a block changes while a hold around it lasts."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._known: dict[int, frozenset[int] | None] = {}

    def of(self, block: int) -> Changed:
        """A test of slots; a turn changes every one. Legs change only their copies."""
        found = self._slots(block)
        return (lambda slot: True) if found is None else found.__contains__

    def _slots(self, block: int) -> frozenset[int] | None:
        if block not in self._known:
            self._known[block] = frozenset()  # a block inside itself adds nothing
            inside = self._facts.blocks[block] if block < len(self._facts.blocks) else ()
            self._known[block] = self._union(inside)
        return self._known[block]

    def _union(self, block: Iterable[Located]) -> frozenset[int] | None:
        program = self._facts.program
        slots: set[int] = set()
        for located in block:
            slot = st.assigned(located.stmt)
            if slot is not None:
                slots.add(slot)
            if isinstance(located.stmt, st.Turn):
                return None
            if isinstance(located.stmt, st.Hold):
                slots |= {program.slot_cached, program.slot_computed}
            if isinstance(located.stmt, st.Fork):
                continue
            for body in st.bodies(located.stmt):
                inner = self._slots(body)
                if inner is None:
                    return None
                slots |= inner
        return frozenset(slots)


RULES = (distinct_pools, ownership)
