"""`serq oracle`: compare programs with the recorded scheduler, step by step."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from serq.oracle.compare import Outcome, compare_file
from serq.oracle.grid import difference_text, step_grid
from serq.oracle.recorded import recorded_scenarios


@click.command()
@click.argument("scenarios", nargs=-1, type=click.Path(path_type=Path), metavar="[NAME.scenario.json]...")
@click.option("--json", "as_json", is_flag=True, help="Print the outcomes as JSON.")
@click.option("--demo", is_flag=True, help="Show the steps of the first scenario before the summary.")
def command(scenarios: tuple[Path, ...], as_json: bool, demo: bool) -> int:
    """Run recorded scenarios of the real vLLM scheduler through the interpreter and compare every step.

    Without arguments, all scenarios that ship with serq. The recorded trace stands beside
    each scenario as NAME.trace.json. Exit status 0 when all agree, 1 otherwise.
    """
    outcomes = [compare_file(path) for path in (scenarios or recorded_scenarios())]
    if as_json:
        click.echo(json.dumps([_data(o) for o in outcomes], indent=2))
    else:
        _print(outcomes, demo)
    return 1 if any(o.status == "differs" for o in outcomes) else 0


def _data(o: Outcome) -> dict[str, Any]:
    data = {k: v for k, v in asdict(o).items() if k not in ("recorded", "program", "difference")}
    data["difference"] = None
    if o.difference is not None:
        d = o.difference
        data["difference"] = {"step": d.step, "mode": d.mode, "recorded": d.recorded, "program": d.program}
    return data


def _print(outcomes: list[Outcome], demo: bool) -> None:
    console = Console(width=None if Console().is_terminal else 110)
    if demo:
        _show_steps(console, outcomes)
    table = Table(box=None, pad_edge=False)
    for name in ("scenario", "steps", "tokens", "preemptions", "result"):
        table.add_column(name, justify="left" if name in ("scenario", "result") else "right")
    for o in outcomes:
        style = {"agrees": "green", "differs": "red"}.get(o.status, "yellow")
        text = o.status if o.reason is None else f"{o.status}: {o.reason}"
        counts = (
            (str(o.steps), str(o.tokens), str(o.preemptions)) if o.reason is None else (str(o.steps), "", "")
        )
        table.add_row(o.name, *counts, Text(text, style=style))
    console.print(table)
    for o in outcomes:
        if o.difference is not None:
            console.print()
            console.print(difference_text(o), highlight=False)
    _summary(console, outcomes)


def _show_steps(console: Console, outcomes: list[Outcome]) -> None:
    shown = next((o for o in outcomes if o.status != "not covered" and o.preemptions), None)
    if shown is None:
        return
    console.print(f"{shown.name}: what {shown.recorder} did, and what the program does", style="bold")
    console.print(step_grid(shown), highlight=False)
    console.print()


def _summary(console: Console, outcomes: list[Outcome]) -> None:
    count = Counter(o.status for o in outcomes)
    agreeing = [o for o in outcomes if o.status == "agrees"]
    steps, tokens = sum(o.steps for o in agreeing), sum(o.tokens for o in agreeing)
    recorders = ", ".join(sorted({o.recorder for o in outcomes}))
    console.print()
    console.print(
        f"{count['agrees']} scenarios agree at every step ({steps} steps, {tokens} tokens) with {recorders}; "
        f"{count['differs']} differ; {count['not covered']} are not covered",
        style="bold" if not count["differs"] else "bold red",
    )
