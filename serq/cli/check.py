"""`serq check`: whether a program is valid, and what can go wrong in any run of it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import click

from serq.check import RULES, CheckReport, Verdict, rule_named
from serq.check.equivalence import compare
from serq.check.suppress import suppress
from serq.cli.load import Loaded, load
from serq.cli.options import ProgramCommand, choices, format_option, program_options
from serq.cli.output import report_diagnostics
from serq.cli.ranges import Bounds, Limits, RangesType, asked, checked
from serq.cli.reproduce import Reproducer
from serq.diagnostics import Diagnostic, Place, SerqError, Severity, ordered
from serq.ir.validate import check, validate
from serq.lang.suppressions import suppressions


@click.command(cls=ProgramCommand)
@program_options
@format_option
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="RULE",
    type=click.Choice([r.name for r in RULES]),
    help="Only these.",
)
@click.option("--explain", is_flag=True, help="Say what each rule looked for, and every verdict.")
@click.option(
    "--for",
    "ranges",
    multiple=True,
    type=RangesType(),
    metavar="RANGES",
    help='Ask for every value of inputs and of what sessions preset: --for "blocks in 1..10000, prompt in 1..2048".',
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=2.0,
    show_default=True,
    metavar="S",
    help="Seconds of one question to the solver, on a slow core.",
)
@click.option(
    "--overall",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="S",
    help="Seconds of all questions; what is not answered by then is unknown.",
)
@click.option(
    "--equivalent",
    type=click.Path(path_type=Path),
    metavar="OTHER",
    help="Prove that OTHER's schedules and predicates are the same, or show a state in which they are not.",
)
def command(
    file: Path,
    how: str,
    rules: tuple[str, ...],
    explain: bool,
    ranges: tuple[tuple[tuple[str, Bounds], ...], ...],
    timeout: float,
    overall: float,
    equivalent: Path | None,
    **options: Any,
) -> int:
    """Check FILE (.sq, or IR in JSON): every rule of validity, then what a solver can prove or refute.

    Exit status 1 when an error was found; warnings do not change it.
    """
    chosen = choices(options)
    try:
        loaded = load(file, chosen)
    except SerqError as error:
        report_diagnostics(error.diagnostics, error.sources, how, to_stdout=how != "text")
        return 1
    found = [loaded.located(d) for d in validate(loaded.program)]
    if found:
        report_diagnostics(found, loaded.sources, how, to_stdout=how != "text")
        return 1
    if equivalent is not None:
        other = load(equivalent, chosen)
        check(other.program)
        return _equivalent(loaded, other, timeout)
    wanted = asked(loaded, {name: bounds for option in ranges for name, bounds in option})
    report, said = checked(loaded, file, chosen, wanted, rules or None, Limits(timeout, overall))
    report, wrong = _suppressed(loaded, report, judge_unused=not ranges)
    report = Reproducer(loaded, chosen, wanted.inputs, wanted.attributes).told(report)
    return _report(loaded, report, (*said, *wrong), how, explain)


def _suppressed(
    loaded: Loaded, report: CheckReport, judge_unused: bool
) -> tuple[CheckReport, tuple[Diagnostic, ...]]:
    """The report with what the source suppresses marked, and the mistakes of the suppressions.

    Of a library, which other programs share, it is not asked whether it suppresses something.
    """
    said, wrong = suppressions(loaded.sources)
    report, mistakes = suppress(report, said, loaded.located, judge_unused=judge_unused)
    own = (d for d in mistakes if d.code != "SQ898" or d.place.file == loaded.file)
    return report, (*wrong, *own)


def _report(
    loaded: Loaded, report: CheckReport, wrong: tuple[Diagnostic, ...], how: str, explain: bool
) -> int:
    found = ordered([*(loaded.located(d) for d in report.diagnostics), *wrong])
    errors = sum(1 for d in found if d.severity is Severity.ERROR and d.suppressed is None)
    if how != "text":
        report_diagnostics(found, loaded.sources, how, to_stdout=True)
        return 1 if errors else 0
    report_diagnostics(found, loaded.sources)
    if explain:
        _explain(report)
    click.echo(report.summary(), nl=False)
    for assumption in report.assumptions if explain else ():
        click.echo(f"assumed: {assumption}")
    warnings = sum(1 for d in found if d.severity is Severity.WARNING and d.suppressed is None)
    parts = [_count(errors, "error") if errors else "valid"]
    if warnings:
        parts.append(_count(warnings, "warning"))
    if report.suppressed:
        parts.append(f"{len(report.suppressed)} suppressed")
    click.echo(f"{loaded.file}: {', '.join(parts)}")
    return 1 if errors else 0


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _explain(report: CheckReport) -> None:
    for name in report.rules:
        text = (importlib.import_module(rule_named(name).module).__doc__ or "").strip()
        click.echo(f"{name}\n{text}\n")
        for finding in report.of(name):
            click.echo(f"  {finding.sentence()}")
        click.echo("")


def _equivalent(a: Loaded, b: Loaded, timeout: float) -> int:
    try:
        pairs = compare(a.program, b.program, timeout=timeout)
    except ValueError as error:
        hint = "compare programs with the same pools, stages and statements"
        raise SerqError(Diagnostic("SQ879", str(error), Place(b.file), hint=hint)) from None
    for pair in pairs:
        click.echo(pair.sentence())
    return 0 if all(p.verdict is Verdict.PROVED for p in pairs) else 1
