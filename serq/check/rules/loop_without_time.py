"""A pass through a loop that takes no time.

What it does
    Asks of every `loop` and `while` whether a pass can end, with another one to follow,
    without a run of positive work.
Why it matters
    Such passes can repeat at one instant; after 1 000 the run stops (SQ804).
Example
    `while (left > 0) { run desk (cost(desk, step)); set left = left - step; }` with a step of 0
Use instead
    Work bounded from below: `max(0.001, step)`.
Soundness
    Proved: every pass that another follows has run work above 0. Refuted: the witness's
    pass takes no time; it is a warning, as the next pass may draw again.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.model import Model
from serq.check.places import Passing
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.solver import Fact, both, negation
from serq.diagnostics import Severity


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each loop."""
    seen = set()
    for passing in model.enclosing.passings:
        if passing.path in seen:
            continue
        seen.add(passing.path)
        answer, _ = model.judge(
            ((p.state, _idle(p)) for p in model.enclosing.passings if p.path == passing.path),
            ((p, p.state, _idle(p)) for p in model.exact.passings if p.path == passing.path),
        )
        yield RULE.finding(
            passing.path,
            answer,
            "a pass through this loop may take no time, and another one follow",
            hint="bound the work of a run in its body from below",
        )


def _idle(p: Passing) -> Fact:
    return both(negation(p.state.progress), p.again)


RULE = Rule(
    code="SQ869",
    name="loop-without-time",
    severity=Severity.WARNING,
    check=check,
    bad="""fn main() {
  stage desk : delay;
  workload { arrive batch(1); turn { Size step = floor(~uniform(0, 3)); } }
  server {
    set left = 5;
    while (left > 0) { run desk (cost(desk, step)); set left = left - step; }
  }
}
""",
    good="""fn main() {
  stage desk : delay;
  workload { arrive batch(1); turn { Size step = 1 + floor(~uniform(0, 2)); } }
  server {
    set left = 5;
    while (left > 0) { run desk (cost(desk, step)); set left = left - step; }
  }
}
""",
)
