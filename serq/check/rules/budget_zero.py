"""A token budget or chunk that can be 0 or less.

What it does
    Asks of every engine's budget whether it can fail to be above 0, and of every chunk
    whether it can be 0, below, or NaN. A chunk that is always 0 is no cap, and is left out.
Why it matters
    With no budget an iteration schedules nothing, and the engine waits for an event that may
    never come; a chunk of 0 does not stop a prefill: it lifts the cap.
Example
    `tokens cap 64 - 8 * running.count`
Use instead
    `max(1, …)`.
Soundness
    Proved: in every state the budget (chunk) is above 0. Refuted: it never is above 0.
    Between the two is unknown: the state that shows it may not occur.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.model import Model
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.solver import Answer, Fact, Verdict, negation
from serq.check.states import above_zero
from serq.diagnostics import IrPath, Severity
from serq.ir import expressions as ex
from serq.ir import program as pr


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each budget and each chunk that caps."""
    for i, stage in enumerate(model.program.stages):
        if not isinstance(stage.kind, pr.Step):
            continue
        path = ("stages", i, "kind", "Step")
        yield _judged(model, stage.kind.budget, (*path, "budget"), f"the token budget of `{stage.label}`")
        chunk = model.any_moment().encode(stage.kind.chunk)
        if not (chunk.ordinary and chunk.low == chunk.high == 0):
            yield _judged(model, stage.kind.chunk, (*path, "chunk"), f"the chunk of `{stage.label}`")


def _judged(model: Model, e: ex.Expr, path: IrPath, what: str) -> Finding:
    term = model.any_moment().encode(e)
    above = Fact(above_zero(term), lambda v: v.of(term) > 0.0)
    oracle = model.enclosing.oracle
    if oracle.never(negation(above)):
        return RULE.finding(path, Answer(Verdict.PROVED), "")
    if oracle.never(above):
        return RULE.finding(
            path, Answer(Verdict.REFUTED), f"{what} is never above 0", hint="bound it with max(1, …)"
        )
    why = "a state in which it is not above 0 may not occur"
    return RULE.finding(path, Answer(Verdict.UNKNOWN, why=why), "")


_PROGRAM = """fn main() {
  device gpu { kv cap 64; }
  engine llm on gpu {
    reqs cap 4;
    tokens cap BUDGET;
    schedule { advance running; admit waiting; }
    execute (1);
  }
  pool kv on gpu { preempt lifo; }
  pool reqs on llm { queue fifo; }
  workload { arrive batch(2); turn { Size n = 4; } }
  server {
    hold reqs (cost(reqs, 1)), kv (cost(kv, n)) { run llm prefill (cost(llm, n)); }
  }
}
"""

RULE = Rule(
    code="SQ871",
    name="budget-zero",
    severity=Severity.ERROR,
    check=check,
    bad=_PROGRAM.replace("BUDGET", "min(0, 4 - running.count)"),
    good=_PROGRAM.replace("BUDGET", "max(1, 4 - running.count)"),
)
