"""Growth that is not reserved, in a pool that does not preempt.

What it does
    Compares what a hold's body grows to with what is kept for it: its first allocation,
    or its reserve where the pool holds reserves (`reserve held`).
Why it matters
    Two requests that each fit can fill the pool half-way and then both wait, for ever, for
    room that only the other could give back.
Example
    `hold kv (cost(kv, 1)) { run llm decode (cost(llm, 60)) growing kv; }` with `cap 100`
    and `preempt none`
Use instead
    `preempt lifo`, units for the whole length, or `reserve (whole length)` with `reserve held`.
Soundness
    Proved: in every run the body of each hold stays within what is kept for it, or sessions
    come one at a time. Refuted: two sessions of the witness's values are admitted together
    and need more than the pool has between them; whether they meet is a matter of timing.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check import operations
from serq.check.flags import land
from serq.check.model import Model
from serq.check.places import Growth
from serq.check.readings import pools_of
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.rules.outgrows_pool import shown
from serq.check.solver import TRUE, Answer, Fact, Verdict, both, negation
from serq.check.space import at_witness, demand, exceeds, fits, grown_to, in_blocks, roomiest
from serq.check.states import non_negative
from serq.check.terms import Term, constant, less
from serq.check.walk import Walk
from serq.diagnostics import IrPath, Severity
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.validate.names import number


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each growth in a pool that does not preempt."""
    seen: set[IrPath] = set()
    for growth in model.enclosing.growths:
        pools = pools_of(model.program, growth.scope.hold.pools[growth.part].pool)
        careless = [p for p in pools if p.preempt is None and p.cap < float("inf")]
        if careless and growth.path not in seen:
            seen.add(growth.path)
            yield _judged(model, growth, careless)


def _judged(model: Model, first: Growth, pools: list[pr.Pool]) -> Finding:
    if alone(model.program):
        return RULE.finding(first.path, Answer(Verdict.PROVED), "")
    pool = pools[0]
    answer, at = model.judge(
        (
            (g.state, _unkept(model.enclosing, g, p))
            for g in model.enclosing.growths
            if g.path == first.path
            for p in pools
        ),
        ((g, g.state, _pair(model, g, pool)) for g in model.exact.growths if g.path == first.path),
    )
    if answer.verdict is not Verdict.REFUTED or at is None:
        return RULE.finding(first.path, answer, "")
    assert answer.values is not None
    need = answer.values.of(grown_to(model.exact, at, pool.block))
    return RULE.finding(
        first.path,
        answer,
        f"two requests can each grow half-way in `{pool.label}` and wait for each other for ever: "
        f"each needs {number(need)} of {at_witness(model.exact, answer, pool.cap)}",
        witness=shown(model, answer, at),
        hint="preempt, take the whole length at once, or reserve it in a pool with `reserve held`",
    )


def alone(program: pr.Program) -> bool:
    """Whether no two sessions or legs are ever live together."""
    if any(isinstance(s, st.Fork) for block in program.blocks for s in block):
        return False
    match program.arrival:
        case pr.Batch(size=n) | pr.Closed(population=n):
            return n == 1
        case pr.Sessions(sessions=sessions):
            return len(sessions) <= 1
        case None:
            return True
        case _:
            return program.arrivals == 1


def _kept(walk: Walk, g: Growth, pool: pr.Pool) -> Term:
    """What nobody else can take while the hold lasts."""
    if pool.reserve_held:
        return demand(walk, g.scope, g.part, pool.block)
    return in_blocks(walk.variables, non_negative(g.scope.units[g.part]), pool.block)


def _unkept(walk: Walk, g: Growth, pool: pr.Pool) -> Fact:
    need, kept = grown_to(walk, g, pool.block), _kept(walk, g, pool)
    return negation(Fact(less(need, kept, or_equal=True), lambda v: v.of(need) <= v.of(kept)))


def _pair(model: Model, g: Growth, pool: pr.Pool) -> Fact:
    """Two sessions of the same values: both are admitted, and together they need too much."""
    walk, r = model.exact, model.exact.variables.rounding
    need = grown_to(walk, g, pool.block)
    first = in_blocks(walk.variables, non_negative(g.scope.units[g.part]), pool.block)
    together = operations.add(r, first, demand(walk, g.scope, g.part, pool.block))
    twice = operations.multiply(r, constant(2.0), need)
    return both(
        _unkept(walk, g, pool),
        fits(walk, need, pool.cap),
        exceeds(walk, twice, pool.cap),
        fits(walk, together, pool.cap),
        _others_admit_two(model, g),
    )


def _others_admit_two(model: Model, g: Growth) -> Fact:
    """Every other pool held has room for two such sessions."""
    walk, r = model.exact, model.exact.variables.rounding
    facts = [TRUE]
    for scope in g.scope.chain():
        for k, part in enumerate(scope.hold.pools):
            wide = roomiest(model.program, part.pool)
            if (scope is g.scope and k == g.part) or wide.cap == float("inf"):
                continue
            taken = operations.multiply(r, constant(2.0), demand(walk, scope, k, wide.block))
            facts.append(fits(walk, taken, wide.cap))
    return Fact(land(*(f.flag for f in facts)), lambda v: all(f.holds(v) for f in facts))


_PROGRAM = """fn main() {
  pool kv { cap 100; RESERVE }
  stage desk : delay;
  workload { arrive batch(2); turn { Size n = 1; Size o = floor(~uniform(40, 90)); } }
  server {
    hold kv (cost(kv, n)) reserve (cost(kv, n + o)) {
      run desk (cost(desk, 1));
      grow kv (cost(kv, 30));
      run desk (cost(desk, 1));
      grow kv (cost(kv, o - 30));
    }
  }
}
"""

RULE = Rule(
    code="SQ866",
    name="growth-deadlock",
    severity=Severity.WARNING,
    check=check,
    bad=_PROGRAM.replace("RESERVE ", ""),
    good=_PROGRAM.replace("RESERVE", "reserve held;"),
)
