"""Runs a program and records its engine's iterations as a scheduler's steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from serq.ir.program import Program
from serq.oracle.recorded import Step
from serq.sim import Report, run
from serq.sim.engine import Engine
from serq.sim.hooks import TraceHook
from serq.sim.machine import Machine
from serq.sim.pools import PoolState
from serq.sim.records import Job, Session, Waiting


class Observer(TraceHook):
    """Collects the steps of the program's first engine; time is the step number.

    `sessions` are the request numbers of each session's turns; without it, a session is
    the request of its number.
    """

    def __init__(self, sessions: Sequence[Sequence[int]] | None = None) -> None:
        self._sessions = sessions
        self.steps: list[Step] = []
        self._open: Step | None = None
        self._finished: list[int] = []
        self._admitted: list[int] = []
        self._resumed: list[int] = []
        self._preempted: list[tuple[int, int]] = []
        self._hits: list[tuple[int, int]] = []
        self._ever: set[int] = set()

    def plan_begins(self, m: Machine, engine: Engine) -> None:
        self._close(m, engine)
        self._admitted, self._resumed, self._preempted, self._hits = [], [], [], []

    def admission(self, m: Machine, s: Session, w: Waiting) -> None:
        request = self._request(s)
        (self._resumed if request in self._ever else self._admitted).append(request)
        self._hits.append((request, int(max(x.own for x in s.holds[-1].members))))
        self._ever.add(request)

    def preemption(
        self, m: Machine, victim: Session, grower: Session, pool: PoolState, position: float
    ) -> None:
        self._preempted.append((self._request(victim), self._request(grower)))

    def iteration(
        self, m: Machine, engine: Engine, assigned: list[tuple[Job, float]], duration: float
    ) -> None:
        self._finished = []
        self._open = Step(
            step=int(m.now),
            scheduled=tuple((self._of(job), int(tokens)) for job, tokens in assigned),
            admitted=tuple(self._admitted),
            resumed=tuple(self._resumed),
            preempted=tuple(v for v, _ in self._preempted),
            preempted_for=tuple(g for _, g in self._preempted),
            finished=(),
            running=self._running(engine),
            waiting=self._waiting(engine),
            free=_free_blocks(engine),
            running_end=(),
            free_end=0,
            hits=tuple(sorted(self._hits)),
        )

    def release(self, m: Machine, s: Session, pool: PoolState, units: float, kept: float) -> None:
        # A request's slot is given back when it is preempted, too; then it is queued again.
        if self._open is not None and pool is m.pools[0]:
            self._finished.append(self._request(s))

    def _request(self, s: Session) -> int:
        return s.serial if self._sessions is None else self._sessions[s.serial][s.turns - 1]

    def _of(self, job: Job) -> int:
        assert job.session is not None
        return self._request(job.session)

    def _running(self, engine: Engine) -> tuple[int, ...]:
        return tuple(self._of(job) for job in engine.residents)

    def _waiting(self, engine: Engine) -> tuple[int, ...]:
        waiting = [s for pool in engine.admits for s in in_order(pool)]
        return tuple(self._request(s) for s in waiting)

    def close(self, m: Machine) -> None:
        """The run is over: close the last step."""
        for engine in m.engines[:1]:
            self._close(m, engine)

    def _close(self, m: Machine, engine: Engine) -> None:
        o = self._open
        if o is None:
            return
        self._open = None
        ended = replace(
            o,
            finished=tuple(sorted(self._finished)),
            running_end=self._running(engine),
            free_end=_free_blocks(engine),
        )
        self.steps.append(ended)


def in_order(pool: PoolState) -> list[Session]:
    """A pool's waiters in the order they would be tried now."""
    kept = pool.waiting
    rest, ordered = list(kept), []
    try:
        while rest:
            pool.waiting = rest
            head = pool.head()
            assert head is not None
            ordered.append(head)
            rest = [s for s in rest if s is not head]
    finally:
        pool.waiting = kept
    return ordered


def _free_blocks(engine: Engine) -> int:
    pool = engine.memory
    assert pool is not None and pool.block is not None
    return int((pool.cap - pool.used) / pool.block)


def observe_steps(
    program: Program, sessions: Sequence[Sequence[int]] | None = None
) -> tuple[list[Step], Report]:
    """The steps of a run of a program on the step clock, and its report."""
    observer = Observer(sessions)
    machines: list[Machine] = []
    report = run(program, hook=observer, detailed=True, on_machine=machines.append)
    observer.close(machines[0])
    return observer.steps, report
