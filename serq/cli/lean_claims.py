"""`serq lean claims`: what a program claims, as statements in Lean."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from serq.cli.load import load
from serq.cli.options import Choices, ProgramCommand, choices, program_options
from serq.cli.output import report_diagnostics
from serq.diagnostics import Diagnostic, SerqError
from serq.generators.claims import makes_claims, translate_claims
from serq.generators.claims_text import claims_module


@click.command(cls=ProgramCommand)
@program_options
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="Write there [standard output]."
)
def command(file: Path, output: Path | None, **options: Any) -> int:
    """Write the claims of FILE (.sq, or IR in JSON) as statements in Lean.

    The module has the program, the family of workloads of each claim, the claim, and theorems that
    a workload of the family exists and belongs to the fragment. What is outside the fragment is
    refused with every reason. Exit status 0: written; 1: refused.
    """
    # Claims do not depend on the horizon; one that is given comes later and wins.
    chosen = choices(options)
    if file.suffix == ".sq":
        chosen = Choices((("horizon", sys.float_info.max), *chosen.steps))
    loaded = load(file, chosen)
    if not makes_claims(loaded.program):
        hint = "claims are stated of sessions that arrive, `arrive` in the workload"
        raise SerqError(Diagnostic("SQ996", f"{file} claims nothing of sessions that arrive", hint=hint))
    try:
        text = claims_module(file.name.split(".")[0], translate_claims(loaded.program))
    except SerqError as error:
        report_diagnostics([loaded.located(d) for d in error.diagnostics], loaded.sources)
        return 1
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
    return 0
