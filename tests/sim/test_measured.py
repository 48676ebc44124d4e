"""Rare corners of a run, with the numbers measured at the peer: streams, victims, reserves, keys, first tokens."""

from __future__ import annotations

import io

import pytest

from serq.ir.build import Builder, Draft, PoolRef, StageRef, hold, observe, run
from serq.ir.program import Batch, Poisson, PreemptBy, Program
from serq.ir.quantity import context, draw, lift, when
from serq.lang.compile import compile_text
from serq.lang.settings import Settings
from serq.sim import RunError
from serq.sim import run as simulate
from serq.sim.trace_writer import TraceWriter

LEASED = """
fn main() {
  pool m { cap 1000; }
  stage d : fifo;
  workload { arrive batch(1); }
  server {
    fork { hold m (cost(m, 1000)) { } cache (cost(m, ~exp(100))) lease m (1) INSIDE }
    join; AFTER
  }
}
"""


@pytest.mark.parametrize(
    ("inside", "after", "cached"),
    [
        # The leg has ended when the lease does: the session's stream, whose first draw this is.
        ("", "", 17.68854767901723),
        ("observe leg = ~exp(100);", "", 17.68854767901723),
        ("", "run d (cost(d, 5));", 17.334776725436885),
        # The leg still runs: its own stream.
        ("run d (cost(d, 5));", "", 75.00804103731397),
    ],
)
def test_what_a_lease_leaves_is_drawn_from_the_stream_of_whose_it_is(
    inside: str, after: str, cached: float
) -> None:
    source = LEASED.replace("INSIDE", inside).replace("AFTER", after)
    (pool,) = simulate(compile_text(source, settings=Settings(horizon=50.0)).program).data["pools"]
    assert pool["mean_cached"] == cached


def two_engines(first: int, second: int) -> Program:
    """Two requests of 3 units that grow by a unit a token, at engines whose memory is one pool of 8."""
    b = Builder()
    kv: PoolRef = b.pool("kv", cap=8, preempt=PreemptBy(keys=(lift(-1 * context("Admission")),)))
    engines: list[StageRef] = [b.engine(name, budget=4, cost=1, memory=kv) for name in ("one", "other")]
    serial = b.attr("serial")

    def request(engine: int) -> list[Draft]:
        return [hold([(kv, 3)], [run(engines[engine], 6, mode="Decode", growing=kv)])]

    b.server(
        [
            Draft("Branch", {"guard": lift(serial)}, (request(second), request(first))),
            observe("end", context("Now")),
        ]
    )
    return b.build(arrival=Batch(size=2), horizon=40)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_victim_works_at_any_engine_whose_memory_the_pool_is(first: int, second: int) -> None:
    report = simulate(two_engines(first, second)).data
    assert [pool["preemptions"] for pool in report["pools"]] == [2]
    assert report["observes"]["end"]["mean"] == 9


def test_a_grower_leaves_out_the_reserve_of_its_own_hold_alone() -> None:
    """Two sessions reserve 6 of 12 each; nothing is left for holds of the same pool inside to grow."""
    source = """
fn main() {
  pool m { cap 12; reserve held; }
  stage d : ps(1);
  workload { arrive closed(2); }
  server {
    hold m (cost(m, 0)) reserve (cost(m, 6)) { run d (cost(d, 1)); INNER grow m (cost(m, 1)); END }
  }
}
"""
    nested = source.replace("INNER", "hold m (cost(m, 0)) {").replace("END", "}")
    plain = source.replace("INNER", "").replace("END", "")
    arrivals = [
        simulate(compile_text(text, settings=Settings(horizon=2.0)).program).data["arrivals"]
        for text in (nested, plain)
    ]
    assert arrivals == [2, 4]


@pytest.mark.parametrize(("keyed", "end"), [(False, 0.564682914487077), (True, 0.960359177084277)])
def test_the_key_of_a_lone_waiter_is_read_when_it_draws(keyed: bool, end: float) -> None:
    """Its `budget_left` draws the engine's budget, and the cost of the iteration is a later draw then."""
    b = Builder()
    engine = b.engine("e", budget=1 + draw("Uniform", 1, 2), cost=draw("Uniform", 0, 1))
    slots = b.pool("q", cap=1, queue=[engine.query("BudgetLeft")] if keyed else None)
    b.server([hold([(slots, 1)], [run(engine, 1, mode="Prefill")]), observe("end", context("Now"))])
    report = simulate(b.build(arrival=Batch(size=1), horizon=9)).data
    assert report["observes"]["end"]["mean"] == end


def test_the_key_of_a_lone_waiter_may_fail() -> None:
    source = """
fn main() {
  pool q { cap 1; queue by (queue(d[turn_no - 2])); }
  stage d[2] : fifo;
  workload { arrive batch(1); }
  server { hold q (cost(q, 1)) { run d[0] (cost(d, 1)); } }
}
"""
    with pytest.raises(RunError, match="SQ80"):
        simulate(compile_text(source, settings=Settings(horizon=9.0)).program)


@pytest.mark.parametrize("body", ["", "load kv (cost(kv, 60));", "grow kv (cost(kv, 60));"])
def test_what_is_kept_is_what_was_asked_to_the_last_bit(body: str) -> None:
    """Whatever was found of the prefix: nothing is added up again."""
    source = """
fn main() {
  pool kv { cap inf; }
  stage d : fifo(1000);
  workload {
    arrive batch(150);
    turn { Size p = (turn_no == 1 ? 1 : turn_no == 2 ? 5 : 40) * ~uniform(1, 2); }
    session { turn; while (turn_no < 3) { turn; } }
  }
  server {
    observe left = cachedin(kv); observe asked = p;
    hold kv (cost(kv, 100)) { BODY } cache (cost(kv, p));
    run d (cost(d, 1));
  }
}
""".replace("BODY", body)
    report = simulate(compile_text(source, settings=Settings(horizon=50.0)).program, detailed=True)
    left, asked = (
        dict(zip(zip(m.sessions, m.turns, strict=True), m.samples, strict=True)) for m in report.observes
    )
    later = [(session, turn) for session, turn in left if turn > 1]
    assert len(later) == 300
    assert all(left[session, turn] == asked[session, turn - 1] for session, turn in later)


def test_who_joins_an_engine_as_its_iteration_starts_gets_its_first_token() -> None:
    """Admitted by the engine, held up by another pool: it joins after the iteration that admitted it started."""
    b = Builder()
    engine = b.engine("e", budget=2, cost=0.05)
    slots = b.pool("slots", admit_via=engine)
    memory = b.pool("memory")
    b.server([hold([(slots, 0)], [hold([(memory, 0)], [run(engine, 8, mode="Decode")])])])
    program = b.build(arrival=Poisson(rate=1), horizon=6)
    report = simulate(program).data
    assert report["client"]["ttft"]["count"] == 6
    assert simulate(program, hook=TraceWriter(io.StringIO())).data == report


def test_no_prefilled_tokens_are_zero_not_minus_zero() -> None:
    b = Builder()
    none = 1 / context("Npre")
    engine = b.engine("e", budget=1, cost=when(none > 0, 1, 2))
    b.server([run(engine, 3, mode="Decode"), observe("end", context("Now"))])
    assert simulate(b.build(arrival=Batch(size=1), horizon=9)).data["observes"]["end"]["mean"] == 3
