"""`make bench`: every speed as a ratio, measured side by side; exit status 1 when one asked for is missed."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import checker, peer, queues, scheduler
from bench.timing import Result


def table(results: list[Result]) -> Table:
    """One row per ratio."""
    made = Table(box=None, pad_edge=False)
    for name in ("what", "serq", "other", "", "ratio", "asked", ""):
        made.add_column(name, justify="left" if name in ("what", "") else "right")
    for r in results:
        ours = next(iter(r.rates))
        for other, ratio in r.ratios.items():
            least = r.asked.get(other)
            verdict = "" if least is None else ("met" if ratio >= least else "MISSED")
            made.add_row(
                r.what,
                f"{r.rates[ours]:,.0f} {r.unit}" if r.rates[ours] > 10 else f"{r.rates[ours]:.2f} {r.unit}",
                f"{r.rates[other]:,.0f}" if r.rates[other] > 10 else f"{r.rates[other]:.2f}",
                other,
                f"{ratio:.3f}" if ratio < 10 else f"{ratio:.1f}",
                "" if least is None else f"{least:.3f}",
                verdict,
            )
    return made


def main() -> int:
    """Measure everything and print the ratios."""
    console = Console(width=120)
    results: list[Result] = []
    for group in (queues, peer, scheduler):
        found = group.results()
        console.print(table(found))
        results += found
    costs = checker.measured()
    console.print(checker.table(costs))
    missed = [r.what for r in results if not r.met]
    missed += [f"checking {name} in {checker.OVERALL:.0f} s" for name in checker.late(costs)]
    console.print(f"missed: {', '.join(missed)}" if missed else "every ratio asked for is met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
