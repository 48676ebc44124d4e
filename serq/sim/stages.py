"""Stages without iterations (interp.md §9): fifo, delay and processor sharing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from serq.ir.program import Stage
from serq.sim.errors import amount
from serq.sim.numeric import div
from serq.sim.records import AT_STAGE, READY, Context, Job, Session
from serq.sim.statistics import Histogram, RunningMean, SteppedAverage

if TYPE_CHECKING:
    from serq.sim.machine import Machine

_WEIGHT = 0.01


class Estimator:
    """Online estimates of a stage's load, from finished jobs (interp.md §9)."""

    def __init__(self) -> None:
        self.wait = 0.0
        self.service = 0.0
        self._gap = 0.0
        self._last_start = 0.0
        self._jobs = 0

    def observe(self, start: float, wait: float, service: float) -> None:
        """A job finished."""
        if self._jobs == 0:
            self.service, self.wait = service, wait
        else:
            gap = start - self._last_start
            self._gap = gap if self._jobs == 1 else (1.0 - _WEIGHT) * self._gap + _WEIGHT * gap
            self.service = (1.0 - _WEIGHT) * self.service + _WEIGHT * service
            self.wait = (1.0 - _WEIGHT) * self.wait + _WEIGHT * wait
        self._last_start = start
        self._jobs += 1

    def rate(self) -> float:
        """Services started per unit of time."""
        return 1.0 / self._gap if self._gap > 0.0 else 0.0

    def load(self) -> float:
        """Rate times service, at most 0.99."""
        return min(self.rate() * self.service, 0.99)

    def price(self, held: float, more: float) -> float:
        """The delay that `more` work after `held` imposes."""
        rate, load = self.rate(), self.load()
        m = held + more
        return (
            more
            + div(rate * (m * m - held * held), 2.0 * (1.0 - load))
            + div(rate * self.wait * more, 1.0 - load)
        )


class StageState(ABC):
    """What every stage of a run has: its jobs and its counts."""

    def __init__(self, machine: Machine, index: int, spec: Stage) -> None:
        self.m = machine
        self.index = index
        self.spec = spec
        self.estimator = Estimator()
        self.estimating = False
        self.count = 0
        self.completed = 0
        self.mean_wait = 0.0
        self.mean_service = 0.0
        # Engines fill these; other stages report them empty.
        self.iterations = 0
        self.idle_with_work = False
        self.mix = [SteppedAverage() for _ in range(4)]
        self.decode_batch = RunningMean()
        self.decode_step = RunningMean()
        self.gaps = Histogram()

    @abstractmethod
    def start(self, job: Job) -> None:
        """A job joins."""

    @abstractmethod
    def leave(self, job: Job) -> None:
        """A job is taken off before it is done."""

    def busy(self) -> float:
        """`busy(s)`."""
        return float(self.count)

    @abstractmethod
    def work_left(self) -> float:
        """`work(s)`: remaining work in job order."""

    def run(self, s: Session, work: float) -> None:
        """A session's run statement: a job of that much work joins."""
        if not work >= 0.0:
            work = amount(work, "the work of a run")
        m = self.m
        self.start(Job(m.next_job(), s, work, m.now))

    def begin(self, job: Job) -> bool:
        """Common to all: work of 0 is done at once, and its session is ready again (interp.md §6)."""
        s = job.session
        job.stage = self
        if job.work <= 0.0:
            if s is not None:
                self.m.ready.append(s)
            return False
        if s is not None:
            s.status = AT_STAGE
            s.job = job
        return True

    def done(self, job: Job) -> None:
        """Account a finished job and ready its session."""
        m = self.m
        job.alive = False
        begun = job.begun
        wait, service = begun - job.joined, m.now - begun
        if self.estimating:
            self.estimator.observe(begun, wait, service)
        if m.warm:
            self.completed = n = self.completed + 1
            self.mean_wait += (wait - self.mean_wait) / n
            self.mean_service += (service - self.mean_service) / n
        s = job.session
        if s is not None:
            s.job = None
            s.status = READY
            m.ready.append(s)


