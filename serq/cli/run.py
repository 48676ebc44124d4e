"""`serq run`: run a program and print its report."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from serq.cli.load import Loaded, load
from serq.cli.options import ProgramCommand, choices, format_option, program_options
from serq.cli.output import report_diagnostics, written_whole
from serq.diagnostics import SerqError
from serq.ir.corpus import read_corpus
from serq.ir.edit import with_sessions
from serq.ir.validate import check
from serq.sim.dump import dump_files
from serq.sim.hooks import TraceHook
from serq.sim.machine import Machine
from serq.sim.report import Report
from serq.sim.run import run
from serq.sim.text_report import render
from serq.sim.trace_writer import TraceWriter


class SessionType(click.ParamType[dict[str, float]]):
    """`NAME=NUMBER`, several separated by commas"""

    name = "session"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, float]:
        given = {}
        for part in str(value).split(","):
            name, sign, number = part.partition("=")
            try:
                given[name.strip()] = float(number)
            except ValueError:
                sign = ""
            if not sign or not name.strip():
                self.fail(f"`{part}` is not of the form `prompt=100`", param, ctx)
        return given


@click.command(cls=ProgramCommand)
@program_options
@format_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as one line of JSON.")
@click.option(
    "--dump", type=click.Path(path_type=Path), metavar="DIR", help="Write samples and gauges as CSV."
)
@click.option(
    "--trace", type=click.Path(path_type=Path), metavar="FILE", help="Write what happens as JSON lines."
)
@click.option(
    "--session",
    "sessions",
    multiple=True,
    type=SessionType(),
    metavar="VALUES",
    help='A session with these attributes, in place of arrivals: --session "prompt=100,out=20".',
)
@click.option("--self-check", is_flag=True, help="Assert the state's invariants after every event.")
def command(
    file: Path,
    as_json: bool,
    dump: Path | None,
    trace: Path | None,
    sessions: tuple[dict[str, float], ...],
    self_check: bool,
    how: str,
    **options: Any,
) -> int:
    """Run FILE (.sq, or IR in JSON) and print its report."""
    loaded: Loaded | None = None
    try:
        loaded = load(file, choices(options))
        if sessions:
            loaded = replace(loaded, program=with_sessions(loaded.program, sessions))
        check(loaded.program)
        click.echo(f"seed {loaded.program.seed}", err=True)
        report = _run(loaded, dump, trace, self_check)
    except SerqError as error:
        if loaded is None:
            report_diagnostics(error.diagnostics, error.sources, how)
        else:
            report_diagnostics([loaded.located(d) for d in error.diagnostics], loaded.sources, how)
        return 1
    click.echo(report.json() if as_json else render(report, loaded.program), nl=as_json)
    if dump is not None:
        _dump(report, dump)
    for note in report.notes:
        click.echo(f"note: {note}", err=True)
    if report.interrupted:
        click.echo(f"interrupted at time {report.data['end']:g}: the report is partial", err=True)
        return 130
    return 1 if any(p["stuck"] for p in report.data["pools"]) else 0


def _run(loaded: Loaded, dump: Path | None, trace: Path | None, self_check: bool) -> Report:
    program = loaded.program
    corpus = None if program.trace is None else read_corpus(Path(program.trace))
    with ExitStack() as stack:
        hook: TraceHook | None = None
        if trace is not None:
            hook = TraceWriter(stack.enter_context(written_whole(trace)))
        progress = stack.enter_context(_progress(program.horizon))
        ready = stack.enter_context(_interruptible())
        return run(
            program,
            corpus=corpus,
            detailed=dump is not None,
            hook=hook,
            self_check=self_check,
            progress=progress,
            on_machine=ready,
        )


@contextmanager
def _progress(horizon: float) -> Iterator[Callable[[float], None] | None]:
    """A bar on a terminal's stderr, for runs long enough to see it."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("running"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("run", total=horizon)
        yield lambda now: bar.update(task, completed=now)


@contextmanager
def _interruptible() -> Iterator[Callable[[Machine], None]]:
    """Ctrl-C asks the machine to stop after the present event; its report is partial and says so."""
    machines: list[Machine] = []

    def stop(signum: int, frame: FrameType | None) -> None:
        if not machines or machines[0].stop_requested:
            raise KeyboardInterrupt
        machines[0].stop_requested = True

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield machines.append
    finally:
        signal.signal(signal.SIGINT, before)


def _dump(report: Report, folder: Path) -> None:
    for name, lines in dump_files(report):
        with written_whole(folder / name) as out:
            out.writelines(lines)
