"""Whose registers and whose iterations (004 *Registers and claims*; api.md §10.9)."""

from __future__ import annotations

from serq.diagnostics import IrPath
from serq.ir import program as pr
from serq.ir.validate.facts import Facts
from serq.ir.validate.sites import items


def registers(facts: Facts) -> None:
    """A register belongs to one engine that has an iteration body."""
    for i, register in enumerate(facts.program.registers):
        if register.stage >= len(facts.program.stages):
            continue
        stage = facts.program.stages[register.stage]
        path: IrPath = ("registers", i, "stage")
        if not isinstance(stage.kind, pr.Step) or stage.kind.iteration is None:
            kind = "has no iteration body" if isinstance(stage.kind, pr.Step) else "is not an engine"
            facts.add(
                "SQ708",
                f"register `{register.name}` belongs to `{stage.label}`, which {kind}",
                path,
                "give the register to the engine whose schedule sets it",
            )
        elif stage.index is not None:
            facts.add(
                "SQ708",
                f"register `{register.name}` belongs to `{stage.label}`, a member of an array",
                path,
                "declare the engine by itself: which member's register is read would be a guess",
            )


def assignments(facts: Facts) -> None:
    """A schedule sets its own engine's registers."""
    registers = facts.program.registers
    for i, stage in enumerate(facts.program.stages):
        if not isinstance(stage.kind, pr.Step):
            continue
        body = stage.kind.iteration or ()
        for item, path in items(body, ("stages", i, "kind", "Step", "iteration")):
            if isinstance(item, pr.IterSet) and item.reg < len(registers) and registers[item.reg].stage != i:
                owner = facts.names.stage(registers[item.reg].stage)
                facts.add(
                    "SQ709",
                    f"engine `{stage.label}` sets `{registers[item.reg].name}`, a register of `{owner}`",
                    (*path, "Set", 0),
                    "set the engine's own registers",
                )


def claims(facts: Facts) -> None:
    """A claim over iterations is about an engine."""
    stages = facts.program.stages
    for i, claim in enumerate(facts.program.claims):
        kind = claim.kind
        if kind is None or kind.stage >= len(stages) or isinstance(stages[kind.stage].kind, pr.Step):
            continue
        facts.add(
            "SQ710",
            f"claim `{claim.name}` is over iterations of `{stages[kind.stage].label}`, no engine",
            ("claims", i, "kind", type(kind).__name__),
            "name an engine: no other stage has iterations",
        )


RULES = (registers, assignments, claims)
