"""Keys that cannot tell candidates apart.

What it does
    Asks of every list of keys of an order (eviction, preemption, a queue, serving) whether
    two candidates can have different keys.
Why it matters
    The order is then its tie rule, whatever the keys say: the last admitted is preempted,
    the first released evicted. A key that is constant is usually the wrong variable.
Example
    `evict by (size * 0)`
Use instead
    The key meant, or `evict lru`.
Soundness
    Proved: two candidates of the enclosing ranges have different keys. Refuted: no two have,
    in any state.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.candidates import candidate
from serq.check.encoder import Encoder
from serq.check.flags import lnot, lor
from serq.check.model import Model
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.solver import Answer, Fact, Verdict
from serq.check.terms import Term, identical
from serq.diagnostics import IrPath, Severity
from serq.ir import expressions as ex
from serq.ir import program as pr

Keys = tuple[ex.Expr, ...]


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each list of keys."""
    for path, keys, what in _orders(model.program):
        a, b = _values(candidate(model), keys), _values(candidate(model), keys)
        differ = Fact(lor(*(lnot(identical(x, y)) for x, y in zip(a, b, strict=True))), lambda v: True)
        same = model.enclosing.oracle.never(differ)
        message = f"the keys of {what} are the same for every candidate"
        verdict = Verdict.REFUTED if same else Verdict.PROVED
        yield RULE.finding(
            path, Answer(verdict), message, hint="name what should decide, or leave the keys out"
        )


def _values(encoder: Encoder, keys: Keys) -> list[Term]:
    return [encoder.encode(k) for k in keys]


def _orders(program: pr.Program) -> Iterator[tuple[IrPath, Keys, str]]:
    for i, pool in enumerate(program.pools):
        if pool.evict is not None and pool.evict.keys:
            yield ("pools", i, "evict", "By"), pool.evict.keys, f"eviction from `{pool.label}`"
        if pool.preempt is not None and pool.preempt.keys:
            yield ("pools", i, "preempt", "By", "keys"), pool.preempt.keys, f"preemption in `{pool.label}`"
        if pool.queue:
            yield ("pools", i, "queue"), pool.queue, f"the queue of `{pool.label}`"
    for i, stage in enumerate(program.stages):
        if isinstance(stage.kind, pr.Step) and stage.kind.serve:
            yield (
                ("stages", i, "kind", "Step", "serve", "By"),
                stage.kind.serve,
                f"serving at `{stage.label}`",
            )


_PROGRAM = """fn main() {
  pool kv { cap 64; evict by (KEY); }
  stage desk : fifo;
  workload { arrive batch(9); turn { Size n = floor(~uniform(1, 20)); } }
  server { hold kv (cost(kv, n)) { run desk (cost(desk, 1)); } cache (cost(kv, n)) }
}
"""

RULE = Rule(
    code="SQ877",
    name="keys-equal",
    severity=Severity.WARNING,
    check=check,
    bad=_PROGRAM.replace("KEY", "min(size, 0)"),
    good=_PROGRAM.replace("KEY", "size"),
    some=True,
)
