"""A subtraction in a claim that can go below zero.

What it does
    Asks of every subtraction inside a claim, and inside whatever else a Lean statement reads
    (a guard of a `while` and the values that feed it, a queue's key, a chunk, an iteration's
    `only`), whether its result can be negative.
Why it matters
    The Lean model computes over natural numbers, where such a difference is 0: the
    statement proved would not be the claim made. A subtraction proved not to go below 0
    means the same in both.
Example
    `claim spare : at end (total(a) - total(b) >= 0);`
Use instead
    `total(a) >= total(b)`.
Soundness
    Proved: in every state the difference is at least 0 where it is read. Refuted, in a claim:
    it is always negative. Between the two is unknown, and so is one that can be negative
    outside claims, where only a Lean statement would be another.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.encoder import Encoder, Watched
from serq.check.flags import lor
from serq.check.model import Model
from serq.check.places import Reading
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.solver import Answer, Fact, Verdict, both, negation
from serq.check.terms import Term, less
from serq.diagnostics import IrPath, Severity
from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.validate.constants import feeding_guards

_ELSEWHERE = "it may be negative, which only matters to a Lean statement"
_HINT = "move the subtracted part to the other side of the comparison"


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each claim or loop guard that subtracts."""
    fed = feeding_guards(model.program)
    for reading in model.readings("guard", "set"):
        read = isinstance(reading.stmt, st.While) or (
            isinstance(reading.stmt, st.Set) and reading.stmt.slot in fed
        )
        if read and _subtractions(reading.watched):
            answer, _ = model.judge_readings(reading.path, _below)
            if answer.verdict is Verdict.REFUTED:
                answer = Answer(Verdict.UNKNOWN, why=_ELSEWHERE)
            yield RULE.finding(reading.path, answer, "", hint=_HINT)
    for path, e in model.declared:
        if _read_by_lean(path):
            yield from _declared(model, path, e)


def _read_by_lean(path: IrPath) -> bool:
    return (
        path[0] == "claims"
        or (path[0] == "pools" and path[2] == "queue")
        or (path[0] == "stages" and ("chunk" in path or "only" in path))
    )


def _declared(model: Model, path: IrPath, e: ex.Expr) -> Iterator[Finding]:
    encoder: Encoder = model.any_moment()
    encoder.encode(e)
    found = _subtractions(encoder.watched)
    if not found:
        return
    oracle = model.enclosing.oracle
    if oracle.never(_some(found)):
        yield RULE.finding(path, Answer(Verdict.PROVED), "")
    elif path[0] != "claims":
        yield RULE.finding(path, Answer(Verdict.UNKNOWN, why=_ELSEWHERE), "")
    elif any(oracle.never(negation(_negative(w.operands))) for w in found):
        message = f"a subtraction in a claim is always negative: {model.names.expr(e)}"
        yield RULE.finding(path, Answer(Verdict.REFUTED), message, hint=_HINT)
    else:
        why = "a state in which it is negative may not occur"
        yield RULE.finding(path, Answer(Verdict.UNKNOWN, why=why), "")


def _subtractions(watched: list[Watched] | tuple[Watched, ...]) -> list[Watched]:
    return [w for w in watched if isinstance(w.expr, ex.Binary) and w.expr.op == "Sub"]


def _negative(operands: tuple[Term, ...]) -> Fact:
    a, b = operands
    return Fact(less(a, b), lambda v: v.of(a) < v.of(b))


def _some(found: list[Watched]) -> Fact:
    facts = [both(w.when, _negative(w.operands)) for w in found]
    return Fact(lor(*(f.flag for f in facts)), lambda v: any(f.holds(v) for f in facts))


def _below(reading: Reading) -> Fact:
    return _some(_subtractions(reading.watched))


_PROGRAM = """fn main() {
  device gpu { kv cap 64; }
  engine llm on gpu {
    reqs cap 4;
    tokens cap 16;
    schedule { advance running; admit waiting; }
    execute (1);
  }
  pool kv on gpu { preempt lifo; }
  pool reqs on llm { queue fifo; }
  workload { arrive batch(2); turn { Size n = 4; } }
  server {
    hold reqs (cost(reqs, 1)), kv (cost(kv, n)) { run llm prefill (cost(llm, n)); }
  }
  claim spare : every iteration of llm (EXPR);
}
"""

RULE = Rule(
    code="SQ876",
    name="natural-subtraction",
    severity=Severity.WARNING,
    check=check,
    bad=_PROGRAM.replace("EXPR", "min(tokens, 3) - 4 <= 1"),
    good=_PROGRAM.replace("EXPR", "4 - min(tokens, 3) >= 1"),
)
