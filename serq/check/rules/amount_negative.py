"""An amount may be negative or NaN.

What it does
    Asks of every work, hold, reserve, growth and load whether it can be below 0 or NaN.
Why it matters
    The run stops at such an amount (SQ802), perhaps after hours, for one unlucky draw.
Example
    `run desk (cost(desk, ~uniform(-1, 4)));`
Use instead
    `max(0, …)`, or a quantity that cannot be negative.
Soundness
    Proved: in no run is the amount below -1e-9 (the interpreter's tolerance) or NaN, for
    values below 1.8e308. Refuted: the witness's draws and presets lead to this statement,
    on a way without preemption that takes each loop at most three times. When draws as far
    in their tails come less than once in a hundred sessions it is a warning that says how
    often; when practically never, unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.model import Model
from serq.check.places import Reading
from serq.check.report import Finding
from serq.check.rule import Rule, witness_at
from serq.check.solver import Fact, negation
from serq.check.states import amount_valid
from serq.diagnostics import Severity

ROLES = {
    "work": "the work of a run",
    "units": "the units of a hold",
    "reserve": "the reserve of a hold",
    "growth": "a growth",
    "load": "a load",
}


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each amount of the session."""
    for reading in model.readings(*ROLES):
        answer, at = model.judge_readings(reading.path, _wrong)
        message = f"{ROLES[reading.role]} may be negative or NaN: {model.names.expr(reading.expr)}"
        yield RULE.finding(
            reading.path,
            answer,
            message,
            witness=witness_at(model, answer, at),
            hint="bound it with max(0, …), or correct what it is made of",
        )


def _wrong(reading: Reading) -> Fact:
    return negation(amount_valid(reading.term))


RULE = Rule(
    code="SQ860",
    name="amount-negative",
    severity=Severity.ERROR,
    check=check,
    bad="""fn main() {
  stage desk : fifo;
  workload { arrive batch(9); turn { Size job = ~uniform(-1, 4); } }
  server { run desk (cost(desk, job)); }
}
""",
    good="""fn main() {
  stage desk : fifo;
  workload { arrive batch(9); turn { Size job = max(0, ~uniform(-1, 4)); } }
  server { run desk (cost(desk, job)); }
}
""",
)
