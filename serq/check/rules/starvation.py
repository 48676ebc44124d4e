"""A waiter that newcomers can overtake for ever.

What it does
    Takes a pool's `queue by` keys and asks whether a newcomer can always come before a
    session that has waited arbitrarily long.
Why it matters
    Under shortest-first or strict priorities a session with bad keys waits for as long as
    better ones keep coming: priority inversion without a bound.
Example
    `queue by (prompt)` under `arrive poisson(…)`
Use instead
    A key that ages, `queue by (prompt - weight * waited)`, or `queue fifo`.
Soundness
    Proved: after waiting 10^6 units of time or more, or because sessions stop
    coming, no newcomer of the program's values precedes a waiter. Refuted: one does even
    after a wait of 10^12, with values drawn independently of the clock; whether enough
    newcomers come is up to the load.
    A head that does not fit blocks the rest under any queue: that is `hold-never-fits`.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.candidates import candidate
from serq.check.flags import Flag, land, lor
from serq.check.model import Model
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.solver import Answer, Fact, Verdict
from serq.check.terms import Term, Values, constant, equal, less
from serq.diagnostics import Severity
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.tables import FUNCTION

_LONG = 1e6


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each ordered queue."""
    for i, pool in enumerate(model.program.pools):
        if pool.queue is None:
            continue
        path = ("pools", i, "queue")
        if _finite(model.program):
            yield RULE.finding(path, Answer(Verdict.PROVED), "")
            continue
        yield _judged(model, i, pool, pool.queue)


def _finite(program: pr.Program) -> bool:
    return isinstance(program.arrival, pr.Batch | pr.Sessions | None) or program.arrivals is not None


def _judged(model: Model, i: int, pool: pr.Pool, keys: tuple[ex.Expr, ...]) -> Finding:
    path = ("pools", i, "queue")
    long = model.enclosing.variables.term("waited", _LONG, _LONG * 1e6, exact=False)
    waiter, newcomer = candidate(model, {"Waited": long}), candidate(model, {"Waited": constant(0.0)})
    old, new = [waiter.encode(k) for k in keys], [newcomer.encode(k) for k in keys]
    before = _precedes(new, old)
    if model.enclosing.oracle.never(before):
        return RULE.finding(path, Answer(Verdict.PROVED), "")
    longest = candidate(model, {"Waited": constant(_LONG * 1e6)})
    if model.enclosing.oracle.never(_precedes(new, [longest.encode(k) for k in keys])):
        return RULE.finding(path, Answer(Verdict.UNKNOWN, why="a very long wait decides"), "")
    if not all(_timeless(model.program, k, frozenset()) for k in keys):
        return RULE.finding(
            path, Answer(Verdict.UNKNOWN, why="its keys depend on the state or the clock"), ""
        )
    return RULE.finding(
        path,
        Answer(Verdict.REFUTED),
        f"a session in the queue of `{pool.label}` can be overtaken for ever: its keys do not age",
        hint="let a key age, such as `key - weight * waited`, or serve the queue first come, first served",
    )


def _timeless(program: pr.Program, e: ex.Expr, above: frozenset[int]) -> bool:
    """Whether an expression depends on draws and constants alone, so that a newcomer may have any value."""
    for x in ex.walk(e):
        if isinstance(x, ex.Reg) or (isinstance(x, ex.Ctx) and x.var != "Waited"):
            return False
        if isinstance(x, ex.Call) and FUNCTION[x.fun].moves:
            return False
        if isinstance(x, ex.Attr) and x.slot not in above:
            sources = [
                s.value for b in program.blocks for s in b if isinstance(s, st.Set) and s.slot == x.slot
            ]
            if not sources or x.slot in (program.slot_serial, program.slot_turn):
                return False
            if not all(_timeless(program, s, above | {x.slot}) for s in sources):
                return False
    return True


def _precedes(a: list[Term], b: list[Term]) -> Fact:
    """Lexicographic order; NaN is left to its own devices at either end."""
    flags: list[Flag] = []
    ties: list[Flag] = []
    for x, y in zip(a, b, strict=True):
        flags.append(land(*ties, lor(less(x, y), x.nan, y.nan)))
        ties.append(lor(equal(x, y), land(x.nan, y.nan)))

    def holds(v: Values) -> bool:
        return [v.of(x) for x in a] < [v.of(y) for y in b]

    return Fact(lor(*flags), holds)


_PROGRAM = """fn main() {
  pool desk_slots { cap 1; queue by (KEY); }
  stage desk : fifo;
  workload { arrive poisson(0.9); turn { Size job = ~uniform(0.5, 1.5); } }
  server { hold desk_slots (cost(desk_slots, 1)) { run desk (cost(desk, job)); } }
}
"""

RULE = Rule(
    code="SQ868",
    name="starvation",
    severity=Severity.WARNING,
    check=check,
    bad=_PROGRAM.replace("KEY", "job"),
    good=_PROGRAM.replace("KEY", "job - 0.01 * waited"),
)
