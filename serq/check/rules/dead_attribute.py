"""An attribute that is assigned and never read.

What it does
    Looks for attributes that some statement assigns and no expression reads.
Why it matters
    Either the statement is left over, or the one that should read it names another.
Example
    `set known = prompt;` with no further `known`
Use instead
    Remove the assignment, or read it.
Soundness
    Proved: some expression of the program reads the attribute. Refuted: none does.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.model import Model
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.solver import Answer, Verdict
from serq.diagnostics import IrPath, Severity
from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.tables import BUILTIN_ATTRIBUTES
from serq.ir.traverse import expressions_of


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each assigned attribute that is not built in."""
    program = model.program
    read = {x.slot for _, _, e in expressions_of(program) for x in ex.walk(e) if isinstance(x, ex.Attr)}
    first: dict[int, IrPath] = {}
    for b, block in enumerate(program.blocks):
        for k, stmt in enumerate(block):
            slot = st.assigned(stmt)
            if slot is not None:
                first.setdefault(slot, ("blocks", b, k))
    for slot, path in sorted(first.items()):
        if program.attrs[slot] not in BUILTIN_ATTRIBUTES:
            verdict = Verdict.PROVED if slot in read else Verdict.REFUTED
            message = f"`{model.names.attr(slot)}` is assigned and never read"
            yield RULE.finding(
                path, Answer(verdict), message, hint="remove the assignment, or read the attribute"
            )


RULE = Rule(
    code="SQ873",
    name="dead-attribute",
    severity=Severity.WARNING,
    check=check,
    bad="""fn main() {
  stage desk : fifo;
  workload { arrive batch(3); turn { Size job = 1; } }
  server { set known = job + 1; run desk (cost(desk, job)); }
}
""",
    good="""fn main() {
  stage desk : fifo;
  workload { arrive batch(3); turn { Size job = 1; } }
  server { set known = job + 1; run desk (cost(desk, known)); }
}
""",
)
