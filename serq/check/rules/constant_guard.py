"""A guard that always reads the same.

What it does
    Asks of every guard that reads something whether it can be 1, and whether it can be 0.
Why it matters
    An arm that nothing reaches is dead text, and usually the guard is not the one meant.
Example
    `branch (prompt >= 0) { … } else { … }`
Use instead
    The guard meant, or the arm alone.
Soundness
    Proved: both answers occur for some values of the enclosing walk (it may be that they
    do not in any run). Refuted: in no run is the guard the other value; the values of
    explicit sessions and traces are not held against it, as other data may follow.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.model import Model
from serq.check.places import Reading
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.solver import Answer, Fact, Verdict, both
from serq.check.states import is_value
from serq.diagnostics import Severity
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each guard of a branch that reads something."""
    program = model.program
    data = isinstance(program.arrival, pr.Sessions) or program.trace is not None or bool(model.ranges)
    for reading in model.readings("guard"):
        if isinstance(reading.stmt, st.Branch) and _reads(reading.expr) and not data:
            yield _judged(model, reading)


def _reads(e: ex.Expr) -> bool:
    return any(isinstance(x, ex.Attr | ex.Ctx | ex.Sample) or _query(x) for x in ex.walk(e))


def _query(e: ex.Expr) -> bool:
    return isinstance(e, ex.Call) and any(not isinstance(a, ex.Expr) for a in e.args)


def _judged(model: Model, reading: Reading) -> Finding:
    for value, other in ((1.0, 0.0), (0.0, 1.0)):
        if _never(model, reading, value):
            message = f"this guard is always {other:g}: {model.names.expr(reading.expr)}"
            hint = "correct the guard, or keep the arm that runs"
            return RULE.finding(reading.path, Answer(Verdict.REFUTED), message, hint=hint)
    return RULE.finding(reading.path, Answer(Verdict.PROVED), "")


def _never(model: Model, reading: Reading, value: float) -> bool:
    walk = model.enclosing
    same = [r for r in walk.readings if r.path == reading.path]
    reached = any(not walk.oracle.never(r.state.live) for r in same)
    return reached and all(walk.oracle.never(_reads_value(r, value)) for r in same)


def _reads_value(r: Reading, value: float) -> Fact:
    return both(r.state.live, is_value(r.term, value))


RULE = Rule(
    code="SQ872",
    name="constant-guard",
    severity=Severity.WARNING,
    check=check,
    bad="""fn main() {
  stage desk : fifo;
  workload { arrive batch(3); turn { Size job = ~uniform(1, 2); } }
  server { branch (job < 1) { run desk (cost(desk, 1)); } else { run desk (cost(desk, job)); } }
}
""",
    good="""fn main() {
  stage desk : fifo;
  workload { arrive batch(3); turn { Size job = ~uniform(1, 2); } }
  server { branch (job < 1.5) { run desk (cost(desk, 1)); } else { run desk (cost(desk, job)); } }
}
""",
    some=True,
)
