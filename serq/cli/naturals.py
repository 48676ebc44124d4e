"""Which differences of a program the checker proves to be natural numbers: they do not keep it out of the fragment."""

from __future__ import annotations

from serq.check import Verdict, run_checks
from serq.diagnostics import IrPath
from serq.generators.expressions import DIFFERENCE
from serq.generators.membership import membership
from serq.ir.program import Program
from serq.ir.validate import validate

_RULE = "natural-subtraction"


def proved_naturals(program: Program) -> frozenset[IrPath]:
    """The places of expressions in which no difference goes below 0; not asked where nothing depends on it."""
    if validate(program) or not any(DIFFERENCE in d.message for d in membership(program)):
        return frozenset()
    findings = run_checks(program, rules=[_RULE]).findings
    doubtful = {f.path for f in findings if f.verdict is not Verdict.PROVED}
    return frozenset(f.path for f in findings) - doubtful
