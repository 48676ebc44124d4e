"""`serq oracle fuzz`: random scenarios through the real scheduler and the interpreter."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from serq.oracle.fuzz import Fuzzed, fuzz, recording, shrink, still_differs, write_case
from serq.oracle.grid import difference_text
from serq.oracle.lean_bench import LeanBench
from serq.oracle.lean_files import in_fragment
from serq.oracle.lean_leg import legs_text, three_legs
from serq.oracle.recorded import Trace
from serq.oracle.recording.host import Recorder
from serq.oracle.recording.random_scenarios import CLASSES, classes_of
from serq.oracle.scenario import Scenario

_BATCH = 20


@click.command()
@click.option("--vllm", "env", required=True, type=click.Path(path_type=Path), metavar="ENV")
@click.option("-n", "count", type=click.IntRange(1), default=300, show_default=True)
@click.option(
    "--class", "classes", multiple=True, type=click.Choice(sorted(CLASSES)), help="Only these classes."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The first seed of each class."
)
@click.option(
    "--cases",
    type=click.Path(path_type=Path),
    default=Path("differences"),
    metavar="DIR",
    help="Where a difference is written, shrunk, as a scenario with its trace.",
)
@click.option(
    "--lean", "with_lean", is_flag=True, help="Ask Lean, too, about those in the fragment and its reach."
)
def command(env: Path, count: int, classes: tuple[str, ...], seed: int, cases: Path, with_lean: bool) -> int:
    """Record random scenarios with the vLLM of an environment and compare each at every step."""
    agreeing: list[tuple[Scenario, Trace]] = []
    console = Console(width=None if Console().is_terminal else 110)
    with (
        Recorder(env) as recorder,
        Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar,
    ):
        task = bar.add_task("recording", total=count)
        result = fuzz(
            recorder,
            count,
            classes or classes_of(recorder.version),
            seed,
            lambda done: bar.update(task, completed=done),
            lambda scenario, trace: agreeing.append((scenario, trace)),
        )
        for kind, number, data, _ in result.differing:
            record = recording(recorder)
            smallest = shrink(data, still_differs(record))
            path = write_case(smallest, record(smallest), cases, f"{kind}-{number}")
            console.print(f"a difference, shrunk: {path}", style="bold red")
    console.print(_table(result))
    for _, _, _, outcome in result.differing[:3]:
        console.print(difference_text(outcome), highlight=False)
    console.print(
        f"{result.total('agrees')} scenarios agree at every step ({result.steps} steps) with vLLM "
        f"{result.version}; {result.total('differs')} differ; {result.total('not covered')} are not covered",
        style="bold",
        highlight=False,
    )
    lean_agrees = _ask_lean(console, agreeing) if with_lean else True
    return 0 if lean_agrees and not result.differing else 1


def _ask_lean(console: Console, agreeing: list[tuple[Scenario, Trace]]) -> bool:
    """Lean's verdict on the scenarios that both other sides agree on, in batches."""
    within = [(s, t) for s, t in agreeing if in_fragment(s, t)]
    bench, refused = LeanBench(), []
    for first in range(0, len(within), _BATCH):
        refused += [legs for legs in three_legs(bench, within[first : first + _BATCH]) if not legs.ok]
    for legs in refused[:3]:
        console.print(legs_text(legs), highlight=False)
    console.print(
        f"Lean agrees on {len(within) - len(refused)} of {len(within)} scenarios in the fragment; "
        f"{len(agreeing) - len(within)} are outside",
        style="bold",
        highlight=False,
    )
    return not refused


def _table(result: Fuzzed) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("class")
    for name in ("agrees", "differs", "not covered", "shows its class"):
        table.add_column(name, justify="right")
    for kind in sorted({k for k, _ in result.counts}):
        cells = [str(result.counts[kind, s]) for s in ("agrees", "differs", "not covered")]
        table.add_row(kind, *cells, str(result.shown[kind]))
    return table
