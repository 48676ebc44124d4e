"""What the state of a run supplies, one entry per row of context variables, queries and aggregates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from serq.check.terms import INF, Term, constant
from serq.check.variables import Variables
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir.validate.constants import constant as folded


@dataclass(frozen=True)
class Range:
    """Bounds of a reading.

    `horizon` puts the run's end in place of an infinite bound; `tokens` are whole in integral programs.
    """

    low: float = 0.0
    high: float = INF
    whole: bool = False
    horizon: bool = False
    tokens: bool = False


_COUNT = Range(whole=True)
_BIT = Range(0.0, 1.0, whole=True)
_TIME = Range(horizon=True)
_AMOUNT = Range()
_TOKENS = Range(tokens=True)

CONTEXT: Mapping[str, Range] = {
    "Now": _TIME,
    "Waited": _TIME,
    "Size": _TOKENS,
    "Age": _TIME,
    "Last": _TIME,
    "Queued": _BIT,
    "N": Range(1.0, whole=True),
    "Ntok": _TOKENS,
    "Ndec": _COUNT,
    "Npre": _TOKENS,
    "Nres": _COUNT,
    "Kvb": _TOKENS,
    "Kvp": _TOKENS,
    "Attn": _AMOUNT,
    "Decoding": _BIT,
    "Admission": _COUNT,
    "Remaining": _TOKENS,
    "Position": _TOKENS,
    "Admitted": _COUNT,
    "Preempted": _COUNT,
    "Demand": _TOKENS,
    "Served": _TOKENS,
    "Arrived": _COUNT,
}
AGGREGATES: Mapping[str, Range] = {
    "Total": Range(-INF),
    "Count": _COUNT,
    "Largest": Range(-INF),
    "Smallest": Range(-INF),
    "PrefixTotal": Range(-INF),
}
# Totals of fractional units drift by roundings; whole ones do not.
_DRIFT = 1e-6
_STAGE_QUERIES: Mapping[str, Range] = {
    "Queue": _COUNT,
    "Busy": _COUNT,
    "Work": _AMOUNT,
    "EstLambda": _AMOUNT,
    "EstRho": Range(0.0, 0.99),
    "EstWait": _AMOUNT,
    "Price": Range(-INF),
}
_POOL_COUNTS: Mapping[str, Range] = {"Holders": _COUNT, "Queued": _COUNT, "CachedIn": _TOKENS}

Query = Callable[[Variables, pr.Program, ex.Call, str], Term]


def ranged(variables: Variables, what: str, r: Range, horizon: float) -> Term:
    """A fresh reading of a range."""
    high = horizon if r.horizon else r.high
    return variables.term(
        what, r.low, high, exact=False, whole=r.whole or (r.tokens and variables.integral), assumed=True
    )


def _stage_query(fun: str) -> Query:
    def read(variables: Variables, program: pr.Program, call: ex.Call, what: str) -> Term:
        return ranged(variables, what, _STAGE_QUERIES[fun], program.horizon)

    return read


def _pool_count(fun: str) -> Query:
    def read(variables: Variables, program: pr.Program, call: ex.Call, what: str) -> Term:
        return ranged(variables, what, _POOL_COUNTS[fun], program.horizon)

    return read


def pools_of(program: pr.Program, ref: ex.CRef) -> tuple[pr.Pool, ...]:
    """The pools a reference may name."""
    if isinstance(ref.index, ex.Num) and ref.index.value in range(ref.count):
        return (program.pools[ref.base + int(ref.index.value)],)
    return program.pools[ref.base : ref.base + ref.count]


def stages_of(program: pr.Program, ref: ex.CRef) -> tuple[pr.Stage, ...]:
    """The stages a reference may name."""
    if isinstance(ref.index, ex.Num) and ref.index.value in range(ref.count):
        return (program.stages[ref.base + int(ref.index.value)],)
    return program.stages[ref.base : ref.base + ref.count]


def _caps(variables: Variables, program: pr.Program, call: ex.Call) -> list[Term]:
    arg = call.args[0]
    assert isinstance(arg, ex.PoolArg)
    return [variables.number(pool.cap) for pool in pools_of(program, arg.ref)]


def _greatest(terms: Sequence[Term]) -> Term | None:
    """A term that bounds all of some; None when one may be infinite."""
    if not all(t.ordinary for t in terms):
        return None
    if len({id(t) for t in terms}) == 1 or all(t.low == t.high for t in terms):
        return max(terms, key=lambda t: t.high)
    high = max(t.high for t in terms)
    return constant(high) if high < INF else None


def _used(variables: Variables, program: pr.Program, call: ex.Call, what: str) -> Term:
    drift = 0.0 if variables.integral else _DRIFT
    most = _greatest(_caps(variables, program, call))
    if most is None:
        return variables.term(what, -drift, INF, exact=False, whole=variables.integral, assumed=True)
    return variables.bounded(what, -drift, most, drift, whole=variables.integral)


def _free(variables: Variables, program: pr.Program, call: ex.Call, what: str) -> Term:
    caps = _caps(variables, program, call)
    if all(t.pos is True for t in caps):
        return constant(INF)
    most = _greatest(caps)
    if most is None:
        return _or_infinite(variables, variables.term(what, -_DRIFT, INF, exact=False, assumed=True))
    return variables.bounded(what, -_DRIFT, most, _DRIFT)


def _or_infinite(variables: Variables, t: Term) -> Term:
    pos = variables.rounding.fresh_flag("pos")
    return Term(t.num, t.compute, False, pos, False, t.whole, t.low, t.high)


def _fixed(variables: Variables, e: ex.Expr) -> Term | None:
    """The budget of an engine where it is a number."""
    if isinstance(e, ex.Num):
        return variables.number(e.value)
    value = folded(e)
    return None if value is None or value != value else variables.number(value)


def _budget_left(variables: Variables, program: pr.Program, call: ex.Call, what: str) -> Term:
    arg = call.args[0]
    assert isinstance(arg, ex.StageArg)
    steps = [s.kind for s in stages_of(program, arg.ref) if isinstance(s.kind, pr.Step)]
    budgets = [_fixed(variables, s.budget) for s in steps]
    known = [b for b in budgets if b is not None]
    if len(known) == len(budgets) and known:
        if all(b.pos is True for b in known):
            return constant(INF)
        most = _greatest(known)
        if most is not None and most.high < INF:
            if most.low >= 0:
                return variables.bounded(what, 0.0, most, whole=variables.integral)
            return variables.term(what, 0.0, max(0.0, most.high), exact=False, whole=variables.integral)
    return _or_infinite(
        variables, variables.term(what, 0.0, INF, exact=False, whole=variables.integral, assumed=True)
    )


QUERIES: Mapping[str, Query] = {
    **{fun: _stage_query(fun) for fun in _STAGE_QUERIES},
    **{fun: _pool_count(fun) for fun in _POOL_COUNTS},
    "Used": _used,
    "Free": _free,
    "BudgetLeft": _budget_left,
}
