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

from serq.check import operations
from serq.check.encoder import Encoder
from serq.check.flags import Flag, choose, lor
from serq.check.invariants import Guess, constants_of, inductive
from serq.check.places import Growth, Leaving, Passing, Reading, Scope, State
from serq.check.readings import pools_of
from serq.check.solver import FALSE, TRUE, Fact, Oracle, both
from serq.check.terms import INF, Term, constant, equal, ite, less
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
# The tolerance of amounts (interp.md §1), and a wider one for what fits.
EPS = 1e-9
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
    leavings: list[Leaving] = field(default_factory=list)
    passings: list[Passing] = field(default_factory=list)
    prober: Oracle = field(init=False)
    ladder: list[float] = field(default_factory=list)
    found: dict[IrPath, dict[int, Guess]] = field(default_factory=dict)
    _points: list[list[State]] = field(default_factory=list)
    _silent: int = 0

    def run(self) -> None:
        """Walk init, presets and the session block."""
        self.ladder = constants_of(self.program)
        probe = min(_PROBE, self.oracle.timeout)
        self.prober = Oracle(self.variables, probe, self.oracle.deadline, patience=8)
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
        if not self._silent and reading.state.live.flag is not False:
            self.readings.append(reading)

    # Statements

    def _block(self, block: int, state: State) -> State:
        for position, stmt in enumerate(self.program.blocks[block]):
            if state.live.flag is False:
                break
            state = self._statement(stmt, ("blocks", block, position, type(stmt).__name__), state)
        if not self._silent:
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
        progress = either(state.progress, Fact(above_zero(work), lambda v: v.of(work) > 0.0))
        state = replace(state, progress=progress, live=both(state.live, amount_valid(work)))
        after = state if stmt.growing is None else self._enlarge(state, path, stmt.growing, work, "computed")
        self._point(after)
        return after

    def _enlarge(self, state: State, path: IrPath, ref: ex.CRef, amount: Term, kind: str) -> State:
        """The state after the innermost hold of a pool computed or added an amount."""
        after = replace(state, scope=self._grown(state.scope, ref, amount, kind))
        if not self._silent and after.live.flag is not False:
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
            state = self._head(stmt, path, state)
        self._point(state)
        units, reserves = self._header(stmt, path, state)
        own = self._consumed(stmt, state)
        scope = Scope(stmt, path, units, reserves, own, {}, {}, state.scope)
        inside = assign(state, self.program.slot_cached, own)
        inside = replace(inside, scope=scope, live=both(state.live, self._admissible(stmt, units, reserves)))
        self._point(inside)
        after = self._block(stmt.body, inside)
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
                    facts.append(at_most(term, cap if not self.enclosing else cap + _FITS))
        return both(*facts)

    def _left(self, stmt: st.Hold, path: IrPath, after: State) -> None:
        assert after.scope is not None
        if stmt.cache is not None:
            self._read(after, stmt.cache, stmt, (*path, "cache"), "cache")
        if stmt.lease is not None:
            self._read(after, stmt.lease.duration, stmt, (*path, "lease", 1), "lease")
        if not self._silent:
            self.leavings.append(Leaving(path, after.scope, after))

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

    def _point(self, state: State) -> None:
        """A point at which the session may be preempted."""
        for points in self._points:
            points.append(state)

    def _head(self, stmt: st.Hold, path: IrPath, state: State) -> State:
        """The state at a hold that may be executed again after a preemption anywhere in its body."""
        program = self.program
        slots = self._assigned(stmt.body) | {program.slot_cached, program.slot_computed}

        def body(head: State) -> list[State]:
            self._points.append([])
            own = self._consumed(stmt, head)
            zero = tuple(constant(0.0) for _ in stmt.pools)
            scope = Scope(stmt, path, zero, tuple(None for _ in stmt.pools), own, {}, {}, None)
            inside = replace(assign(head, program.slot_cached, own), scope=scope)
            self._point(inside)
            self._block(stmt.body, inside)
            again = self._points.pop()
            return [assign(x, program.slot_computed, self._position(stmt, path, x)) for x in again]

        return self._invariant(path, state, slots, body)

    def _position(self, stmt: st.Hold, path: IrPath, state: State) -> Term:
        """How far a hold had come when it was preempted: at most all it set out to compute."""
        scope = state.scope
        while scope is not None and scope.path != path:
            scope = scope.outer
        computed = self._tokens("the position of the last preemption")
        if scope is None:
            return computed
        r = self.variables.rounding
        most = scope.own
        for k in range(len(stmt.pools)):
            if k in scope.computed:
                most = operations.maximum(r, most, operations.add(r, scope.own, scope.computed[k]))
        return operations.minimum(r, computed, most)

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
        if self._silent or after.live.flag is False:
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
        self._silent += 1
        points, self._points = self._points, []
        try:
            return inductive(self, path, entry, sorted(slots), body)
        finally:
            self._points = points
            self._silent -= 1


