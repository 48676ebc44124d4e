"""A scenario as a program: vLLM v1's request on the step clock (002, *vLLM v1 as a serQ program*)."""

from __future__ import annotations

from serq.ir.build import (
    DELAY,
    LIFO,
    Builder,
    PoolRef,
    StageRef,
    assign,
    hold,
    observe,
    run,
)
from serq.ir.edit import with_sessions
from serq.ir.program import Program
from serq.ir.quantity import NOW, Quantity, Value, context, greatest, least, when
from serq.oracle.scenario import Scenario

_SERVE: dict[str, tuple[Value, ...]] = {
    "admission": (),
    "-admission": (-context("Admission"),),
    "decoding ? 1 : 0": (when(context("Decoding"), 1, 0),),
}


def program_of(scenario: Scenario, horizon: float | None = None) -> Program:
    """The program that does with a scenario's requests what vLLM v1 does.

    One unit of time is one step. Raises KeyError for a serving order no program is written for.
    """
    b = Builder()
    engine = StageRef(0)
    reqs, kv = PoolRef(0), PoolRef(1)
    threshold = _threshold(scenario, context("Nres"), reqs)
    b.engine("vllm", budget=scenario.budget, cost=1, chunk=threshold, memory=kv, serve=_SERVE[scenario.serve])
    arrive_at = b.stage("arrive", DELAY)
    b.pool("reqs", cap=scenario.max_seqs, admit_via=engine)
    b.pool("kv", cap=scenario.usable_blocks * scenario.block_size, block=scenario.block_size, preempt=LIFO)
    prompt, out, arrive = b.attr("prompt"), b.attr("out"), b.attr("arrive")
    b.size(prompt, out, arrive)
    b.server(_request(b, scenario, engine, arrive_at, reqs, kv))
    program = b.build(horizon=horizon or _horizon(scenario), hidden=[out])
    values = [{"prompt": r.prompt, "out": r.out, "arrive": r.arrive} for r in scenario.requests]
    return with_sessions(program, values)


def _threshold(scenario: Scenario, running: Quantity, reqs: PoolRef) -> Value:
    """The cap on a prefill's chunk, only while more than one request is running or waiting."""
    if not scenario.chunk:
        return 0
    return when(running + reqs.query("Queued") > 1, scenario.chunk, 0)


def _request(
    b: Builder, scenario: Scenario, engine: StageRef, arrive_at: StageRef, reqs: PoolRef, kv: PoolRef
) -> list:  # type: ignore[type-arg]
    prompt, out, arrive = b.attr("prompt"), b.attr("out"), b.attr("arrive")
    kept, computed = b.attr("kept"), b.attr("computed")
    # What the request has: its prompt, or what an earlier attempt computed and the token sampled there.
    known = greatest(kept, computed + 1)
    offered: Value = engine.query("BudgetLeft")
    if scenario.chunk:
        alone = engine.query("Queue") + reqs.query("Queued") <= 1
        offered = when(alone, offered, least(scenario.chunk, offered))
    reserve = known if scenario.reserve_full_isl else None
    return [
        run(arrive_at, arrive),
        assign(kept, prompt),
        hold(
            [(reqs, 1), (kv, least(known, offered), reserve)],
            [
                assign(kept, known),
                run(engine, kept, mode="Prefill", growing=kv),
                observe("first", NOW),
                run(engine, out - 1 - (kept - prompt), mode="Decode", growing=kv),
            ],
        ),
        observe("done", NOW),
    ]


def _horizon(scenario: Scenario) -> float:
    """Far enough: every request alone, twice over, after the last arrival; a hang ends there."""
    tokens = sum(r.prompt + 2 * r.out for r in scenario.requests)
    last = max((r.arrive for r in scenario.requests), default=0)
    return float(last + 4 * tokens + 100)
