"""Slots, pools, stages, observations, registers and members exist (004 *Structure*; api.md §2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.encode import SLOTS
from serq.ir.validate.constants import constant
from serq.ir.validate.facts import Facts, Located, Site
from serq.ir.validate.names import number
from serq.ir.validate.paths import Visit
from serq.ir.validate.sites import items, statement_refs


def indices(facts: Facts) -> None:
    """Every slot, pool, stage, observation and register a node names exists."""
    for located in facts.statements:
        _statement_indices(facts, located)
    _declaration_indices(facts)
    _expression_indices(facts)


def out_of_range(facts: Facts, kind: str, index: int, count: int, path: IrPath) -> None:
    """Report an index that names nothing."""
    there = f"the last {kind} is {count - 1}" if count else f"the program has no {kind}"
    facts.add("SQ023", f"there is no {kind} {index}: {there}", path, f"name a {kind} that exists")


def _index(facts: Facts, kind: str, index: int, table: Sequence[object], path: IrPath) -> None:
    if index >= len(table):
        out_of_range(facts, kind, index, len(table), path)


def _statement_indices(facts: Facts, located: Located) -> None:
    program = facts.program
    match located.stmt:
        case st.Set(slot=slot):
            _index(facts, "attribute", slot, program.attrs, located.at(0))
        case st.Choose(var=slot):
            _index(facts, "attribute", slot, program.attrs, located.at("var"))
        case st.Observe(observe=k):
            _index(facts, "observation", k, program.observes, located.at(0))
        case _:
            pass
    for ref, path in statement_refs(located):
        wrong = _ref(facts, ref, _is_stage(located.stmt, ref))
        if wrong is not None:
            wrong.report(facts, path)


def _is_stage(stmt: st.Stmt, ref: ex.CRef) -> bool:
    return isinstance(stmt, st.Run) and any(ref is stage for stage in (stmt.stage, *stmt.also))


class Wrong(NamedTuple):
    """What is wrong with a reference; `steps` lead from it to the node at fault."""

    code: str
    message: str
    steps: IrPath
    hint: str

    def report(self, facts: Facts, path: IrPath) -> None:
        """Record it for the reference at a path."""
        facts.add(self.code, self.message, (*path, *self.steps), self.hint)


def _ref(facts: Facts, ref: ex.CRef, is_stage: bool) -> Wrong | None:
    kind = "stage" if is_stage else "pool"
    if facts.in_stages(ref) if is_stage else facts.in_pools(ref):
        return None if ref.index is None else _member(facts, ref, ref.index, is_stage)
    count = len(facts.program.stages if is_stage else facts.program.pools)
    if ref.count == 0:
        message = f"a reference to a family of no {kind}"
    elif ref.count == 1:
        message = f"there is no {kind} {ref.base}: the program has {count}"
    else:
        message = f"there are no {kind}s {ref.base} to {ref.base + ref.count - 1}: the program has {count}"
    return Wrong("SQ023", message, (), f"name {kind}s that exist")


def _member(facts: Facts, ref: ex.CRef, index: ex.Expr, is_stage: bool) -> Wrong | None:
    value = constant(index)
    if value is None or (value == value // 1 and 0 <= value < ref.count):
        return None
    name = facts.names.stages(ref) if is_stage else facts.names.pools(ref)
    message = f"`{name}`: {number(value)} is not a member of {_members(ref.count)}"
    return Wrong("SQ027", message, ("index",), f"use a whole number from 0 to {ref.count - 1}")


def _members(count: int) -> str:
    return "a single one" if count == 1 else f"an array of {count}"


def _expression_indices(facts: Facts) -> None:
    program = facts.program
    tables = (
        (ex.Attr, "slot", "attribute", len(program.attrs)),
        (ex.Reg, "index", "register", len(program.registers)),
        (ex.Agg, "observe", "observation", len(program.observes)),
    )
    for cls, name, kind, count in tables:
        for site, visit in facts.nodes_of(cls):
            index = getattr(visit.expr, name)
            if index >= count:
                out_of_range(facts, kind, index, count, visit.path(site.path))
    for site, visit in facts.nodes_of(ex.Call):
        assert isinstance(visit.expr, ex.Call)
        _arguments(facts, site, visit, visit.expr)


def _arguments(facts: Facts, site: Site, visit: Visit, call: ex.Call) -> None:
    for i, arg in enumerate(call.args):
        if not isinstance(arg, ex.Expr):
            tag = "Stage" if isinstance(arg, ex.StageArg) else "Pool"
            wrong = _ref(facts, arg.ref, tag == "Stage")
            if wrong is not None:
                wrong.report(facts, (*visit.path(site.path), "Call", 1, i, tag))


def _declaration_indices(facts: Facts) -> None:
    program = facts.program
    for name in SLOTS:
        _index(facts, "attribute", getattr(program, f"slot_{name}"), program.attrs, (f"slot_{name}",))
    for i, slot in enumerate(program.hidden):
        _index(facts, "attribute", slot, program.attrs, ("hidden", i))
    for i, pool in enumerate(program.pools):
        if pool.admit_via is not None:
            _index(facts, "stage", pool.admit_via, program.stages, ("pools", i, "admit_via"))
        if pool.spill is not None:
            _index(facts, "pool", pool.spill.to, program.pools, ("pools", i, "spill", "to"))
            _index(facts, "stage", pool.spill.via, program.stages, ("pools", i, "spill", "via"))
    for i, stage in enumerate(program.stages):
        if isinstance(stage.kind, pr.Step):
            _step_indices(facts, stage.kind, ("stages", i, "kind", "Step"))
    for i, register in enumerate(program.registers):
        _index(facts, "stage", register.stage, program.stages, ("registers", i, "stage"))
    for i, claim in enumerate(program.claims):
        if claim.kind is not None:
            where = ("claims", i, "kind", type(claim.kind).__name__)
            _index(facts, "stage", claim.kind.stage, program.stages, where)
    _session_indices(facts)


def _step_indices(facts: Facts, step: pr.Step, path: IrPath) -> None:
    if step.memory is not None:
        _index(facts, "pool", step.memory, facts.program.pools, (*path, "memory"))
    for item, where in items(step.iteration or (), (*path, "iteration")):
        if isinstance(item, pr.IterSet):
            _index(facts, "register", item.reg, facts.program.registers, (*where, "Set", 0))


def _session_indices(facts: Facts) -> None:
    arrival = facts.program.arrival
    if not isinstance(arrival, pr.Sessions):
        return
    for i, session in enumerate(arrival.sessions):
        path: IrPath = ("arrival", "Sessions", i)
        presets = [(session.attrs, (*path, "attrs"))]
        presets += [(t, (*path, "turns", j)) for j, t in enumerate(session.turns or ())]
        for preset, where in presets:
            for j, (slot, _) in enumerate(preset):
                _index(facts, "attribute", slot, facts.program.attrs, (*where, j, 0))


RULES = (indices,)
