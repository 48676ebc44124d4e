"""Runs a program and records its engine's iterations as a scheduler's steps."""

from __future__ import annotations

from dataclasses import dataclass, field

from serq.ir.program import Program
from serq.oracle.recorded import Step
from serq.sim import Report, run
from serq.sim.engine import Engine
from serq.sim.hooks import TraceHook
from serq.sim.machine import Machine
from serq.sim.pools import PoolState
from serq.sim.records import Job, Session, Waiting


@dataclass
class _Open:
    """An iteration whose end is still to come."""

    step: int
    scheduled: tuple[tuple[int, int], ...]
    admitted: tuple[int, ...]
    resumed: tuple[int, ...]
    preempted: tuple[int, ...]
    preempted_for: tuple[int, ...]
    running: tuple[int, ...]
    waiting: tuple[int, ...]
    free: int
    finished: list[int] = field(default_factory=list)


class Observer(TraceHook):
    """Collects the steps of the program's first engine; time is the step number."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._open: _Open | None = None
        self._admitted: list[int] = []
        self._resumed: list[int] = []
        self._preempted: list[tuple[int, int]] = []
        self._ever: set[int] = set()

    def plan_begins(self, m: Machine, engine: Engine) -> None:
        self._close(m, engine)
        self._admitted, self._resumed, self._preempted = [], [], []

    def admission(self, m: Machine, s: Session, w: Waiting) -> None:
        (self._resumed if s.serial in self._ever else self._admitted).append(s.serial)
        self._ever.add(s.serial)

    def preemption(
        self, m: Machine, victim: Session, grower: Session, pool: PoolState, position: float
    ) -> None:
        self._preempted.append((victim.serial, grower.serial))

    def iteration(
        self, m: Machine, engine: Engine, assigned: list[tuple[Job, float]], duration: float
    ) -> None:
        self._open = _Open(
            step=int(m.now),
            scheduled=tuple((_serial(job), int(tokens)) for job, tokens in assigned),
            admitted=tuple(self._admitted),
            resumed=tuple(self._resumed),
            preempted=tuple(v for v, _ in self._preempted),
            preempted_for=tuple(g for _, g in self._preempted),
            running=_running(engine),
            waiting=_waiting(engine),
            free=_free_blocks(engine),
        )

    def session_end(self, m: Machine, s: Session) -> None:
        if self._open is not None:
            self._open.finished.append(s.serial)

    def close(self, m: Machine) -> None:
        """The run is over: close the last step."""
        for engine in m.engines[:1]:
            self._close(m, engine)

    def _close(self, m: Machine, engine: Engine) -> None:
        o = self._open
        if o is None:
            return
        self._open = None
        self.steps.append(
            Step(
                o.step,
                o.scheduled,
                o.admitted,
                o.resumed,
                o.preempted,
                o.preempted_for,
                tuple(sorted(o.finished)),
                o.running,
                o.waiting,
                o.free,
                _running(engine),
                _free_blocks(engine),
            )
        )


def _serial(job: Job) -> int:
    assert job.session is not None
    return job.session.serial


def _running(engine: Engine) -> tuple[int, ...]:
    return tuple(_serial(job) for job in engine.residents)


def _waiting(engine: Engine) -> tuple[int, ...]:
    return tuple(s.serial for pool in engine.admits for s in pool.waiting)


def _free_blocks(engine: Engine) -> int:
    pool = engine.memory
    assert pool is not None and pool.block is not None
    return int((pool.cap - pool.used) / pool.block)


def observe_steps(program: Program) -> tuple[list[Step], Report]:
    """The steps of a run of a program on the step clock, and its report."""
    observer = Observer()
    machines: list[Machine] = []
    report = run(program, hook=observer, detailed=True, on_machine=machines.append)
    observer.close(machines[0])
    return observer.steps, report
