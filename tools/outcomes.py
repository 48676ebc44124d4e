"""What became of the mutants of the examples, as `tools/mutation.py` has written it down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tools.examples import ROOT
from tools.mutants import MUTATIONS

RESULT = ROOT / "tests" / "check" / "mutants.json"
# How a run goes wrong, and the rule that speaks of it. A queue that only grows is a load above what is left.
SPOKEN_OF = {
    "SQ801": "guard-not-test",
    "SQ802": "amount-negative",
    "SQ805": "index-outside",
    "SQ807": "iteration-cost",
    "SQ815": "index-outside",
    "deadlock": "hold-never-fits",
    "livelock": "outgrows-pool",
    "overflow": "hold-never-fits",
}
# A run that hangs does not say which of these it is.
HANGS = ("hold-never-fits", "outgrows-pool", "growth-deadlock", "hold-and-wait", "loop-without-time")


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    `refused` is the code of a rule of validity, `caught` are the checker's rules, `run` how a
    run goes wrong where the original's does not; all empty for what goes unnoticed. `answer` is
    what the checker said of what is missed: `unknown`, why, or `proved`.
    """

    example: str
    mutation: str
    place: str
    refused: str = ""
    caught: tuple[str, ...] = ()
    run: str = ""
    answer: str = ""

    @property
    def missed(self) -> bool:
        """Whether it goes wrong, or is wrong as written, and nothing says so."""
        return not self.refused and not self.caught and bool(self.run or _certain(self.mutation))

    @property
    def rule(self) -> str:
        """The rule that should have caught what is missed."""
        return _certain(self.mutation) or SPOKEN_OF.get(self.run, "other")

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that could have caught what is missed."""
        return HANGS if self.rule in HANGS else () if self.rule == "other" else (self.rule,)


def _certain(mutation: str) -> str:
    return next(m.rule or "" for m in MUTATIONS if m.name == mutation)


@dataclass(frozen=True)
class Record:
    """The outcomes of an example, what it was (a digest), and the number of its first place."""

    program: str
    first: int
    outcomes: tuple[Outcome, ...]


def records() -> dict[str, Record]:
    """What the command has written down, by example."""
    data: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    return {
        name: Record(
            one["program"],
            one["first"],
            tuple(Outcome(**{**row, "caught": tuple(row.get("caught", ()))}) for row in one["mutants"]),
        )
        for name, one in data.items()
    }


def recorded() -> list[Outcome]:
    """All outcomes."""
    return [o for record in records().values() for o in record.outcomes]


def write(found: Mapping[str, Record]) -> None:
    """Write them down, a mutant a line."""
    parts = []
    for name, record in found.items():
        rows = (json.dumps({k: v for k, v in asdict(o).items() if v}) for o in record.outcomes)
        head = f'{json.dumps(name)}: {{"program": "{record.program}", "first": {record.first}, "mutants": [\n'
        parts.append(head + ",\n".join(rows) + "\n]}")
    RESULT.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
