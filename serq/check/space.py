"""Space in pools: whole blocks, what a hold needs, what it has grown to."""

from __future__ import annotations

from serq.check import operations
from serq.check.places import Growth, Scope
from serq.check.readings import pools_of
from serq.check.solver import Answer, Fact, negation
from serq.check.states import at_most, non_negative
from serq.check.terms import Term
from serq.check.variables import Variables
from serq.check.walk import Walk
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir.validate.names import number


def in_blocks(variables: Variables, units: Term, block: float | None) -> Term:
    """Units in whole blocks, at least as many (interp.md §1)."""
    if block is None:
        return units
    size, r = variables.number(block), variables.rounding
    return operations.multiply(r, operations.ceil(r, operations.divide(r, units, size, quotient=True)), size)


def tightest(program: pr.Program, ref: ex.CRef) -> pr.Pool:
    """The pool of a family with the least room."""
    return min(pools_of(program, ref), key=lambda p: p.cap)


def roomiest(program: pr.Program, ref: ex.CRef) -> pr.Pool:
    """The pool of a family with the most room."""
    return max(pools_of(program, ref), key=lambda p: p.cap)


def demand(walk: Walk, scope: Scope, k: int, block: float | None) -> Term:
    """What must have room at the admission: units or reserve, the greater, in blocks."""
    return demand_of(walk.variables, scope.units[k], scope.reserves[k], block)


def demand_of(variables: Variables, units: Term, reserve: Term | None, block: float | None) -> Term:
    """The greater of units and reserve, in blocks."""
    need = non_negative(units)
    if reserve is not None:
        need = operations.maximum(variables.rounding, need, non_negative(reserve))
    return in_blocks(variables, need, block)


def grown_to(walk: Walk, growth: Growth, block: float | None) -> Term:
    """The least allocation that lets the growth end: tokens computed, from the prefix it started from, and added."""
    scope, k = growth.scope, growth.part
    r = walk.variables.rounding
    total = in_blocks(walk.variables, non_negative(scope.units[k]), block)
    if k in scope.computed:
        position = operations.add(r, scope.own, scope.computed[k])
        total = operations.maximum(r, total, in_blocks(walk.variables, position, block))
    if k in scope.added:
        total = operations.add(r, total, scope.added[k])
    return total


def fits(walk: Walk, need: Term, cap: float) -> Fact:
    """A need within a cap."""
    return at_most(need, walk.variables.number(cap))


def exceeds(walk: Walk, need: Term, cap: float) -> Fact:
    """A need above a cap."""
    return negation(fits(walk, need, cap))


def at_witness(walk: Walk, answer: Answer, value: float) -> str:
    """A number of the program under a witness's inputs."""
    term = walk.variables.number(value)
    return number(value if answer.values is None else answer.values.of(term))
