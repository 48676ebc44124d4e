"""Questions to z3: answered, or unknown within a limit that does not depend on the machine's load.

The limit is in z3's own resource units, so that an answer does not depend on how busy the
machine is; wall-clock time is a second limit, several times as generous.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import z3

from serq.check.flags import Flag, as_z3, land, lnot
from serq.check.terms import Values
from serq.check.variables import Variable, Variables, exact_real

# Resource units per second of the time-out, measured on a slow core.
_UNITS = 1_500_000


_COARSE = "the bounds found are too coarse for a proof, and the ways tried show no witness"


class Verdict(StrEnum):
    """The answer of a rule at a place."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Fact:
    """A condition, as a flag for the solver and as a test of witness values."""

    flag: Flag
    holds: Callable[[Values], bool]


@dataclass(frozen=True)
class Answer:
    """A verdict: the witness that refutes, by variable, or why it is unknown.

    `rare` says that a draw of the witness lies far in its tail.
    """

    verdict: Verdict
    witness: tuple[tuple[str, float], ...] = ()
    why: str = ""
    values: Values | None = None
    rare: bool = False


def both(*facts: Fact) -> Fact:
    """All of the facts."""
    return Fact(land(*(f.flag for f in facts)), lambda v: all(f.holds(v) for f in facts))


def negation(fact: Fact) -> Fact:
    """The contrary."""
    return Fact(lnot(fact.flag), lambda v: not fact.holds(v))


TRUE = Fact(True, lambda v: True)
FALSE = Fact(False, lambda v: False)


class Oracle:
    """Asks whether something wrong can happen, for all values of a model's variables.

    After `patience` questions without an answer the others get a tenth of the limit.
    """

    def __init__(
        self, variables: Variables, timeout: float, deadline: float | None = None, patience: int = 24
    ) -> None:
        self.variables = variables
        self.timeout = timeout
        self.deadline = deadline
        self._patience = patience
        self._unanswered = 0

    def never(self, wrong: Fact) -> bool:
        """Whether something is proved never to happen; no when it is not decided in time."""
        if isinstance(wrong.flag, bool):
            return not wrong.flag
        return bool(self._check([wrong.flag])[0] == z3.unsat)

    def ask(self, wrong: Fact, *, proof: bool = True, witness: bool = True) -> Answer:
        """Refuted when it can happen (a witness confirms it in doubles), proved when it never does.

        `proof` false leaves out "proved": the variables enclose only some of what happens.
        """
        if wrong.flag is False:
            return Answer(Verdict.PROVED) if proof else Answer(Verdict.UNKNOWN, why=_COARSE)
        if not witness:
            return self._proof_only(wrong)
        last = "the solver gave no answer in its limit"
        for preference in self._preferences():
            result, model = self._check([as_z3(wrong.flag), *preference])
            if result == z3.unsat and not preference:
                if proof:
                    return Answer(Verdict.PROVED)
                return Answer(Verdict.UNKNOWN, why=_COARSE)
            if model is not None:
                confirmed = self._confirm(wrong, model)
                if isinstance(confirmed, Answer):
                    return confirmed
                last = confirmed
        return Answer(Verdict.UNKNOWN, why=last)

    def _proof_only(self, wrong: Fact) -> Answer:
        result, _ = self._check([as_z3(wrong.flag)])
        if result == z3.unsat:
            return Answer(Verdict.PROVED)
        why = "it may happen for values that only enclose what occurs"
        return Answer(
            Verdict.UNKNOWN, why=why if result == z3.sat else "the solver gave no answer in its limit"
        )

    def _preferences(self) -> list[list[z3.BoolRef]]:
        """What makes a witness easy to believe: whole numbers and draws out of their tails; at last, nothing."""
        table = self.variables.table.values()
        whole = [z3.IsInt(v.num) for v in table if v.exact and not v.whole]
        likely = [z3.And(v.num <= v.likely, v.num >= -v.likely) for v in table if v.likely is not None]
        ways = [[*whole, *likely], likely] if whole else [likely]
        return [*ways, []] if likely or whole else [[]]

    def _check(self, parts: Sequence[z3.BoolRef]) -> tuple[z3.CheckSatResult, z3.ModelRef | None]:
        left = self.timeout
        if self.deadline is not None:
            left = min(left, self.deadline - time.monotonic())
            if left <= 0:
                return z3.unknown, None
        solver = z3.Solver()
        share = 1.0 if self._unanswered < self._patience else 0.1
        solver.set("rlimit", int(self.timeout * _UNITS * share))
        solver.set("timeout", max(1, int(4000 * left)))
        solver.set("random_seed", 0)
        solver.add(*self.variables.rounding.relevant(parts))
        solver.add(*parts)
        result = solver.check()
        self._unanswered += result == z3.unknown
        return result, solver.model() if result == z3.sat else None

    def _confirm(self, wrong: Fact, model: z3.ModelRef) -> Answer | str:
        given = {}
        for variable in self.variables.table.values():
            value = model.eval(variable.num)
            number = _as_float(value)
            if number is not None:
                given[variable.name] = number
        values = Values(given)
        if not wrong.holds(values):
            return "no witness was confirmed in double arithmetic"
        read = [self.variables.table[n] for n in sorted(values.read, key=lambda n: int(n[1:]))]
        loose = [v for v in read if not v.exact]
        if loose and not self._whatever(wrong, read, values):
            return f"it depends on {loose[0].what}"
        read = [v for v in read if v.exact]
        for variable in read:
            if not variable.allows(values.read[variable.name]):
                return f"{variable.what} does not take the witness's value"
        rare = any(v.likely is not None and abs(values.read[v.name]) > v.likely for v in read)
        return Answer(
            Verdict.REFUTED, tuple((v.what, values.read[v.name]) for v in read), values=values, rare=rare
        )

    def _whatever(self, wrong: Fact, read: Sequence[Variable], values: Values) -> bool:
        """Whether the witness's exact values alone make it happen, whatever the others are."""
        held = [v.num == exact_real(values.read[v.name]) for v in read if v.exact]
        return bool(self._check([as_z3(lnot(wrong.flag)), *held])[0] == z3.unsat)


def _as_float(value: z3.ExprRef) -> float | None:
    if z3.is_rational_value(value):
        return float(value.as_fraction())
    if z3.is_algebraic_value(value):
        return float(value.approx(20).as_fraction())
    return None
