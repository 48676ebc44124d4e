"""Steady decoding: iterations in which every resident decodes one token, stepped without visiting each.

While nothing but the ends of such iterations happens, what a step does to a request
is known in advance: one token less to go, one position further, one more token at its
client. Those are counted once for all and applied (`settle_up`) before anything else
can look. Growth at block boundaries happens at its step; when it does not fit, when a
request is about to finish, or when anyone waits, the ordinary procedure takes over
(interp.md §11 gives the same results either way).
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from serq.ir.expressions import Call, Sample, walk
from serq.ir.program import Program
from serq.ir.traverse import expressions_of
from serq.sim.numeric import round_up
from serq.sim.records import Job

if TYPE_CHECKING:
    from serq.sim.engine import Engine


def can_be_steady(program: Program, engine: Engine) -> bool:
    """Whether nothing the program reads could tell the difference.

    One engine, the default procedure in admission order, a budget and chunk that draw
    nothing, and no expression that reads the work left at a stage.
    """
    step, reads = engine.step, engine.reads
    if len(engine.m.engines) != 1 or reads.body is not None or reads.exclusive or reads.keys is not None:
        return False
    if any(isinstance(x, Sample) for e in (step.budget, step.chunk) for x in walk(e)):
        return False
    return not any(
        isinstance(x, Call) and x.fun == "Work" for _, _, e in expressions_of(program) for x in walk(e)
    )


class Steady:
    """The steady state of one engine."""

    def __init__(self, engine: Engine) -> None:
        self.e = engine
        self.active = False
        self.covered = -1
        # The event a steady engine expects; any other must find every job as it is.
        self.own_event = engine._end
        self._jobs: list[Job] = []
        self._started = 0
        self._ended = 0
        self._last_finish = 0
        self._committed = 0.0
        self._memory = 0.0
        self._due: dict[int, list[Job]] = defaultdict(list)

    def enter(self, batch: list[tuple[Job, float]]) -> None:
        """The iteration just started may be the first steady one.

        `covered` says that the iteration before gave every one of these residents its token.
        """
        e = self.e
        jobs = e.residents
        if self.covered != e.version or len(batch) != len(jobs):
            return
        if any(not job.decode or job.work < 2.0 or job.work % 1.0 for job in jobs):
            return
        members = [job.member for job in jobs if job.member is not None]
        if any(member.position % 1.0 or member.alloc % 1.0 for member in members):
            return
        self.active = True
        e.m.steady = self
        self._jobs = list(jobs)
        self._started = self._ended = 0
        self._last_finish = int(min(job.work for job in jobs))
        self._committed = e.m.now
        self._memory = e.context.Kvb
        self._due.clear()
        for job in jobs:
            self._plan_growth(job)

    def _plan_growth(self, job: Job) -> None:
        """The step at which a job's allocation is used up; positions have moved for those started."""
        member = job.member
        if member is not None:
            room = member.alloc - member.position
            if room < self._last_finish + 1:
                self._due[max(int(room), 0) + 1].append(job)

    def end_step(self) -> bool:
        """An iteration ended: commit its tokens; False when a request finishes with it."""
        if self._ended + 1 >= self._last_finish:
            self.settle_up()
            return False
        self._ended += 1
        e = self.e
        now = e.m.now
        if e.m.warm:
            e.gaps.add_many(now - self._committed, len(self._jobs))
        self._committed = now
        return True

    def next_step(self) -> bool:
        """Plan and start the next iteration; False when the ordinary procedure has to."""
        e = self.e
        count = float(len(self._jobs))
        c = e.context
        c.Nres = c.Ndec = count
        c.Kvb, c.Kvp = self._memory, 0.0
        if any(pool.waiting or pool.growers for pool in e.m.pools) or e.reads.budget(c) < count:
            self.settle_up()
            return False
        due = self._due.pop(self._started + 1, None)
        if due is not None and not self._grow(due):
            self.settle_up()
            return False
        self._started += 1
        c.Ntok, c.Npre, c.Attn = count, 0.0, -0.0
        c.Kvb = self._memory
        if e.claims:
            c.Demand = count
        e.launch(count, 0.0, len(self._jobs))
        return True

    def _grow(self, due: list[Job]) -> bool:
        """Grow the jobs whose allocation is used up, in admission order; False at the first misfit."""
        e = self.e
        for job in sorted(due, key=self._jobs.index) if len(due) > 1 else due:
            member, s = job.member, job.session
            assert member is not None and s is not None
            pool = member.pool
            need = round_up(member.alloc + 1.0, pool.block) - member.alloc
            if not pool.fits(need, member):
                return False
            e.m.growth.take(pool, member, need)
            if pool is e.memory:
                self._memory += need
            if need % 1.0:
                return False
            self._due[self._started + 1 + int(need)].append(job)
        return True

    def settle_up(self) -> None:
        """Apply the steps counted so far to every job, and leave the steady state."""
        self.active = False
        self.e.m.steady = None
        started, ended = self._started, self._ended
        for job in self._jobs:
            job.work -= ended
            if job.member is not None:
                job.member.position += started
            s = job.session
            assert s is not None
            client = s.root.client
            if client is not None:
                client.later += ended
            if ended and s.token is not None:
                s.token.time = self._committed
