"""Who may do what: workload and server (004 *Types and statement authority*; api.md §6.1, §10.6)."""

from __future__ import annotations

from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.validate.facts import Facts, Located
from serq.ir.validate.signatures import parts_of
from serq.ir.validate.uses import is_cost


def authority(facts: Facts) -> None:
    """Server bodies stay the server's; `init` and `turn` are the workload's, and turns too."""
    for name in ("init", "turn"):
        block = getattr(facts.program, name)
        for located in facts.blocks[block] if block < len(facts.blocks) else ():
            if located.side == "Server":
                hint = "give it side Workload: the server's statements stand in the session"
                path = ("sides", located.block, located.position)
                facts.add("SQ514", f"a statement of the `{name}` block has side Server", path, hint)
    for located in facts.statements:
        if located.side == "Server":
            _server(facts, located)


def _server(facts: Facts, located: Located) -> None:
    if isinstance(located.stmt, st.Turn):
        facts.add(
            "SQ513",
            "the server takes a turn",
            located.path,
            "turns belong to the workload's session: give the statement side Workload, or remove it",
        )
    for body in st.bodies(located.stmt):
        for inner in facts.blocks[body] if body < len(facts.blocks) else ():
            if inner.side == "Workload":
                facts.add(
                    "SQ512",
                    f"a server `{type(located.stmt).__name__.lower()}` has a workload statement in its body",
                    inner.path,
                    "give the statement side Server: a server's bodies are the server's",
                )


def assignments(facts: Facts) -> None:
    """Sizes are the workload's, which sets nothing else but costs of its own resources."""
    for located in facts.statements:
        slot = st.assigned(located.stmt)
        kind = None if slot is None else facts.attr_type(slot)
        if slot is None or kind is None:
            continue
        if isinstance(located.stmt, st.Choose) and isinstance(kind, ex.CostTarget):
            facts.add(
                "SQ504",
                f"`{facts.names.attr(slot)}` holds a cost, and `choose` sets it to an index",
                located.at("var"),
                "choose into an attribute of its own",
            )
        elif located.side == "Server" and kind == "Size":
            facts.add(
                "SQ502",
                f"the server sets `{facts.names.attr(slot)}`, a size of the workload's",
                located.path,
                "set another attribute: sizes are read-only in the server",
            )
        elif located.side == "Workload" and kind == "Value":
            facts.add(
                "SQ503",
                f"the workload sets `{facts.names.attr(slot)}`, a value of the server's",
                located.path,
                "make the attribute a size, which the server only reads",
            )


def client_costs(facts: Facts) -> None:
    """The workload makes and reads no cost of a resource the server holds, grows, loads or runs."""
    roots = (facts.program.init, facts.program.turn)
    own = [x for x in facts.statements if x.side == "Workload" and x.block not in roots]
    costs = [
        (site, v) for x in own for site in facts.sites_of(x) for v in site.visits if is_cost(facts, v.expr)
    ]
    if not costs:
        return
    pools, stages = _server_resources(facts)
    for site, visit in costs:
        target = _target(facts, visit.expr)
        if _overlaps(facts, target, pools, stages):
            facts.add(
                "SQ510",
                f"the workload handles a cost of `{facts.names.target(target)}`, which the server uses, "
                f"in {site.what}",
                visit.path(site.path),
                "send a size; the server converts it where it uses the resource",
            )


def _target(facts: Facts, e: ex.Expr) -> ex.CostTarget:
    kind = facts.attr_type(e.slot) if isinstance(e, ex.Attr) else None
    if isinstance(kind, ex.CostTarget):
        return kind
    return e.target if isinstance(e, ex.Cost) else ex.JointTarget(targets=())


def _overlaps(facts: Facts, target: ex.CostTarget, pools: set[int], stages: set[int]) -> bool:
    for part in parts_of(target):
        is_pool = isinstance(part, ex.PoolTarget)
        inside = facts.in_pools(part) if isinstance(part, ex.PoolTarget) else facts.in_stages(part)
        used = pools if is_pool else stages
        if inside and not used.isdisjoint(range(part.base, part.base + part.count)):
            return True
    return False


def _server_resources(facts: Facts) -> tuple[set[int], set[int]]:
    pools: set[int] = set()
    stages: set[int] = set()
    for located in facts.statements:
        if located.side != "Server":
            continue
        match located.stmt:
            case st.Hold(pools=parts):
                for part in parts:
                    pools.update(_members(part.pool, facts.in_pools(part.pool)))
            case st.Grow(pool=ref) | st.Load(pool=ref):
                pools.update(_members(ref, facts.in_pools(ref)))
            case st.Run(stage=stage, growing=growing, also=also):
                for ref in (stage, *also):
                    stages.update(_members(ref, facts.in_stages(ref)))
                if growing is not None:
                    pools.update(_members(growing, facts.in_pools(growing)))
            case _:
                continue
    return pools, stages


def _members(ref: ex.CRef, inside: bool) -> range:
    return range(ref.base, ref.base + ref.count) if inside else range(0)


RULES = (authority, assignments, client_costs)
