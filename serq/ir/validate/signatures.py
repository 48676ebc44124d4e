"""Functions, distributions and cost targets take their own arguments (api.md §2.6, §3, §4)."""

from __future__ import annotations

from itertools import pairwise

from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir import tables
from serq.ir.validate.facts import Facts, Site
from serq.ir.validate.paths import Visit


def signatures(facts: Facts) -> None:
    """Functions and distributions take their own number and kind of arguments (api.md §3, §4)."""
    for site, visit in facts.nodes_of(ex.Call, ex.Sample):
        match visit.expr:
            case ex.Call(fun=fun, args=args):
                _call(facts, fun, args, visit, site)
            case ex.Sample(dist=dist, args=args):
                _sample(facts, dist, len(args), visit.path(site.path))
            case _:
                continue


def _call(
    facts: Facts, fun: str, args: tuple[ex.Expr | ex.PoolArg | ex.StageArg, ...], visit: Visit, site: Site
) -> None:
    row = tables.FUNCTION[fun]
    if len(args) != len(row.params):
        facts.add(
            "SQ026",
            f"`{row.text}` takes {_count(len(row.params), 'argument')}, not {len(args)}, in {site.what}",
            visit.path(site.path),
            f"give `{row.text}` {_count(len(row.params), 'argument')}",
        )
        return
    for i, (param, arg) in enumerate(zip(row.params, args, strict=True)):
        wanted = _WANTED[param]
        if not isinstance(arg, wanted):
            facts.add(
                "SQ026",
                f"argument {i + 1} of `{row.text}` is not a {_KIND[param]}, in {site.what}",
                (*visit.path(site.path), "Call", 1, i),
                f"give `{row.text}` a {_KIND[param]} there",
            )


_WANTED: dict[tables.Param, type[ex.Expr | ex.PoolArg | ex.StageArg]] = {
    tables.Param.NUMBER: ex.Expr,
    tables.Param.POOL: ex.PoolArg,
    tables.Param.STAGE: ex.StageArg,
    tables.Param.ENGINE: ex.StageArg,
}
_KIND = {
    tables.Param.NUMBER: "number",
    tables.Param.POOL: "pool",
    tables.Param.STAGE: "stage",
    tables.Param.ENGINE: "engine",
}


def _sample(facts: Facts, dist: str, count: int, path: IrPath) -> None:
    row = tables.DISTRIBUTION[dist]
    if count != len(row.params):
        takes = f"{_count(len(row.params), 'parameter')} ({', '.join(row.params)})"
        facts.add("SQ026", f"`~{row.text}` takes {takes}, not {count}", path, f"give `~{row.text}` {takes}")


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def cost_targets(facts: Facts) -> None:
    """A cost names resources that exist; a joint one at least two, distinct and sorted (004 *Types*)."""
    for slot, kind in enumerate(facts.program.attr_types):
        if isinstance(kind, ex.CostTarget):
            _target(facts, kind, ("attr_types", slot, "Cost"))
    for site, visit in facts.nodes_of(ex.Cost):
        assert isinstance(visit.expr, ex.Cost)
        _target(facts, visit.expr.target, (*visit.path(site.path), "Cost", 0))


def _target(facts: Facts, target: ex.CostTarget, path: IrPath) -> None:
    for part in parts_of(target):
        is_pool = isinstance(part, ex.PoolTarget)
        inside = facts.in_pools(part) if isinstance(part, ex.PoolTarget) else facts.in_stages(part)
        if not inside:
            kind = "pool" if is_pool else "stage"
            facts.add("SQ023", f"a cost of a {kind} that does not exist", path, f"name a {kind} that exists")
    if isinstance(target, ex.JointTarget) and not _well_formed(target):
        facts.add(
            "SQ508",
            "a joint cost does not name two or more distinct resources in order",
            path,
            "list pools before stages, each by ascending base and once; one resource is a plain target",
        )


def _well_formed(target: ex.JointTarget) -> bool:
    keys = [target_key(t) for t in target.targets]
    return len(keys) > 1 and all(a < b for a, b in pairwise(keys))


def parts_of(target: ex.CostTarget) -> tuple[ex.PoolTarget | ex.StageTarget, ...]:
    """The single resources of a cost."""
    match target:
        case ex.JointTarget(targets=parts):
            return parts
        case ex.PoolTarget() | ex.StageTarget():
            return (target,)
        case _:
            return ()


def target_key(t: ex.PoolTarget | ex.StageTarget) -> tuple[int, int, int]:
    """The order of a joint cost's resources: pools before stages, then by base and count."""
    return (0 if isinstance(t, ex.PoolTarget) else 1, t.base, t.count)


RULES = (signatures, cost_targets)
