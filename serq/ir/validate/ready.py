"""A cost attribute is read only after every path has assigned it (004 *Types and statement authority*)."""

from __future__ import annotations

from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.validate.facts import Facts, Located, Site

Ready = frozenset[int]


def initialised(facts: Facts) -> None:
    """Walk the session in order with the costs assigned on every path so far."""
    if any(isinstance(kind, ex.CostTarget) for kind in facts.program.attr_types):
        _block(facts, facts.session, frozenset())


def _block(facts: Facts, block: tuple[Located, ...], ready: Ready) -> Ready:
    for located in block:
        ready = _statement(facts, located, ready)
    return ready


def _statement(facts: Facts, located: Located, ready: Ready) -> Ready:
    # A hold's cache is read when the session releases, but a release may come first thing in the body.
    for site in facts.sites_of(located):
        _reads(facts, site, ready)
    bodies = facts.bodies(located)
    match located.stmt:
        case st.Set(slot=slot):
            return ready | {slot}
        case st.Hold():
            return _block(facts, bodies[0], ready)
        case st.Branch():
            return _block(facts, bodies[0], ready) & _block(facts, bodies[1], ready)
        case st.Loop() | st.While() | st.Fork():
            _block(facts, bodies[0], ready)
            return ready
        case _:
            return ready


def _reads(facts: Facts, site: Site, ready: Ready) -> None:
    for visit in site.visits:
        if not isinstance(visit.expr, ex.Attr) or visit.expr.slot in ready:
            continue
        if isinstance(facts.attr_type(visit.expr.slot), ex.CostTarget):
            name = facts.names.attr(visit.expr.slot)
            facts.add(
                "SQ509",
                f"the cost `{name}` is read in {site.what} before every path has set it",
                visit.path(site.path),
                f"set `{name}` before, on both arms of a branch and outside loops and legs",
                "a `release` may read a hold's `cache` as soon as its body starts"
                if "cache" in site.path
                else None,
            )


RULES = (initialised,)
