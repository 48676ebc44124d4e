"""The host API: names instead of slots, and the program the text would give."""

from __future__ import annotations

import pytest

from serq.diagnostics import SerqError
from serq.ir import build as b
from serq.ir.edit import with_sessions, with_settings
from serq.ir.encode import program_data
from serq.ir.program import Batch, Fifo, Poisson, Ps
from serq.ir.quantity import NOW, context, draw, greatest, least, when
from serq.ir.validate import validate
from serq.lang.compile import compile_text
from serq.lang.settings import Settings
from serq.sim import run

SOURCE = """
fn main() {
  pool m { cap 4; block 2; preempt lifo; }
  stage s : fifo(2);
  stage d : delay;
  stage rest : delay;
  workload {
    arrive poisson(2);
    turn { Size w = ~exp(2); Size k = 3; }
    session { turn; while (turn_no < 3) { run rest (cost(rest, 1)); turn; } }
  }
  server {
    set began = now;
    hold m (cost(m, 1)) reserve (cost(m, 2)) {
      grow m (cost(m, min(w, 1)));
      branch (w > k) { run s (cost(s, w / 2)); } else { run d (cost(d, max(w, 0.5))); }
    } cache (cost(m, 1))
    observe stay = now - began;
    choose j in 2 by (0 - j);
    drop m;
  }
  gauge held = used(m);
}
"""


def host_program() -> b.pr.Program:
    p = b.Builder()
    m = p.pool("m", cap=4, block=2, preempt=b.LIFO)
    s, d, rest = p.stage("s", Fifo(servers=2)), p.stage("d", b.DELAY), p.stage("rest", b.DELAY)
    w, k = p.attr("w"), p.attr("k")
    p.turn([b.assign(w, draw("Exp", 2)), b.assign(k, 3)])
    p.session([b.turn(), b.while_(p.attr("turn_no") < 3, [b.run(rest, 1), b.turn()])])
    began, j = p.attr("began"), p.attr("j")
    p.server(
        [
            b.assign(began, NOW),
            b.hold(
                [(m, 1, 2)],
                [
                    b.grow(m, least(w, 1)),
                    b.branch(w > k, [b.run(s, w / 2)], [b.run(d, greatest(w, 0.5))]),
                ],
                cache=1,
            ),
            b.observe("stay", NOW - began),
            b.choose(j, 2, [0 - j]),
            b.drop(m),
        ]
    )
    p.gauge("held", m.query("Used"))
    return p.build(arrival=Poisson(rate=2.0), horizon=50, seed=3)


def test_the_host_program_is_the_texts() -> None:
    text = compile_text(SOURCE, settings=Settings(horizon=50.0, seed=3)).program
    assert program_data(host_program()) == program_data(text)
    assert validate(host_program()) == ()


def test_every_statement_can_be_built_and_runs() -> None:
    p = b.Builder()
    kv = p.pool("kv", cap=64, block=4, preempt=b.LIFO)
    engine = p.engine("e", budget=16, cost=when(context("Ntok") > 4, 2, 1), memory=kv)
    reqs = p.pool("reqs", cap=4, admit_via=engine)
    one, two = p.stage("one", _unit_ps()), p.stage("two", _unit_ps())
    n = p.attr("n")
    p.turn([b.assign(n, 6)])
    p.server(
        [
            b.hold(
                [(reqs, 1), (kv, n)],
                [b.run(engine, n, mode="Prefill", growing=kv)],
                reuse=n,
                cache=n,
                lease=(kv, 9),
            ),
            b.fork([b.run(one, 1), b.hold([(kv, 2)], [b.load(kv, 1), b.run(two, 1), b.release(kv)])]),
            b.run(one, 2, also=[two]),
            b.join(),
            b.release(kv),
            b.loop([b.run(one, 1), b.branch(NOW > 20, [b.end()])]),
        ]
    )
    program = p.build(arrival=Batch(size=3), horizon=60, share="MaxMin")
    assert validate(program) == ()
    assert run(program, self_check=True).data["ended"] == 3


def _unit_ps() -> Ps:
    return Ps(capacity=b.Num(value=1.0))


def test_sessions_are_given_by_name() -> None:
    p = b.Builder()
    d = p.stage("d", b.DELAY)
    w = p.attr("w")
    p.size(w)
    p.server([b.run(d, w), b.observe("at", NOW)])
    program = with_sessions(p.build(horizon=50), [{"w": 3}, {"w": 5}], [None, [{"w": 7.0}]])
    assert validate(program) == ()
    assert sorted(run(program).observes[0].samples) == [3.0, 7.0]
    with pytest.raises(SerqError, match="SQ014"):
        with_sessions(program, [{"v": 1}])


def test_settings_not_given_stay() -> None:
    program = host_program()
    other = with_settings(program, seed=9)
    assert (other.seed, other.horizon, program.seed) == (9, 50.0, 3)
    assert with_settings(program) == program


def test_a_changed_program_is_another_one() -> None:
    before = host_program()
    known = before.digest
    changed = with_settings(before, horizon=before.horizon + 1)
    assert changed.digest != known and changed != before and before.digest == known


def test_quantities_are_written_with_operators() -> None:
    p = b.Builder()
    x, y = p.attr("x"), p.attr("y")
    expressions = [
        1 + x - 2 * y / 3,
        -x,
        2 - x,
        6 / x,
        x**2,
        (x < 1).and_(y <= 2).or_(x > 3).not_(),
        (x >= 1).and_(x.equals(2)),
        x.differs(3),
    ]
    d = p.stage("d", b.DELAY)
    p.turn([b.assign(x, 2), b.assign(y, 3)])
    p.server([*(b.observe(f"o{i}", e) for i, e in enumerate(expressions)), b.run(d, 1)])
    report = run(p.build(arrival=Batch(size=1), horizon=3))
    assert [m.samples[0] for m in report.observes] == [1.0, -2.0, 0.0, 3.0, 4.0, 1.0, 1.0, 1.0]
