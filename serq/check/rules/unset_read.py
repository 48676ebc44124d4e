"""An attribute read before anything set it.

What it does
    Asks of every attribute a statement reads whether a way leads there on which nothing
    assigned it: it then reads 0.
Why it matters
    The 0 is silent: a first turn that divides by it, or a cap that is none.
Example
    `branch (n > 1) { set extra = 2; } run desk (cost(desk, n + extra));`
Use instead
    Assign it on both arms, or in `init`.
Soundness
    Proved: in every run something assigned it before. Refuted: as for `amount-negative`.
    Attributes the program never assigns, and the built-in ones, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.model import Model
from serq.check.places import Reading, State
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.solver import FALSE, Fact, negation
from serq.diagnostics import Severity
from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.tables import BUILTIN_ATTRIBUTES


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each statement's expression and attribute it reads."""
    program = model.program
    somewhere = {slot for block in program.blocks for s in block if (slot := st.assigned(s)) is not None}
    own = {s for s in somewhere if program.attrs[s] not in BUILTIN_ATTRIBUTES}
    seen = set()
    for reading in model.enclosing.readings:
        for slot in sorted({x.slot for x in ex.walk(reading.expr) if isinstance(x, ex.Attr)} & own):
            if (reading.path, slot) not in seen:
                seen.add((reading.path, slot))
                yield _judged(model, reading, slot)


def _judged(model: Model, reading: Reading, slot: int) -> Finding:
    def wrong(state: State) -> Fact:
        return negation(state.assigned.get(slot, FALSE))

    answer, _ = model.judge_readings(reading.path, lambda r: wrong(r.state))
    name = model.names.attr(slot)
    message = f"`{name}` may be read before anything set it, as 0, in {model.names.expr(reading.expr)}"
    return RULE.finding(reading.path, answer, message, hint=f"set `{name}` on every way here, or in `init`")


RULE = Rule(
    code="SQ874",
    name="unset-read",
    severity=Severity.WARNING,
    check=check,
    bad="""fn main() {
  stage desk : fifo;
  workload { arrive batch(3); turn { Size n = ~uniform(0, 2); } }
  server { branch (n > 1) { set extra = 2; } run desk (cost(desk, n + extra)); }
}
""",
    good="""fn main() {
  stage desk : fifo;
  workload { arrive batch(3); turn { Size n = ~uniform(0, 2); } }
  server { branch (n > 1) { set extra = 2; } else { set extra = 0; } run desk (cost(desk, n + extra)); }
}
""",
)
