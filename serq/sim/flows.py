"""Flows (interp.md §10): jobs that hold several stages at once, at rates set by the program's share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serq.ir.program import Stage
from serq.sim.records import Job
from serq.sim.stages import StageState

if TYPE_CHECKING:
    from serq.sim.machine import Machine


class Flow:
    """A job on one or more shared stages."""

    __slots__ = ("job", "jobs", "number", "rate", "remaining", "stages")

    def __init__(self, number: int, stages: list[SharedState], jobs: list[Job]) -> None:
        self.number = number
        self.stages = stages
        self.jobs = jobs
        self.job = jobs[0]
        self.remaining = jobs[0].work
        self.rate = 0.0


class SharedState(StageState):
    """A stage some multi-stage run names: every job on it is a flow."""

    def __init__(self, machine: Machine, index: int, spec: Stage, capacity: float) -> None:
        super().__init__(machine, index, spec)
        self.capacity = capacity
        self.flows: dict[int, Flow] = {}

    def start(self, job: Job) -> None:
        self.m.flows.start([self], job)

    def leave(self, job: Job) -> None:
        self.m.flows.leave(job)

    def utilization(self) -> float:
        """The capacity its flows carry: the sum of their rates, in job order, over the capacity."""
        total = -0.0
        for number in sorted(self.flows):
            total += self.flows[number].rate
        return total / self.capacity

    def work_left(self) -> float:
        dt = self.m.now - self.m.flows.last
        total = -0.0
        for number in sorted(self.flows):
            flow = self.flows[number]
            total += max(0.0, flow.remaining - flow.rate * dt)
        return total


class Flows:
    """All flows of a run."""

    def __init__(self, machine: Machine, policy: str) -> None:
        self.m = machine
        self.policy = policy
        self.all: dict[int, Flow] = {}
        self.last = 0.0
        self.dirty = False
        self._touched: set[int] = set()
        self._epoch = 0

    def start(self, stages: list[SharedState], job: Job) -> None:
        """A flow over stages begins; the first stage's job carries the session."""
        if not stages[0].begin(job):
            return
        self._advance()
        extra = [Job(job.number, None, job.work, job.joined) for _ in stages[1:]]
        flow = Flow(job.number, stages, [job, *extra])
        self.all[flow.number] = flow
        for stage in stages:
            stage.flows[flow.number] = flow
            stage.count += 1
        self._touch(flow)

    def leave(self, job: Job) -> None:
        """A flow is taken off before it is done."""
        flow = self.all[job.number]
        self._advance()
        job.alive = False
        self._remove(flow)

    def _remove(self, flow: Flow) -> None:
        del self.all[flow.number]
        for stage in flow.stages:
            del stage.flows[flow.number]
            stage.count -= 1
        self._touch(flow)

    def _touch(self, flow: Flow) -> None:
        self.dirty = True
        self._touched.update(stage.index for stage in flow.stages)

    def _advance(self) -> None:
        dt = self.m.now - self.last
        if dt > 0.0:
            for flow in self.all.values():
                flow.remaining = max(0.0, flow.remaining - flow.rate * dt)
        self.last = self.m.now

    def recompute(self) -> None:
        """New rates for every flow connected to a touched stage, and the next finish."""
        self.dirty = False
        self._advance()
        stages, flows = self._connected()
        if self.policy == "Bottleneck":
            for flow in flows:
                flow.rate = min(s.capacity / len(s.flows) for s in flow.stages)
        else:
            self._max_min(stages, flows)
        self._epoch += 1
        best: tuple[float, int] | None = None
        for flow in self.all.values():
            if flow.rate > 0.0:
                at = (self.m.now + flow.remaining / flow.rate, flow.number)
                best = at if best is None else min(best, at)
        if best is not None:
            self.m.schedule(best[0], self._finish, (self._epoch, best[1]))

    def _connected(self) -> tuple[list[SharedState], list[Flow]]:
        seen: dict[int, SharedState] = {}
        flows: dict[int, Flow] = {}
        todo = [s for i in sorted(self._touched) if isinstance(s := self.m.stages[i], SharedState)]
        self._touched.clear()
        while todo:
            stage = todo.pop()
            if stage.index in seen:
                continue
            seen[stage.index] = stage
            for flow in stage.flows.values():
                flows[flow.number] = flow
                todo.extend(flow.stages)
        return [seen[i] for i in sorted(seen)], [flows[n] for n in sorted(flows)]

    def _max_min(self, stages: list[SharedState], flows: list[Flow]) -> None:
        left = {s.index: s.capacity for s in stages}
        rising = {s.index: len(s.flows) for s in stages}
        frozen: set[int] = set()
        while any(rising.values()):
            index = min((i for i in rising if rising[i]), key=lambda i: (left[i] / rising[i], i))
            share = max(left[index] / rising[index], 0.0)
            for flow in flows:
                if flow.number in frozen or all(s.index != index for s in flow.stages):
                    continue
                frozen.add(flow.number)
                flow.rate = share
                for stage in flow.stages:
                    left[stage.index] -= share
                    rising[stage.index] -= 1

    def _finish(self, which: tuple[int, int]) -> None:
        epoch, number = which
        if epoch != self._epoch:
            return
        self._advance()
        flow = self.all[number]
        self._remove(flow)
        for stage, job in zip(flow.stages, flow.jobs, strict=True):
            stage.done(job)