class FifoState(StageState):
    """`servers` servers, jobs in arrival order at rate 1."""

    def __init__(self, machine: Machine, index: int, spec: Stage, servers: int) -> None:
        super().__init__(machine, index, spec)
        self.servers = servers
        self.line: deque[Job] = deque()
        self.active: list[Job] = []
        self._on_finish = self._finish

    def busy(self) -> float:
        return float(len(self.active))

    def start(self, job: Job) -> None:
        if self.begin(job):
            self.count += 1
            if len(self.active) < self.servers:
                self._serve(job)
            else:
                self.line.append(job)

    def _serve(self, job: Job) -> None:
        m = self.m
        job.begun = m.now
        self.active.append(job)
        heappush(m.events, (m.now + job.work, m.next_event(), self._on_finish, job))

    def _fill(self) -> None:
        while self.line and len(self.active) < self.servers:
            self._serve(self.line.popleft())

    def _finish(self, job: Job) -> None:
        if job.alive:
            self.active.remove(job)
            self.count -= 1
            self.done(job)
            if self.line:
                self._fill()

    def leave(self, job: Job) -> None:
        job.alive = False
        self.count -= 1
        if job in self.active:
            self.active.remove(job)
            self._fill()
        else:
            self.line.remove(job)

    def work_left(self) -> float:
        now = self.m.now
        total = -0.0
        running = set(self.active)
        for job in sorted([*self.active, *self.line], key=lambda j: j.number):
            total += max(0.0, job.work - (now - job.begun)) if job in running else max(0.0, job.work)
        return total


class DelayState(StageState):
    """Every job on its own at rate 1."""

    def __init__(self, machine: Machine, index: int, spec: Stage) -> None:
        super().__init__(machine, index, spec)
        self.jobs: dict[int, Job] = {}
        self._on_finish = self._finish

    def start(self, job: Job) -> None:
        if self.begin(job):
            self.count += 1
            self.jobs[job.number] = job
            m = self.m
            heappush(m.events, (m.now + job.work, m.next_event(), self._on_finish, job))

    def _finish(self, job: Job) -> None:
        if job.alive:
            self.count -= 1
            del self.jobs[job.number]
            self.done(job)

    def leave(self, job: Job) -> None:
        job.alive = False
        self.count -= 1
        del self.jobs[job.number]

    def work_left(self) -> float:
        total = -0.0
        for number in sorted(self.jobs):
            job = self.jobs[number]
            total += max(0.0, job.work - (self.m.now - job.joined))
        return total


class PsState(StageState):
    """A capacity shared equally, by virtual time: a job ends when V reaches its tag."""

    def __init__(self, machine: Machine, index: int, spec: Stage) -> None:
        super().__init__(machine, index, spec)
        self.capacity: Callable[[Context], float] = lambda c: 1.0
        self.jobs: dict[int, Job] = {}
        self._on_finish = self._finish
        self._tags: list[tuple[float, int, Job]] = []
        self._virtual = 0.0
        self._rate = 0.0
        self._last = 0.0
        self._epoch = 0
        self._context = Context()
        self.dirty = False

    def _advance(self) -> None:
        now = self.m.now
        self._virtual += self._rate * (now - self._last)
        self._last = now

    def _mark(self) -> None:
        if not self.dirty:
            self.dirty = True
            self.m.dirty_ps = True

    def start(self, job: Job) -> None:
        if not self.begin(job):
            return
        now = self.m.now
        self._virtual += self._rate * (now - self._last)
        self._last = now
        self.count += 1
        number = job.number
        job.tag = tag = self._virtual + job.work
        self.jobs[number] = job
        heappush(self._tags, (tag, number, job))
        self._mark()

    def leave(self, job: Job) -> None:
        self._advance()
        self.count -= 1
        job.alive = False
        del self.jobs[job.number]
        self._mark()

    def reshare(self) -> None:
        """Divide the capacity anew, once per settle; the capacity is read even when constant."""
        self.dirty = False
        self._advance()
        count = self.count
        if count == 0:
            self._rate = 0.0
            self._epoch += 1
            return
        self._context.N = float(count)
        self._rate = self.capacity(self._context) / count
        self._epoch += 1
        if self._rate > 0.0:
            tags = self._tags
            while not tags[0][2].alive:
                heappop(tags)
            left = (tags[0][0] - self._virtual) / self._rate
            m = self.m
            time = m.now + left if left > 0.0 else m.now
            heappush(m.events, (time, m.next_event(), self._on_finish, self._epoch))

    def _finish(self, epoch: int) -> None:
        if epoch != self._epoch:
            return
        self._advance()
        tag, number, job = heappop(self._tags)
        while not job.alive:
            tag, number, job = heappop(self._tags)
        del self.jobs[number]
        self.count -= 1
        if tag > self._virtual:
            self._virtual = tag
        self._mark()
        self.done(job)

    def work_left(self) -> float:
        virtual = self._virtual + self._rate * (self.m.now - self._last)
        total = -0.0
        for number in sorted(self.jobs):
            total += max(0.0, self.jobs[number].tag - virtual)
        return total
