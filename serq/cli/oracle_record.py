"""`serq oracle record`: record scenarios with the real scheduler of a vLLM environment."""

from __future__ import annotations

from pathlib import Path

import click

from serq.oracle.recorded import RECORDED
from serq.oracle.recording.record import Recorded, record


@click.command()
@click.argument("scenarios", nargs=-1, required=True, type=click.Path(path_type=Path))
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
def command(scenarios: tuple[Path, ...], env: Path, out: Path) -> int:
    """Record SCENARIOS with the vLLM of an environment. Every file is checked before vLLM is started."""
    record(list(scenarios), env, out, told=_tell)
    return 0


def _tell(r: Recorded) -> None:
    click.echo(
        f"{r.name}: vLLM {r.vllm}, {r.steps} steps, {r.preemptions} preemptions, {r.ended}, {r.size} bytes"
    )
