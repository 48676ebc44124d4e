"""The session walked once with terms for values.

Two walks are made of a program. The *enclosing* walk covers every run: at the head of a
loop, and of a hold that may be preempted and executed again, what the body assigns
becomes a variable held only by invariants proved inductive. The *exact* walk takes each
loop a few times and each hold once, as a first attempt: all it visits can happen, so a
witness is looked for there, and a proof in the enclosing walk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from serq.check import operations
from serq.check.attempts import attempts
from serq.check.encoder import Encoder
from serq.check.invariants import Guess, constants_of, inductive
from serq.check.places import Growth, Passing, Point, Reading, Scope, State
from serq.check.readings import pools_of
from serq.check.solver import FALSE, TRUE, Fact, Oracle, both
from serq.check.states import (
    above_zero,
    amount_valid,
    assign,
    at_most,
    either,
    held,
    is_value,
    member,
    merge,
    non_negative,
    positive,
)
from serq.check.terms import INF, Term, constant, ite
from serq.check.variables import Variables
from serq.check.workload import Workload
from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.validate.names import Names
from serq.ir.validate.paths import same_ref

PASSES = 3
# Seconds for one question about an invariant.
_PROBE = 0.4
# A tolerance of what fits, wider than the interpreter's.
AMOUNTS = ("work", "units", "reserve", "growth", "load")
_FITS = 1e-6


@dataclass(eq=False)
class Walk:
    """One walk and what it recorded."""

    program: pr.Program
    names: Names
    variables: Variables
    oracle: Oracle
    enclosing: bool
    workload: Workload
    readings: list[Reading] = field(default_factory=list)
    started: State | None = None
    ends: list[State] = field(default_factory=list)
    growths: list[Growth] = field(default_factory=list)
    passings: list[Passing] = field(default_factory=list)
    prober: Oracle = field(init=False)
    ladder: list[float] = field(default_factory=list)
    found: dict[IrPath, dict[int, Guess]] = field(default_factory=dict)
    points: list[list[Point]] = field(default_factory=list)
    obligations: list[list[Reading]] = field(default_factory=list)
    silent: int = 0

    def run(self) -> None:
        """Walk init, presets and the session block."""
        self.ladder = constants_of(self.program)
        probe = min(_PROBE, self.oracle.timeout)
        self.prober = Oracle(self.variables, probe, self.oracle.meter, patience=8)
        self.oracle.samples.hints = self.ladder
        zero = constant(0.0)
        attrs = dict.fromkeys(range(len(self.program.attrs)), zero)
        attrs[self.program.slot_serial] = self.workload.serial()
        state = State(attrs, {}, TRUE)
        state = self._block(self.program.init, state)
        self.started = self.workload.preset(state)
        self._block(self.program.session, self.started)

    # Values

    def _loose(self, what: str, low: float = -INF, high: float = INF, *, whole: bool = False) -> Term:
        return self.variables.term(what, low, high, exact=False, whole=whole, assumed=True)

    def encoder(self, state: State) -> Encoder:
        """An encoder of expressions read in a state."""
        return Encoder(self.program, self.names, self.variables, state.attrs.__getitem__)

    def _read(
        self, state: State, e: ex.Expr, stmt: st.Stmt, path: IrPath, role: str, ref: ex.CRef | None = None
    ) -> Term:
        encoder = self.encoder(state)
        term = encoder.encode(e)
        self._record(Reading(path, role, e, term, state, stmt, ref, tuple(encoder.watched)))
        return term

    def _record(self, reading: Reading) -> None:
        if reading.role in AMOUNTS:
            for found in self.obligations:
                found.append(reading)
        if not self.silent and reading.state.live.flag is not False:
            self.readings.append(reading)

    def mark(self) -> tuple[int, ...]:
        """How much is recorded so far."""
        return tuple(len(x) for x in self._records())

    def reset(self, mark: tuple[int, ...]) -> None:
        """Forget what was recorded since a mark."""
        for found, length in zip(self._records(), mark, strict=True):
            del found[length:]

    def _records(self) -> tuple[list[Any], ...]:
        return self.readings, self.growths, self.passings, self.ends

    # Statements

    def _block(self, block: int, state: State) -> State:
        for position, stmt in enumerate(self.program.blocks[block]):
            if state.live.flag is False:
                break
            state = self._statement(stmt, ("blocks", block, position, type(stmt).__name__), state)
        if not self.silent:
            self.ends.append(state)
        return state

    def _statement(self, stmt: st.Stmt, path: IrPath, state: State) -> State:
        for ref, where in _references(stmt, path):
            if ref.index is not None:
                self._read(state, ref.index, stmt, (*where, "index"), "index", ref)
        match stmt:
            case st.Set(slot=slot, value=value):
                return assign(state, slot, self._read(state, value, stmt, (*path, 1), "set"))
            case st.Observe(value=value):
                self._read(state, value, stmt, (*path, 1), "observe")
                return state
            case st.Turn():
                return self._turn(state)
            case st.End():
                return replace(state, live=FALSE)
            case st.Hold():
                return self._hold(stmt, path, state)
            case st.Run():
                return self._run(stmt, path, state)
            case st.Grow(pool=pool, amount=amount):
                self._point(state)
                term = self._read(state, amount, stmt, (*path, 1), "growth", pool)
                state = replace(state, live=both(state.live, amount_valid(term)))
                return self._enlarge(state, path, pool, term, "added")
            case st.Load(pool=pool, amount=amount):
                term = self._read(state, amount, stmt, (*path, 1), "load", pool)
                scope = self._grown(state.scope, pool, term, "computed")
                return replace(state, scope=scope, live=both(state.live, amount_valid(term)))
            case st.Branch(guard=guard, then=then, other=other):
                test, contrary = self._guard(state, guard, stmt, path)
                yes = self._block(then, replace(state, live=both(state.live, test)))
                no = self._block(other, replace(state, live=both(state.live, contrary)))
                return merge(test, yes, no)
            case st.Loop(body=body):
                return self._loop(stmt, path, state, body, None)
            case st.While(guard=guard, body=body):
                return self._loop(stmt, path, state, body, guard)
            case st.Choose():
                return self._choose(stmt, path, state)
            case st.Fork(body=body):
                self._block(body, replace(state, scope=None))
                return state
            case _:
                return state

    def _guard(self, state: State, guard: ex.Expr, stmt: st.Stmt, path: IrPath) -> tuple[Fact, Fact]:
        """When a guard reads 1, and when 0; otherwise the run stops."""
        term = self._read(state, guard, stmt, (*path, 0), "guard")
        return is_value(term, 1.0), is_value(term, 0.0)

    def _turn(self, state: State) -> State:
        program = self.program
        count = operations.add(self.variables.rounding, state.attrs[program.slot_turn], constant(1.0))
        if not count.whole:
            count = self._loose("the turn number", 1.0, whole=True)
        state = assign(state, program.slot_turn, count)
        state = self.workload.next_turn(state)
        return replace(self._block(program.turn, state), turns=state.turns + 1)

    def _run(self, stmt: st.Run, path: IrPath, state: State) -> State:
        work = self._read(state, stmt.work, stmt, (*path, "work"), "work", stmt.stage)
        progress = either(state.progress, positive(work))
        state = replace(state, progress=progress, live=both(state.live, amount_valid(work)))
        after = state if stmt.growing is None else self._enlarge(state, path, stmt.growing, work, "computed")
        engine = isinstance(self.program.stages[stmt.stage.base].kind, pr.Step)
        self._point(after, work, stmt.growing, engine)
        return after

    def _enlarge(self, state: State, path: IrPath, ref: ex.CRef, amount: Term, kind: str) -> State:
        """The state after the innermost hold of a pool computed or added an amount."""
        after = replace(state, scope=self._grown(state.scope, ref, amount, kind))
        if not self.silent and after.live.flag is not False:
            found = held(after.scope, ref)
            if found is not None:
                self.growths.append(Growth(path, *found, after))
        return after

    def _grown(self, scope: Scope | None, ref: ex.CRef, amount: Term, kind: str) -> Scope | None:
        """The holds around a statement, with more computed or added on the innermost one of the pool."""
        if scope is None:
            return None
        k = member(scope, ref)
        if k is not None:
            before: Mapping[int, Term] = scope.computed if kind == "computed" else scope.added
            done = before.get(k, constant(0.0))
            total = {**before, k: operations.add(self.variables.rounding, done, non_negative(amount))}
            return replace(scope, computed=total) if kind == "computed" else replace(scope, added=total)
        return replace(scope, outer=self._grown(scope.outer, ref, amount, kind))

    def _choose(self, stmt: st.Choose, path: IrPath, state: State) -> State:
        count = self._read(state, stmt.count, stmt, (*path, "count"), "count")
        name = self.names.attr(stmt.var)
        most = max(0.0, count.high - 1) if count.ordinary else INF
        single = most == 0.0
        chosen = constant(0.0) if single else self._loose(f"the choice of {name}", 0.0, most, whole=True)
        if not single:
            below = operations.subtract(self.variables.rounding, count, constant(1.0))
            chosen = operations.maximum(
                self.variables.rounding,
                constant(0.0),
                operations.minimum(self.variables.rounding, chosen, below),
            )
            if not chosen.whole:
                chosen = self._loose(f"the choice of {name}", 0.0, most, whole=True)
        inside = assign(state, stmt.var, chosen)
        for i, key in enumerate(stmt.key):
            self._read(inside, key, stmt, (*path, "key", i), "key")
        return inside

    # Holds

    def _hold(self, stmt: st.Hold, path: IrPath, state: State) -> State:
        if self.enclosing and self._preemptible(stmt):
            return attempts(self, stmt, path, state)
        return self.hold_once(stmt, path, state)

    def hold_once(
        self, stmt: st.Hold, path: IrPath, state: State, collect: list[Point] | None = None
    ) -> State:
        """One attempt of a hold; `collect` receives the points at which it may be preempted."""
        self._point(state)
        units, reserves = self._header(stmt, path, state)
        own = self._consumed(stmt, state)
        scope = Scope(stmt, path, units, reserves, own, {}, {}, state.scope)
        inside = assign(state, self.program.slot_cached, own)
        inside = replace(inside, scope=scope, live=both(state.live, self._admissible(stmt, units, reserves)))
        if collect is not None:
            self.points.append(collect)
        self._point(inside)
        after = self._block(stmt.body, inside)
        if collect is not None:
            self.points.pop()
        if after.scope is not None and after.live.flag is not False:
            self._left(stmt, path, after)
        after = assign(after, self.program.slot_computed, constant(0.0))
        outer = after.scope.outer if after.scope is not None else state.scope
        return replace(after, scope=outer, cached_before=after.cached_before or stmt.cache is not None)

    def _header(
        self, stmt: st.Hold, path: IrPath, state: State
    ) -> tuple[tuple[Term, ...], tuple[Term | None, ...]]:
        header = self.encoder(state)
        units: list[Term] = []
        reserves: list[Term | None] = []
        for i, part in enumerate(stmt.pools):
            for column, e, role in ((1, part.units, "units"), (2, part.reserve, "reserve")):
                if e is None:
                    reserves.append(None)
                    continue
                header.watched = []
                term = header.encode(e)
                where = (*path, "pools", i, column)
                watched = tuple(header.watched)
                self._record(Reading(where, role, e, term, state, stmt, part.pool, watched))
                (units if role == "units" else reserves).append(term)
        if stmt.reuse is not None:
            header.watched = []
            term = header.encode(stmt.reuse)
            watched = tuple(header.watched)
            self._record(Reading((*path, "reuse"), "reuse", stmt.reuse, term, state, stmt, None, watched))
        return tuple(units), tuple(reserves)

    def _admissible(self, stmt: st.Hold, units: Sequence[Term], reserves: Sequence[Term | None]) -> Fact:
        """When a header's amounts are valid and fit the largest pool it may name: otherwise no body runs."""
        facts = []
        for part, unit, reserve in zip(stmt.pools, units, reserves, strict=True):
            cap = max(pool.cap for pool in pools_of(self.program, part.pool))
            for term in (unit, reserve):
                if term is not None:
                    facts.append(amount_valid(term))
                    facts.append(at_most(term, self.variables.number(cap + _FITS if self.enclosing else cap)))
        return both(*facts)

    def _left(self, stmt: st.Hold, path: IrPath, after: State) -> None:
        if stmt.cache is not None:
            self._read(after, stmt.cache, stmt, (*path, "cache"), "cache")
        if stmt.lease is not None:
            self._read(after, stmt.lease.duration, stmt, (*path, "lease", 1), "lease")

    def _consumed(self, stmt: st.Hold, state: State) -> Term:
        """`cached` after the admission: nothing without a cache clause, or before anything was cached."""
        if stmt.cache is None or (not self.enclosing and not state.cached_before):
            return constant(0.0)
        own = self._tokens("the cached prefix consumed")
        if stmt.reuse is None:
            return own
        most = non_negative(self.encoder(state).encode(stmt.reuse))
        return operations.minimum(self.variables.rounding, own, most)

    def _tokens(self, what: str, most: float = INF) -> Term:
        return self._loose(what, 0.0, most, whole=self.variables.integral)

    def _preemptible(self, stmt: st.Hold) -> bool:
        program = self.program
        return any(
            pool.preempt is not None
            for part in stmt.pools
            for pool in program.pools[part.pool.base : part.pool.base + part.pool.count]
        )

    # Loops, and holds that are executed again

    def _point(
        self, state: State, work: Term | None = None, growing: ex.CRef | None = None, engine: bool = False
    ) -> None:
        """A point at which the session may be preempted."""
        for found in self.points:
            found.append(Point(state, work, growing, engine))

    def head(self, stmt: st.Hold, path: IrPath, state: State) -> State:
        """The state at a hold that may be executed again after a preemption anywhere in its body."""
        program = self.program
        slots = self._assigned(stmt.body) | {program.slot_cached, program.slot_computed}

        def body(head: State) -> list[State]:
            again: list[Point] = []
            self.hold_once(stmt, path, head, again)
            return self.resumed(stmt, path, again)

        return self._invariant(path, state, slots, body)

    def resumed(self, stmt: st.Hold, path: IrPath, points: Sequence[Point]) -> list[State]:
        """The states in which a hold is executed again after a preemption at one of some points.

        Victims of a pool that is an engine's memory are at the engine (interp.md §8.8).
        """
        if self._engine_memory(stmt):
            points = [
                replace(p, state=replace(p.state, live=both(p.state.live, positive(p.work))))
                for p in points
                if p.engine and p.work is not None
            ]
        slot = self.program.slot_computed
        return [assign(p.state, slot, self._position(stmt, path, p)) for p in points]

    def _engine_memory(self, stmt: st.Hold) -> bool:
        """Whether every pool of a hold that preempts is the memory of an engine."""
        memories = {s.kind.memory for s in self.program.stages if isinstance(s.kind, pr.Step)}
        members = (i for part in stmt.pools for i in range(part.pool.base, part.pool.base + part.pool.count))
        return all(i in memories for i in members if self.program.pools[i].preempt is not None)

    def _position(self, stmt: st.Hold, path: IrPath, point: Point) -> Term:
        """How far a hold had come when it was preempted: at most all it had set out to compute."""
        scope = point.state.scope
        while scope is not None and scope.path != path:
            scope = scope.outer
        computed = self._tokens("the position of the last preemption")
        if scope is None:
            return computed
        r = self.variables.rounding
        most = scope.own
        for k in range(len(stmt.pools)):
            if k in scope.computed:
                end = operations.add(r, scope.own, scope.computed[k])
                most = operations.maximum(r, most, self._before_end(scope, k, end, point))
        return operations.minimum(r, computed, most)

    def _before_end(self, scope: Scope, k: int, end: Term, point: Point) -> Term:
        """A whole run still at its engine has at least one token left."""
        work = point.work
        if work is None or point.growing is None or not self.variables.integral or len(scope.computed) > 1:
            return end
        if not same_ref(scope.hold.pools[k].pool, point.growing):
            return end
        less_one = operations.subtract(self.variables.rounding, end, constant(1.0))
        return ite(above_zero(work), lambda v: v.of(work) > 0.0, less_one, end)

    def _loop(self, stmt: st.Stmt, path: IrPath, state: State, body: int, guard: ex.Expr | None) -> State:
        if not self.enclosing:
            return self._unrolled(stmt, path, state, body, guard)

        def once(head: State) -> list[State]:
            inside = head
            if guard is not None:
                test = is_value(self.encoder(head).encode(guard), 1.0)
                inside = replace(head, live=both(head.live, test))
            return [self._block(body, inside)]

        state = replace(state, scope=self._any_growth(state.scope) if self._grows(body) else state.scope)
        head = self._invariant(path, state, self._assigned(body), once)
        head = replace(head, progress=FALSE)
        test, contrary = (TRUE, FALSE) if guard is None else self._guard(head, guard, stmt, path)
        after = self._block(body, replace(head, live=both(head.live, test)))
        self._passed(path, after, guard)
        return replace(head, live=both(head.live, contrary), progress=state.progress)

    def _grows(self, block: int) -> bool:
        """Whether a block may enlarge a hold around it."""
        for stmt in self.program.blocks[block]:
            if isinstance(stmt, st.Grow) or (isinstance(stmt, st.Run) and stmt.growing is not None):
                return True
            if any(self._grows(inner) for inner in st.bodies(stmt)):
                return True
        return False

    def _any_growth(self, scope: Scope | None) -> Scope | None:
        """The holds around a loop whose passes enlarge one: by any amount."""
        if scope is None:
            return None
        parts = range(len(scope.hold.pools))
        computed = {k: self._loose("the tokens computed in a loop", 0.0) for k in parts}
        added = {k: self._loose("the growth in a loop", 0.0) for k in parts}
        return replace(scope, computed=computed, added=added, outer=self._any_growth(scope.outer))

    def _passed(self, path: IrPath, after: State, guard: ex.Expr | None) -> None:
        if self.silent or after.live.flag is False:
            return
        again = TRUE if guard is None else is_value(self.encoder(after).encode(guard), 1.0)
        self.passings.append(Passing(path, after, again))

    def _unrolled(self, stmt: st.Stmt, path: IrPath, state: State, body: int, guard: ex.Expr | None) -> State:
        out: State | None = None
        for _ in range(PASSES):
            if state.live.flag is False:
                break
            test, contrary = (TRUE, FALSE) if guard is None else self._guard(state, guard, stmt, path)
            left = replace(state, live=both(state.live, contrary))
            out = left if out is None else merge(out.live, out, left)
            inside = replace(state, live=both(state.live, test), progress=FALSE)
            after = self._block(body, inside)
            self._passed(path, after, guard)
            state = replace(after, progress=either(state.progress, after.progress))
        assert out is not None
        return out

    def _assigned(self, block: int) -> set[int]:
        """The slots a block may assign, turns and admissions included; legs assign copies."""
        program = self.program
        slots: set[int] = set()
        for stmt in program.blocks[block]:
            slot = st.assigned(stmt)
            if slot is not None:
                slots.add(slot)
            if isinstance(stmt, st.Turn):
                slots |= {program.slot_turn} | self.workload.turn_slots | self._assigned(program.turn)
            if isinstance(stmt, st.Hold):
                slots |= {program.slot_cached, program.slot_computed}
            if not isinstance(stmt, st.Fork):
                for inner in st.bodies(stmt):
                    slots |= self._assigned(inner)
        return slots

    def _invariant(
        self, path: IrPath, entry: State, slots: set[int], body: Callable[[State], list[State]]
    ) -> State:
        """The entry state with slots as variables, under the candidate bounds that prove inductive."""
        self.silent += 1
        points, self.points = self.points, []
        try:
            return inductive(self, path, entry, sorted(slots), body)
        finally:
            self.points = points
            self.silent -= 1


def _references(stmt: st.Stmt, path: IrPath) -> list[tuple[ex.CRef, IrPath]]:
    match stmt:
        case st.Hold(pools=pools, lease=lease):
            found = [(p.pool, (*path, "pools", i, 0)) for i, p in enumerate(pools)]
            return found if lease is None else [*found, (lease.pool, (*path, "lease", 0))]
        case st.Grow(pool=ref) | st.Load(pool=ref):
            return [(ref, (*path, 0))]
        case st.Drop(pool=ref) | st.Release(pool=ref):
            return [(ref, path)]
        case st.Run(stage=stage, growing=growing, also=also):
            found = [(stage, (*path, "stage"))]
            if growing is not None:
                found.append((growing, (*path, "growing")))
            return found + [(r, (*path, "also", i)) for i, r in enumerate(also)]
        case _:
            return []
