"""The type of an expression: an ordinary quantity or a resource cost (004 *Types*; api.md §6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from serq.ir import expressions as ex
from serq.ir import tables
from serq.ir.tables import CostRule
from serq.ir.validate.facts import Facts, Site
from serq.ir.validate.paths import Visit


class Kind(Enum):
    """A type that is no cost: an ordinary quantity, or one already reported as wrong."""

    ORDINARY = "ordinary"
    WRONG = "wrong"


Type = Kind | ex.CostTarget
ORDINARY, WRONG = Kind.ORDINARY, Kind.WRONG
_LEAVES = frozenset((ex.Num, ex.Ctx, ex.Reg, ex.Agg))
# The expressions that may be a cost although nothing in them is one.
_TYPED = (ex.Attr, ex.Cost)


def type_of(facts: Facts, site: Site) -> Type:
    """The type of a site's expression; `WRONG` when something in it was reported."""
    found: dict[int, Type] = {}
    for visit in reversed(site.visits):
        expr = visit.expr
        if type(expr) in _LEAVES:
            found[id(expr)] = ORDINARY
            continue
        operands = [found[id(child)] for child in ex.children(expr)]
        if any(t is WRONG for t in operands):
            found[id(expr)] = WRONG
        elif all(t is ORDINARY for t in operands) and not isinstance(expr, _TYPED):
            found[id(expr)] = ORDINARY
        else:
            found[id(expr)] = _node(facts, site, visit, operands)
    return found[id(site.expr)]


def _node(facts: Facts, site: Site, visit: Visit, operands: Sequence[Type]) -> Type:
    match visit.expr:
        case ex.Attr(slot=slot):
            kind = facts.attr_type(slot)
            if kind is None:
                return WRONG
            return kind if isinstance(kind, ex.CostTarget) else ORDINARY
        case ex.Cost(target=target):
            if _refused(facts, site, visit, operands, "a cost is made from an ordinary quantity"):
                return WRONG
            return target
        case ex.Unary(op=op):
            return _combine(
                facts, site, visit, operands, tables.UNARY[op].costs, f"`{tables.UNARY[op].text}`"
            )
        case ex.Binary(op=op):
            return _combine(
                facts, site, visit, operands, tables.BINARY[op].costs, f"`{tables.BINARY[op].text}`"
            )
        case ex.Cond():
            return _conditional(facts, site, visit, operands)
        case ex.Call():
            return _call(facts, site, visit, visit.expr, operands)
        case ex.Sample():
            refused = _refused(
                facts, site, visit, operands, "a distribution's parameters are ordinary quantities"
            )
            return WRONG if refused else ORDINARY
        case _:
            return ORDINARY


def _refused(facts: Facts, site: Site, visit: Visit, operands: Sequence[Type], why: str) -> bool:
    for operand, child in zip(operands, ex.children(visit.expr), strict=True):
        if isinstance(operand, ex.CostTarget):
            said = f"`{facts.names.expr(child)}` is a cost of `{facts.names.target(operand)}`"
            facts.add(
                "SQ506",
                f"{said} in {site.what}: {why}",
                visit.path(site.path),
                "use the quantity before its conversion",
            )
            return True
    return False


def _call(facts: Facts, site: Site, visit: Visit, call: ex.Call, operands: Sequence[Type]) -> Type:
    row = tables.FUNCTION[call.fun]
    plain = all(isinstance(arg, ex.Expr) for arg in call.args)
    if plain and row.costs is not CostRule.REFUSE:
        return _combine(facts, site, visit, operands, row.costs, f"`{row.text}`")
    why = f"`{row.text}` and its index take ordinary numbers"
    return WRONG if _refused(facts, site, visit, operands, why) else ORDINARY


def _conditional(facts: Facts, site: Site, visit: Visit, operands: Sequence[Type]) -> Type:
    if _refused(facts, site, visit, [operands[0], ORDINARY, ORDINARY], "a test is an ordinary quantity"):
        return WRONG
    return _combine(facts, site, visit, operands[1:], CostRule.SAME, "`?:`")


def _combine(
    facts: Facts, site: Site, visit: Visit, operands: Sequence[Type], rule: CostRule, word: str
) -> Type:
    """The type of an operator's result, by its row's `costs` column."""
    costs = [t for t in operands if isinstance(t, ex.CostTarget)]
    if not costs:
        return ORDINARY
    equal = len(costs) == len(operands) and all(t == costs[0] for t in costs)
    match rule:
        case CostRule.KEEP:
            return costs[0]
        case CostRule.SAME if equal:
            return costs[0]
        case CostRule.COMPARE if equal:
            return ORDINARY
        case CostRule.SCALE if len(costs) == 1:
            return costs[0]
        case CostRule.SCALE_LEFT if len(costs) == 1 and operands[0] is not ORDINARY:
            return costs[0]
        case _:
            _mixed(facts, site, visit, operands, rule, word)
            return WRONG


_RULE = {
    CostRule.REFUSE: "takes ordinary quantities only",
    CostRule.KEEP: "takes one cost",
    CostRule.SAME: "takes two costs of one resource, or two ordinary quantities",
    CostRule.COMPARE: "compares two costs of one resource, or two ordinary quantities",
    CostRule.SCALE: "scales a cost by an ordinary quantity",
    CostRule.SCALE_LEFT: "divides a cost by an ordinary quantity",
}


def _mixed(
    facts: Facts, site: Site, visit: Visit, operands: Sequence[Type], rule: CostRule, word: str
) -> None:
    said = [
        f"a cost of `{facts.names.target(t)}`" if isinstance(t, ex.CostTarget) else "a number"
        for t in operands
    ]
    facts.add(
        "SQ507",
        f"{word} is given {' and '.join(said)} in {site.what}",
        visit.path(site.path),
        "convert quantities last: `cost(resource, expression)` around the whole expression",
        f"{word} {_RULE[rule]}",
    )
