"""`serq lean drt`: random programs run by the interpreter and by Lean's kernel, compared."""

from __future__ import annotations

import click

from serq.generators.toolchain import KINDS
from serq.oracle.differential import CLASSES, Findings, Ran, differential_test, regression_module, shrunk
from serq.oracle.lean_bench import LeanBench


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
def command(number: int, seed: int, kind: str) -> int:
    """Run random programs of the Lean fragment with the interpreter and with the kernel of Lean.

    Compared are all observations, the iterations with their tokens, residents and preemptions,
    and what each pool has allocated and cached in the end. A difference is shrunk and printed
    as a theorem that Lean refuses. Exit status 0 when all agree and every class of behaviour
    was met, else 1.
    """
    bench = LeanBench(kind)
    found = differential_test(bench, number, seed, lambda done: click.echo(f"{done} compared", err=True))
    _say(found, bench)
    if found.differing:
        smallest = shrunk(bench, found.differing[0])
        click.echo(f"\n{smallest.case}\n\n{_theorem(smallest)}")
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


def _theorem(ran: Ran) -> str:
    return regression_module("Regression", [ran])
