"""A divisor may be zero.

What it does
    Asks of every division, in statements and declarations, whether its divisor can be 0
    where the division is evaluated: the arm of a `?:` and the right side of `&&` and `||`
    count only where they are read.
Why it matters
    No run stops there: the quotient is an infinity or NaN, which then wins or loses every
    comparison and turns up far away.
Example
    `set share = tokens / peers;` with peers drawn from 0 up
Use instead
    `peers == 0 ? 0 : tokens / peers`, or `tokens / max(1, peers)`.
Soundness
    Proved: no divisor of the expression is ever 0. Refuted: as for `amount-negative`.
    Divisions in declarations read the state: they are proved or unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from serq.check.encoder import Watched
from serq.check.flags import lor
from serq.check.model import Model
from serq.check.places import Reading
from serq.check.report import Finding
from serq.check.rule import Rule, witness_at
from serq.check.solver import Fact, both
from serq.check.states import is_value
from serq.diagnostics import Severity
from serq.ir import expressions as ex

_HINT = "guard the division, or bound the divisor with max(1, …)"


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each expression that divides."""
    seen = set()
    for reading in model.enclosing.readings:
        if reading.path in seen or not divisions(reading.watched):
            continue
        seen.add(reading.path)
        answer, at = model.judge_readings(reading.path, _wrong)
        message = f"a divisor may be 0 in {model.names.expr(reading.expr)}"
        yield RULE.finding(reading.path, answer, message, witness=witness_at(model, answer, at), hint=_HINT)
    for path, e in model.declared:
        encoder = model.any_moment()
        encoder.encode(e)
        if divisions(encoder.watched):
            answer = model.enclosing.oracle.ask(_some(divisions(encoder.watched)))
            yield RULE.finding(path, answer, f"a divisor may be 0 in {model.names.expr(e)}", hint=_HINT)


def divisions(watched: Sequence[Watched]) -> list[Watched]:
    """The divisions by something that is not a constant other than 0."""
    return [
        w
        for w in watched
        if isinstance(w.expr, ex.Binary) and w.expr.op == "Div" and not _constant(w.expr.right)
    ]


def _constant(e: ex.Expr) -> bool:
    return isinstance(e, ex.Num) and e.value != 0


def _wrong(reading: Reading) -> Fact:
    return _some(divisions(reading.watched))


def _some(found: Sequence[Watched]) -> Fact:
    facts = [both(w.when, is_value(w.operands[1], 0.0)) for w in found]
    return Fact(lor(*(f.flag for f in facts)), lambda v: any(f.holds(v) for f in facts))


RULE = Rule(
    code="SQ863",
    name="division-by-zero",
    severity=Severity.WARNING,
    check=check,
    bad="""fn main() {
  stage desk : fifo;
  workload { arrive batch(9); turn { Size peers = floor(~uniform(0, 3)); } }
  server { set share = 6 / peers; run desk (cost(desk, min(share, 6))); }
}
""",
    good="""fn main() {
  stage desk : fifo;
  workload { arrive batch(9); turn { Size peers = floor(~uniform(0, 3)); } }
  server { set share = peers == 0 ? 6 : 6 / peers; run desk (cost(desk, min(share, 6))); }
}
""",
)
