"""A hold that can fail to fit, or never fits.

What it does
    Compares what each hold must have room for (units or reserve, the greater, in whole
    blocks) with the capacity of the pool.
Why it matters
    A request whose demand cannot move is refused on arrival. One whose demand is read again
    at each admission attempt waits at the head of its queue for ever, and everything behind
    it waits too: vLLM's prompt within `max_model_len` and above the usable blocks.
Example
    `hold kv (cost(kv, prompt))` with prompts up to 2 000 and `cap 1 024`
Use instead
    Refuse such requests before the hold (`branch (prompt > cap) { end; }`), or more blocks.
Soundness
    Proved: in every run each demand is at most the capacity of every member the reference
    may name. Refuted: the witness's session demands more, whatever the state of the run.
    An error when it never fits, or when it waits for ever; a warning when it is refused, or
    takes draws that come less than once in a hundred sessions.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.model import Model
from serq.check.places import Reading
from serq.check.report import Finding
from serq.check.rule import Rule, attributes_read
from serq.check.solver import Fact, Verdict, both
from serq.check.space import at_witness, demand_of, exceeds, fits, roomiest, tightest
from serq.check.walk import Walk
from serq.diagnostics import Severity
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.validate.constants import moves


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each pool of each hold."""
    for reading in model.readings("units"):
        part = _part(reading)
        tight, wide = tightest(model.program, part.pool), roomiest(model.program, part.pool)
        if tight.cap < float("inf"):
            yield _judged(model, reading, part, tight, wide)


def _part(reading: Reading) -> st.HoldPool:
    assert isinstance(reading.stmt, st.Hold)
    position = reading.path[-2]
    assert isinstance(position, int)
    return reading.stmt.pools[position]


def _judged(model: Model, reading: Reading, part: st.HoldPool, tight: pr.Pool, wide: pr.Pool) -> Finding:
    proofs = (
        (r.state, _too_much(model.enclosing, r, part, tight))
        for r in model.enclosing.readings
        if r.path == reading.path
    )
    witnesses = (
        (r, r.state, _too_much(model.exact, r, part, wide))
        for r in model.exact.readings
        if r.path == reading.path
    )
    answer, at = model.judge(proofs, witnesses)
    if answer.verdict is not Verdict.REFUTED or at is None:
        return RULE.finding(reading.path, answer, "")
    waits = moves(part.units) or (part.reserve is not None and moves(part.reserve))
    never = _never(model, reading, part, wide)
    shown = attributes_read(model, answer.values, at.state, part.units, part.reserve)
    known = {what for what, _ in shown}
    shown += tuple(pair for pair in answer.witness if pair[0] not in known)
    name = model.names.pools(part.pool)
    how = "waits for ever at the head of its queue" if waits else "is refused"
    verb = "never fits" if never else "can fail to fit"
    return RULE.finding(
        reading.path,
        answer,
        f"a hold of `{name}` {verb} its cap {at_witness(model.exact, answer, wide.cap)}: the request {how}",
        witness=shown,
        severity=Severity.ERROR if never or waits else Severity.WARNING,
        hint="refuse such requests before the hold, ask for less, or raise the cap",
    )


def _too_much(walk: Walk, r: Reading, part: st.HoldPool, pool: pr.Pool) -> Fact:
    reserve = None if part.reserve is None else walk.encoder(r.state).encode(part.reserve)
    return exceeds(walk, demand_of(walk.variables, r.term, reserve, pool.block), pool.cap)


def _never(model: Model, reading: Reading, part: st.HoldPool, pool: pr.Pool) -> bool:
    walk = model.enclosing
    for r in walk.readings:
        if r.path != reading.path:
            continue
        reserve = None if part.reserve is None else walk.encoder(r.state).encode(part.reserve)
        need = demand_of(walk.variables, r.term, reserve, pool.block)
        if not walk.oracle.never(both(r.state.live, fits(walk, need, pool.cap))):
            return False
    return True


RULE = Rule(
    code="SQ864",
    name="hold-never-fits",
    severity=Severity.ERROR,
    check=check,
    bad="""fn main() {
  pool kv { cap 1024; block 16; }
  stage desk : fifo;
  workload { arrive batch(9); turn { Size prompt = floor(~uniform(1, 2000)); } }
  server { hold kv (cost(kv, max(prompt, cachedin(kv)))) { run desk (cost(desk, 1)); } }
}
""",
    good="""fn main() {
  pool kv { cap 1024; block 16; }
  stage desk : fifo;
  workload { arrive batch(9); turn { Size prompt = floor(~uniform(1, 2000)); } }
  server {
    branch (prompt > 1024) { end; }
    hold kv (cost(kv, prompt)) { run desk (cost(desk, 1)); }
  }
}
""",
)
