"""`serq fmt`: write programs in the one layout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from serq.cli.options import format_option
from serq.cli.output import report_diagnostics, written_whole
from serq.diagnostics import Diagnostic, SerqError
from serq.lang.format import format_source
from serq.lang.source import read_source


@click.command(short_help="Write programs in the one layout.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--check", is_flag=True, help="Write nothing; name the files that would change.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the layout instead of writing it.")
@format_option
def command(files: tuple[Path, ...], check: bool, to_stdout: bool, how: str) -> int:
    """Write each FILE (a program, library or instance) in the one layout; a folder is its .sq files.

    What does not parse stays as it is. Exit status 1 when a file has mistakes, or with
    --check when a file would change.
    """
    if check and to_stdout:
        raise click.UsageError("--check and --stdout exclude each other")
    status = 0
    mistakes: list[Diagnostic] = []
    sources: dict[str, str] = {}
    for path in _programs(files):
        try:
            text = read_source(path)
            sources[str(path)] = text
            formatted = format_source(text, str(path))
            if to_stdout:
                click.echo(formatted, nl=False)
            elif formatted != text:
                _settle(path, formatted, check)
                status = max(status, int(check))
        except SerqError as error:
            mistakes += error.diagnostics
    if mistakes:
        report_diagnostics(mistakes, sources, how)
    return 1 if mistakes else status


def _settle(path: Path, formatted: str, check: bool) -> None:
    """Write a file that is not in the layout, or name it."""
    if not check:
        # A link stays one: its target is written.
        with written_whole(path.resolve()) as out:
            out.write(formatted)
    click.echo(f"{path}: {'would change' if check else 'written'}", err=not check)


def _programs(paths: tuple[Path, ...]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.sq"))
        else:
            yield path
