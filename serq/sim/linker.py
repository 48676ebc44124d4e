"""Links a program to a machine: pools and stages with their rules, instructions, gauges, claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from serq.diagnostics import IrPath
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.depth import deep_recursion
from serq.ir.expressions import Agg, Call, Ctx, Expr, Num, PoolArg, Reg, Sample, StageArg, walk
from serq.ir.moments import Moment
from serq.ir.tables import CONTEXT, FUNCTION
from serq.ir.traverse import expressions_of
from serq.sim import draws, numeric
from serq.sim.caching import SpillRule
from serq.sim.claims import EndClaim, IterationClaim, aggregate
from serq.sim.clients import ClientTurn
from serq.sim.codegen import WORKLOAD_STREAM, Codegen, is_boolean, static_member
from serq.sim.engine import Engine
from serq.sim.errors import Stop
from serq.sim.flows import SharedState
from serq.sim.gauges import GaugeState
from serq.sim.layout import Layout, Scope, lay_out
from serq.sim.ops import Build, Op, OpBuilder, straight_lines
from serq.sim.planning import Item
from serq.sim.pools import PoolState
from serq.sim.records import Session
from serq.sim.scopes import HoldPart, HoldSite
from serq.sim.stages import DelayState, FifoState, PsState, StageState
from serq.sim.turns import TurnSource

if TYPE_CHECKING:
    from serq.sim.machine import Machine

Get = Callable[[str], Callable[..., Any]]


@dataclass
class Linked:
    """What a machine runs."""

    zeros: list[float]
    ops: list[Op]
    paths: list[IrPath]
    sites: list[HoldSite]
    turns: TurnSource
    init: Callable[[Session], None] | None
    turn: Callable[[Session], None]
    gap: Callable[[], float] | None
    gauges: list[GaugeState]
    given: list[Any]
    iteration_claims: list[IterationClaim]
    end_claims: list[EndClaim]
    claims: list[IterationClaim | EndClaim]
    codegen: Codegen
    observed: dict[int, list[float]] = field(default_factory=dict)
    after_event: Callable[[], None] | None = None

    def path(self, pc: int) -> IrPath:
        """Where in the IR an instruction comes from."""
        return self.paths[pc] if 0 <= pc < len(self.paths) else ()


def link(machine: Machine, detailed: bool) -> Linked:
    """Build a machine's pools, stages and instructions from its program."""
    with deep_recursion():
        return _Linker(machine, detailed).link()


def can_move(e: Expr) -> bool:
    """Whether an expression's value may change while a hold waits (interp.md §8.1)."""
    return any(
        isinstance(x, Ctx | Reg | Sample) or (isinstance(x, Call) and FUNCTION[x.fun].moves) for x in walk(e)
    )


def _moves_while_planning(e: Expr) -> bool:
    fixed = {"Decoding", "Admission", "Remaining", "Now"}
    return any(
        (isinstance(x, Ctx) and x.var not in fixed)
        or isinstance(x, Reg)
        or (isinstance(x, Call) and FUNCTION[x.fun].moves)
        for x in walk(e)
    )


