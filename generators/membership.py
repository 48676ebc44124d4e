"""Membership in the Lean fragment: of a program with explicit sessions, or of one that claims something."""

from __future__ import annotations

from serq.diagnostics import Diagnostic, SerqError
from serq.generators.claims import makes_claims, translate_claims
from serq.generators.translate import translate
from serq.ir.program import Program


def membership(program: Program) -> tuple[Diagnostic, ...]:
    """Every reason why a program is outside the Lean fragment; none for a member (generators.md §8)."""
    try:
        if makes_claims(program):
            translate_claims(program)
        else:
            translate(program)
    except SerqError as error:
        return error.diagnostics
    return ()
