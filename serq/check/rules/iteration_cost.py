"""An iteration that costs nothing, or less.

What it does
    Asks of every engine's cost whether it can be 0, negative or NaN for a batch of tokens.
Why it matters
    An iteration of tokens in no time stops the run; a negative cost counts as 0.
Example
    `execute (0.001 * (batch.tokens - 16))`
Use instead
    A fixed part above 0, or `max(0.001, …)`.
Soundness
    Proved: for every batch with tokens the cost is above 0. A batch has tokens above 0,
    decodes and residents counted whole, each decode at most one token, at least one resident;
    what memory holds is bounded by nothing. Refuted: the cost is not above 0 for a batch of
    one resident, a decode of one token or a prefill of some, whatever else the state is.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from serq.check.flags import as_z3
from serq.check.model import Model
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.solver import Answer, Fact, Verdict, both, negation
from serq.check.states import above_zero
from serq.check.terms import Term, constant
from serq.diagnostics import IrPath, Severity
from serq.ir import program as pr

# The least work that is left after rounding (interp.md §1) is above 1e-9.
_LEAST = 1e-9


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each engine."""
    for i, stage in enumerate(model.program.stages):
        if isinstance(stage.kind, pr.Step):
            yield _judged(model, stage, stage.kind, ("stages", i, "kind", "Step", "cost"))


def _judged(model: Model, stage: pr.Stage, step: pr.Step, path: IrPath) -> Finding:
    oracle = model.enclosing.oracle
    encoder = model.any_moment(_batch(model))
    cost = encoder.encode(step.cost)
    wrong = negation(Fact(above_zero(cost), lambda v: v.of(cost) > 0.0))
    if oracle.never(both(_possible(encoder.given), wrong)):
        return RULE.finding(path, Answer(Verdict.PROVED), "")
    for what, given in _smallest(model):
        small = model.any_moment({**_batch(model), **given}).encode(step.cost)
        if oracle.never(Fact(above_zero(small), lambda v: False)):
            message = f"an iteration of `{stage.label}` with {what} costs nothing, or less"
            hint = "add a fixed part above 0, or bound it with max(…)"
            return RULE.finding(path, Answer(Verdict.REFUTED), message, hint=hint)
    why = "a batch for which it is not above 0 may not occur"
    return RULE.finding(path, Answer(Verdict.UNKNOWN, why=why), "")


def _batch(model: Model) -> dict[str, Term]:
    """The variables of a batch, shared by the cost and what is known of them."""
    v = model.enclosing.variables
    whole = v.integral
    return {
        "Ntok": v.term("tokens", _LEAST, float("inf"), exact=False, whole=whole, assumed=True),
        "Ndec": v.term("decoders", 0.0, float("inf"), exact=False, whole=True, assumed=True),
        "Npre": v.term("prefilled", 0.0, float("inf"), exact=False, whole=whole, assumed=True),
        "Nres": v.term("residents", 1.0, float("inf"), exact=False, whole=True, assumed=True),
    }


def _possible(batch: dict[str, Term]) -> Fact:
    """What holds of every batch."""
    tokens, decodes, prefilled, residents = (batch[k].num for k in ("Ntok", "Ndec", "Npre", "Nres"))
    known = z3.And(prefilled <= tokens, tokens <= decodes + prefilled, decodes <= residents)
    return Fact(as_z3(known), lambda v: True)


def _smallest(model: Model) -> list[tuple[str, dict[str, Term]]]:
    """Batches that any use of an engine brings."""
    one, none = constant(1.0), constant(0.0)
    decode = {"Ntok": one, "Ndec": one, "Npre": none, "Nres": one, "Attn": none, "Kvp": none}
    some = model.enclosing.variables.term("tokens", 1.0, 16.0, exact=False, whole=True)
    prefill = {"Ntok": some, "Ndec": none, "Npre": some, "Nres": one, "Kvb": none}
    return [("one decode", decode), ("one small prefill", prefill)]


_PROGRAM = """fn main() {
  device gpu { kv cap 64; }
  engine llm on gpu {
    reqs cap 4;
    tokens cap 16;
    schedule { advance running; admit waiting; }
    execute (COST);
  }
  pool kv on gpu { preempt lifo; }
  pool reqs on llm { queue fifo; }
  workload { arrive batch(2); turn { Size n = 4; Size o = 3; } }
  server {
    hold reqs (cost(reqs, 1)), kv (cost(kv, n + o)) {
      run llm prefill (cost(llm, n));
      run llm decode (cost(llm, o));
    }
  }
}
"""

RULE = Rule(
    code="SQ870",
    name="iteration-cost",
    severity=Severity.ERROR,
    check=check,
    bad=_PROGRAM.replace("COST", "0.001 * (batch.tokens - 16)"),
    good=_PROGRAM.replace("COST", "0.002 + 0.001 * batch.tokens"),
)
