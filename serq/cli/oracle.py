"""`serq oracle`: compare programs with the recorded scheduler, step by step."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from serq.cli.output import written_whole
from serq.oracle.compare import Outcome, compare_file, vanished
from serq.oracle.grid import difference_text, step_grid
from serq.oracle.lean_bench import LeanBench
from serq.oracle.lean_files import in_fragment
from serq.oracle.lean_leg import legs_text, three_legs
from serq.oracle.lean_recordings import covered_recordings, read_recording
from serq.oracle.page import render
from serq.oracle.recorded import Trace, recorded_scenarios
from serq.oracle.scenario import Scenario

_STYLES = {"agrees": "green", "differs": "bold red", "not covered": "yellow"}


@click.command()
@click.argument("scenarios", nargs=-1, type=click.Path(path_type=Path), metavar="[NAME.scenario.json]...")
@click.option("--json", "as_json", is_flag=True, help="Print the outcomes as JSON.")
@click.option(
    "--html", type=click.Path(path_type=Path), metavar="FILE", help="Write the step grids as a page, too."
)
@click.option("--demo", is_flag=True, help="Show the steps of the first scenario before the summary.")
@click.option(
    "--lean", is_flag=True, help="Also have Lean's model run them, and show the three sides step by step."
)
def command(scenarios: tuple[Path, ...], as_json: bool, html: Path | None, demo: bool, lean: bool) -> int:
    """Run recorded scenarios of the real vLLM scheduler through the interpreter and compare every step.

    Without arguments, all scenarios that ship with serq, in every version recorded. The
    recorded trace of another scenario stands beside it as NAME.trace.json. Exit status 0
    when all agree, 1 otherwise. With --lean also the scenarios of the Lean fragment are
    run by the kernel of Lean: the named ones, with --demo the one that is shown, else all.
    """
    outcomes = [o for path in (scenarios or recorded_scenarios()) for o in compare_file(path)]
    if html is not None:
        with written_whole(html) as out:
            out.write(render(outcomes))
    if as_json:
        click.echo(json.dumps([_data(o) for o in outcomes], indent=2))
    else:
        _print(outcomes, demo)
    differ = lean and not _compare_with_lean(_for_lean(scenarios, outcomes, demo), bool(scenarios) or demo)
    gone = [] if scenarios else vanished(outcomes)
    for d in gone:
        click.echo(f"declared difference {d.number} no longer shows in any scenario: {d.reason}", err=True)
    return 1 if gone or differ or any(o.status == "differs" for o in outcomes) else 0


def _for_lean(
    scenarios: tuple[Path, ...], outcomes: list[Outcome], demo: bool
) -> list[tuple[Scenario, Trace]]:
    """What Lean runs: the named scenarios, the one of the demonstration, or all in the fragment."""
    if scenarios:
        return [read_recording(path) for path in scenarios]
    shown = _shown(outcomes) if demo else None
    return [c for c in covered_recordings() if (c[0].name == shown.name if shown else in_fragment(*c))]


def _compare_with_lean(cases: list[tuple[Scenario, Trace]], show: bool) -> bool:
    """The third leg; whether Lean agrees with the others in every scenario asked for."""
    legs = three_legs(LeanBench(), cases)
    for leg in legs:
        if show or not leg.ok:
            click.echo(f"\n{legs_text(leg)}")
    agreeing, steps = sum(leg.ok for leg in legs), sum(len(leg.rows) for leg in legs if leg.ok)
    click.echo(f"\nLean agrees in {agreeing} of {len(legs)} scenarios, at {steps} steps")
    return agreeing == len(legs)


def _data(o: Outcome) -> dict[str, Any]:
    data = {k: v for k, v in asdict(o).items() if k not in ("recorded", "program", "difference")}
    data["difference"] = None
    if o.difference is not None:
        d = o.difference
        data["difference"] = {"step": d.step, "mode": d.mode, "recorded": d.recorded, "program": d.program}
    return data


def _print(outcomes: list[Outcome], demo: bool) -> None:
    console = Console(width=None if Console().is_terminal else 120)
    if demo:
        _show_steps(console, outcomes)
    console.print(_table(outcomes))
    _reasons(console, outcomes)
    for o in outcomes:
        if o.status == "differs":
            console.print()
            console.print(difference_text(o), highlight=False)
    _summary(console, outcomes)


def _table(outcomes: list[Outcome]) -> Table:
    versions = sorted({o.version for o in outcomes}, reverse=True)
    table = Table(box=None, pad_edge=False)
    table.add_column("scenario")
    for name in ("steps", "tokens", "preemptions"):
        table.add_column(name, justify="right")
    for version in versions:
        table.add_column(f"vLLM {version}")
    for name, group in groupby(outcomes, key=lambda o: o.name):
        found = {o.version: o for o in group}
        first = next(iter(found.values()))
        cells = [
            Text(found[v].status, style=_STYLES[found[v].status]) if v in found else Text("")
            for v in versions
        ]
        table.add_row(name, str(first.steps), str(first.tokens), str(first.preemptions), *cells)
    return table


def _reasons(console: Console, outcomes: list[Outcome]) -> None:
    """Why each scenario that is not covered is not, and in how many recordings that shows."""
    uncovered = sorted((o for o in outcomes if o.declared), key=lambda o: o.declared or 0)
    for (number, reason), group in groupby(uncovered, key=lambda o: (o.declared, o.reason)):
        found = list(group)
        shows = sum(1 for o in found if o.difference is not None)
        console.print()
        text = f"not covered, declared difference {number}: {reason}"
        console.print(text, style="yellow", highlight=False)
        names = ", ".join(dict.fromkeys(o.name for o in found))
        console.print(f"  shows in {shows} of {len(found)} recordings of {names}", highlight=False)


def _shown(outcomes: list[Outcome]) -> Outcome | None:
    """The scenario of the demonstration."""
    return next((o for o in outcomes if o.status != "not covered" and o.preemptions), None)


def _show_steps(console: Console, outcomes: list[Outcome]) -> None:
    shown = _shown(outcomes)
    if shown is None:
        return
    console.print(f"{shown.name}: what vLLM {shown.version} did, and what the program does", style="bold")
    console.print(step_grid(shown), highlight=False)
    console.print()


def _summary(console: Console, outcomes: list[Outcome]) -> None:
    count = Counter(o.status for o in outcomes)
    agreeing = [o for o in outcomes if o.status == "agrees"]
    steps, tokens = sum(o.steps for o in agreeing), sum(o.tokens for o in agreeing)
    versions = ", ".join(sorted({o.version for o in outcomes}, reverse=True))
    console.print()
    console.print(
        f"{count['agrees']} recordings agree at every step ({steps} steps, {tokens} tokens) "
        f"with vLLM {versions}; {count['differs']} differ; {count['not covered']} are not covered",
        style="bold" if not count["differs"] else "bold red",
        highlight=False,
    )
