"""The `serq` command: finds a verb's file, and turns every refusal into a diagnostic and an exit status.

Exit status 0: done; 1: diagnostics or a run-time error; 2: a wrong call.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from serq import __version__
from serq.cli.output import report_diagnostics
from serq.diagnostics import SerqError

# Each verb is the function `command` of its module.
VERBS = (
    "capacity",
    "check",
    "explain",
    "fmt",
    "fragment",
    "ir",
    "lean",
    "lean claims",
    "lean drt",
    "lean encode",
    "oracle",
    "oracle drift",
    "oracle fuzz",
    "oracle record",
    "run",
)


class Verbs(click.Group):
    """Loads a verb's module when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(VERBS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # A verb of two words, such as `oracle record`, is a verb of its own.
        if len(args) > 1 and f"{args[0]} {args[1]}" in VERBS:
            args = [f"{args[0]} {args[1]}", *args[2:]]
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"serq.cli.{cmd_name.replace(' ', '_')}")
        command: click.Command = module.command
        return command


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="serq")
def cli() -> None:
    """Serving deployments as programs: run them, check them, prove things about them."""


def main(args: list[str] | None = None) -> Any:
    """The entry point of the command line."""
    try:
        sys.exit(cli.main(args=args, prog_name="serq", standalone_mode=False) or 0)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except SerqError as error:
        report_diagnostics(error.diagnostics, error.sources)
        sys.exit(1)
    except BrokenPipeError:
        # The reader of a pipe has gone; nothing is left to say.
        sys.stderr.close()
        sys.exit(1)
