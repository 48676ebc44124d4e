"""Findings that the source expects, set apart with its reasons; and what is wrong with what it says.

A suppressed finding stays refuted: it is counted as suppressed and never as proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from serq.check.report import CheckReport, Finding
from serq.check.rules import RULES, rule_named
from serq.check.solver import Verdict
from serq.diagnostics import Diagnostic, Place, Severity, suggestion
from serq.diagnostics.suppression import Suppression

Locate = Callable[[Diagnostic], Diagnostic]


def suppress(
    report: CheckReport, said: Iterable[Suppression], locate: Locate, *, judge_unused: bool = True
) -> tuple[CheckReport, tuple[Diagnostic, ...]]:
    """The report with its suppressed findings marked, and what is wrong with the suppressions.

    `locate` gives a diagnostic about the IR its place in the source. `judge_unused` false
    asks for no diagnostic of a suppression that suppresses nothing.
    """
    valid: list[Suppression] = []
    wrong: list[Diagnostic] = []
    for one in said:
        mistakes = list(_mistakes(one))
        wrong += mistakes
        if not mistakes:
            valid.append(one)
    if not valid:
        return report, tuple(wrong)
    marking = _Marking(valid, locate)
    findings = tuple(marking.marked(f) for f in report.findings)
    if judge_unused:
        wrong += marking.unused(report)
    return replace(report, findings=findings), tuple(wrong)


def _mistakes(one: Suppression) -> Iterator[Diagnostic]:
    if not one.reason:
        told = ", ".join(f"`{rule}`" for rule in one.rules)
        yield Diagnostic(
            "SQ896", f"the suppression of {told} has no reason", one.place, hint="say why after `because`"
        )
    known = [name for rule in RULES for name in (rule.name, rule.code)]
    for name in one.rules:
        if name not in known:
            hint = suggestion(name, known) or "`serq check --explain` lists the rules"
            yield Diagnostic("SQ897", f"there is no rule `{name}`", one.place, hint=hint)


class _Marking:
    """Valid suppressions, and which of their rules had something to suppress."""

    def __init__(self, valid: list[Suppression], locate: Locate) -> None:
        self.valid = valid
        self.locate = locate
        self.used: set[tuple[Suppression, str]] = set()

    def marked(self, finding: Finding) -> Finding:
        """A finding, suppressed where the source says so."""
        if finding.diagnostic is None:
            return finding
        for one in self.valid:
            if not self._speaks_of(one, finding):
                continue
            self.used.add((one, finding.rule))
            return replace(finding, diagnostic=replace(finding.diagnostic, suppressed=one.reason))
        return finding

    def unused(self, report: CheckReport) -> Iterator[Diagnostic]:
        """The suppressions of a rule that was asked and has, on their lines, no finding and no open question."""
        open_questions = [f for f in report.findings if f.verdict is Verdict.UNKNOWN]
        for one in self.valid:
            for name in one.rules:
                rule = rule_named(name).name
                if rule not in report.rules or (one, rule) in self.used:
                    continue
                if any(f.rule == rule and self._speaks_of(one, f) for f in open_questions):
                    continue
                yield Diagnostic(
                    "SQ898",
                    f"the suppression of `{name}` suppresses nothing",
                    one.place,
                    hint="remove it, or put it above the line of the finding",
                    severity=Severity.WARNING,
                )

    def _speaks_of(self, one: Suppression, finding: Finding) -> bool:
        if not {finding.rule, finding.code} & set(one.rules):
            return False
        return one.covers(self.locate(Diagnostic(finding.code, "", Place(path=finding.path))).place)
