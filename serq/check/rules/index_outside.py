"""An index may leave its family.

What it does
    Asks of every index of a pool or stage, in statements and in queries inside their
    expressions, whether it can be outside the family or not whole, and of every `choose`
    whether its count can be other than a whole number.
Why it matters
    A run stops at such an index (SQ805, SQ815); an index off by one only shows for the last member.
Example
    `run svc[floor(~uniform(0, 3))] (…)` with `stage svc[2]`
Use instead
    An index bounded by construction: `choose j in 2 by (…)`, `floor(~uniform(0, 2))`.
Soundness
    Proved: in every run the index names a member. Refuted: as for `amount-negative`.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from serq.check.encoder import Watched
from serq.check.flags import Flag, land, lnot, lor
from serq.check.model import Model
from serq.check.places import Reading
from serq.check.report import Finding
from serq.check.rule import Rule, witness_at
from serq.check.solver import Fact, both
from serq.check.terms import Term
from serq.diagnostics import Severity


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each index and each count."""
    for reading in model.readings("index"):
        assert reading.ref is not None
        yield _index(model, reading, reading.ref.count)
    for reading in model.readings("count"):
        answer, at = model.judge_readings(reading.path, lambda r: _outside(r.term, None))
        message = f"the count of a choice may be other than a whole number: {model.names.expr(reading.expr)}"
        yield RULE.finding(
            reading.path, answer, message, witness=witness_at(model, answer, at), hint="round it"
        )
    seen = set()
    for reading in model.enclosing.readings:
        if reading.path not in seen and any(w.ref is not None for w in reading.watched):
            seen.add(reading.path)
            yield _queries(model, reading)


def _index(model: Model, reading: Reading, count: int) -> Finding:
    answer, at = model.judge_readings(reading.path, lambda r: _outside(r.term, count))
    message = f"an index may be outside 0 … {count - 1}, or not whole: {model.names.expr(reading.expr)}"
    hint = "bound and round the index"
    return RULE.finding(reading.path, answer, message, witness=witness_at(model, answer, at), hint=hint)


def _queries(model: Model, reading: Reading) -> Finding:
    answer, at = model.judge_readings(reading.path, _some_query)
    message = f"an index inside an expression may be outside its family: {model.names.expr(reading.expr)}"
    hint = "bound and round the index"
    return RULE.finding(reading.path, answer, message, witness=witness_at(model, answer, at), hint=hint)


def _some_query(reading: Reading) -> Fact:
    wrong = [both(w.when, _outside(w.operands[0], _count(w))) for w in reading.watched if w.ref is not None]
    return Fact(lor(*(w.flag for w in wrong)), lambda v: any(w.holds(v) for w in wrong))


def _count(w: Watched) -> int:
    assert w.ref is not None
    return w.ref.count


def _outside(t: Term, count: int | None) -> Fact:
    """Not a whole number from 0 (below `count`)."""

    def holds(x: float) -> bool:
        return not (x >= 0 and x == x // 1 and (count is None or x < count))

    return Fact(lnot(_inside(t, count)), lambda v: holds(v.of(t)))


def _inside(t: Term, count: int | None) -> Flag:
    low: Flag = True if t.low >= 0 else t.num >= 0
    high: Flag = True if count is None or t.high < count else t.num < count
    whole: Flag = True if t.whole else z3.IsInt(t.num)
    return land(t.finite, low, high, whole)


RULE = Rule(
    code="SQ862",
    name="index-outside",
    severity=Severity.ERROR,
    check=check,
    bad="""fn main() {
  stage svc[2] : fifo;
  workload { arrive batch(9); turn { Size job = 1; } }
  server { set j = floor(~uniform(0, 3)); run svc[j] (cost(svc, job)); }
}
""",
    good="""fn main() {
  stage svc[2] : fifo;
  workload { arrive batch(9); turn { Size job = 1; } }
  server { set j = floor(~uniform(0, 2)); run svc[j] (cost(svc, job)); }
}
""",
)
