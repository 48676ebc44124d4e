"""`serq ir`: print a program's IR as canonical JSON, or what an earlier pass of the compiler made of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from serq.cli.load import load
from serq.cli.options import Choices, ProgramCommand, choices, program_options
from serq.diagnostics import Diagnostic, Place, SerqError
from serq.ir.corpus import inline_trace, read_corpus
from serq.ir.encode import dumps
from serq.ir.validate import check
from serq.lang import stages, write_items
from serq.lang.format import format_source
from serq.lang.parser import parse
from serq.lang.source import read_source


@click.command(cls=ProgramCommand, short_help="Print a program's IR, or an earlier stage of it.")
@program_options
@click.option("--inline-trace", "inline", is_flag=True, help="Write an ordered trace into the program.")
@click.option(
    "--stage",
    type=click.Choice(list(stages.STAGES)),
    default="ir",
    show_default=True,
    help="Print what this pass of the compiler made of the text.",
)
def command(file: Path, inline: bool, stage: str, **options: Any) -> int:
    """Print the IR of FILE (.sq, or IR in JSON), or an earlier stage of a .sq program as text.

    parsed: the tree as read, still with imports, constants, definitions and aggregates.
    resolved: those written out; it compiles to the same IR. lowered: pools, stages and
    blocks as the IR has them, under their names. Stages before the IR need no horizon.
    """
    chosen = choices(options)
    if stage == "ir":
        click.echo(_ir(file, chosen, inline), nl=False)
        return 0
    if file.suffix != ".sq":
        raise click.UsageError(f"--stage {stage} is for source programs; {file} is not one")
    if inline:
        raise click.UsageError("--inline-trace is for the stage ir")
    click.echo(_stage(file, chosen, stage), nl=False)
    return 0


def _ir(file: Path, chosen: Choices, inline: bool) -> str:
    program = load(file, chosen).program
    check(program)
    if inline:
        if program.trace is None:
            raise SerqError(Diagnostic("SQ013", "the program replays no trace", Place(str(file))))
        program = inline_trace(program, read_corpus(Path(program.trace)))
    return dumps(program)


def _stage(file: Path, chosen: Choices, stage: str) -> str:
    """A stage before the IR; what the parser read is shown even of a program that is refused later."""
    if stage == "parsed":
        return format_source(write_items.program(parse(read_source(file), str(file))))
    # No pass before the IR reads the horizon; one that is given comes later and wins.
    steps = (("horizon", sys.float_info.max), *chosen.steps)
    compiled = load(file, Choices(steps)).compiled
    assert compiled is not None
    text = stages.show(compiled, stage)
    return text if stage == "lowered" else format_source(text)
