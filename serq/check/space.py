"""Space in pools: whole blocks, what a hold needs, what it has grown to."""

from __future__ import annotations

from serq.check import operations
from serq.check.places import Growth, Scope
from serq.check.readings import pools_of
from serq.check.solver import Fact, negation
from serq.check.states import at_most, non_negative
from serq.check.terms import Rounding, Term, constant
from serq.check.walk import Walk
from serq.ir import expressions as ex
from serq.ir import program as pr


def in_blocks(r: Rounding, units: Term, block: float | None) -> Term:
    """Units in whole blocks, at least as many (interp.md §1)."""
    if block is None:
        return units
    size = constant(block)
    return operations.multiply(r, operations.ceil(r, operations.divide(r, units, size, quotient=True)), size)


def tightest(program: pr.Program, ref: ex.CRef) -> pr.Pool:
    """The pool of a family with the least room."""
    return min(pools_of(program, ref), key=lambda p: p.cap)


def roomiest(program: pr.Program, ref: ex.CRef) -> pr.Pool:
    """The pool of a family with the most room."""
    return max(pools_of(program, ref), key=lambda p: p.cap)


def demand(walk: Walk, scope: Scope, k: int, block: float | None) -> Term:
    """What must have room at the admission: units or reserve, the greater, in blocks."""
    return demand_of(walk.variables.rounding, scope.units[k], scope.reserves[k], block)


def demand_of(r: Rounding, units: Term, reserve: Term | None, block: float | None) -> Term:
    """The greater of units and reserve, in blocks."""
    need = non_negative(units)
    if reserve is not None:
        need = operations.maximum(r, need, non_negative(reserve))
    return in_blocks(r, need, block)


def grown_to(walk: Walk, growth: Growth, block: float | None) -> Term:
    """The least allocation that lets the growth end: tokens computed, from the prefix it started from, and added."""
    scope, k = growth.scope, growth.part
    r = walk.variables.rounding
    total = in_blocks(r, non_negative(scope.units[k]), block)
    if k in scope.computed:
        position = operations.add(r, scope.own, scope.computed[k])
        total = operations.maximum(r, total, in_blocks(r, position, block))
    if k in scope.added:
        total = operations.add(r, total, scope.added[k])
    return total


def exceeds(need: Term, cap: float) -> Fact:
    """A need above a cap."""
    return negation(at_most(need, cap))
