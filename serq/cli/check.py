"""`serq check`: say whether a program is valid, and everything that is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from serq.cli.load import load
from serq.cli.options import ProgramCommand, choices, format_option, program_options
from serq.cli.output import report_diagnostics
from serq.diagnostics import SerqError
from serq.ir.validate import validate


@click.command(cls=ProgramCommand)
@program_options
@format_option
def command(file: Path, how: str, **options: Any) -> int:
    """Check FILE (.sq, or IR in JSON) and print what is wrong with it."""
    try:
        loaded = load(file, choices(options))
    except SerqError as error:
        report_diagnostics(error.diagnostics, error.sources, how, to_stdout=how != "text")
        return 1
    found = [loaded.located(d) for d in validate(loaded.program)]
    if found or how != "text":
        report_diagnostics(found, loaded.sources, how, to_stdout=how != "text")
    else:
        click.echo(f"{file}: valid")
    return 1 if found else 0
