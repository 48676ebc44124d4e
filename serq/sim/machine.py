"""The machine (interp.md §2–§6): the clock, events in order, settling, sessions, the run.

Concepts live in their own modules; this one decides what happens in which order.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count
from math import log
from typing import Any

from serq.ir.corpus import Corpus
from serq.ir.program import Batch, Closed, Poisson, Program, Renewal, Sessions
from serq.sim.averages import Averages
from serq.sim.clients import Clients
from serq.sim.engine import Engine, Plan
from serq.sim.errors import RunError, Stop
from serq.sim.flows import Flows, SharedState
from serq.sim.growth import Growth
from serq.sim.hooks import TraceHook
from serq.sim.legs import Legs
from serq.sim.linker import Linked, link
from serq.sim.pools import PoolState
from serq.sim.records import READY, Job, Session
from serq.sim.rng import (
    EVICTION,
    MACHINE,
    SESSION_KIND,
    TRACE,
    WORKLOAD_KIND,
    StreamBank,
    Unit,
    WordStream,
    unit_stream,
)
from serq.sim.stages import PsState, StageState
from serq.sim.statistics import Samples
from serq.sim.steady import Steady, can_be_steady

MOST_READIES = 1_000
MOST_STATEMENTS = 1_000_000
# How many events pass between two notices of progress.
_NOTICE = 4096

Handler = Callable[[Any], None]


class Machine:
    """A program in the middle of its run."""

    def __init__(
        self,
        program: Program,
        corpus: Corpus | None = None,
        *,
        detailed: bool = False,
        hook: TraceHook | None = None,
    ) -> None:
        self.program = program
        self.corpus = corpus
        self.hook = hook
        self.now = 0.0
        self.end = program.horizon
        self.warm = False
        self.slot_cached = program.slot_cached
        self.slot_turn = program.slot_turn
        self.slot_computed = program.slot_computed
        self.registers = [r.init for r in program.registers]
        self.events: list[tuple[float, int, Handler, Any]] = []
        self.event_count = 0
        self.arrivals = 0
        self.live = 0
        self.ended = 0
        self.turns = 0
        self.notes: list[str] = []
        self.ready: deque[Session] = deque()
        self.live_sessions: dict[int, Session] = {}
        self.closed = isinstance(program.arrival, Closed)
        self.dirty_ps = False
        self.stop_requested = False
        self.plan: Plan | None = None
        self.steady: Steady | None = None
        # Numbers handed out in order over the whole run (interp.md §2); keys of dead entries are negative.
        self.next_event = count().__next__
        self.next_job = count().__next__
        self.next_admission = count().__next__
        self.next_release = count().__next__
        self.next_session = count().__next__
        self.next_dead_key = count(-1, -1).__next__
        self._open_streams(program.seed)
        self.clients = Clients(self, detailed)
        self.observations = [Samples(detailed) for _ in program.observes]
        self.growth = Growth(self)
        self.legs = Legs(self)
        self.flows = Flows(self, program.share or "MaxMin")
        self.pools: list[PoolState] = []
        self.stages: list[StageState] = []
        self.linked: Linked = link(self, detailed)
        self.engines = [s for s in self.stages if isinstance(s, Engine)]
        self._ps = [s for s in self.stages if isinstance(s, PsState)]
        for engine in self.engines:
            engine.may_be_steady = can_be_steady(program, engine)
        self.averages = Averages(self)
        self.record = self.averages.record
        self._on_arrival = self._arrive
        self._gap = self._next_gap()

    def _open_streams(self, seed: int) -> None:
        self.bank = StreamBank(seed)
        self.arrival_rng = unit_stream(seed)
        self.machine_rng = unit_stream(seed ^ MACHINE)
        self.evict_rng = unit_stream(seed ^ EVICTION)
        self.trace_rng = WordStream(seed ^ TRACE)

    def open_stream(self, s: Session) -> Unit:
        """The stream of a session's statements, opened at its first draw."""
        s.stream = self.bank.open(SESSION_KIND, s.serial, 0)
        return s.stream

    def open_workload(self, s: Session) -> Unit:
        """The stream of a session's present turn (0 in `init`)."""
        s.workload = self.bank.open(WORKLOAD_KIND, s.serial, s.turns)
        return s.workload

    # Events

    def schedule(self, time: float, handler: Handler, payload: Any) -> None:
        """An event at a time; events at one instant happen in the order they were scheduled."""
        heappush(self.events, (time, self.next_event(), handler, payload))

    def run(self, progress: Callable[[float], None] | None = None) -> None:
        """Run to the end (interp.md §3); raises `RunError` when the program stops."""
        thresholds = gc.get_threshold()
        # A run makes no cycles to speak of: looking for them at every few hundred objects is wasted.
        gc.set_threshold(200_000, 20, 20)
        try:
            self._start()
            self._loop(progress)
            self._finish()
        except Stop as stop:
            raise RunError(stop.diagnostic(self.now)) from None
        finally:
            gc.set_threshold(*thresholds)

    def _start(self) -> None:
        program = self.program
        if program.warmup > 0.0:
            self.schedule(program.warmup, self._end_warmup, None)
        else:
            self.warm = True
        match program.arrival:
            case Poisson():
                self.schedule(0.0, self._on_arrival, None)
            case Renewal():
                self.schedule(self._gap(), self._on_arrival, None)
            case Closed(population=n) | Batch(size=n):
                for _ in range(n):
                    self.create_session()
            case Sessions(sessions=sessions):
                for _ in sessions:
                    self.create_session()
            case None:
                pass
        self.settle()

    def _loop(self, progress: Callable[[float], None] | None) -> None:
        events = self.events
        horizon = self.program.horizon
        limit = self.program.arrivals
        gauges = self.linked.gauges
        checks = self.linked.after_event
        countdown = _NOTICE
        while events and not self.stop_requested:
            if limit is not None and self.arrivals >= limit and not self.live:
                return
            time = events[0][0]
            if time > horizon:
                return
            if time > self.now:
                for gauge in gauges:
                    gauge.sample(self.now)
            _, _, handler, payload = heappop(events)
            self.now = time
            if self.steady is not None and handler is not self.steady.own_event:
                self.steady.settle_up()
            handler(payload)
            self.settle()
            if checks is not None:
                checks()
            self.event_count += 1
            countdown -= 1
            if not countdown:
                countdown = _NOTICE
                if progress is not None:
                    progress(self.now)

    def _finish(self) -> None:
        if self.steady is not None:
            self.steady.settle_up()
        for gauge in self.linked.gauges:
            gauge.sample(self.now)
        if self.stop_requested:
            self.end = self.now
            return
        self.legs.waiting_cycle()
        limit = self.program.arrivals
        if limit is None:
            self.now = self.program.horizon
            return
        self.end = self.now
        if self.arrivals < limit:
            raise Stop(
                "SQ811",
                f"only {self.arrivals} of {limit} arrivals happened by the horizon {self.program.horizon:g}",
                hint="raise the horizon or lower `--arrivals`",
            )
        if self.live:
            raise Stop(
                "SQ812",
                f"{self.live} of {limit} sessions are still live at the horizon {self.program.horizon:g}",
                hint="raise the horizon; a session that waits for ever never drains",
            )
        if not self.end > self.program.warmup:
            raise Stop(
                "SQ813",
                f"the last session ended at {self.end:g}, not after the warm-up {self.program.warmup:g}",
                hint="lower the warm-up or raise `--arrivals`",
            )

    def _end_warmup(self, _: None) -> None:
        self.warm = True
        self.averages.restart(self.now)

    # Arrivals

    def _renewal_gap(self) -> float:
        assert self.linked.gap is not None
        gap = self.linked.gap()
        if not 0.0 < gap < float("inf"):
            raise Stop(
                "SQ803",
                f"a renewal gap is {gap:g}; a gap is positive and finite",
                hint="draw gaps that are above 0, or bound them with max(k, …)",
                path=("arrival", "Renewal"),
            )
        return gap

    def _arrive(self, _: None) -> None:
        limit = self.program.arrivals
        if limit is None or self.arrivals < limit - 1:
            self.schedule(self.now + self._gap(), self._on_arrival, None)
        self.create_session()

    def _next_gap(self) -> Callable[[], float]:
        """What gives the gaps between open arrivals (rng.md §4)."""
        arrival, draw = self.program.arrival, self.arrival_rng
        if isinstance(arrival, Poisson):
            rate = arrival.rate
            return lambda: -log(1.0 - draw()) / rate
        return self._renewal_gap

    def create_session(self) -> None:
        """A session arrives (interp.md §4)."""
        serial = self.arrivals
        linked = self.linked
        attrs = linked.zeros.copy()
        attrs[self.program.slot_serial] = float(serial)
        s = Session(self.next_session(), serial, attrs)
        if linked.turns.given:
            s.trace_session = linked.turns.pick(serial)
        self.live += 1
        self.arrivals += 1
        self.live_sessions[serial] = s
        if linked.init is not None:
            linked.init(s)
        if linked.turns.given:
            linked.turns.preset(s)
        for claim in linked.given:
            claim.consider(s)
        if self.hook is not None:
            self.hook.arrival(self, s)
        self.ready.append(s)

    def everyone(self) -> Iterator[Session]:
        """Live sessions and their running legs, orphans too."""
        seen = dict.fromkeys(self.live_sessions.values())
        for pool in self.pools:
            seen.update(dict.fromkeys([*pool.holder_counts, *pool.waiting, *pool.growers]))
        for s in list(seen):
            seen.update(dict.fromkeys(s.legs))
        return iter(seen)

    # Settling

    def settle(self) -> None:
        """Let everything happen that takes no time (interp.md §5)."""
        ready = self.ready
        now = self.now
        while True:
            while ready:
                s = ready.popleft()
                if s.ready_at == now:
                    s.ready_count += 1
                    if s.ready_count > MOST_READIES:
                        self._never_settles(s)
                else:
                    s.ready_at = now
                    s.ready_count = 1
                if s.status == READY:
                    self.run_session(s)
            for pool in self.pools:
                if pool.growers or pool.waiting:
                    pool.serve()
            if not ready:
                break
        if self.engines:
            self._start_iterations()
        if self.dirty_ps:
            self.dirty_ps = False
            for stage in self._ps:
                if stage.dirty:
                    stage.reshare()
        if self.flows.dirty:
            self.flows.recompute()
        self.record()

    def _start_iterations(self) -> None:
        pending = bool(self.events) and self.events[0][0] <= self.now
        for engine in self.engines:
            if not engine.running and engine.has_work():
                if pending:
                    return
                engine.try_iteration()

    def _never_settles(self, s: Session) -> None:
        raise Stop(
            "SQ804",
            f"{s.name} became ready more than {MOST_READIES} times at one instant",
            hint="a run whose work is 0 on every pass lets no time pass: bound it away from 0",
            path=self.linked.path(s.pc),
        )

    def retry_pools(self) -> None:
        """Growers, then admissions, at every pool in declaration order."""
        for pool in self.pools:
            if pool.growers or pool.waiting:
                pool.serve()

    def run_session(self, s: Session) -> None:
        """Execute statements until the session blocks or ends (interp.md §6)."""
        ops = self.linked.ops
        pc = s.pc
        left = MOST_STATEMENTS
        try:
            while pc >= 0:
                at = pc
                pc = ops[pc](s)
                left -= 1
                if not left:
                    raise Stop(
                        "SQ804",
                        f"{s.name} executed {MOST_STATEMENTS} statements without blocking",
                        hint="every pass of a loop must let time pass",
                    )
        except Stop as stop:
            if not stop.path:
                stop.path = self.linked.codegen.path_of(stop.__traceback__) or self.linked.path(at)
            raise

    def leave_stage(self, job: Job) -> None:
        """Take a job off its stage."""
        assert job.stage is not None
        if isinstance(job.stage, SharedState):
            self.flows.leave(job)
        else:
            job.stage.leave(job)
