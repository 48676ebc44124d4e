"""Facts about amounts and guards, and states put together: assigned, merged, joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from serq.check.flags import Flag, choose, lor
from serq.check.places import Scope, State
from serq.check.solver import FALSE, TRUE, Fact
from serq.check.terms import Term, constant, equal, ite, less
from serq.ir import expressions as ex
from serq.ir.validate.paths import same_ref

# The tolerance of amounts (interp.md §1).
EPS = 1e-9


def member(scope: Scope, ref: ex.CRef) -> int | None:
    """Which of a hold's pools a reference names."""
    for k, part in enumerate(scope.hold.pools):
        if same_ref(part.pool, ref):
            return k
    return None


def held(scope: Scope | None, ref: ex.CRef) -> tuple[Scope, int] | None:
    """The innermost hold of a pool, and which of its pools that is."""
    while scope is not None:
        k = member(scope, ref)
        if k is not None:
            return scope, k
        scope = scope.outer
    return None


def above_zero(t: Term) -> Flag:
    """When a term is above 0."""
    return less(constant(0.0), t)


def positive(t: Term) -> Fact:
    """A term above 0."""
    return Fact(above_zero(t), lambda v: v.of(t) > 0.0)


def non_negative(t: Term) -> Term:
    """What a valid amount counts as: negatives within the tolerance are 0."""
    zero = constant(0.0)
    return t if t.low >= 0 else ite(less(t, zero), lambda v: v.of(t) < 0.0, zero, t)


def amount_valid(t: Term) -> Fact:
    """An amount the run accepts: neither NaN nor below -1e-9."""
    return Fact(less(constant(-EPS), t, or_equal=True), lambda v: v.of(t) >= -EPS)


def at_most(t: Term, bound: Term) -> Fact:
    """A term no greater than a bound."""
    return Fact(less(t, bound, or_equal=True), lambda v: v.of(t) <= v.of(bound))


def is_value(term: Term, value: float) -> Fact:
    """A term that reads a value."""
    return Fact(equal(term, constant(value)), lambda v: v.of(term) == value)


def either(a: Fact, b: Fact) -> Fact:
    """One of two facts."""
    return Fact(lor(a.flag, b.flag), lambda v: a.holds(v) or b.holds(v))


def assign(state: State, slot: int, term: Term) -> State:
    """The state with an attribute assigned."""
    return replace(state, attrs={**state.attrs, slot: term}, assigned={**state.assigned, slot: TRUE})


def merge(test: Fact, yes: State, no: State) -> State:
    """Where two arms meet: values by the test that chose between them."""
    if yes.live.flag is False:
        return no
    if no.live.flag is False:
        return yes
    decide = test.holds
    attrs = {slot: ite(test.flag, decide, term, no.attrs[slot]) for slot, term in yes.attrs.items()}
    slots = set(yes.assigned) | set(no.assigned)
    assigned = {s: pick(test, yes.assigned.get(s, FALSE), no.assigned.get(s, FALSE)) for s in slots}
    return State(
        attrs,
        assigned,
        either(yes.live, no.live),
        _merge_scope(test, yes.scope, no.scope),
        pick(test, yes.progress, no.progress),
        max(yes.turns, no.turns),
        yes.cached_before or no.cached_before,
    )


def pick(test: Fact, yes: Fact, no: Fact) -> Fact:
    """One fact or the other."""
    if yes is no:
        return yes
    return Fact(
        choose(test.flag, yes.flag, no.flag), lambda v: yes.holds(v) if test.holds(v) else no.holds(v)
    )


def _merge_scope(test: Fact, yes: Scope | None, no: Scope | None) -> Scope | None:
    if yes is no or yes is None or no is None:
        return yes
    zero = constant(0.0)

    def merged(a: Mapping[int, Term], b: Mapping[int, Term]) -> dict[int, Term]:
        return {
            k: ite(test.flag, test.holds, a.get(k, zero), b.get(k, zero)) for k in sorted(set(a) | set(b))
        }

    return replace(
        yes,
        computed=merged(yes.computed, no.computed),
        added=merged(yes.added, no.added),
        outer=_merge_scope(test, yes.outer, no.outer),
    )
