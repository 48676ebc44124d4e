"""Claims checked along the path of a run (interp.md §14)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from serq.ir.program import Claim, EveryIteration, SomeIteration
from serq.sim.records import Context, Session

if TYPE_CHECKING:
    from serq.sim.machine import Machine


@dataclass
class ClaimResult:
    """What a run found of a claim, under the names of the JSON report."""

    name: str
    kind: str
    result: str
    checked: int
    failures: int
    first: float | None
    note: str | None


class ClaimState:
    """A claim while it is checked."""

    def __init__(self, spec: Claim, given: Callable[[Session], float] | None) -> None:
        self.spec = spec
        self.given = given
        self.checked = 0
        self.failures = 0
        self.first: float | None = None
        self.outsider: int | None = None

    def consider(self, s: Session) -> None:
        """Read `given` for a new session; one that fails puts the claim out of scope."""
        if self.outsider is None and self.given is not None and self.given(s) == 0.0:
            self.outsider = s.serial

    def _result(self, kind: str, result: str, note: str | None = None) -> ClaimResult:
        if self.outsider is not None:
            result, note = "out_of_scope", f"session {self.outsider} fails `given`"
        return ClaimResult(self.spec.name, kind, result, self.checked, self.failures, self.first, note)


class IterationClaim(ClaimState):
    """A claim over the iterations of an engine."""

    def __init__(
        self, spec: Claim, given: Callable[[Session], float] | None, expr: Callable[[Context], float]
    ) -> None:
        super().__init__(spec, given)
        self._expr = expr
        self._some = isinstance(spec.kind, SomeIteration)

    def read(self, c: Context, now: float) -> None:
        """Read the claim as an iteration starts."""
        if self.outsider is not None:
            return
        self.checked += 1
        holds = self._expr(c) != 0.0
        if not holds:
            self.failures += 1
        if holds == self._some and self.first is None:
            self.first = now

    def result(self) -> ClaimResult:
        """What was found."""
        if isinstance(self.spec.kind, EveryIteration):
            return self._result("every_iteration", "fails" if self.failures else "holds")
        return self._result("some_iteration", "not_witnessed" if self.first is None else "witnessed")


class EndClaim(ClaimState):
    """A claim about the end of the run."""

    def __init__(
        self, spec: Claim, given: Callable[[Session], float] | None, expr: Callable[[], float]
    ) -> None:
        super().__init__(spec, given)
        self._expr = expr

    def conclude(self, machine: Machine) -> ClaimResult:
        """Read the claim once, unless sessions are live or it is out of scope."""
        if self.outsider is not None:
            return self._result("at_end", "out_of_scope")
        if machine.live:
            count = machine.live
            note = f"{count} session{'' if count == 1 else 's'} live at the end"
            return self._result("at_end", "not_evaluated", note)
        self.checked = 1
        if self._expr() == 0.0:
            self.failures = 1
            self.first = machine.end
            return self._result("at_end", "fails")
        return self._result("at_end", "holds")


def aggregate(values: list[float], kind: str) -> float:
    """An aggregate of every value observed (004, *Expressions*)."""
    if kind == "Count":
        return float(len(values))
    if kind == "Largest":
        return max(values, default=0.0)
    if kind == "Smallest":
        return min(values, default=0.0)
    total = -0.0
    if kind == "Total":
        for v in values:
            total += v
    else:
        ordered = sorted(values, key=lambda v: math.inf if v != v else v)
        for i, v in enumerate(ordered):
            total += v * (len(ordered) - i)
    return total
