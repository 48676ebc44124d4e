"""Membership in the Lean fragment: of a program with explicit sessions, or of one that claims something."""

from __future__ import annotations

from serq.diagnostics import Diagnostic, IrPath, SerqError
from serq.generators.claims import makes_claims, translate_claims
from serq.generators.translate import translate
from serq.ir.program import Program


def membership(program: Program, proved: frozenset[IrPath] = frozenset()) -> tuple[Diagnostic, ...]:
    """Every reason why a program is outside the Lean fragment; none for a member (generators.md §8).

    `proved` are the places of expressions in which no difference goes below 0. The statement of a
    claim comes with a proof that its family is in the fragment as Lean decides it, which knows of none.
    """
    try:
        if makes_claims(program):
            translate_claims(program)
        else:
            translate(program, proved)
    except SerqError as error:
        return error.diagnostics
    return ()
