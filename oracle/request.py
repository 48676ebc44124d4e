"""A scenario as a program: vLLM v1's request on the step clock (002, *vLLM v1 as a serQ program*)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from serq.ir.build import (
    DELAY,
    LIFO,
    Body,
    Builder,
    PoolRef,
    StageRef,
    assign,
    hold,
    observe,
    run,
    turn,
    while_,
)
from serq.ir.edit import with_sessions
from serq.ir.program import Admit, PreemptBy, Program, Serve
from serq.ir.quantity import NOW, Quantity, Value, call, context, greatest, least, lift, when
from serq.oracle.recorded import version_key
from serq.oracle.scenario import Scenario
from serq.oracle.scenario import chains as chains_of

_SERVE: dict[str, tuple[Value, ...]] = {
    "admission": (),
    "-admission": (-context("Admission"),),
    "decoding ? 1 : 0": (when(context("Decoding"), 1, 0),),
}

LATEST = "0.33.0"
ENGINE, ARRIVE, REQS, KV = StageRef(0), StageRef(1), PoolRef(0), PoolRef(1)


@dataclass(frozen=True)
class Rules:
    """What differs between versions of the scheduler, each shown by recorded scenarios (oracle/README.md)."""

    threshold_when_alone: bool
    self_preemption_stops: bool


def rules_of(version: str) -> Rules:
    """The rules of a vLLM version."""
    key = version_key(version)
    return Rules(threshold_when_alone=key < (0, 31), self_preemption_stops=key < (0, 33))


class VllmRequest:
    """The program of one scenario. One unit of time is one step of the scheduler.

    A `plain` program keeps to what the Lean model reads, in few steps: a queue has one key, a
    fair share of the budget is looked up, and a first chunk within the threshold is all that
    an admission takes, even of a request that is alone; the rest of such a chunk is grown in
    the same step. Sessions of one request each have it preset, and take no turn.
    """

    def __init__(self, scenario: Scenario, rules: Rules, plain: bool = False) -> None:
        self.scenario = scenario
        self.rules = rules
        self.plain = plain
        self.b = Builder()
        names = ("prompt", "out", "arrive", "priority", "request")
        self.prompt, self.out, self.arrive, self.priority, self.request = (self.b.attr(n) for n in names)
        self.b.size(self.prompt, self.out, self.arrive, self.priority, self.request)
        self.kept = self.b.attr("kept")

    def program(self, horizon: float) -> Program:
        """The whole program, with the scenario's requests as its sessions."""
        self._declare()
        chains = sessions_of(self.scenario)
        if self.plain and not self._multi_turn:
            self.b.session(self._server())
            program = self.b.build(horizon=horizon, hidden=[self.out])
            return with_sessions(program, [self._sizes(i) for chain in chains for i in chain])
        self.b.server(self._server())
        self.b.session([turn(), while_(self.b.attr("more"), [turn()])])
        program = self.b.build(horizon=horizon, hidden=[self.out])
        turns = [[self._values(i) for i in chain] for chain in chains]
        return with_sessions(program, [{}] * len(turns), turns)

    def _sizes(self, index: int) -> Mapping[str, float]:
        r = self.scenario.requests[index]
        return {"prompt": r.prompt, "out": r.out, "arrive": r.arrive}

    def _values(self, index: int) -> Mapping[str, float]:
        return {
            **self._sizes(index),
            "priority": self.scenario.requests[index].priority,
            "request": index,
        }

    def _declare(self) -> None:
        s, b = self.scenario, self.b
        by_priority = s.policy == "priority"
        b.engine(
            "vllm",
            budget=s.budget,
            cost=1,
            chunk=self._threshold(context("Nres")),
            memory=KV,
            serve=_SERVE[s.serve],
            iteration=self._priority_body() if by_priority else None,
        )
        b.stage("arrive", DELAY)
        # Arrival order, and among requests of one step the order of their numbers.
        order = (self.priority, self.arrive, self.request) if by_priority else (self.arrive, self.request)
        keyed = by_priority or self._multi_turn
        keys = (self._one_key(),) if self.plain and not by_priority else order
        b.pool("reqs", cap=s.max_seqs, admit_via=ENGINE, queue=keys if keyed else None)
        victim = PreemptBy(keys=tuple(lift(-k) for k in order), tail=True) if by_priority else LIFO
        b.pool("kv", cap=s.usable_blocks * s.block_size, block=s.block_size, preempt=victim)

    def _one_key(self) -> Value:
        """Arrival order, then the order of numbers, as one number."""
        return self.arrive * len(self.scenario.requests) + self.request

    @property
    def _multi_turn(self) -> bool:
        return len(sessions_of(self.scenario)) < len(self.scenario.requests)

    def _priority_body(self) -> list[Serve | Admit]:
        """Since 0.33 a request that preempts itself ends one pass over the running requests, not the serving.

        One pass more than can be ended so serves everyone.
        """
        stops = self.rules.self_preemption_stops
        passes = 0 if stops else min(self.scenario.max_seqs, len(self.scenario.requests))
        unpreempted = lift(context("Preempted").equals(0))
        return [*(Serve() for _ in range(passes + 1)), Admit(gate=unpreempted)]

    def _threshold(self, running: Quantity) -> Value:
        """The cap on a prefill's chunk, only while more than one request is running or waiting."""
        if not self.scenario.chunk:
            return 0
        if self.rules.threshold_when_alone:
            return self.scenario.chunk
        present = running + REQS.query("Queued")
        return when(present > 1, self._cap(present), 0)

    def _cap(self, present: Quantity) -> Value:
        """The threshold; an adaptive one is a fair share of the budget where that is more."""
        s = self.scenario
        if not s.chunk_adaptive:
            return s.chunk
        if not self.plain:
            return greatest(s.chunk, call("Floor", s.budget / present))
        # The Lean model divides by constants only: one case for each count whose share is more.
        cap: Value = s.chunk
        for count in range(len(s.requests), 1, -1):
            if s.budget // count > s.chunk:
                cap = when(present.equals(count), s.budget // count, cap)
        return cap

    def _offered(self) -> Quantity:
        """What an admission may compute now: the budget left, within the threshold."""
        left = ENGINE.query("BudgetLeft")
        if not self.scenario.chunk:
            return left
        if self.rules.threshold_when_alone or self.plain:
            return least(self.scenario.chunk, left)
        present = ENGINE.query("Queue") + REQS.query("Queued")
        return when(present <= 1, left, least(self._cap(present), left))

    def _headroom(self) -> Quantity:
        """The watermark: blocks an admission leaves free once the step has scheduled anyone."""
        s = self.scenario
        blocks = int(s.watermark * s.num_blocks)
        return when(ENGINE.query("BudgetLeft") < s.budget, blocks * s.block_size, 0)

    def _server(self) -> Body:
        s, kept = self.scenario, self.kept
        # What the request has: its prompt, or what an earlier attempt computed and the token sampled there.
        known = greatest(kept, self.b.attr("computed") + 1)
        reused: Value = 0
        if s.prefix_caching:
            full = call("Floor", (known - 1) / s.block_size) * s.block_size
            reused = least(KV.query("CachedIn"), full)
        units = least(known, reused + self._offered()) if s.prefix_caching else least(known, self._offered())
        reserve = (known if s.reserve_full_isl else units) + self._headroom()
        cached = self.b.attr("cached")
        body = [
            assign(kept, known),
            observe("hit", cached) if s.prefix_caching else observe("hit", 0),
            run(ENGINE, kept - cached if s.prefix_caching else kept, mode="Prefill", growing=KV),
            observe("first", NOW),
            run(ENGINE, self.out - 1 - (kept - self.prompt), mode="Decode", growing=KV),
        ]
        # The last token is sampled, not computed.
        cache = self.prompt + self.out - 1 if s.prefix_caching else None
        return [
            run(ARRIVE, greatest(0, self.arrive - NOW)),
            assign(kept, self.prompt),
            hold(
                [(REQS, 1), (KV, units, reserve)], body, reuse=None if cache is None else reused, cache=cache
            ),
            observe("done", NOW),
        ]


def sessions_of(scenario: Scenario) -> list[list[int]]:
    """Each session's turns by request number: conversations where prefixes are cached, else one request each."""
    found = chains_of(scenario) if scenario.prefix_caching else None
    return found or [[i] for i in range(len(scenario.requests))]


def program_of(
    scenario: Scenario, horizon: float | None = None, version: str = LATEST, *, plain: bool = False
) -> Program:
    """The program that does with a scenario's requests what a version of vLLM v1 does.

    `plain` keeps to what the Lean model reads. Raises KeyError for a serving order no program is written for.
    """
    return VllmRequest(scenario, rules_of(version), plain).program(horizon or _horizon(scenario))


def _horizon(scenario: Scenario) -> float:
    """Far enough: every request alone, twice over, after the last arrival; a hang ends there."""
    tokens = sum(r.prompt + 2 * r.out for r in scenario.requests)
    last = max((r.arrive for r in scenario.requests), default=0)
    return float(last + 4 * tokens + 100)