class _Linker:
    def __init__(self, machine: Machine, detailed: bool) -> None:
        self.m = machine
        self.program = machine.program
        self.detailed = detailed
        self.codegen = Codegen()
        self.later: list[Callable[[Get], None]] = []

    def link(self) -> Linked:
        m, program = self.m, self.program
        m.pools.extend(PoolState(m, i, spec) for i, spec in enumerate(program.pools))
        m.stages.extend(self._stages())
        for pool in m.pools:
            self._pool(pool)
        for stage in m.stages:
            if isinstance(stage, Engine):
                self._engine(stage)
        layout = lay_out(program)
        sites = [self._site(scope) for scope in layout.scopes]
        builds = OpBuilder(m, self.codegen, layout, sites).prepare()
        linked = self._linked(layout, sites)
        get = self.codegen.link(self._namespace(linked))
        for finish in self.later:
            finish(get)
        self._build(linked, builds, get)
        return linked

    def _build(self, linked: Linked, builds: list[Build], get: Get) -> None:
        linked.ops = [build(get) for build in builds]

    def _late(self, name: str, use: Callable[[Any], None]) -> None:
        self.later.append(lambda get: use(get(name)))

    # Pools

    def _pool(self, pool: PoolState) -> None:
        spec = pool.spec
        copies = any(p.evict is not None or p.spill is not None for p in self.program.pools)
        pool.cache.copies_attrs = copies
        if spec.queue is not None:
            self._late(self.codegen.key_list(spec.queue, Moment.SELECT), partial(setattr, pool, "queue_keys"))
            pool.keys_show = any(_shows(key) for key in spec.queue)
        if spec.preempt is not None:
            name = self.codegen.key_list(spec.preempt.keys, Moment.VICTIM)
            self._late(name, partial(setattr, pool, "victim_keys"))
        if spec.evict is not None:
            name = self.codegen.key_list(spec.evict.keys, Moment.EVICT)
            self._late(name, partial(setattr, pool.cache, "keys"))
        if spec.spill is not None:
            self._spill(pool, spec.spill)
        if spec.admit_via is not None:
            engine = self.m.stages[spec.admit_via]
            assert isinstance(engine, Engine)
            pool.served_by = engine
            engine.admits.append(pool)

    def _spill(self, pool: PoolState, spill: pr.Spill) -> None:
        work = self.codegen.function(spill.work, Moment.EVICT)
        when = self.codegen.function(spill.when, Moment.EVICT)

        def use(get: Get) -> None:
            pool.cache.spill = SpillRule(spill.to, spill.via, get(work), get(when))

        self.later.append(use)

    # Stages

    def _stages(self) -> Iterator[StageState]:
        shared = self._shared_stages()
        estimating = any(
            isinstance(x, Call) and x.fun in ("EstLambda", "EstRho", "EstWait", "Price")
            for _, _, e in expressions_of(self.program)
            for x in walk(e)
        )
        for index, spec in enumerate(self.program.stages):
            stage = self._stage(index, spec, index in shared)
            stage.estimating = estimating
            yield stage

    def _shared_stages(self) -> set[int]:
        found: set[int] = set()
        for block in self.program.blocks:
            for stmt in block:
                if isinstance(stmt, st.Run) and stmt.also:
                    for ref in (stmt.stage, *stmt.also):
                        found.update(range(ref.base, ref.base + ref.count))
        return found

    def _stage(self, index: int, spec: pr.Stage, shared: bool) -> StageState:
        match spec.kind:
            case pr.Fifo(servers=servers):
                return FifoState(self.m, index, spec, servers)
            case pr.Step():
                return Engine(self.m, index, spec, spec.kind)
            case pr.Ps(capacity=capacity):
                if shared:
                    return SharedState(self.m, index, spec, constant(capacity))
                if capacity == Ctx(var="N"):
                    return DelayState(self.m, index, spec)
                stage = PsState(self.m, index, spec)
                name = self.codegen.function(capacity, Moment.PS)
                self._late(name, partial(setattr, stage, "capacity"))
                return stage

    def _engine(self, engine: Engine) -> None:
        step, reads = engine.step, engine.reads
        for what in ("budget", "chunk"):
            name = self.codegen.function(getattr(step, what), Moment.BUDGET)
            self._late(name, partial(setattr, reads, what))
        self._late(self.codegen.function(step.cost, Moment.STEP), partial(setattr, reads, "cost"))
        if step.serve is None:
            reads.exclusive = True
        elif step.serve:
            self._late(self.codegen.key_list(step.serve, Moment.SERVE), partial(setattr, reads, "keys"))
            reads.keys_move = any(_moves_while_planning(k) for k in step.serve)
        if step.granule is not None:
            reads.granule = constant(step.granule)
        if step.memory is not None:
            engine.memory = self.m.pools[step.memory]
            engine.memory.engines.append(engine)
        if step.iteration is not None:
            reads.body = [self._item(i) for i in step.iteration]
        self._totals(engine)

    def _totals(self, engine: Engine) -> None:
        """Which totals over residents any expression of the program's engines and claims reads."""
        read = {x.var for _, _, e in expressions_of(self.program) for x in walk(e) if isinstance(x, Ctx)}
        engine.reads.decodes = "Ndec" in read
        engine.reads.memory = bool(read & {"Kvb", "Kvp"})

    def _item(self, item: pr.IterItem) -> Item:
        match item:
            case pr.Serve(only=only, by=by):
                made = Item("Serve")
                if only is not None:
                    self._late(self.codegen.function(only, Moment.ONLY), partial(setattr, made, "only"))
                if by is not None:
                    self._late(self.codegen.key_list(by, Moment.SERVE), partial(setattr, made, "by"))
            case pr.Admit(only=only, gate=gate):
                made = Item("Admit")
                if only is not None:
                    self._late(self.codegen.function(only, Moment.ONLY), partial(setattr, made, "only"))
                if gate is not None:
                    self._late(self.codegen.function(gate, Moment.PLAN), partial(setattr, made, "gate"))
            case pr.IterBranch(guard=guard, then=then, other=other):
                made = Item(
                    "Branch", then=[self._item(x) for x in then], other=[self._item(x) for x in other]
                )
                self._late(self.codegen.function(guard, Moment.PLAN), partial(setattr, made, "gate"))
            case pr.IterSet(reg=reg, value=value):
                made = Item("Set", register=reg)
                self._late(self.codegen.function(value, Moment.PLAN), partial(setattr, made, "value"))
            case _:
                raise TypeError(f"not a statement of an iteration: {item!r}")
        return made

    # Holds

    def _site(self, scope: Scope) -> HoldSite:
        stmt = scope.stmt
        site = HoldSite(scope.number, scope.path, scope.opens, scope.opens + 1, [], None, None, None, None)
        for p in stmt.pools:
            site.parts.append(self._part(p))
        site.fixed = all(
            part.units_fixed and (part.reserve is None or part.reserve_fixed) for part in site.parts
        )
        for what, e in (("reuse", stmt.reuse), ("cache", stmt.cache)):
            if e is not None:
                moment = Moment.ADMIT if what == "reuse" else Moment.SESSION
                self._late(self.codegen.function(e, moment), partial(setattr, site, what))
        if stmt.lease is not None:
            name = self.codegen.lines(
                [f"return {self.codegen.writer(Moment.SESSION).reference(stmt.lease.pool, 'pools')}"],
                Moment.SESSION,
            )
            self._late(name, partial(setattr, site, "lease"))
            time = self.codegen.function(stmt.lease.duration, Moment.SESSION)
            self._late(time, partial(setattr, site, "lease_time"))
        return site

    def _part(self, p: st.HoldPool) -> HoldPart:
        static = static_member(p.pool)
        fixed = None if static is None else self.m.pools[static]
        reserve_fixed = p.reserve is not None and not can_move(p.reserve)
        part = HoldPart(_unset_pool, fixed, _unset, not can_move(p.units), None, reserve_fixed)
        if fixed is None:
            writer = self.codegen.writer(Moment.ADMIT)
            name = self.codegen.lines([f"return {writer.reference(p.pool, 'pools')}"], Moment.ADMIT)
            self._late(name, partial(setattr, part, "pool"))
        self._late(self.codegen.function(p.units, Moment.ADMIT), partial(setattr, part, "units"))
        if p.reserve is not None:
            part.reserve = _unset
            self._late(self.codegen.function(p.reserve, Moment.ADMIT), partial(setattr, part, "reserve"))
        return part

    # The workload, gauges, claims

    def _linked(self, layout: Layout, sites: list[HoldSite]) -> Linked:
        m, program = self.m, self.program
        claims = [self._claim(c) for c in program.claims]
        linked = Linked(
            zeros=[0.0] * len(program.attrs),
            ops=[],
            paths=[i.path for i in layout.code],
            sites=sites,
            turns=TurnSource(m, program, m.corpus),
            init=None,
            turn=_nothing,
            gap=None,
            gauges=[self._gauge(g) for g in program.gauges],
            given=[c for c in claims if c.spec.given is not None],
            iteration_claims=[c for c in claims if isinstance(c, IterationClaim)],
            end_claims=[c for c in claims if isinstance(c, EndClaim)],
            claims=claims,
            codegen=self.codegen,
        )
        self._workload(linked)
        if isinstance(program.arrival, pr.Renewal):
            gap = self.codegen.function(program.arrival.gap, Moment.RENEWAL)
            self._late(gap, partial(setattr, linked, "gap"))
        return linked

    def _workload(self, linked: Linked) -> None:
        if self.program.blocks[self.program.init]:
            self._late(self._block(self.program.init), partial(setattr, linked, "init"))
        self._late(self._block(self.program.turn), partial(setattr, linked, "turn"))

    def _turn_taker(self, linked: Linked) -> Callable[[Session], None]:
        m, load = self.m, linked.turns.load
        slot_turn = self.program.slot_turn

        def take_turn(s: Session) -> None:
            s.attrs[slot_turn] += 1.0
            s.turns += 1
            if m.warm:
                m.turns += 1
            s.workload = None
            if s.trace_session is not None:
                load(s)
            linked.turn(s)
            s.client = ClientTurn(m.now)

        return take_turn

    def _block(self, index: int) -> str:
        stmts = list(self.program.blocks[index])
        return self.codegen.lines(straight_lines(self.codegen, stmts, WORKLOAD_STREAM), Moment.SESSION)

    def _gauge(self, g: pr.Gauge) -> GaugeState:
        end = None if self.program.arrivals is not None else self.program.horizon
        state = GaugeState(g.name, lambda: 0.0, self.program.warmup, end, self.detailed)
        self._late(self.codegen.function(g.expr, Moment.GAUGE), partial(setattr, state, "read"))
        return state

    def _claim(self, c: pr.Claim) -> IterationClaim | EndClaim:
        state: IterationClaim | EndClaim
        if c.kind is None:
            state = EndClaim(c, None, lambda: 0.0)
            self._late(self.codegen.function(c.expr, Moment.END), partial(setattr, state, "_expr"))
        else:
            state = IterationClaim(c, None, lambda _: 0.0)
            self._late(self.codegen.function(c.expr, Moment.ITERATION), partial(setattr, state, "_expr"))
            engine = self.m.stages[c.kind.stage]
            assert isinstance(engine, Engine)
            engine.claims.append(state)
        if c.given is not None:
            self._late(self.codegen.function(c.given, Moment.GIVEN), partial(setattr, state, "given"))
        return state

    # What generated code sees

    def _namespace(self, linked: Linked) -> dict[str, Any]:
        m = self.m
        names: dict[str, Any] = {
            "m": m,
            "INF": numeric.INF,
            "NAN": numeric.NAN,
            "pools": m.pools,
            "stages": m.stages,
            "registers": m.registers,
            "end_session": m.legs.end_session,
            "answer": m.clients.answer,
            "take_turn": self._turn_taker(linked),
            "member": _member,
            "bad_guard": _bad_guard,
            "order_key": numeric.order_key,
            "open_stream": m.open_stream,
            "open_workload": m.open_workload,
            "machine_rng": m.machine_rng,
            "evict_rng": m.evict_rng,
            "arrival_rng": m.arrival_rng,
        }
        for name in ("div", "fmin", "fmax", "floor", "ceil", "sqrt", "exp", "ln", "power"):
            names[name] = getattr(numeric, name)
        for row in ("exp", "det", "uniform", "erlang", "h2", "bernoulli"):
            names[f"draw_{row}"] = getattr(draws, f"draw_{row}")
        names.update({f"pools_{p.index}": p for p in m.pools})
        names.update({f"stages_{s.index}": s for s in m.stages})
        aggregated = {x.observe for c in self.program.claims for x in walk(c.expr) if isinstance(x, Agg)}
        linked.observed = {k: [] for k in aggregated}
        names["aggregate"] = lambda fun, k: aggregate(linked.observed[k], fun)
        for k in range(len(self.program.observes)):
            names[f"observe_{k}"] = self._recorder(k, linked.observed.get(k))
        return names

    def _recorder(self, k: int, every: list[float] | None) -> Callable[[Session, float], None]:
        m = self.m
        samples = m.observations[k]
        slot_turn = self.program.slot_turn
        append = samples.values.append

        def record_value(s: Session, value: float) -> None:
            if m.warm:
                append(value)

        if every is None and not self.detailed:
            return record_value

        def record(s: Session, value: float) -> None:
            if every is not None:
                every.append(value)
            if m.warm:
                samples.add(value, m.now, s.serial, s.attrs[slot_turn])

        return record


