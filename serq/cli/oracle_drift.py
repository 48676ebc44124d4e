"""`serq oracle drift`: what changed in an installed vLLM of what the recorder relies on."""

from __future__ import annotations

from pathlib import Path

import click

from serq.oracle.recording.drift import drift


@click.command()
@click.option("--vllm", "env", required=True, type=click.Path(path_type=Path), metavar="ENV")
def command(env: Path) -> int:
    """Compare the vLLM of an environment with the versions recorded; exit status 1 when something changed."""
    found = drift(env)
    for finding in found:
        click.echo(finding.text)
    if not found:
        click.echo("nothing the recorder relies on has changed")
    return 1 if found else 0
