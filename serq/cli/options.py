"""Options that several verbs share. What decides a run is applied in the order it was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
_ORDER = "serq.order"


@dataclass(frozen=True)
class Settings:
    """Execution settings; None where nothing was said."""

    horizon: float | None = None
    warmup: float | None = None
    seed: int | None = None
    arrivals: int | None = None
    trace_file: str | None = None


@dataclass(frozen=True)
class Choices:
    """What the command line decides, in order: settings, inputs by name, definitions, instance files."""

    steps: tuple[tuple[str, Any], ...] = ()

    def settings(self) -> Settings:
        """The settings given as flags; the last of each wins."""
        result = Settings()
        for name, value in self.steps:
            if hasattr(result, name):
                result = replace(result, **{name: value})
        return result

    def given(self, inputs: Mapping[str, float]) -> Choices:
        """The same with values for inputs, whatever was said of them."""
        return Choices((*self.steps, *(("input", pair) for pair in inputs.items())))

    def words(self, without: Sequence[str] = ()) -> list[str]:
        """The same as words of a command line."""
        words = []
        for name, value in self.steps:
            if name in without:
                continue
            flag = "--set" if name == "input" else f"--{name.replace('_', '-')}"
            words += [flag, f"{value[0]}={value[1]}" if isinstance(value, tuple) else _plain(value)]
        return words

    def other_than_settings(self) -> list[str]:
        """The options given that only a source program takes."""
        return [f"--{name}" for name, _ in self.steps if name in ("set", "def", "instance", "input")]


def _plain(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


class ProgramCommand(click.Command):
    """A verb on a program: remembers the order of the options that decide the run."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options, _, order = self.make_parser(ctx).parse_args(list(args))
        seen: dict[str, int] = {}
        steps: list[tuple[str, Any]] = []
        for param in order:
            name = str(param.name)
            given = options.get(name)
            at = seen.get(name, 0)
            seen[name] = at + 1
            steps.append((name, given[at] if isinstance(given, list) else given))
        ctx.meta[_ORDER] = steps
        return super().parse_args(ctx, args)


_SETTINGS = ("horizon", "warmup", "seed", "arrivals", "trace_file")
_INPUTS = ("set_", "def_", "instance")


def program_options(command: F) -> F:
    """FILE, the settings, and the inputs: --set, --def, --instance, and `-- --name value`."""
    for decorate in (
        click.argument("extra", nargs=-1, type=click.UNPROCESSED),
        click.argument("file", type=click.Path(path_type=Path)),
        click.option("--instance", multiple=True, metavar="FILE", help="Settings and inputs from a file."),
        click.option("--def", "def_", multiple=True, metavar="F=EXPR", help="Replace a definition's body."),
        click.option("--set", "set_", multiple=True, metavar="NAME=EXPR", help="Give an input a value."),
        click.option("--trace-file", metavar="CSV", help="Replay this trace instead of the program's."),
        click.option("--arrivals", type=int, metavar="N", help="Run exactly N open arrivals and drain them."),
        click.option("--seed", type=int, metavar="N", help="The seed of every random stream."),
        click.option("--warmup", type=float, metavar="T", help="Statistics count from this time."),
        click.option("--horizon", type=float, metavar="T", help="The run ends at this time."),
    ):
        command = decorate(command)
    return command


def choices(options: dict[str, Any]) -> Choices:
    """Remove what decides the run from a verb's options and return it, in the order it was written.

    Raises click.UsageError for a malformed input.
    """
    values = {name: options.pop(name) for name in (*_SETTINGS, *_INPUTS)}
    extra = options.pop("extra")
    steps: list[tuple[str, Any]] = []
    for name, written in click.get_current_context().meta.get(_ORDER, []):
        if name in _SETTINGS:
            steps.append((name, values[name]))
        elif name in ("set_", "def_"):
            steps.append((name[:-1], _pair(written, f"--{name[:-1]}")))
        elif name == "instance":
            steps.append((name, Path(written)))
    steps += [("input", pair) for pair in _inputs(extra)]
    return Choices(tuple(steps))


def _pair(text: str, option: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise click.UsageError(f"{option} takes NAME=EXPR, not `{text}`")
    return name.strip(), value


def _inputs(extra: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    rest = list(extra)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or len(word) == 2:
            raise click.UsageError(f"unexpected argument `{word}`: inputs are written `-- --name value`")
        name, sign, value = word[2:].partition("=")
        if not sign:
            if not rest:
                raise click.UsageError(f"input `--{name}` has no value")
            value = rest.pop(0)
        pairs.append((name, value))
    return pairs


def format_option(command: F) -> F:
    """--format text|json|sarif|github for diagnostics."""
    return click.option(
        "--format",
        "how",
        type=click.Choice(["text", "json", "sarif", "github"]),
        default="text",
        show_default=True,
        help="How diagnostics are written.",
    )(command)
