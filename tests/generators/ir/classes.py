"""What a run exercised, from its program and its report: the classes a comparison must not miss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from serq.ir import program as pr
from serq.ir import statements as st
from tests.generators.ir import terms as t

Report = dict[str, Any]
_Class = Callable[[pr.Program, Report], bool]


def classes(program: pr.Program, report: Report | None) -> set[str]:
    """The names of the classes a run belongs to; a run without a report ended in an error."""
    if report is None:
        return {"run-time error"}
    return {name for name, belongs in CLASSES.items() if belongs(program, report)}


def _statements(program: pr.Program) -> Iterator[st.Stmt]:
    for block in program.blocks:
        yield from block


def _has(kind: type[st.Stmt]) -> _Class:
    return lambda program, report: any(isinstance(s, kind) for s in _statements(program))


def _pool(field: str) -> _Class:
    return lambda program, report: any(pool[field] for pool in report["pools"])


def _observed(report: Report, name: str) -> bool:
    """Some value of an observation is positive; all of them are 0 or more."""
    value = report["observes"].get(name, {}).get("mean")
    return value is not None and value > 0


def _sees(name: str) -> _Class:
    return lambda program, report: _observed(report, name)


def _both(one: _Class, other: _Class) -> _Class:
    return lambda program, report: one(program, report) and other(program, report)


def _engines(program: pr.Program, report: Report) -> Iterator[pr.Step]:
    """The engines that ran an iteration."""
    for stage, row in zip(program.stages, report["stages"], strict=True):
        if isinstance(stage.kind, pr.Step) and row["iterations"] > 0:
            yield stage.kind


def _engine(test: Callable[[pr.Step], bool]) -> _Class:
    return lambda program, report: any(test(e) for e in _engines(program, report))


def _alone(program: pr.Program, report: Report) -> bool:
    """One session at a time and no leg: a preemption there is of the grower itself."""
    return program.arrival == pr.Closed(population=1) and not _has(st.Fork)(program, report)


def _queued(test: Callable[[pr.Pool], bool]) -> _Class:
    """A pool of this kind had holds waiting."""

    def belongs(program: pr.Program, report: Report) -> bool:
        rows = zip(program.pools, report["pools"], strict=True)
        return any(test(pool) and row["mean_queue"] > 0 for pool, row in rows)

    return belongs


def _used(test: Callable[[pr.Pool], bool]) -> _Class:
    """A pool of this kind admitted someone."""

    def belongs(program: pr.Program, report: Report) -> bool:
        rows = zip(program.pools, report["pools"], strict=True)
        return any(test(pool) and row["admissions"] > 0 for pool, row in rows)

    return belongs


def _preempted(test: Callable[[pr.Pool], bool]) -> _Class:
    """A pool of this kind preempted someone."""

    def belongs(program: pr.Program, report: Report) -> bool:
        rows = zip(program.pools, report["pools"], strict=True)
        return any(test(pool) and row["preemptions"] > 0 for pool, row in rows)

    return belongs


def _no_eviction(program: pr.Program, report: Report) -> bool:
    return all(pool["evicted_units"] == 0 for pool in report["pools"])


def _leases(infinite: bool) -> _Class:
    def belongs(program: pr.Program, report: Report) -> bool:
        durations = [s.lease.duration for s in _statements(program) if isinstance(s, st.Hold) and s.lease]
        return any((getattr(d, "value", 0.0) == float("inf")) == infinite for d in durations)

    return belongs


def _memories(program: pr.Program) -> set[int | None]:
    return {s.kind.memory for s in program.stages if isinstance(s.kind, pr.Step)}


def _claimed(*results: str) -> _Class:
    return lambda program, report: any(c["result"] in results for c in report.get("claims", ()))


def _flowing(program: pr.Program, report: Report) -> bool:
    return (program.share is not None and _observed(report, "flowed")) or _observed(report, "read")


def _client(metric: str) -> _Class:
    return lambda program, report: report["client"][metric]["count"] > 0


_LIFO = (t.neg(t.ctx("Admission")),)

CLASSES: dict[str, _Class] = {
    "preemption": _pool("preemptions"),
    "preemption by keys": _preempted(lambda p: p.preempt is not None and p.preempt.keys != _LIFO),
    "preemption to the tail": _preempted(lambda p: p.preempt is not None and p.preempt.tail),
    "self-preemption": _both(_alone, _pool("preemptions")),
    "resume after preemption": _sees("resumed"),
    "stuck": _pool("stuck"),
    "eviction": _pool("evicted_units"),
    "eviction of entries": _pool("evicted_entries"),
    "prefix hit": _sees("hit"),
    "dead remainder": _both(_sees("remainder"), _no_eviction),
    "spill": _pool("spills"),
    "lease without end": _leases(infinite=True),
    "finite lease": _leases(infinite=False),
    "expired lease": _sees("lapsed"),
    "load": _has(st.Load),
    "release": _has(st.Release),
    "drop": _has(st.Drop),
    "growers waiting": lambda p, r: _pool("growing_at_end")(p, r) or _observed(r, "stalled"),
    "rejection": _pool("rejected"),
    "head above the cap": _pool("over_cap"),
    "reserve held": _used(lambda p: p.reserve_held),
    "queue keys": _queued(lambda p: p.queue is not None),
    "queue served by an engine": _queued(lambda p: p.admit_via is not None),
    "flows": _flowing,
    "legs": _sees("leg"),
    "granule": _engine(lambda e: e.granule is not None),
    "exclusive prefill": _engine(lambda e: e.serve is None),
    "iteration body": _engine(lambda e: e.iteration is not None),
    "serve order": _engine(lambda e: bool(e.serve)),
    "registers": lambda p, r: bool(p.registers) and any(e.iteration for e in _engines(p, r)),
    "idle with work": lambda p, r: any(s["idle_with_work"] for s in r["stages"]),
    "gauges": lambda p, r: any(g["mean"] not in (None, 0) for g in r["gauges"].values()),
    "claim holds": _claimed("holds", "witnessed"),
    "claim fails": _claimed("fails", "not_witnessed"),
    "claim out of scope": _claimed("out_of_scope"),
    "claim not evaluated": _claimed("not_evaluated"),
    "first token": _client("ttft"),
    "time per token": _client("tpot"),
    "response": _client("response"),
    "several turns": lambda p, r: r["turns"] > r["arrivals"],
    "replayed turns": lambda p, r: isinstance(p.arrival, pr.Sessions) and r["turns"] > 0,
    "arrival limit": lambda p, r: p.arrivals is not None,
    "warm-up": lambda p, r: p.warmup > 0,
}
RARE = {"run-time error": 0.05}
