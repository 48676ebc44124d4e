"""`docs/cli.md`: the command line, from its own help."""

from __future__ import annotations

from collections.abc import Iterator

import click

from serq.cli.main import VERBS, cli
from tools.examples import ROOT
from tools.generated.file import Generated, header

PAGE = ROOT / "docs" / "cli.md"
_CLI = ROOT / "serq" / "cli"
_WIDTH = 100

_INTRODUCTION = """\
# The command line

Exit status 0: done. 1: diagnostics, or a run that stopped. 2: a wrong call. 130: interrupted.

Diagnostics go to stderr, results to stdout. What decides a run (settings, inputs, definitions, instance
files) is applied in the order it is written, and the later wins; inputs may also be written after `--`, as
`-- --name value`. Files are written whole or not at all.

"""


def files() -> Iterator[Generated]:
    """The one page."""
    yield Generated(PAGE, page)


def page() -> str:
    """The page: a section per verb, with the help it prints."""
    made_of = sorted(_CLI.glob("*.py"))
    root = _context(cli, "serq", None)
    sections = [_section(root)]
    for verb in VERBS:
        command = cli.get_command(root, verb)
        assert command is not None
        sections += _sections(_context(command, verb, root))
    return header("the help of each command", made_of) + _INTRODUCTION + "\n".join(sections)


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(command, parent, name, terminal_width=_WIDTH, **command.context_settings)


def _sections(context: click.Context) -> Iterator[str]:
    yield _section(context)
    if isinstance(context.command, click.Group):
        for name, command in sorted(context.command.commands.items()):
            yield from _sections(_context(command, name, context))


def _section(context: click.Context) -> str:
    return f"## {context.command_path}\n\n```\n{context.get_help().rstrip()}\n```\n"
