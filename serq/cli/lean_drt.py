"""`serq lean drt`: random programs run by the interpreter and by Lean's kernel, compared."""

from __future__ import annotations

from pathlib import Path

import click

from serq.generators.toolchain import KINDS
from serq.oracle.differential import CLASSES, Findings, Ran, differential_test, shrunk
from serq.oracle.lean_bench import LeanBench
from serq.oracle.lean_regressions import GENERATED, REGRESSIONS, Regression, store


@click.command()
@click.option(
    "-n", "--number", type=click.IntRange(1), default=60, show_default=True, help="How many programs."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The seed of the first program."
)
@click.option(
    "--toolchain", "kind", type=click.Choice(KINDS), default="auto", show_default=True, help="Which Lean."
)
@click.option(
    "--store",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Where a difference is kept, with its Lean module [the project's regressions].",
)
def command(number: int, seed: int, kind: str, folder: Path | None) -> int:
    """Run random programs of the Lean fragment with the interpreter and with the kernel of Lean.

    Compared are all observations, the iterations with their tokens, residents and preemptions,
    and what each pool has allocated and cached in the end. The first difference is shrunk, printed,
    and kept as a regression: the program with the interpreter's outcome, and a Lean module whose
    theorem is refused as long as the two differ. Exit status 0 when all agree and every class of
    behaviour was met, else 1.
    """
    bench = LeanBench(kind)
    found = differential_test(bench, number, seed, lambda done: click.echo(f"{done} compared", err=True))
    _say(found, bench)
    if found.differing:
        _keep(shrunk(bench, found.differing[0]), seed, folder)
    return 0 if found.ok else 1


def _say(found: Findings, bench: LeanBench) -> None:
    total = found.agreeing + len(found.differing)
    click.echo(
        f"{found.agreeing} of {total} programs agree; judged by {bench.judge.version} ({bench.judge.kind})"
    )
    for name in CLASSES:
        click.echo(f"  {name:<28} in {found.seen[name]} programs")
    for name in found.empty_classes:
        click.echo(f"no program exercised: {name}", err=True)
    for ran in found.differing:
        click.echo(f"differs: {ran.name}", err=True)
    for problem in found.problems:
        click.echo(problem, err=True)


def _keep(ran: Ran, seed: int, folder: Path | None) -> None:
    """Print the smallest case that still differs, and keep it."""
    why = "random programs found a difference between the interpreter and the model"
    kept = Regression(f"found_{seed}_{ran.program.digest[:8]}", why, ran.program, ran.outcome)
    click.echo(f"\n{ran.case}\n\n{kept.text}")
    paths = store(kept, folder or REGRESSIONS, folder or GENERATED)
    for path in paths:
        click.echo(f"kept in {path}", err=True)
    if folder is None:
        click.echo("run tools/regenerate.py, so that the build knows of it", err=True)
