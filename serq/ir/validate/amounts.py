"""Constant amounts and demands (004 *Progress and amounts*; api.md §10.7)."""

from __future__ import annotations

from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.validate.constants import constant, round_up
from serq.ir.validate.facts import Facts, Located
from serq.ir.validate.names import number


def amounts(facts: Facts) -> None:
    """Constant work, units, growth and loads are neither negative nor NaN."""
    for located in facts.statements_of(st.Run, st.Grow, st.Load, st.Hold):
        match located.stmt:
            case st.Run(stage=ref, work=work):
                _amount(facts, work, located.at("work"), f"work of a run at `{facts.names.stages(ref)}`")
            case st.Grow(pool=ref, amount=amount):
                _amount(facts, amount, located.at(1), f"growth of `{facts.names.pools(ref)}`")
            case st.Load(pool=ref, amount=amount):
                _amount(facts, amount, located.at(1), f"load of `{facts.names.pools(ref)}`")
            case st.Hold(pools=parts):
                for i, part in enumerate(parts):
                    name = facts.names.pools(part.pool)
                    _amount(facts, part.units, located.at("pools", i, 1), f"hold of `{name}`")
            case _:
                continue


def _amount(facts: Facts, e: ex.Expr, path: IrPath, what: str) -> None:
    value = constant(e)
    if value is not None and not value >= 0:
        facts.add("SQ601", f"the {what} is {number(value)}", path, "an amount is a number from 0 up")


def demands(facts: Facts) -> None:
    """A constant demand, rounded to blocks, fits a pool its reference can name."""
    for located in facts.statements_of(st.Hold):
        assert isinstance(located.stmt, st.Hold)
        for i, part in enumerate(located.stmt.pools):
            _demand(facts, located, i, part)


def _demand(facts: Facts, located: Located, i: int, part: st.HoldPool) -> None:
    pools = facts.pools_of(part.pool)
    chosen = None if part.pool.index is None else constant(part.pool.index)
    if chosen is not None and 0 <= chosen < len(pools) and chosen == int(chosen):
        pools = (pools[int(chosen)],)
    for column, e in ((1, part.units), (2, part.reserve)):
        need = None if e is None else constant(e)
        if need is None or not need >= 0 or not pools:
            continue
        if all(round_up(need, pool.block) > pool.cap for pool in pools):
            widest = max(pools, key=lambda pool: pool.cap)
            _too_much(facts, located.at("pools", i, column), part, need, widest)


def _too_much(facts: Facts, path: IrPath, part: st.HoldPool, need: float, pool: pr.Pool) -> None:
    rounded = round_up(need, pool.block)
    blocks = "" if rounded == need else f" ({number(rounded)} in whole blocks)"
    facts.add(
        "SQ602",
        f"a hold of `{facts.names.pools(part.pool)}` asks for {number(need)} units{blocks}, "
        f"more than its cap {number(pool.cap)}",
        path,
        "ask for less, or raise the cap",
    )


RULES = (amounts, demands)
