"""Where costs go: assignments, uses and declarations take their own types (004 *Types*; api.md §10.6)."""

from __future__ import annotations

from collections.abc import Sequence

from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.encode import SLOTS
from serq.ir.tables import BUILTIN_VALUES
from serq.ir.validate.facts import Facts, Located, Site
from serq.ir.validate.signatures import parts_of, target_key
from serq.ir.validate.types import ORDINARY, WRONG, Type, type_of


def builtin_slots(facts: Facts) -> None:
    """`cached` and `computed` are values, every other built-in slot a size."""
    for name in SLOTS:
        slot = getattr(facts.program, f"slot_{name}")
        kind = facts.attr_type(slot)
        wanted = "Value" if name in BUILTIN_VALUES else "Size"
        if kind is not None and kind != wanted:
            facts.add(
                "SQ501",
                f"the built-in slot of `{name}` is `{facts.names.attr(slot)}`, whose type is not {wanted}",
                (f"slot_{name}",),
                f"give the attribute type {wanted}, or point the slot at the right attribute",
            )


def expression_types(facts: Facts) -> None:
    """Every expression has a type, and it is the one its place takes."""
    workload = (facts.program.init, facts.program.turn)
    for site in facts.sites:
        if site.located is None:
            _declaration(facts, site)
        elif site.located.block in workload:
            _workload_block(facts, site)
        else:
            _statement(facts, site, site.located)


def _declaration(facts: Facts, site: Site) -> None:
    for visit in site.visits:
        if is_cost(facts, visit.expr):
            facts.add(
                "SQ506",
                f"`{facts.names.expr(visit.expr)}` is a cost, and {site.what} takes ordinary quantities",
                visit.path(site.path),
                "use the quantity itself: costs belong to session statements",
            )
            return


def is_cost(facts: Facts, e: ex.Expr) -> bool:
    """Whether a node makes a cost or reads an attribute that is one."""
    kind = type(e)
    if kind is ex.Attr:
        return isinstance(facts.attr_type(e.slot), ex.CostTarget)  # type: ignore[attr-defined]
    return kind is ex.Cost


def _workload_block(facts: Facts, site: Site) -> None:
    stmt = site.located.stmt if site.located else None
    if not isinstance(stmt, st.Set | st.Observe):
        return  # reported as a statement that does not belong there
    into_cost = isinstance(stmt, st.Set) and isinstance(facts.attr_type(stmt.slot), ex.CostTarget)
    if into_cost or any(is_cost(facts, visit.expr) for visit in site.visits):
        facts.add(
            "SQ511",
            f"{site.what} in `init` or `turn` handles a resource cost",
            site.path,
            "send a size; the server converts it where it uses the resource",
        )


def _statement(facts: Facts, site: Site, located: Located) -> None:
    found = type_of(facts, site)
    if found is WRONG:
        return
    stmt = located.stmt
    if site.path[-1] == "index":
        _ordinary(facts, site, found, "an index is an ordinary number")
        return
    match stmt:
        case st.Set(slot=slot):
            _assignment(facts, site, slot, found)
        case st.Observe():
            return
        case st.Hold():
            _hold(facts, site, stmt, site.path[len(located.at()) :], found)
        case st.Grow(pool=ref) | st.Load(pool=ref):
            _use(facts, site, _pool(ref), found)
        case st.Run(stage=stage, also=also):
            targets = [ex.StageTarget(base=r.base, count=r.count) for r in (stage, *also)]
            _use(facts, site, _span(targets), found)
        case _:
            _ordinary(facts, site, found, "it takes an ordinary quantity")


def _hold(facts: Facts, site: Site, hold: st.Hold, steps: IrPath, found: Type) -> None:
    match steps:
        case ("pools", int(i), _):
            _use(facts, site, _pool(hold.pools[i].pool), found)
        case ("lease", 1):
            _ordinary(facts, site, found, "a duration is in seconds")
        case _:
            _use(facts, site, _span([_pool(p.pool) for p in hold.pools]), found)


def _pool(ref: ex.CRef) -> ex.PoolTarget:
    return ex.PoolTarget(base=ref.base, count=ref.count)


def _span(parts: Sequence[ex.PoolTarget | ex.StageTarget]) -> ex.CostTarget | None:
    """The cost several resources share: one target, a joint one, or none for no resource."""
    if len(parts) == 1:
        return parts[0]
    unique = sorted(set(parts), key=target_key)
    if len(unique) > 1:
        return ex.JointTarget(targets=tuple(unique))
    return unique[0] if unique else None


def _use(facts: Facts, site: Site, wanted: ex.CostTarget | None, found: Type) -> None:
    if wanted is None:
        hint = "take a pool, or leave the clause out"
        facts.add("SQ505", f"{site.what} speaks of the pools of a hold that takes none", site.path, hint)
    elif found != wanted and all(_exists(facts, part) for part in parts_of(wanted)):
        target = facts.names.target(wanted)
        facts.add(
            "SQ505",
            f"{site.what} is {_said(facts, found)}, not a cost of `{target}`",
            site.path,
            f"convert the quantity where it is used: `cost({target}, …)`",
        )


def _exists(facts: Facts, part: ex.PoolTarget | ex.StageTarget) -> bool:
    return facts.in_pools(part) if isinstance(part, ex.PoolTarget) else facts.in_stages(part)


def _said(facts: Facts, found: Type) -> str:
    if isinstance(found, ex.CostTarget):
        return f"a cost of `{facts.names.target(found)}`"
    return "an ordinary quantity"


def _ordinary(facts: Facts, site: Site, found: Type, why: str) -> None:
    if found is not ORDINARY:
        facts.add(
            "SQ506",
            f"{site.what} is {_said(facts, found)}: {why}",
            site.path,
            "use the quantity before its conversion",
        )


def _assignment(facts: Facts, site: Site, slot: int, found: Type) -> None:
    kind = facts.attr_type(slot)
    wanted: Type = kind if isinstance(kind, ex.CostTarget) else ORDINARY
    if kind is None or found == wanted:
        return
    facts.add(
        "SQ504",
        f"`{facts.names.attr(slot)}` holds {_said(facts, wanted)}, and this sets it to {_said(facts, found)}",
        site.path,
        "give each type of quantity an attribute of its own",
    )


RULES = (builtin_slots, expression_types)
