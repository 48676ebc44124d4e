"""A guard may be neither 0 nor 1.

What it does
    Asks of every guard of a `branch` or `while`, of every guard and gate of a schedule,
    whether it can be another value.
Why it matters
    A run stops at such a guard (SQ801); a count used as a test works until it reaches 2.
Example
    `branch (retries) { … }`
Use instead
    A comparison: `branch (retries > 0) { … }`.
Soundness
    Proved: in every run the guard reads 0 or 1. Refuted: as for `amount-negative`.
    Guards of schedules read the state, of which only ranges are known: they are proved or unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.model import Model
from serq.check.places import Reading
from serq.check.report import Finding
from serq.check.rule import Rule, witness_at
from serq.check.solver import Fact, negation
from serq.check.states import either, is_value
from serq.check.terms import Term
from serq.diagnostics import IrPath, Severity


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each guard of the session, then of the schedules."""
    for reading in model.readings("guard"):
        answer, at = model.judge_readings(reading.path, _wrong)
        yield RULE.finding(
            reading.path,
            answer,
            f"a guard may be neither 0 nor 1: {model.names.expr(reading.expr)}",
            witness=witness_at(model, answer, at),
            hint="write a comparison, such as `x > 0`",
        )
    for path, e in model.declared:
        if _is_guard(path):
            answer = model.enclosing.oracle.ask(_other_than_test(model.any_moment().encode(e)))
            message = f"a schedule's guard may be neither 0 nor 1: {model.names.expr(e)}"
            yield RULE.finding(path, answer, message, hint="write a comparison, such as `x > 0`")


def _is_guard(path: IrPath) -> bool:
    return path[-2:] == ("Branch", 0) or path[-2:] == ("Admit", "gate")


def _wrong(reading: Reading) -> Fact:
    return _other_than_test(reading.term)


def _other_than_test(term: Term) -> Fact:
    return negation(either(is_value(term, 0.0), is_value(term, 1.0)))


RULE = Rule(
    code="SQ861",
    name="guard-not-test",
    severity=Severity.ERROR,
    check=check,
    bad="""fn main() {
  stage desk : fifo;
  workload { arrive batch(9); turn { Size tries = floor(~uniform(0, 3)); } }
  server { branch (tries) { run desk (cost(desk, 1)); } }
}
""",
    good="""fn main() {
  stage desk : fifo;
  workload { arrive batch(9); turn { Size tries = floor(~uniform(0, 3)); } }
  server { branch (tries > 0) { run desk (cost(desk, 1)); } }
}
""",
)
