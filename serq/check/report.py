"""What a check reports: a verdict for each place a rule looks at, and a summary of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from serq.check.solver import Safe, Verdict
from serq.diagnostics import Diagnostic, IrPath, Place, Severity, format_path


@dataclass(frozen=True)
class Finding:
    """A rule's verdict at a place.

    `witness` are the values that show it, by what they stand for; `why` says why a verdict
    is unknown; `diagnostic` is what is reported of a refutation; `safe` are the parts of the
    ranges of open inputs in which it does not happen.
    """

    rule: str
    code: str
    path: IrPath
    verdict: Verdict
    witness: tuple[tuple[str, float], ...] = ()
    why: str = ""
    diagnostic: Diagnostic | None = None
    safe: tuple[Safe, ...] = ()

    @property
    def suppressed(self) -> bool:
        """Whether the source expects it."""
        return self.diagnostic is not None and self.diagnostic.suppressed is not None

    def sentence(self) -> str:
        """The finding in one line."""
        text = f"{self.rule} at {format_path(self.path)}: {self.verdict}"
        if self.diagnostic is not None and self.diagnostic.suppressed is not None:
            return f"{text}, suppressed because {self.diagnostic.suppressed}"
        if self.verdict is Verdict.UNKNOWN and self.why:
            return f"{text} ({self.why})"
        return text


@dataclass(frozen=True)
class CheckReport:
    """Everything the rules found, in the order of rules and places; `assumptions` hold for every "proved"."""

    findings: tuple[Finding, ...]
    rules: tuple[str, ...]
    assumptions: tuple[str, ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What is wrong, for the renderers."""
        return tuple(f.diagnostic for f in self.findings if f.diagnostic is not None)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that fail a check."""
        return tuple(
            f
            for f in self.findings
            if f.diagnostic is not None and f.diagnostic.severity is Severity.ERROR and not f.suppressed
        )

    @property
    def suppressed(self) -> tuple[Finding, ...]:
        """The findings that the source expects."""
        return tuple(f for f in self.findings if f.suppressed)

    def of(self, rule: str) -> tuple[Finding, ...]:
        """The findings of one rule."""
        return tuple(f for f in self.findings if f.rule == rule)

    def counts(self) -> dict[str, dict[Verdict, int]]:
        """Rules by verdicts."""
        table = {rule: dict.fromkeys(Verdict, 0) for rule in self.rules}
        for finding in self.findings:
            table[finding.rule][finding.verdict] += 1
        return table

    def summary(self) -> str:
        """The table of rules and verdicts as text; a rule that found no place to look at has no row.

        What is suppressed stands in a column of its own, if anything is.
        """
        rows = {rule: row for rule, row in self.counts().items() if any(row.values())}
        width = max([len(r) for r in rows] + [4])
        hidden = Counter(f.rule for f in self.suppressed)
        lines = [f"{'rule':<{width}}  proved  refuted  unknown" + ("  suppressed" if hidden else "")]
        for rule, row in rows.items():
            refuted = row[Verdict.REFUTED] - hidden[rule]
            line = f"{rule:<{width}}  {row[Verdict.PROVED]:>6}  {refuted:>7}  {row[Verdict.UNKNOWN]:>7}"
            lines.append(line + (f"  {hidden[rule]:>10}" if hidden else ""))
        return "\n".join(lines) + "\n"


def diagnostic(
    code: str,
    message: str,
    path: IrPath,
    severity: Severity,
    *,
    note: str | None = None,
    hint: str | None = None,
) -> Diagnostic:
    """A diagnostic at a place of the IR."""
    return Diagnostic(code, message, Place(path=path), note, hint, severity)


def told(witness: Iterable[tuple[str, float]]) -> str:
    """Values as text: `prompt = 1002, out = 50`."""
    from serq.ir.validate.names import number

    return ", ".join(f"{what} = {number(value)}" for what, value in witness)
