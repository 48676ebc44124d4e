"""A claim that says nothing.

What it does
    Asks whether a claim's `given` can be met, and whether its expression can fail at all.
Why it matters
    A claim out of scope for every session, or true of any numbers, always holds and proves nothing.
Example
    `claim steady : every iteration of llm (tokens >= 0 || tokens < 0);`
Use instead
    The property meant.
Soundness
    Proved: its `given` can be met by the values new sessions take, and some numbers make it
    false. Refuted: no session of the program meets the `given`, or every assignment of
    numbers to what the claim reads makes it true.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.encoder import Encoder
from serq.check.model import Model
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.solver import Answer, Fact, Verdict, both, negation
from serq.check.terms import Term, truth
from serq.diagnostics import Severity
from serq.ir import program as pr


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each claim."""
    for i, claim in enumerate(model.program.claims):
        if claim.given is not None and not _meets(model, claim):
            message = f"no session of the program meets the `given` of claim `{claim.name}`"
            yield RULE.finding(
                ("claims", i, "given"), Answer(Verdict.REFUTED), message, hint="correct the condition"
            )
            continue
        always = model.enclosing.oracle.never(negation(_true(model.any_moment().encode(claim.expr))))
        verdict = Verdict.REFUTED if always else Verdict.PROVED
        message = f"claim `{claim.name}` is true of any numbers"
        yield RULE.finding(("claims", i, "expr"), Answer(verdict), message, hint="state the property meant")


def _true(t: Term) -> Fact:
    return Fact(truth(t), lambda v: v.of(t) != 0.0)


def _meets(model: Model, claim: pr.Claim) -> bool:
    """Whether a new session may meet the condition."""
    walk = model.enclosing
    assert claim.given is not None and walk.started is not None
    encoder = Encoder(model.program, model.names, walk.variables, walk.started.attrs.__getitem__)
    return not walk.oracle.never(both(walk.started.live, _true(encoder.encode(claim.given))))


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
  workload { arrive batch(2); init { Size n = 4; } turn { Size m = 2; } }
  server {
    hold reqs (cost(reqs, 1)), kv (cost(kv, n)) { run llm prefill (cost(llm, n * m)); }
  }
  claim small given (n GIVEN) : every iteration of llm (tokens <= 16);
}
"""

RULE = Rule(
    code="SQ875",
    name="vacuous-claim",
    severity=Severity.WARNING,
    check=check,
    bad=_PROGRAM.replace("GIVEN", "> 4"),
    good=_PROGRAM.replace("GIVEN", "> 3"),
    some=True,
)
