"""`serq oracle record`: record scenarios with the real scheduler of a vLLM environment."""

from __future__ import annotations

from pathlib import Path

import click

from serq.oracle.recorded import RECORDED
from serq.oracle.recording.checks import record_checks
from serq.oracle.recording.record import Recorded, record


@click.command()
@click.argument("scenarios", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--vllm",
    "env",
    required=True,
    type=click.Path(path_type=Path),
    metavar="ENV",
    help="A virtual environment with vLLM, as `make oracle-env` makes one.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=RECORDED,
    metavar="DIR",
    help="Traces are written to DIR/VERSION/NAME.trace.json.gz.",
)
@click.option(
    "--checks",
    is_flag=True,
    help="Also what a server checks of a request's length, and of its memory at start.",
)
def command(scenarios: tuple[Path, ...], env: Path, out: Path, checks: bool) -> int:
    """Record SCENARIOS with the vLLM of an environment. Every file is checked before vLLM is started."""
    if not scenarios and not checks:
        raise click.UsageError("name scenarios, or say --checks")
    if scenarios:
        record(list(scenarios), env, out, told=_tell)
    if checks:
        click.echo(f"written: {record_checks(env, out)}")
    return 0


def _tell(r: Recorded) -> None:
    click.echo(
        f"{r.name}: vLLM {r.vllm}, {r.steps} steps, {r.preemptions} preemptions, {r.ended}, {r.size} bytes"
    )
