"""Public reports whose answers are programs of their own (`examples/reports`), beside what was recorded.

The other reports of docs/capacity.md are in test_questions.py, since `serq capacity` answers them.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import serq.oracle
from serq.ir.edit import with_sessions
from serq.lang.compile import compile_file
from serq.lang.settings import Settings
from serq.oracle.questions import closed
from serq.oracle.questions.settings import Settings as Deployment
from serq.oracle.recorded import SCENARIOS
from serq.oracle.recording.checks import FILE, Checks, ask_checks, read_checks
from serq.oracle.recording.files import TRACE_SUFFIX, read_trace
from serq.oracle.recording.rules import check_scenario
from serq.oracle.scenario import SUFFIX, Scenario, read_scenario
from serq.sim import run
from serq.sim.engine import Engine
from serq.sim.hooks import TraceHook
from serq.sim.machine import Machine
from serq.sim.pools import PoolState
from serq.sim.records import Job, Session

PROGRAMS = Path(__file__).parents[2] / "examples" / "reports"
RECORDED = Path(serq.oracle.__file__).resolve().parent / "recorded"
VERSIONS = ("0.31.0", "0.33.0")
EACH_VERSION = pytest.mark.parametrize("version", VERSIONS)


@dataclass
class Ran(TraceHook):
    """A run: its report, and by session when it ended, its observations and its preemptions."""

    report: Mapping[str, Any] = field(default_factory=dict)
    ended: dict[int, float] = field(default_factory=dict)
    seen: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    tokens: float = 0
    preemptions: int = 0
    end: float = 0

    def iteration(
        self, m: Machine, engine: Engine, assigned: list[tuple[Job, float]], duration: float
    ) -> None:
        self.tokens += sum(n for _, n in assigned)

    def preemption(
        self, m: Machine, victim: Session, grower: Session, pool: PoolState, position: float
    ) -> None:
        self.preemptions += 1

    def session_end(self, m: Machine, s: Session) -> None:
        self.ended[s.serial] = self.end = m.now

    def greatest(self, gauge: str) -> float:
        """The most a gauge was."""
        return float(self.report["gauges"][gauge]["max"])


def ran(
    name: str,
    inputs: Mapping[str, float],
    sessions: Sequence[Mapping[str, float]] | None = None,
    horizon: float = 2000.0,
    seed: int = 1,
) -> Ran:
    """A run of a program under some inputs, of its own sessions or others."""
    settings = Settings(horizon=horizon, seed=seed)
    program = compile_file(PROGRAMS / f"{name}.sq", settings=settings, inputs=inputs).program
    if sessions is not None:
        program = with_sessions(program, sessions)
    hook = Ran()
    report = run(program, hook=hook)
    hook.report = report.data
    hook.seen |= {m.name: list(m.samples) for m in report.observes}
    return hook


@cache
def scenario(name: str) -> Scenario:
    """A scenario that ships with serq."""
    return read_scenario(SCENARIOS / f"{name}{SUFFIX}")


@cache
def trace(name: str, version: str) -> Mapping[str, Any]:
    """What a version was recorded to do."""
    return read_trace(RECORDED / version / f"{name}{TRACE_SUFFIX}")


def test_every_program_is_asked_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert PROGRAMS.exists() and all(f'"{p.stem}"' in text for p in PROGRAMS.glob("*.sq"))


# The reports of reference/incidents.md.
NUMBERS = {1, 2, 4, 5, 6, 7, 8, 10, 11, 15, 16, 18, 19, 21, 22, 23, 24, 25, 27, 32, 38, 39}


def test_every_report_has_an_answer_on_the_page_and_a_test() -> None:
    page = (PROGRAMS.parents[1] / "docs" / "capacity.md").read_text(encoding="utf-8")
    assert {int(n) for n in re.findall(r"^\| (\d+)\. ", page, re.MULTILINE)} == NUMBERS
    tests = "".join(p.read_text(encoding="utf-8") for p in Path(__file__).parent.glob("test_*.py"))
    found = {
        int(n) for name in re.findall(r"def test_(reports?_\w+)", tests) for n in re.findall(r"\d+", name)
    }
    assert found >= NUMBERS


# Reports 10 and 11: loads behind a head without blocks.

# What 0.30 does: holders first under first come first served, the policy's order alone under priority.
FIXED = {("0.30.0", "fcfs"): 1, ("0.30.0", "priority"): 0}
LOADS = ["100_incident_loads_fcfs", "101_incident_loads_priority", "102_incident_loads_later_head"]


def loads(name: str, order: int) -> Ran:
    """The requests of a scenario under an order in which the waiting are tried."""
    s = scenario(name)
    sessions = [
        {
            "prompt": r.prompt,
            "out": r.out,
            "arrive": r.arrive,
            "priority": r.priority,
            "loads": r.load[0] if r.load else 0,
            "steps": r.load[1] if r.load else 0,
        }
        for r in s.requests
    ]
    inputs = {"budget": s.budget, "max_seqs": s.max_seqs, "num_blocks": s.num_blocks}
    return ran("loads", {**inputs, "order": order, "policy": s.policy == "priority"}, sessions, 500.0)


def behind(data: Mapping[str, Any]) -> list[int]:
    """The steps in which somebody who holds blocks waits behind somebody who holds none."""
    found = []
    for s in data["steps"]:
        holds = [str(i) in s["blocks"] for i in s["waiting"]]
        if holds != sorted(holds, reverse=True):
            found.append(s["step"])
    return found


@pytest.mark.parametrize("name", LOADS)
@EACH_VERSION
def test_reports_10_and_11_since_0_31_holders_go_first_and_all_end(name: str, version: str) -> None:
    data = trace(name, version)
    assert data["summary"]["ended"] == "done" and behind(data) == []
    ended = {i: int(end) - 1 for i, end in loads(name, 1).ended.items()}
    assert ended == {int(i): step for i, step in data["summary"]["done"].items()}


@pytest.mark.parametrize("name", LOADS[1:])
def test_report_11_the_repair_of_0_30_does_not_cover_the_priority_policy(name: str) -> None:
    data = trace(name, "0.30.0")
    assert data["summary"]["stuck"] and data["summary"]["oversize"] == [] and behind(data)
    mine = loads(name, FIXED["0.30.0", "priority"])
    assert mine.ended == {} and mine.report["ended"] == 0


def test_report_10_first_come_first_served_hangs_without_the_repair_only() -> None:
    assert trace(LOADS[0], "0.31.0")["summary"]["preemptions"] == 1
    assert loads(LOADS[0], 0).ended == {}
    assert set(loads(LOADS[0], FIXED["0.30.0", "fcfs"]).ended) == {0, 1}


def test_a_holder_behind_a_non_holder_is_noticed() -> None:
    step = {"step": 7, "waiting": [0, 1], "blocks": {"1": 4}}
    assert behind({"steps": [step, {**step, "step": 8, "waiting": [1, 0]}]}) == [7]


# Report 21: whom to preempt.

LAST, LEAST, MOST, FIRST = range(4)


@dataclass(frozen=True)
class Tax:
    """Tokens computed again, and those that had to be computed."""

    again: float
    needed: float

    @property
    def share(self) -> float:
        """The tax on what had to be computed."""
        return self.again / self.needed


def taxed(result: Ran, needed: float, requests: int) -> Tax:
    """The tax of a run in which all ended."""
    assert result.report["ended"] == requests
    return Tax(result.tokens - needed, needed)


def drawn_tax(rule: int, **inputs: float) -> Tax:
    """The tax of the program's own requests."""
    result = ran("victims", {"rule": rule, **inputs}, horizon=1e6)
    return taxed(result, sum(result.seen["computed_once"]), int(inputs.get("requests", 100)))


