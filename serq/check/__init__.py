"""Static checks: what can go wrong in any run of a program, asked of z3 (one rule, one file, in `rules`).

Every verdict is "proved" (for all values the program admits), "refuted" (with values that
show it, confirmed in double arithmetic) or "unknown" with a reason; unknown is never safe.

A refutation is as grave as its rule says when draws as far in their tails as the witness's
come at least once in a hundred sessions; rarer ones are warnings that say how often, and
those rarer than once in 10^9, or that take one exact value of a continuous draw, are unknown.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from serq.check.model import Model, Ranges
from serq.check.report import CheckReport, Finding
from serq.check.rules import RULES, rule_named
from serq.check.solver import Meter, Verdict
from serq.ir.depth import deep_recursion
from serq.ir.program import Program
from serq.ir.symbolic import Log


def run_checks(
    program: Program,
    *,
    rules: Sequence[str] | None = None,
    timeout: float = 2.0,
    overall: float | None = 10.0,
    ranges: Ranges | None = None,
    inputs: Ranges | None = None,
    log: Log | None = None,
) -> CheckReport:
    """Check a valid program.

    `rules` are codes or names (all by default); `timeout` is the seconds of one question to
    the solver and `overall` of all, on a slow core; `ranges` let attributes that sessions preset be
    any value between two; `inputs` are the ranges of inputs that the program's numbers were
    left open in, and `log` what was answered of them (`parameters` asks so). Raises KeyError
    for a rule or attribute that does not exist.
    """
    chosen = RULES if rules is None else tuple(rule_named(r) for r in rules)
    model = Model(program, timeout, ranges or {}, Meter(overall), inputs or {}, log or Log())
    findings: list[Finding] = []
    seconds = []
    with deep_recursion():
        for rule in chosen:
            start = time.monotonic()
            findings += rule.check(model)
            seconds.append((rule.name, time.monotonic() - start))
    walk = model.__dict__.get("enclosing")
    assumptions = sorted(set(walk.variables.assumptions.values())) if walk is not None else []
    names = tuple(rule.name for rule in chosen)
    return CheckReport(tuple(findings), names, tuple(assumptions), tuple(seconds))


__all__ = ["RULES", "CheckReport", "Finding", "Model", "Verdict", "rule_named", "run_checks"]
