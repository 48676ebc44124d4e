"""Holds that may be preempted and executed again: an induction over their attempts.

The bounds of the loose head (`invariants`) say nothing of how attributes relate, and the
amounts of a resumed request are differences: what is left of its length. So the claim "all
amounts of an attempt are valid" is proved by induction: for the first attempt as it is, and
for one that follows an attempt of which the claim holds, preempted anywhere. Where the
claim is not proved, every attempt starts from the loose head.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from serq.check.flags import land, lnot, lor
from serq.check.places import Point, Reading, State
from serq.check.solver import Fact, both, negation
from serq.check.states import amount_valid, merge
from serq.diagnostics import IrPath
from serq.ir import statements as st

if TYPE_CHECKING:
    from serq.check.walk import Walk


def attempts(walk: Walk, stmt: st.Hold, path: IrPath, state: State) -> State:
    """The state after a hold, whichever attempt of it was the last; records what each attempt reads."""
    loose = walk.head(stmt, path, state)
    if walk.silent or walk.points:
        return walk.hold_once(stmt, path, loose)
    mark = walk.mark()
    first = walk.hold_once(stmt, path, state)
    again = _resumed(walk, stmt, path, loose)
    if again is None:
        return first
    later = walk.hold_once(stmt, path, replace(again, scope=state.scope, progress=state.progress))
    if _valid(walk, walk.readings[mark[0] :]):
        return _joined(walk, first, later)
    walk.reset(mark)
    return walk.hold_once(stmt, path, loose)


def _resumed(walk: Walk, stmt: st.Hold, path: IrPath, loose: State) -> State | None:
    """The state at an attempt that follows a valid one, preempted at any of its points; None where it cannot be."""
    points: list[Point] = []
    claimed: list[Reading] = []
    walk.silent += 1
    walk.obligations.append(claimed)
    walk.hold_once(stmt, path, loose, points)
    walk.obligations.pop()
    walk.silent -= 1
    claim = Fact(
        land(*(lor(lnot(r.state.live.flag), amount_valid(r.term).flag) for r in claimed)), lambda v: False
    )
    states = walk.resumed(stmt, path, points)
    if not states:
        return None
    result = states[0]
    for other in states[1:]:
        result = _joined(walk, result, replace(other, scope=result.scope))
    return replace(result, live=both(result.live, claim))


def _joined(walk: Walk, a: State, b: State) -> State:
    """One state or the other."""
    test = Fact(walk.variables.rounding.fresh_flag("either"), lambda v: False)
    yes = replace(a, live=both(a.live, test))
    return merge(test, yes, replace(b, live=both(b.live, negation(test))))


def _valid(walk: Walk, readings: list[Reading]) -> bool:
    """Whether the amounts of the first attempt and of one that follows are proved valid."""
    return all(
        walk.oracle.never(both(r.state.live, negation(amount_valid(r.term))))
        for r in readings
        if r.role in ("work", "units", "reserve", "growth", "load")
    )
