"""Engines (interp.md §11): residents, the plan of an iteration, its start and its end.

The three procedures that plan an iteration are in `serq.sim.planning`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from serq.ir.program import Stage, Step
from serq.sim.errors import Stop
from serq.sim.numeric import EPS
from serq.sim.records import Context, Job, Session
from serq.sim.stages import StageState
from serq.sim.steady import Steady

if TYPE_CHECKING:
    from serq.sim.claims import IterationClaim
    from serq.sim.machine import Machine
    from serq.sim.planning import Item
    from serq.sim.pools import PoolState

PREFILL_ONLY, DECODE_ONLY, MIXED, DECODES = range(4)
ReadContext = Callable[[Context], float]


class Plan:
    """What an iteration being planned has decided so far."""

    __slots__ = (
        "admitted",
        "anyone",
        "assigned",
        "attention",
        "budget",
        "chunk",
        "left",
        "number",
        "preempted",
        "refused",
    )

    def __init__(self, number: int, budget: float, chunk: float) -> None:
        self.number = number
        self.budget = budget
        self.left = budget
        self.chunk = chunk
        self.assigned: list[tuple[Job, float]] = []
        self.attention: dict[int, float] = {}
        self.preempted = 0
        self.admitted = 0
        self.anyone = False
        self.refused = False


class Reads:
    """The compiled expressions of an engine, and which totals they read."""

    def __init__(self) -> None:
        self.budget: ReadContext = lambda c: 0.0
        self.chunk: ReadContext = lambda c: 0.0
        self.cost: ReadContext = lambda c: 0.0
        self.keys: Callable[[Session, Context], tuple[int, ...]] | None = None
        self.keys_move = False
        self.exclusive = False
        self.body: list[Item] | None = None
        self.granule: float | None = None
        self.decodes = False
        self.memory = False


class Engine(StageState):
    """A step stage."""

    def __init__(self, machine: Machine, index: int, spec: Stage, step: Step) -> None:
        super().__init__(machine, index, spec)
        self.step = step
        self.reads = Reads()
        self.memory: PoolState | None = None
        self.admits: list[PoolState] = []
        self.claims: list[IterationClaim] = []
        self.residents: list[Job] = []
        self.version = 0
        self.batch: list[tuple[Job, float]] = []
        self.running = False
        self.offered: float | None = None
        self.served = 0.0
        self.context = Context()
        self.steady = Steady(self)
        self.may_be_steady = False
        self._plans = 0
        self._epoch = 0
        self._on_end = self.steady.own_event

    # Residents

    def start(self, job: Job) -> None:
        if not self.begin(job):
            return
        assert job.session is not None
        self._unsettle()
        admission = job.session.admission
        at = len(self.residents)
        while at and _admission(self.residents[at - 1]) > admission:
            at -= 1
        self.residents.insert(at, job)
        self.count += 1
        self.version += 1

    def leave(self, job: Job) -> None:
        self._unsettle()
        job.alive = False
        self.residents.remove(job)
        self.count -= 1
        self.version += 1

    def _unsettle(self) -> None:
        """The residents change at the instant an iteration started, when it is not yet left for an event."""
        if self.steady.active:
            self.steady.settle_up()

    def serves(self, s: Session) -> bool:
        """Whether a session is a resident."""
        return s.job is not None and s.job.stage is self

    def busy(self) -> float:
        return float(sum(1 for job, _ in self.batch if job.alive)) if self.running else 0.0

    def work_left(self) -> float:
        total = -0.0
        for job in sorted(self.residents, key=lambda j: j.number):
            total += max(0.0, job.work)
        return total

    def memory_of(self, s: Session) -> float:
        """Units of the engine's memory that a session's holds have."""
        total = 0.0
        for hold in s.holds:
            for member in hold.members:
                if member.pool is self.memory:
                    total += member.alloc
        return total

    def fill_totals(self) -> Context:
        """The context with the residents as they stand."""
        c = self.context
        c.Nres = float(len(self.residents))
        if self.reads.decodes:
            c.Ndec = float(sum(1 for job in self.residents if job.decode))
        if self.reads.memory:
            self._fill_memory(self.residents)
        return c

    def _fill_memory(self, jobs: list[Job]) -> None:
        c = self.context
        decoding = prefilling = 0.0
        if self.memory is not None:
            for job in jobs:
                assert job.session is not None
                if job.decode:
                    decoding += self.memory_of(job.session)
                else:
                    prefilling += self.memory_of(job.session)
        c.Kvb, c.Kvp = decoding, prefilling

    def want(self, job: Job, chunk: float) -> float:
        """Tokens a job could take in an iteration."""
        if job.decode:
            return min(1.0, job.work)
        return min(job.work, chunk) if chunk > 0.0 else job.work

    def budget_left(self) -> float:
        """`budget_left`: what an admission is offered, else what a fresh plan would leave."""
        if self.offered is not None:
            return self.offered
        c = self.fill_totals()
        budget = self.reads.budget(c)
        chunk = self.reads.chunk(c)
        wanted = -0.0
        for job in self.residents:
            wanted += self.want(job, chunk)
        return max(0.0, budget - wanted)

    def has_work(self) -> bool:
        """Whether an iteration would have anyone to look at."""
        return bool(self.residents) or any(pool.waiting for pool in self.admits)

    # An iteration

    def try_iteration(self) -> None:
        """Plan an iteration and start it if it comes to something (interp.md §11.2, §11.5)."""
        from serq.sim.planning import run_plan

        m = self.m
        if self.steady.active and self.steady.next_step():
            return
        before = list(m.registers)
        if m.hook is not None:
            m.hook.plan_begins(m, self)
        c = self.fill_totals()
        budget = self.reads.budget(c)
        chunk = self.reads.chunk(c)
        self._plans += 1
        plan = Plan(self._plans, budget, chunk)
        m.plan = plan
        run_plan(self, plan)
        m.plan = None
        assigned = [a for a in plan.assigned if a[0].alive]
        if not assigned and not plan.preempted:
            self.idle_with_work = self.has_work()
            if self.reads.body is not None and not plan.anyone:
                m.registers[:] = before
            return
        self.idle_with_work = False
        for job, tokens in assigned:
            if job.member is not None and job.hold is not None:
                job.member.position += tokens
                job.hold.grown = True
        self._start(plan, assigned)

    def _start(self, plan: Plan, assigned: list[tuple[Job, float]]) -> None:
        tokens, prefilled, decodes = self._describe(plan, assigned)
        if self.claims:
            demand = -0.0
            for job in self.residents:
                demand += self.want(job, plan.chunk)
            self.context.Demand = demand
        self.batch = assigned
        self.launch(tokens, prefilled, decodes)
        if self.m.hook is None and self.may_be_steady:
            self.steady.enter(assigned)

    def launch(self, tokens: float, prefilled: float, decodes: int) -> None:
        """Start the iteration that `batch` and the context describe (interp.md §11.5)."""
        m = self.m
        cost = self.reads.cost(self.context)
        if not cost > 0.0:
            cost = 0.0
            if self.batch:
                raise Stop(
                    "SQ807",
                    f"an iteration of {self.spec.label} that computes {tokens:g} tokens takes no time",
                    hint="give `execute` a fixed part above 0",
                    path=("stages", self.index, "kind", "Step", "cost"),
                )
        if self.claims:
            self._read_claims()
        self.served += tokens
        self._epoch += 1
        self.iterations += 1
        self.running = True
        self._set_mix(prefilled > 0.0, decodes)
        if m.warm and decodes:
            self.decode_batch.add(float(decodes))
            self.decode_step.add(cost)
        m.schedule(m.now + cost, self._on_end, self._epoch)
        if m.hook is not None:
            m.hook.iteration(m, self, self.batch, cost)

    def _describe(self, plan: Plan, assigned: list[tuple[Job, float]]) -> tuple[float, float, int]:
        c = self.context
        tokens, prefilled = -0.0, 0.0
        decodes = 0
        for job, n in assigned:
            tokens += n
            if job.decode:
                decodes += 1
            else:
                prefilled += n
        attention = -0.0
        for job, _ in assigned:
            if not job.decode:
                attention += plan.attention[job.number]
        c.Ntok, c.Npre, c.Attn = tokens, prefilled, attention
        c.Ndec = float(decodes)
        c.Nres = float(len(self.residents))
        if self.reads.memory:
            self._fill_memory([job for job, _ in assigned])
        return tokens, prefilled, decodes

    def _read_claims(self) -> None:
        c = self.context
        c.Served = self.served
        c.Arrived = float(self.m.arrivals)
        for claim in self.claims:
            claim.read(c, self.m.now)

    def _set_mix(self, prefills: bool, decodes: int) -> None:
        now = self.m.now
        kinds = (prefills and not decodes, bool(decodes) and not prefills, prefills and bool(decodes))
        for average, on in zip(self.mix, kinds, strict=False):
            average.set(now, 1.0 if on else 0.0)
        self.mix[DECODES].set(now, float(decodes))

    def _end(self, epoch: int) -> None:
        """The end of an iteration (interp.md §11.6): apply tokens, commit them, let finished jobs go."""
        if epoch != self._epoch or not self.running:
            return
        m = self.m
        self.running = False
        self._set_mix(False, 0)
        if self.steady.active and self.steady.end_step():
            return
        batch = [(job, tokens) for job, tokens in self.batch if job.alive]
        self.batch = []
        for job, tokens in batch:
            job.work -= tokens
        commit = m.clients.commit
        for job, _ in batch:
            if job.decode or job.work <= EPS:
                commit(job, self)
        self.steady.covered = self.version if len(batch) == len(self.residents) else -1
        finished = [job for job, _ in batch if job.work <= EPS]
        for job in finished:
            self._finish(job)
        if m.hook is not None:
            m.hook.iteration_end(m, self, batch, finished)

    def _finish(self, job: Job) -> None:
        if job.member is not None:
            # The run's own amount, so that the rounding of chunks does not accumulate.
            job.member.position = job.start_position + job.total
        self.residents.remove(job)
        self.count -= 1
        self.version += 1
        self.done(job)


def _admission(job: Job) -> int:
    assert job.session is not None
    return job.session.admission