def tax(rule: int, requests: Sequence[tuple[int, int, int]], **inputs: float) -> tuple[Tax, int]:
    """The tax of some requests, and the preemptions."""
    sessions = [{"prompt": p, "out": o, "come": t} for p, o, t in requests]
    result = ran("victims", {"rule": rule, **inputs}, sessions, horizon=1e5)
    return taxed(result, sum(p + o - 1 for p, o, _ in requests), len(requests)), result.preemptions


@EACH_VERSION
def test_report_21_the_tax_of_the_last_admitted_is_as_recorded(version: str) -> None:
    s, data = scenario("108_incident_victims"), trace("108_incident_victims", version)
    requests = [(r.prompt, r.out, r.arrive) for r in s.requests]
    inputs = {"num_blocks": s.num_blocks, "budget": s.budget, "max_seqs": s.max_seqs}
    last, preemptions = tax(LAST, requests, **inputs)
    computed = sum(step["total"] for step in data["steps"])
    assert (computed, data["summary"]["preemptions"]) == (last.needed + last.again, preemptions)
    least, _ = tax(LEAST, requests, **inputs)
    assert 0.4 < 1 - least.again / last.again < 0.6


def test_report_21_the_least_computed_recovers_about_half_where_half_the_prompts_are_long() -> None:
    last = least = most = 0.0
    for seed in range(12):
        rng = random.Random(seed)
        requests = [
            (300 if rng.random() < 0.5 else rng.randint(1, 40), rng.randint(5, 70), k // 2) for k in range(40)
        ]
        inputs = {"num_blocks": 81, "budget": 256, "max_seqs": 16}
        last += tax(LAST, requests, **inputs)[0].again
        least += tax(LEAST, requests, **inputs)[0].again
        most += tax(MOST, requests, **inputs)[0].again
    assert 0.4 < 1 - least / last < 0.65
    assert most > last


def test_report_21_where_all_are_alike_it_recovers_little() -> None:
    """Offline, with answers that are most of a request: the tax is what the report has, its recovery is not."""
    last, least = (drawn_tax(rule, requests=150) for rule in (LAST, LEAST))
    assert 0.7 < last.share < 0.85
    assert 0 < 1 - least.again / last.again < 0.15
    assert all(drawn_tax(rule, requests=150).again > last.again for rule in (MOST, FIRST))


def test_report_21_online_the_tax_is_smaller() -> None:
    inputs = {"requests": 150, "long_share": 0.5, "long_prompt": 1500, "out": 200, "prompt": 50}
    offline, online = drawn_tax(LAST, **inputs), drawn_tax(LAST, gap=30, **inputs)
    assert 0.10 < online.share < 0.23 and online.share < offline.share


# Report 25: frees that come a step later.


def test_report_25_frees_that_do_not_count_are_a_livelock() -> None:
    """Four requests fill the memory to the block; the next step preempts them all, and again for ever."""
    cascade = ran("deferred_frees", {"counted": 0}, horizon=1000.0)
    assert cascade.ended == {}
    gone = cascade.seen["went"]
    assert len(gone) > 1000 and set(gone) == {12} and len(gone) % 4 == 0


@pytest.mark.parametrize("inputs", [{"counted": 1}, {"deferred": 0, "counted": 0}])
def test_report_25_counting_them_repairs_it(inputs: Mapping[str, float]) -> None:
    result = ran("deferred_frees", inputs, horizon=1000.0)
    assert set(result.ended) == {0, 1, 2, 3} and len(result.seen["went"]) == 6


def test_report_25_beside_the_livelock_it_is_a_cascade() -> None:
    """Where the memory is not filled to the block the first goes on, and the others pay."""
    counts = {}
    for counted in (0, 1):
        result = ran("deferred_frees", {"counted": counted, "blocks": 50, "requests": 6}, horizon=3000.0)
        assert len(result.ended) == 6
        counts[counted] = len(result.seen["went"])
    assert counts[0] > 1.5 * counts[1]


@pytest.mark.parametrize("name", ["104_incident_frees_in_flight", "105_incident_frees_in_flight_many"])
@EACH_VERSION
def test_report_25_the_real_scheduler_preempts_whom_it_can_free(name: str, version: str) -> None:
    """With a step in flight it leaves alone who cannot be freed at once: one goes at a time, and all end."""
    data = trace(name, version)
    assert data["in_force"]["async_scheduling"] and data["summary"]["ended"] == "done"
    assert {len(s["preempted"]) for s in data["steps"]} == {0, 1}
    for before, s in zip(data["steps"], data["steps"][1:], strict=False):
        # Who goes was not in the step in flight, and its blocks are free now.
        assert not {i for i, _ in before["sched"]} & set(s["preempted"])
        assert not s["preempted"] or s["pending"] == 0


@EACH_VERSION
def test_frees_wait_for_the_step_in_flight(version: str) -> None:
    in_flight, alone = trace("106_abort_in_flight", version), trace("107_abort", version)
    waits = [s for s in in_flight["steps"] if s["pending"]]
    assert [s["step"] for s in waits] == [10] and waits[0]["aborted"] == [0]
    # Without one in flight the next request starts in the very step.
    assert [s["step"] for s in alone["steps"] if s["new"] == [1]] == [10]
    assert [s["step"] for s in in_flight["steps"] if s["new"] == [1]] == [11]


# Report 27: memory set aside for answers.


@cache
def reserved(tokens: int) -> Ran:
    """Two hundred requests with so many tokens of each answer set aside."""
    return ran("output_reserve", {"reserve": tokens})


def per_second(tokens: int) -> float:
    """Answer tokens a second."""
    result = reserved(tokens)
    return sum(result.seen["answer"]) / result.end


def test_report_27_a_reserve_costs_throughput() -> None:
    speeds = [per_second(r) for r in (16, 64, 256, 512, 1024)]
    assert speeds == sorted(speeds, reverse=True)
    at_once = [reserved(r).greatest("at_once") for r in (0, 16, 64, 256, 512, 1024)]
    assert at_once == sorted(at_once, reverse=True)
    # The report has -56 %: 20,163 to 8,810 tokens a second. Here 24,000 tokens of memory decide it, no machine.
    assert 0.5 < 1 - per_second(1024) / per_second(16) < 0.65


def test_report_27_and_spares_retractions() -> None:
    retractions = [reserved(r).preemptions for r in (0, 4, 8, 16, 64, 1024)]
    assert retractions == sorted(retractions, reverse=True)
    assert retractions[0] > 50 and retractions[-1] == 0
    # None at all is not the fastest either: what is retracted is computed again.
    assert per_second(16) > per_second(0)


# Report 32: a request and its writer.


@EACH_VERSION
def test_report_32_pages_are_free_when_both_have_ended(version: str) -> None:
    early, late = ran("two_lifetimes", {"both": 0}), ran("two_lifetimes", {"both": 1})
    assert early.greatest("two_owners") == 4 and late.greatest("two_owners") == 0
    assert (early.seen["began"], late.seen["began"]) == ([0, 4], [0, 12])
    data = trace("103_incident_load_aborted", version)
    (start,) = [s["step"] for s in data["steps"] if s["new"] == [1]]
    assert start == late.seen["began"][1]


@EACH_VERSION
def test_report_32_the_real_scheduler_keeps_what_is_written_to(version: str) -> None:
    data = trace("103_incident_load_aborted", version)
    (gone,) = [s["step"] for s in data["steps"] if s.get("aborted")]
    last = max(s["step"] for s in data["steps"] if 0 in s["loading"])
    assert last > gone
    kept = {tuple(s["block_ids"]["0"]) for s in data["steps"] if s["step"] <= last}
    assert len(kept) == 1 and "0" not in data["steps"][last + 2]["block_ids"]
    assert all("1" not in s["block_ids"] for s in data["steps"] if s["step"] <= last)


# Report 39: prompt + max_tokens above max_model_len.


def answered(request: tuple[int, int, int], cuts: bool) -> int | None:
    """The tokens a request may answer with in the program; None when it is refused."""
    prompt, max_tokens, length = request
    inputs = {"max_model_len": length, "cuts": cuts}
    result = ran("context_length", inputs, [{"prompt": prompt, "max_tokens": max_tokens}], horizon=1e5)
    assert len(result.seen["refused"]) + len(result.seen["answered"]) == 1
    return int(result.seen["answered"][0]) if result.seen["answered"] else None


@pytest.mark.parametrize(("version", "cuts"), [("0.30.0", False), ("0.31.0", False), ("0.33.0", True)])
def test_report_39_refused_up_to_0_31_and_cut_in_0_33(version: str, cuts: bool) -> None:
    found = read_checks(version).requests
    assert {request: answered(request, cuts) for request in found} == found
    assert found[4000, 512, 4096] == (96 if cuts else None)
    assert {request: answered(request, not cuts) for request in found} != found


def test_report_39_a_scenario_has_no_request_above_the_context() -> None:
    data = {"budget": 64, "max_seqs": 4, "num_blocks": 600, "max_model_len": 4096}
    codes = {}
    for out in (96, 97):
        found = check_scenario({**data, "requests": [{"prompt": 4000, "out": out}]})
        codes[out] = [d.code for d in found]
    assert codes == {96: [], 97: ["SQ930"]}


def test_report_39_no_answer_of_capacity_turns_on_it() -> None:
    """Refused or cut, the scheduler never has more tokens than max_model_len: those are the ones asked about."""
    for length in (2, 100, 4096):
        s = Deployment(num_gpu_blocks=300, max_model_len=length)
        for r in (closed.longest_prompt(s), closed.longest_answer(s)):
            assert r.prompt + r.out == length


# The check at start.


@pytest.mark.parametrize("version", ["0.30.0", *VERSIONS])
def test_the_check_at_start_is_as_recorded(version: str) -> None:
    found: Checks = read_checks(version)
    assert found.vllm == version and {True, False} == set(found.memories.values())
    release = version.rpartition(".")[0]
    for (blocks, block_size, length), starts in found.memories.items():
        s = Deployment(blocks, length, block_size=block_size, vllm=release)
        assert closed.starts(s) == starts, (blocks, block_size, length)


class Answering:
    """Stands in for a recorder process that answers what a file has."""

    def __init__(self, version: str) -> None:
        self.data = json.loads((RECORDED / version / FILE).read_text(encoding="utf-8"))

    def ask(self, op: str, **rows: Sequence[Sequence[int]]) -> Mapping[str, Any]:
        assert op == "checks"
        for part in ("requests", "memories"):
            assert [row[:-1] for row in self.data[part]] == [list(row) for row in rows[part]]
        return self.data  # type: ignore[no-any-return]


@pytest.mark.parametrize("version", ["0.30.0", *VERSIONS])
def test_the_recorded_checks_are_those_that_are_asked(version: str) -> None:
    written = (RECORDED / version / FILE).read_text(encoding="utf-8")
    assert ask_checks(Answering(version)) == written  # type: ignore[arg-type]
