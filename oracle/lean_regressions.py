"""Stored regressions: programs that once told two implementations apart, each with what a run of it gives.

One JSON file a program: why it is kept, the program's IR, its outcome. The generators make a Lean
module of each; the outcome is the interpreter's, and a test runs every program again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.generators.claims_text import lean_name
from serq.generators.model import Translated
from serq.generators.outcomes import Iterated, Outcome, Statement, batch_module, outcome_theorems
from serq.generators.toolchain.cache import cannot_write
from serq.generators.translate import translate
from serq.ir.decode import from_data
from serq.ir.encode import dumps
from serq.ir.program import Program, Sessions
from serq.oracle.lean_folder import FOLDER

REGRESSIONS = Path(__file__).resolve().parent / "regressions"
GENERATED = FOLDER / "Serq" / "Generated"
_SUFFIX = ".regression.json"


@dataclass(frozen=True)
class Regression:
    """A program that is kept, why, and what a run of it gives."""

    name: str
    why: str
    program: Program
    outcome: Outcome

    @property
    def module(self) -> str:
        """The last part of its Lean module."""
        return f"Regression{lean_name(self.name)}"

    @property
    def statement(self) -> Statement:
        """Its outcome as a statement about the model."""
        return Statement("Run", translate(self.program), self.outcome)

    @property
    def sessions(self) -> int:
        """How many sessions it has."""
        arrival = self.program.arrival
        return len(arrival.sessions) if isinstance(arrival, Sessions) else 0

    @property
    def text(self) -> str:
        """Its Lean module."""
        return batch_module(
            self.module, f"the stored regression `{self.name}`:\n{self.why}", [self.statement]
        )

    @property
    def encoded(self) -> tuple[str, str, int, Translated]:
        """What the executable reads of it: a name, its namespace, its horizon, the program."""
        return self.name, f"{self.module}.Run", int(self.program.horizon), translate(self.program)

    @property
    def theorems(self) -> list[str]:
        """The full names of its theorems."""
        return outcome_theorems(self.module, [self.statement])


def store(
    regression: Regression, folder: Path = REGRESSIONS, generated: Path = GENERATED
) -> tuple[Path, Path]:
    """Write a regression and its Lean module; gives where. Raises `SerqError` SQ001."""
    data = {
        "name": regression.name,
        "why": regression.why,
        "program": json.loads(dumps(regression.program)),
        "outcome": asdict(regression.outcome),
    }
    kept, module = folder / f"{regression.name}{_SUFFIX}", generated / f"{regression.module}.lean"
    try:
        for path, text in ((kept, _written(data)), (module, regression.text)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SerqError(cannot_write(kept, error)) from None
    return kept, module


def _written(data: Mapping[str, Any]) -> str:
    """An object with one key a line."""
    return "{\n" + ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in data.items()) + "\n}\n"


def stored(folder: Path = REGRESSIONS) -> list[Regression]:
    """The regressions of a folder, by name; raises `SerqError` for a file that is not one."""
    return [_read(path) for path in sorted(folder.glob(f"*{_SUFFIX}"))]


def _read(path: Path) -> Regression:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        outcome = _outcome(data["outcome"])
        name, why, program = data["name"], data["why"], data["program"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{path.name} is not a stored regression: {error!r}"
        raise SerqError(Diagnostic("SQ903", message, Place(str(path)))) from None
    if path.name != f"{name}{_SUFFIX}":
        raise SerqError(Diagnostic("SQ903", f"{path.name} holds the regression `{name}`", Place(str(path))))
    return Regression(name, why, from_data(program, str(path)), outcome)


def _outcome(data: Mapping[str, Any]) -> Outcome:
    return Outcome(
        observed=tuple(tuple(tuple(values) for values in name) for name in data["observed"]),
        iterations=tuple(
            Iterated(i["start"], _pairs(i["tokens"]), i["residents"], tuple(i["preempted"]))
            for i in data["iterations"]
        ),
        preemptions=data["preemptions"],
        pools=_pairs(data["pools"]),
    )


def _pairs(data: list[list[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((a, b) for a, b in data)