def member(scope: Scope, ref: ex.CRef) -> int | None:
    """Which of a hold's pools a reference names."""
    for k, part in enumerate(scope.hold.pools):
        if same_ref(part.pool, ref):
            return k
    return None


def held(scope: Scope | None, ref: ex.CRef) -> tuple[Scope, int] | None:
    """The innermost hold of a pool, and which of its pools that is."""
    while scope is not None:
        k = member(scope, ref)
        if k is not None:
            return scope, k
        scope = scope.outer
    return None


def above_zero(t: Term) -> Flag:
    """When a term is above 0."""
    return less(constant(0.0), t)


def non_negative(t: Term) -> Term:
    """What a valid amount counts as: negatives within the tolerance are 0."""
    zero = constant(0.0)
    return t if t.low >= 0 else ite(less(t, zero), lambda v: v.of(t) < 0.0, zero, t)


def amount_valid(t: Term) -> Fact:
    """An amount the run accepts: neither NaN nor below -1e-9."""
    return Fact(less(constant(-EPS), t, or_equal=True), lambda v: v.of(t) >= -EPS)


def at_most(t: Term, bound: float) -> Fact:
    """A term no greater than a bound."""
    return Fact(less(t, constant(bound), or_equal=True), lambda v: v.of(t) <= bound)


def is_value(term: Term, value: float) -> Fact:
    """A term that reads a value."""
    return Fact(equal(term, constant(value)), lambda v: v.of(term) == value)


def either(a: Fact, b: Fact) -> Fact:
    """One of two facts."""
    return Fact(lor(a.flag, b.flag), lambda v: a.holds(v) or b.holds(v))


def assign(state: State, slot: int, term: Term) -> State:
    """The state with an attribute assigned."""
    return replace(state, attrs={**state.attrs, slot: term}, assigned={**state.assigned, slot: TRUE})


def merge(test: Fact, yes: State, no: State) -> State:
    """Where two arms meet: values by the test that chose between them."""
    if yes.live.flag is False:
        return no
    if no.live.flag is False:
        return yes
    decide = test.holds
    attrs = {slot: ite(test.flag, decide, term, no.attrs[slot]) for slot, term in yes.attrs.items()}
    slots = set(yes.assigned) | set(no.assigned)
    assigned = {s: pick(test, yes.assigned.get(s, FALSE), no.assigned.get(s, FALSE)) for s in slots}
    return State(
        attrs,
        assigned,
        either(yes.live, no.live),
        _merge_scope(test, yes.scope, no.scope),
        pick(test, yes.progress, no.progress),
        max(yes.turns, no.turns),
        yes.cached_before or no.cached_before,
    )


def pick(test: Fact, yes: Fact, no: Fact) -> Fact:
    """One fact or the other."""
    if yes is no:
        return yes
    return Fact(
        choose(test.flag, yes.flag, no.flag), lambda v: yes.holds(v) if test.holds(v) else no.holds(v)
    )


def _merge_scope(test: Fact, yes: Scope | None, no: Scope | None) -> Scope | None:
    if yes is no or yes is None or no is None:
        return yes
    zero = constant(0.0)

    def merged(a: Mapping[int, Term], b: Mapping[int, Term]) -> dict[int, Term]:
        return {
            k: ite(test.flag, test.holds, a.get(k, zero), b.get(k, zero)) for k in sorted(set(a) | set(b))
        }

    return replace(
        yes,
        computed=merged(yes.computed, no.computed),
        added=merged(yes.added, no.added),
        outer=_merge_scope(test, yes.outer, no.outer),
    )


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
