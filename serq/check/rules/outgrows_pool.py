"""A body that outgrows its pool, even alone.

What it does
    Adds up what the growing runs and `grow` statements of a hold's body come to, and
    compares it with the capacity of the pool.
Why it matters
    With nobody else in the pool the growth still cannot fit. Under preemption the request
    preempts itself, runs again and preempts itself again: vLLM without the check of the
    full sequence, "maximum length against usable blocks". Without preemption it waits for
    ever for room that only it could give back.
Example
    prompt + output up to 2 048 on 127 usable blocks of 16
Use instead
    Bound the length by the capacity, reserve what the body grows to (the request is then
    refused), or give the pool one block more.
Soundness
    Proved: in every run the growth stays within the capacity of every member. Refuted: the
    witness's session, alone on its first attempt, needs more than the capacity. That later
    attempts fail too is what happens unless the program asks for less after a preemption.
    A warning when it takes draws that come less than once in a hundred sessions.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.model import Model
from serq.check.places import Growth
from serq.check.report import Finding
from serq.check.rule import Rule, attributes_read
from serq.check.solver import Answer, Verdict
from serq.check.space import at_witness, exceeds, grown_to, roomiest, tightest
from serq.diagnostics import IrPath, Severity
from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.validate.names import number


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each statement that grows a hold."""
    seen: set[IrPath] = set()
    for growth in model.enclosing.growths:
        pool = growth.scope.hold.pools[growth.part].pool
        if growth.path not in seen and tightest(model.program, pool).cap < float("inf"):
            seen.add(growth.path)
            yield _judged(model, growth, pool)


def _judged(model: Model, first: Growth, ref: ex.CRef) -> Finding:
    tight, wide = tightest(model.program, ref), roomiest(model.program, ref)
    answer, at = model.judge(
        (
            (g.state, exceeds(model.enclosing, grown_to(model.enclosing, g, tight.block), tight.cap + 1e-9))
            for g in model.enclosing.growths
            if g.path == first.path
        ),
        (
            (g, g.state, exceeds(model.exact, grown_to(model.exact, g, wide.block), wide.cap))
            for g in model.exact.growths
            if g.path == first.path
        ),
    )
    if answer.verdict is not Verdict.REFUTED or at is None:
        return RULE.finding(first.path, answer, "")
    assert answer.values is not None
    need = answer.values.of(grown_to(model.exact, at, wide.block))
    fate = "waits for ever" if wide.preempt is None else "preempts itself for ever"
    name, cap = model.names.pools(ref), at_witness(model.exact, answer, wide.cap)
    return RULE.finding(
        first.path,
        answer,
        f"a request alone outgrows `{name}` and {fate}: it needs {number(need)} of {cap}",
        witness=shown(model, answer, at),
        hint="bound the length by the capacity, reserve what the body grows to, or raise the cap",
    )


def shown(model: Model, answer: Answer, at: Growth) -> tuple[tuple[str, float], ...]:
    """The attributes that decide a growth, then what they came from."""
    stmt, part = model.statement(at.path), at.scope.hold.pools[at.part]
    amount = stmt.work if isinstance(stmt, st.Run) else stmt.amount if isinstance(stmt, st.Grow) else None
    seen = attributes_read(model, answer.values, at.state, amount, part.units, part.reserve)
    known = {what for what, _ in seen}
    return seen + tuple(pair for pair in answer.witness if pair[0] not in known)


_PROGRAM = """fn main() {
  let blocks = BLOCKS;
  device gpu { kv cap blocks * 16; }
  engine llm on gpu {
    reqs cap 8;
    tokens cap 512;
    schedule { advance running; admit waiting; }
    execute (0.01);
  }
  pool kv on gpu { block 16; preempt lifo; }
  pool reqs on llm { queue fifo; }
  workload {
    arrive batch(2);
    turn { Size n = 1 + floor(~uniform(0, 1024)); Size o = 1 + floor(~uniform(0, 1024)); }
  }
  server {
    hold reqs (cost(reqs, 1)), kv (cost(kv, min(n, budget_left(llm)))) {
      run llm prefill (cost(llm, n)) growing kv;
      run llm decode (cost(llm, o - 1)) growing kv;
    }
  }
}
"""

RULE = Rule(
    code="SQ865",
    name="outgrows-pool",
    severity=Severity.ERROR,
    check=check,
    bad=_PROGRAM.replace("BLOCKS", "126"),
    good=_PROGRAM.replace("BLOCKS", "128"),
)