def constant(e: Expr) -> float:
    """The value of an expression of constants."""
    if isinstance(e, Num):
        return e.value
    codegen = Codegen()
    name = codegen.function(e, Moment.GAUGE)
    names: dict[str, Any] = {"INF": numeric.INF, "NAN": numeric.NAN}
    for fun in ("div", "fmin", "fmax", "floor", "ceil", "sqrt", "exp", "ln", "power"):
        names[fun] = getattr(numeric, fun)
    return float(codegen.link(names)(name)())


def _member(table: list[Any], base: int, count: int, index: float) -> Any:
    if 0.0 <= index < count and index == int(index):
        return table[base + int(index)]
    name = table[base].spec.name
    raise Stop(
        "SQ805",
        f"index {index:g} names no member of {name}, which has {count}",
        hint=f"an index is a whole number from 0 to {count - 1}",
    )


def _bad_guard(value: float) -> None:
    raise Stop("SQ801", f"a guard evaluates to {value:g}, not 0 or 1", hint="write a test, such as `x > 0`")


def _nothing(s: Session) -> None:
    return None


def _unset(s: Session) -> float:
    raise AssertionError("linked too early")


def _unset_pool(s: Session) -> PoolState:
    raise AssertionError("linked too early")


__all__ = ["CONTEXT", "Linked", "can_move", "constant", "is_boolean", "link"]


def _shows(key: Expr) -> bool:
    """Whether reading a key may draw or fail, which shows even where there is nothing to choose."""
    return any(
        node.fun == "BudgetLeft" or any(_may_fail(arg) for arg in node.args)
        for node in walk(key)
        if isinstance(node, Call)
    )


def _may_fail(argument: Expr | PoolArg | StageArg) -> bool:
    if isinstance(argument, Expr) or argument.ref.index is None:
        return False
    return not isinstance(argument.ref.index, Num)
