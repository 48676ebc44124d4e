"""`serq capacity`: what becomes of the longest requests under the settings of a vLLM deployment."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from serq.cli.output import report_diagnostics
from serq.diagnostics import SerqError
from serq.oracle.questions.answers import GRAVE, Answer, answers, overall
from serq.oracle.questions.logs import settings_from_log
from serq.oracle.questions.reading import settings_from_file, value_of
from serq.oracle.questions.settings import KINDS, VERSIONS, Deployment, Given, deployment_of

_STYLES = {"safe": "green", "deadlock": "bold red", "livelock": "bold red", "starvation": "yellow"}
_AGREES = {
    True: "a run of it agrees",
    False: "a run of it DISAGREES",
    None: "not run: too many steps",
}


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[SETTINGS]")
@click.option("--log", type=click.Path(path_type=Path), metavar="FILE", help="The log of a server's start.")
@click.option("--num-gpu-blocks", metavar="N", help="KV blocks, the null block included.")
@click.option("--max-model-len", metavar="N", help="Tokens of a prompt and its answer.")
@click.option("--block-size", metavar="N", help="Tokens in a block.")
@click.option("--max-num-seqs", metavar="N", help="Requests that run at once.")
@click.option("--max-num-batched-tokens", metavar="N", help="Tokens of one step.")
@click.option("--long-prefill-token-threshold", metavar="N", help="Tokens of one prefill in one step.")
@click.option("--policy", metavar="fcfs|priority", help="The order of the queue.")
@click.option("--enable-prefix-caching", metavar="true|false", help="Whether prefixes are cached.")
@click.option("--scheduler-reserve-full-isl", metavar="true|false", help="Whether a whole prompt must fit.")
@click.option("--watermark", metavar="SHARE", help="Memory an admission leaves free.")
@click.option(
    "--long-prefill-token-threshold-adaptive", metavar="true|false", help="Whether a fair share raises it."
)
@click.option("--vllm", metavar="|".join(VERSIONS), help="The version whose rules hold (the newest).")
@click.option("--json", "as_json", is_flag=True, help="Print the answers as JSON.")
def command(file: Path | None, log: Path | None, as_json: bool, **flags: str | None) -> int:
    """Answer whether a deployment of vLLM can hang, and what its memory holds.

    The settings come from flags, a file (JSON or flat YAML, by vLLM's names) and the log of a
    server's start, in this order. Every answer is a closed form, checked by a run of the worst
    case. Exit status 0 when every request is served, 1 when a deadlock or livelock is possible,
    2 when the settings are not ones a server starts with.
    """
    try:
        deployment = _deployment(file, log, flags)
    except SerqError as error:
        report_diagnostics(error.diagnostics, error.sources)
        return 2
    found = answers(deployment.settings)
    if as_json:
        click.echo(json.dumps(_data(deployment, found), indent=2))
    else:
        _print(deployment, found)
    return 1 if any(a.verdict in GRAVE or a.agrees is False for a in found) else 0


def _deployment(file: Path | None, log: Path | None, flags: dict[str, str | None]) -> Deployment:
    given: dict[str, Given] = {}
    notes: list[str] = []
    if file is not None:
        given, notes = settings_from_file(file)
    for name, text in flags.items():
        if text is not None:
            given[name] = Given(value_of(name, text), "flag")
    if log is not None:
        given, remarks = settings_from_log(log, given)
        notes += remarks
    return deployment_of(given, tuple(notes))


def _data(deployment: Deployment, found: list[Answer]) -> dict[str, Any]:
    values = asdict(deployment.settings)
    return {
        "vllm": deployment.settings.vllm,
        "verdict": overall(found),
        "settings": {n: {"value": values[n], "source": deployment.sources[n]} for n in KINDS},
        "usable_blocks": deployment.settings.usable_blocks,
        "capacity_tokens": deployment.settings.capacity,
        "notes": list(deployment.notes),
        "answers": [{**asdict(a), "agrees": a.agrees} for a in found],
    }


def _print(deployment: Deployment, found: list[Answer]) -> None:
    console = Console(width=None if Console().is_terminal else 110, highlight=False)
    _print_settings(console, deployment)
    for answer in found:
        console.print()
        _print_answer(console, answer)
    verdict = overall(found)
    console.print()
    console.print(Text.assemble("verdict: ", (verdict, _STYLES[verdict])))


def _print_settings(console: Console, deployment: Deployment) -> None:
    s, values = deployment.settings, asdict(deployment.settings)
    for name in KINDS:
        value = str(values[name]).lower() if KINDS[name] is bool else str(values[name])
        source = deployment.sources[name]
        console.print(
            Text.assemble(f"{name:<38}{value:>10}  ", (source, "yellow" if source == "assumed" else "dim"))
        )
    for note in deployment.notes:
        console.print(f"note: {note}", markup=False)
    console.print(
        f"{s.usable_blocks:,} usable blocks, {s.capacity:,} tokens: one block is the null block. "
        f"The rules are those of vLLM {s.vllm}."
    )


def _print_answer(console: Console, a: Answer) -> None:
    parts: list[str | tuple[str, str]] = [(a.question, "bold")]
    if a.verdict is not None:
        parts += ["  ", (a.verdict, _STYLES[a.verdict])]
    console.print(Text.assemble(*parts))
    run = _AGREES[a.agrees] if a.runnable else "nothing to run"
    for line in wrap(f"{a.text} ({run})", console.width - 2):
        console.print(f"  {line}", markup=False)
    if a.agrees is False:
        console.print(f"  closed form {dict(a.closed)}, run {a.simulated}", style="bold red", markup=False)
