"""Differential random testing: the interpreter runs random programs, Lean's kernel runs them too (generators.md §10).

The interpreter's outcome becomes a theorem about the model; a theorem that Lean refuses is a
difference. What the runs exercised is counted, so that an empty class cannot pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from serq.generators.outcomes import Iterated, Outcome, Statement, batch_module
from serq.generators.random_cases import AnyCase, program_of_case, random_case, smaller
from serq.generators.translate import translate
from serq.ir.program import Program
from serq.oracle.lean_bench import LeanBench
from serq.sim import RunError, run
from serq.sim.caching import Entry
from serq.sim.engine import Engine
from serq.sim.hooks import TraceHook
from serq.sim.machine import Machine
from serq.sim.pools import PoolState
from serq.sim.records import Job, Session, Waiting

CLASSES = (
    "preemption in prefill",
    "preemption in decode",
    "self-preemption",
    "resume",
    "eviction",
    "eviction of a dead remainder",
    "delay inside a hold",
    "queue key",
    "several holds",
    "prefix reused",
    "chunked prefill",
    "several turns",
    "admission in an iteration",
    "hold without the engine",
    "holds one after the other",
    "preemption in nested holds",
    "preemption without growth",
    "newer holder out of reach",
    "iteration that only preempts",
    "eviction of a live prefix",
    "run that grows nothing",
    "run outside every hold",
    "zero work",
    "branch",
    "while",
    "loop that ends the session",
    "end inside a hold",
    "refusal",
    "session that waits for ever",
)
# The kernel runs each case; this many iterations are enough to meet everything above.
MOST_ITERATIONS = 24
MOST_OBSERVATIONS = 100
# What the programs of random bodies observe where they do something (`random_programs`): the class of
# an observation by its name, and the values that count.
_OBSERVED: dict[str, tuple[str, Callable[[int], bool]]] = {
    "work": ("zero work", lambda x: x == 0),
    "arm": ("branch", lambda x: True),
    "pass": ("while", lambda x: True),
    "again": ("loop that ends the session", lambda x: True),
    "ended": ("end inside a hold", lambda x: x == 1),
}
BATCH = 20
# Simpler cases are asked about a few at a time: the boldest are often refused already.
GROUP = 8


class Watch(TraceHook):
    """Collects what a run gave, and which classes it exercised; stops it after so many iterations."""

    def __init__(self, most: int | None = None) -> None:
        self.iterations: list[Iterated] = []
        self.seen: Counter[str] = Counter()
        self._most = most
        self._preempted: list[int] = []
        self._began = 0
        self._sites: dict[int, int] = {}

    def plan_begins(self, m: Machine, engine: Engine) -> None:
        self._preempted = []
        self._began = len(engine.residents)

    def admission(self, m: Machine, s: Session, w: Waiting) -> None:
        served = w.pools[0].served_by is not None
        self.seen["resume"] += w.resumed
        self.seen["prefix reused"] += any(x.own > 0 for x in s.holds[-1].members)
        self.seen["several holds"] += len(s.holds) > 1
        self.seen["queue key"] += any(p.queue_keys is not None and len(p.waiting) > 0 for p in w.pools[:1])
        self.seen["admission in an iteration"] += self._began > 0 and served
        self.seen["hold without the engine"] += not served
        if len(s.holds) == 1:
            before = self._sites.get(s.serial, w.site.number)
            self.seen["holds one after the other"] += before != w.site.number
            self._sites[s.serial] = w.site.number

    def eviction(self, m: Machine, pool: PoolState, entry: Entry, units: float) -> None:
        self.seen["eviction"] += 1
        self.seen["eviction of a dead remainder"] += entry.key < 0
        self.seen["eviction of a live prefix"] += entry.key in m.live_sessions

    def preemption(
        self, m: Machine, victim: Session, grower: Session, pool: PoolState, position: float
    ) -> None:
        self._preempted.append(victim.serial)
        assert victim.job is not None
        self.seen["preemption in decode" if victim.job.decode else "preemption in prefill"] += 1
        self.seen["preemption without growth"] += victim.job.member is None
        self.seen["preemption in nested holds"] += victim.holds[-1].member(pool) is None
        if victim is grower:
            newest = max(pool.holders, key=lambda s: s.admission)
            self.seen["self-preemption"] += 1
            self.seen["newer holder out of reach"] += newest is not victim

    def iteration(
        self, m: Machine, engine: Engine, assigned: list[tuple[Job, float]], duration: float
    ) -> None:
        tokens = tuple((_serial(job), int(n)) for job, n in assigned)
        self.seen["chunked prefill"] += any(not job.decode and n < job.work for job, n in assigned)
        self.seen["iteration that only preempts"] += not assigned
        still = [job.session for job, _ in assigned if job.member is None and job.session is not None]
        self.seen["run that grows nothing"] += any(s.holds for s in still)
        self.seen["run outside every hold"] += any(not s.holds for s in still)
        self.seen["delay inside a hold"] += any(map(_delayed_holder, m.live_sessions.values()))
        self.iterations.append(Iterated(int(m.now), tokens, len(engine.residents), tuple(self._preempted)))
        if self._most is not None and len(self.iterations) > self._most:
            m.stop_requested = True


def _delayed_holder(s: Session) -> bool:
    return bool(s.holds) and s.job is not None and not isinstance(s.job.stage, Engine)


def _serial(job: Job) -> int:
    assert job.session is not None
    return job.session.serial


@dataclass(frozen=True)
class Ran:
    """A case that the interpreter ran to its end, and what it exercised."""

    name: str
    case: AnyCase
    program: Program
    outcome: Outcome
    seen: Counter[str]

    @property
    def statement(self) -> Statement:
        """The outcome as a statement about the model."""
        return Statement(self.name, translate(self.program), self.outcome)


def interpreted(name: str, case: AnyCase) -> Ran | None:
    """Run a case; None when it is too long."""
    program = program_of_case(case)
    found = outcome_of(program, len(case.sessions), MOST_ITERATIONS)
    if found is None or sum(len(v) for name in found[0].observed for v in name) > MOST_OBSERVATIONS:
        return None
    outcome, seen = found
    seen["several turns"] += any(len(s) > 1 for s in case.sessions)
    return Ran(name, case, program, outcome, seen)


def outcome_of(
    program: Program, sessions: int, most: int | None = None
) -> tuple[Outcome, Counter[str]] | None:
    """What the interpreter makes of a program, and what that exercised.

    None when it does not end, or not after `most` iterations where that is given. A run ends, too,
    when all that are left wait for each other.
    """
    watch = Watch(most)
    machines: list[Machine] = []
    try:
        report = run(program, hook=watch, detailed=True, on_machine=machines.append)
    except RunError:
        return None
    m = machines[0]
    if m.events:
        return None
    watch.seen["refusal"] += sum(p.rejected for p in m.pools)
    watch.seen["session that waits for ever"] += m.live
    observed = []
    for metric in report.observes:
        values: list[list[int]] = [[] for _ in range(sessions)]
        label, counts = _OBSERVED.get(metric.name, ("", bool))
        for s, x in zip(metric.sessions, metric.samples, strict=True):
            values[s].append(int(x))
            watch.seen[label] += counts(int(x))
        observed.append(tuple(tuple(v) for v in values))
    outcome = Outcome(
        tuple(observed),
        tuple(watch.iterations),
        sum(len(i.preempted) for i in watch.iterations),
        tuple((int(p.used), int(p.cached)) for p in m.pools),
    )
    return outcome, watch.seen


def random_runs(first: int = 0) -> Iterator[Ran]:
    """The runs of the seeds from `first` on that end soon enough."""
    seed = first
    while True:
        ran = interpreted(f"Case{seed}", random_case(seed))
        if ran is not None:
            yield ran
        seed += 1


@dataclass
class Findings:
    """What a differential test found: how many runs agree, the refused ones, the classes exercised."""

    agreeing: int = 0
    differing: list[Ran] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    @property
    def empty_classes(self) -> list[str]:
        """The classes that no run exercised."""
        return [c for c in CLASSES if not self.seen[c]]

    @property
    def ok(self) -> bool:
        """Whether every run agrees and every class was met."""
        return not self.differing and not self.problems and not self.empty_classes


def differential_test(
    bench: LeanBench, number: int, first: int = 0, tell: Callable[[int], None] = lambda done: None
) -> Findings:
    """Run so many random programs with both sides and compare them."""
    found = Findings()
    runs = islice(random_runs(first), number)
    while batch := list(islice(runs, BATCH)):
        refused, problems = refused_runs(bench, batch)
        found.differing += refused
        found.problems += problems
        found.agreeing += len(batch) - len(refused)
        for ran in batch:
            found.seen.update(k for k, n in ran.seen.items() if n)
        tell(found.agreeing + len(found.differing))
    return found


def refused_runs(bench: LeanBench, runs: Sequence[Ran]) -> tuple[list[Ran], list[str]]:
    """The runs whose statements Lean refuses, and what kept it from judging."""
    answer = bench.ask({"Batch": batch_module("Batch", "random programs", [r.statement for r in runs])})[
        "Batch"
    ]
    refused = {name.split(".")[-2] for name in answer.refused}
    return [r for r in runs if r.name in refused], list(answer.problems)


def shrunk(bench: LeanBench, ran: Ran) -> Ran:
    """A smaller case that Lean still refuses: a few simpler cases at a time, until none is refused."""
    asked = {ran.program.digest}
    while True:
        smaller_one = _first_refused(bench, _simpler(ran, asked))
        if smaller_one is None:
            return ran
        ran = smaller_one


def _first_refused(bench: LeanBench, runs: Iterator[Ran]) -> Ran | None:
    while group := list(islice(runs, GROUP)):
        refused, _ = refused_runs(bench, group)
        if refused:
            return refused[0]
    return None


def _simpler(ran: Ran, asked: set[str]) -> Iterator[Ran]:
    """Simpler cases that end soon enough, of programs that were not asked about before."""
    for k, case in enumerate(smaller(ran.case)):
        made = interpreted(f"Smaller{k}", case)
        if made is not None and made.program.digest not in asked:
            asked.add(made.program.digest)
            yield made
