"""What a rule is: a code, a name, a severity, a check of a model, and programs that show it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from serq.check.model import Model
from serq.check.places import Reading, State
from serq.check.report import Finding, diagnostic, told
from serq.check.solver import COMMON, Answer, Verdict
from serq.check.terms import Values
from serq.diagnostics import IrPath, Severity
from serq.ir import expressions as ex

# So many values of a witness are printed; a finding keeps them all.
_SHOWN = 8

Check = Callable[[Model], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """A rule. `bad` and `good` are programs the first of which it refutes.

    `hide` are attributes to hide in both after compiling, where the text cannot say it.
    `some` says that "proved" is of some values and not of all: of open inputs it says nothing.
    """

    code: str
    name: str
    severity: Severity
    check: Check
    bad: str
    good: str
    hide: tuple[str, ...] = ()
    some: bool = False

    @property
    def module(self) -> str:
        """The module that documents the rule."""
        return self.check.__module__

    def finding(
        self,
        path: IrPath,
        answer: Answer,
        message: str,
        *,
        hint: str | None = None,
        witness: tuple[tuple[str, float], ...] | None = None,
        severity: Severity | None = None,
        note: str | None = None,
    ) -> Finding:
        """A finding of this rule: a diagnostic where it is refuted."""
        shown = answer.witness if witness is None else witness
        if answer.verdict is not Verdict.REFUTED:
            return Finding(self.name, self.code, path, answer.verdict, (), answer.why, safe=answer.safe)
        parts = [f"for example with {told(shown[:_SHOWN])}" if shown else "", note or ""]
        rare = answer.chance < COMMON
        if rare:
            parts.append(f"draws that far in their tails come {_once_in(answer.chance)}")
        text = "; ".join(p for p in parts if p) or None
        grave = Severity.WARNING if rare else severity or self.severity
        found = diagnostic(self.code, message, path, grave, note=text, hint=hint)
        return Finding(self.name, self.code, path, answer.verdict, shown, "", found, answer.safe)


def _once_in(chance: float) -> str:
    """How often, to one digit: `about once in 4 000 sessions`."""
    times = 1.0 / chance
    size = 10.0 ** math.floor(math.log10(times))
    return f"about once in {round(times / size) * size:,.0f} sessions".replace(",", " ")


def attributes_read(
    model: Model, values: Values | None, state: State, *exprs: ex.Expr | None
) -> tuple[tuple[str, float], ...]:
    """The witness as the attributes that expressions read, with their values."""
    if values is None:
        return ()
    slots = sorted({x.slot for e in exprs if e is not None for x in ex.walk(e) if isinstance(x, ex.Attr)})
    return tuple((model.names.attr(s), values.of(state.attrs[s])) for s in slots)


def witness_at(model: Model, answer: Answer, reading: Reading | None) -> tuple[tuple[str, float], ...]:
    """What a witness of a reading shows: the attributes it reads, then what they came from."""
    if reading is None:
        return answer.witness
    seen = attributes_read(model, answer.values, reading.state, reading.expr)
    known = {what for what, _ in seen}
    return seen + tuple(pair for pair in answer.witness if pair[0] not in known)
