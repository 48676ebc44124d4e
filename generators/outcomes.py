"""What a whole run gave, as a statement about the model; many runs in one Lean file (generators.md §10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from serq.generators.lean_text import LeanText
from serq.generators.model import Translated
from serq.generators.render import render


@dataclass(frozen=True)
class Iterated:
    """An iteration: when it started, the tokens of each session, the residents, who was preempted."""

    start: int
    tokens: tuple[tuple[int, int], ...]
    residents: int
    preempted: tuple[int, ...]


@dataclass(frozen=True)
class Outcome:
    """What a run gave: observed values by name and session, iterations, preemptions, each pool's end."""

    observed: tuple[tuple[tuple[int, ...], ...], ...]
    iterations: tuple[Iterated, ...]
    preemptions: int
    pools: tuple[tuple[int, int], ...]

    @property
    def lines(self) -> list[str]:
        """The outcome as a structure of the model, a field or an iteration a line."""
        iterations = [_iterated(i) for i in self.iterations]
        return [
            f"{{ observed := {_lean(self.observed)}",
            "  iterations := [",
            *(f"    {text}," for text in iterations[:-1]),
            *(f"    {text}" for text in iterations[-1:]),
            "  ]",
            f"  preemptions := {self.preemptions}",
            f"  pools := {_lean_pairs(self.pools)} }}",
        ]


@dataclass(frozen=True)
class Statement:
    """A program with the outcome that the model is said to give, under a name."""

    name: str
    program: Translated
    outcome: Outcome

    @property
    def text(self) -> LeanText:
        """The parts of the program as text."""
        return LeanText(self.program)

    @property
    def horizon(self) -> int:
        """Until when the program runs."""
        return self.program.horizon or 0

    @property
    def names(self) -> int:
        """How many names are observed under."""
        return len(self.program.observes)


def batch_module(module: str, source: str, statements: Sequence[Statement]) -> str:
    """A Lean file with a theorem for each statement."""
    return render("outcomes.lean", module=module, source=source, statements=statements)


def outcome_theorems(module: str, statements: Sequence[Statement]) -> list[str]:
    """The full names of the theorems of a batch."""
    kinds = ("belongs_to_the_fragment", "outcome_agrees")
    return [f"Serq.Generated.{module}.{s.name}.{kind}" for s in statements for kind in kinds]


def _iterated(i: Iterated) -> str:
    numbers = _lean(i.preempted)
    tokens = _lean_pairs(i.tokens)
    return f"{{ start := {i.start}, tokens := {tokens}, residents := {i.residents}, preempted := {numbers} }}"


def _lean(x: object) -> str:
    if isinstance(x, tuple):
        return "[" + ", ".join(_lean(y) for y in x) + "]"
    return str(x)


def _lean_pairs(pairs: Sequence[tuple[int, int]]) -> str:
    return "[" + ", ".join(f"({a}, {b})" for a, b in pairs) + "]"
