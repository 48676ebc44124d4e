"""How far a rule holds as an input varies: the edge between proved and refuted.

Inputs are folded when a program is compiled, so each value is a program of its own. The
search asks the rules about single values: every answer it gives is one of theirs. Between
the values asked it claims nothing, except where it asked them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from serq.check import Verdict, run_checks
from serq.check.model import Ranges
from serq.ir.program import Program

Factory = Callable[[int], Program]


@dataclass(frozen=True)
class Region:
    """What was found: the answers by value, the edge, and whether every value was asked.

    `least_safe` is proved, and the value below it, if it is in the range, is not.
    """

    answers: tuple[tuple[int, Verdict], ...]
    least_safe: int | None
    complete: bool


def solve_for(
    factory: Factory,
    low: int,
    high: int,
    *,
    rules: Sequence[str],
    ranges: Ranges | None = None,
    timeout: float = 2.0,
    every: int = 32,
) -> Region:
    """The least whole value from `low` to `high` for which rules are proved.

    A range of at most `every` values is asked whole; a longer one is bisected, which finds
    the edge when larger values are safer.
    """
    known: dict[int, Verdict] = {}

    def ask(value: int) -> bool:
        if value not in known:
            report = run_checks(factory(value), rules=rules, timeout=timeout, ranges=ranges)
            known[value] = _worst([f.verdict for f in report.findings])
        return known[value] is Verdict.PROVED

    if high - low < every:
        safe = [value for value in range(low, high + 1) if ask(value)]
        return Region(tuple(sorted(known.items())), safe[0] if safe else None, True)
    edge = _bisect(ask, low, high)
    return Region(tuple(sorted(known.items())), edge, False)


def _bisect(ask: Callable[[int], bool], low: int, high: int) -> int | None:
    if ask(low):
        return low
    if not ask(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if ask(middle) else (middle, high)
    return high


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    return Verdict.UNKNOWN if Verdict.UNKNOWN in verdicts else Verdict.PROVED
