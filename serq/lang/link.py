"""The last pass: a kernel program as the IR's `Program` (004), with the source map of what was written where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.symbolic import keep, number
from serq.lang import tree
from serq.lang.attribute_types import AttributeTypes
from serq.lang.constants import NotConstant, evaluate, value_of, whole
from serq.lang.findings import Findings
from serq.lang.kernel import (
    Kernel,
    KernelAdmit,
    KernelBranch,
    KernelItem,
    KernelPool,
    KernelServe,
    KernelStage,
    KernelStep,
)
from serq.lang.link_expressions import ExpressionLinker
from serq.lang.link_statements import Names, StatementLinker
from serq.lang.settings import Settings
from serq.lang.sourcemap import Spans

_POLICY: dict[str | None, Literal["MaxMin", "Bottleneck"]] = {"maxmin": "MaxMin", "bottleneck": "Bottleneck"}


class Linker:
    """Numbers everything a kernel program names."""

    def __init__(self, kernel: Kernel, names: Names) -> None:
        self.kernel = kernel
        self.model = kernel.model
        self.findings: Findings = kernel.model.findings
        self.spans = Spans()
        self.names = names
        blocks = {p.family.name: p.block for p in kernel.pools if _has_block(p)}
        self.expressions = ExpressionLinker(self.model, blocks, self.spans)
        self.expressions.attributes = names.attributes
        self.expressions.observes = names.observes
        self.expressions.records = kernel.records
        self.types = AttributeTypes(self.findings, kernel.declared)
        self.statements = StatementLinker(self.expressions, self.types, self.spans)

    def program(self, settings: Settings) -> pr.Program:
        """The program with its settings."""
        kernel = self.kernel
        self._place_fields()
        init, turn, session = self._blocks()
        return pr.Program(
            attrs=tuple(self.names.attributes),
            attr_types=tuple(self.types.of(slot) for slot in self.names.attributes.values()),
            sides=tuple(tuple(s) for s in self.statements.sides),
            observes=tuple(self.names.observes),
            pools=tuple(p for family in kernel.pools for p in self._pool(family)),
            stages=tuple(s for family in kernel.stages for s in self._stage(family)),
            arrival=self._arrival(kernel.arrival),
            trace=self._trace(settings),
            trace_ordered=kernel.trace is not None and kernel.trace.ordered,
            init=init,
            turn=turn,
            session=session,
            blocks=tuple(tuple(b) for b in self.statements.blocks),
            horizon=settings.horizon if settings.horizon is not None else settings.warmup + 1.0,
            warmup=settings.warmup,
            seed=settings.seed,
            arrivals=settings.arrivals,
            hidden=tuple(self._hidden()),
            share=_POLICY.get(kernel.share),
            gauges=tuple(self._gauge(g) for g in kernel.gauges),
            claims=tuple(c for claim in kernel.claims if (c := self._claim(claim)) is not None),
            registers=tuple(self._registers()),
        )

    def _place_fields(self) -> None:
        """Where the program's own fields are written."""
        kernel, fields = self.kernel, self.spans.fields
        if self.model.shares:
            fields["share"] = self.model.shares[0].span
        if kernel.hidden:
            fields["hidden"] = kernel.hidden[0].span
        for name, node in (("arrival", kernel.arrival), ("trace", kernel.trace)):
            if node is not None:
                fields[name] = node.span

    # Blocks

    def _blocks(self) -> tuple[int, int, int]:
        kernel, linker = self.kernel, self.statements
        linker.server = kernel.server
        numbers = linker.block(None), linker.block(None), linker.block(None)
        for at, block in zip(numbers, (kernel.init, kernel.turn, kernel.session), strict=True):
            if block is not None:
                linker.fill(at, block)
        written = kernel.session.statements if kernel.session is not None else ()
        if not written or not isinstance(written[-1], tree.End):
            linker.blocks[numbers[2]].append(st.End())
            linker.sides[numbers[2]].append("Workload")
        return numbers

    # Pools

    def _pool(self, pool: KernelPool) -> Iterator[pr.Pool]:
        family, e = pool.family, self.expressions
        evict = None if pool.evict is None else pr.EvictBy(keys=e.exprs(pool.evict))
        preempt = None
        if pool.preempt is not None:
            preempt = pr.PreemptBy(keys=e.exprs(pool.preempt), tail=pool.tail)
        queue = None if pool.queue is None else e.exprs(pool.queue)
        spill = self._spill(pool.spill)
        for member in range(family.count):
            made = pr.Pool(
                name=family.name,
                index=member if family.indexed else None,
                cap=pool.cap,
                block=pool.block,
                evict=evict,
                preempt=preempt,
                queue=queue,
                spill=spill,
                admit_via=self._admit_via(pool, member),
                reserve_held=pool.reserve_held,
            )
            made = keep(made, cap=pool.cap, block=pool.block)
            self.spans.add(made, family.place)
            yield made

    def _admit_via(self, pool: KernelPool, member: int) -> int | None:
        engine = pool.family.admitted_by
        if engine is None:
            return None
        return engine.stage.base + (member if engine.stage.indexed else 0)

    def _spill(self, spill: tree.Spill | None) -> pr.Spill | None:
        if spill is None:
            return None
        # A family's name means its first member here.
        to, via = self._first(spill.pool, "pool"), self._first(spill.via, "stage")
        work, when = self.expressions.expr(spill.work), self.expressions.expr(spill.when)
        if to is None or via is None:
            return None
        return pr.Spill(to=to, via=via, work=work, when=when)

    def _first(self, ref: tree.Ref, what: str) -> int | None:
        family = (self.model.pools if what == "pool" else self.model.stages).get(ref.name.text)
        if ref.index is not None:
            hint = f"write `{ref.name.text}`: a family's name means its first member"
            self.findings.error("SQ317", "a spill names a pool and a stage without an index", ref, hint=hint)
        if family is None:
            reference = self.expressions.pool(ref) if what == "pool" else self.expressions.stage(ref)
            return None if reference is None else reference.base
        return family.base

    # Stages

    def _stage(self, stage: KernelStage) -> Iterator[pr.Stage]:
        family, kind = stage.family, stage.kind
        shared: pr.Fifo | pr.Ps | None = None
        if isinstance(kind, int):
            shared = pr.Fifo(servers=kind)
        elif not isinstance(kind, KernelStep):
            shared = pr.Ps(capacity=self.expressions.expr(kind))
        step = self._step(kind) if isinstance(kind, KernelStep) else None
        memory = stage.engine.memory if stage.engine is not None else None
        for member in range(family.count):
            own = shared
            made_kind: pr.Fifo | pr.Ps | pr.Step
            if step is not None:
                base = None if memory is None else memory.base + (member if memory.indexed else 0)
                made_kind = step.model_copy(update={"memory": base})
            else:
                assert own is not None
                made_kind = own
            made = pr.Stage(name=family.name, index=member if family.indexed else None, kind=made_kind)
            self.spans.add(made, family.place)
            yield made

    def _step(self, step: KernelStep) -> pr.Step:
        e = self.expressions
        return pr.Step(
            budget=e.expr(step.budget),
            cost=e.expr(step.cost),
            chunk=e.expr(step.chunk),
            granule=e.maybe(step.granule),
            serve=None if step.serve is None else e.exprs(step.serve),
            iteration=None if step.iteration is None else tuple(self._item(i) for i in step.iteration),
        )

    def _item(self, item: KernelItem) -> pr.IterItem:
        e = self.expressions
        made: pr.IterItem
        match item:
            case KernelServe(only=only, by=by):
                made = pr.Serve(only=e.maybe(only), by=None if by is None else e.exprs(by))
            case KernelAdmit(only=only, gate=gate):
                made = pr.Admit(only=e.maybe(only), gate=e.maybe(gate))
            case KernelBranch(guard=guard, then=then, otherwise=otherwise):
                then_items = tuple(self._item(i) for i in then)
                other = tuple(self._item(i) for i in otherwise)
                made = pr.IterBranch(guard=e.expr(guard), then=then_items, other=other)
            case _:
                made = pr.IterSet(reg=e.registers[item.register], value=e.expr(item.value))
        self.spans.add(made, item.node.span)
        return made

    def _registers(self) -> Iterator[pr.Register]:
        for name, (engine, state) in self.model.registers.items():
            made = pr.Register(name=name, stage=engine.stage.base, init=self.kernel.registers[name])
            made = keep(made, init=self.kernel.registers[name])
            self.spans.add(made, state.name.span)
            yield made

    # The workload

    def _arrival(self, arrive: tree.Arrive | None) -> pr.Arrival:
        if arrive is None or arrive.value is None:
            return None
        match arrive.law:
            case "poisson":
                rate = evaluate(arrive.value, self.findings, "an arrival rate")
                made: pr.Arrival = (
                    pr.Poisson(rate=1.0) if rate is None else keep(pr.Poisson(rate=rate), rate=rate)
                )
            case "renewal":
                made = pr.Renewal(gap=self._gap(arrive.value))
            case "closed":
                made = pr.Closed(population=self._population(arrive.value, "a closed population"))
            case _:
                made = pr.Batch(size=self._population(arrive.value, "the size of a batch"))
        assert made is not None
        self.spans.add(made, arrive.span)
        return made

    def _population(self, value: tree.Expr, what: str) -> int:
        return whole(value, self.findings, what, most=pr.MAX_SESSIONS) or 1

    def _gap(self, value: tree.Expr) -> ex.Expr:
        try:
            gap = number(value_of(value))
        except NotConstant:
            return self.expressions.expr(value)
        self.spans.add(gap, value.span)
        return gap

    def _trace(self, settings: Settings) -> str | None:
        if settings.trace is not None:
            return settings.trace
        return None if self.kernel.trace is None else self.kernel.trace.path.value

    def _hidden(self) -> Iterator[int]:
        seen: set[str] = set()
        for name in self.kernel.hidden:
            text = name.text
            slot = self.names.attributes.get(text)
            if slot is None:
                message = f"`{text}` is hidden, and nothing sets an attribute of that name"
                self.findings.error("SQ315", message, name, hint="remove it, or assign it in the workload")
            elif text in ("cached", "computed"):
                message = f"`{text}` is set by the scheduler, so it cannot be hidden from it"
                self.findings.error("SQ315", message, name)
            elif text in seen:
                self.findings.error("SQ315", f"`{text}` is hidden twice", name)
            else:
                yield slot
            seen.add(text)

    # Gauges and claims

    def _gauge(self, gauge: tree.Gauge) -> pr.Gauge:
        made = pr.Gauge(name=gauge.name.text, expr=self.expressions.expr(gauge.value))
        self.spans.add(made, gauge.name.span)
        return made

    def _claim(self, claim: tree.Claim) -> pr.Claim | None:
        e = self.expressions
        given, prop = e.maybe(claim.given), e.expr(claim.property)
        kind: pr.EveryIteration | pr.SomeIteration | None = None
        if claim.stage is not None:
            stage = e.stage(claim.stage)
            if stage is None:
                return None
            if stage.index is not None and not isinstance(stage.index, ex.Num):
                message = "a claim is about one engine: its index is a number"
                self.findings.error("SQ768", message, claim.stage)
                return None
            number = stage.base + (int(stage.index.value) if isinstance(stage.index, ex.Num) else 0)
            kind = (pr.EveryIteration if claim.form == "every" else pr.SomeIteration)(stage=number)
        made = pr.Claim(name=claim.name.text, given=given, kind=kind, expr=prop)
        self.spans.add(made, claim.name.span)
        return made


def _has_block(pool: KernelPool) -> bool:
    declaration = pool.family.declaration
    return declaration is not None and any(isinstance(o, tree.BlockSize) for o in declaration.options)


def names_of(kernel: Kernel) -> Names:
    """The attributes and observations of a kernel program, numbered."""
    names = Names()
    names.read(kernel.init, None)
    names.read(kernel.turn, None)
    names.read(kernel.session, kernel.server)
    return names
