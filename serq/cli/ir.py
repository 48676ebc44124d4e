"""`serq ir`: print a program's IR as canonical JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from serq.cli.load import load
from serq.cli.options import ProgramCommand, choices, program_options
from serq.diagnostics import Diagnostic, Place, SerqError
from serq.ir.corpus import inline_trace, read_corpus
from serq.ir.encode import dumps
from serq.ir.validate import check


@click.command(cls=ProgramCommand)
@program_options
@click.option("--inline-trace", "inline", is_flag=True, help="Write an ordered trace into the program.")
def command(file: Path, inline: bool, **options: Any) -> int:
    """Print the IR of FILE (.sq, or IR in JSON)."""
    program = load(file, choices(options)).program
    check(program)
    if inline:
        if program.trace is None:
            raise SerqError(Diagnostic("SQ013", "the program replays no trace", Place(str(file))))
        program = inline_trace(program, read_corpus(Path(program.trace)))
    click.echo(dumps(program), nl=False)
    return 0
