"""`serq lean encode`: a program as the executable of the Lean project reads it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from serq.cli.load import load
from serq.cli.naturals import proved_naturals
from serq.cli.options import ProgramCommand, choices, program_options
from serq.cli.output import report_diagnostics
from serq.diagnostics import SerqError
from serq.generators.encoding import encoded
from serq.generators.translate import translate


@click.command(cls=ProgramCommand)
@program_options
@click.option(
    "--until",
    type=click.IntRange(0),
    metavar="T",
    help="The horizon of the run [that of the program, rounded down].",
)
def command(file: Path, until: int | None, **options: Any) -> int:
    """Write FILE (.sq, or IR in JSON) as numbers, for the executable of the Lean project.

    `serq lean encode FILE | lake exe serq-model`, in the folder of the Lean project, runs the program
    in the model. The program has to be in the Lean fragment, with its sessions written out. Exit
    status 0: written; 1: refused.
    """
    loaded = load(file, choices(options))
    try:
        translated = translate(loaded.program, proved_naturals(loaded.program))
    except SerqError as error:
        report_diagnostics([loaded.located(d) for d in error.diagnostics], loaded.sources)
        return 1
    horizon = int(min(loaded.program.horizon, sys.maxsize)) if until is None else until
    click.echo(json.dumps(encoded(translated, horizon), separators=(",", ":")))
    return 0
