"""Validation of the IR (004 *Validation*): text and hand-built programs meet the same rules.

One module per family of rules; each exports `RULES`, functions that look at the facts
of a program and record what they find.
"""

from __future__ import annotations

from serq.diagnostics import Diagnostic, SerqError, ordered
from serq.ir.depth import deep_recursion
from serq.ir.program import Program
from serq.ir.validate import (
    amounts,
    engines,
    flows,
    holds,
    indices,
    legs,
    moments,
    progress,
    ready,
    registers,
    settings,
    sides,
    signatures,
    structure,
    uses,
)
from serq.ir.validate.facts import Facts, Rule

RULES: tuple[Rule, ...] = (
    *settings.RULES,
    *structure.RULES,
    *indices.RULES,
    *signatures.RULES,
    *moments.RULES,
    *uses.RULES,
    *sides.RULES,
    *ready.RULES,
    *holds.RULES,
    *legs.RULES,
    *progress.RULES,
    *amounts.RULES,
    *flows.RULES,
    *engines.RULES,
    *registers.RULES,
)


def validate(program: Program) -> tuple[Diagnostic, ...]:
    """Every violation of the rules of 004 *Validation*, by place; none for a valid program.

    `Place.path` is the JSON path of the node at fault. Never raises: a program that
    decoding accepts is judged, however its indices and blocks are wired.
    """
    facts = Facts(program)
    with deep_recursion():
        for rule in RULES:
            rule(facts)
    return ordered(facts.found)


def check(program: Program) -> None:
    """Raise `SerqError` with every violation when the program is not valid."""
    found = validate(program)
    if found:
        raise SerqError(found)


__all__ = ["RULES", "check", "validate"]
