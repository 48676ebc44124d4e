"""A run that stops (interp.md §18): the error, and where in the program it happened."""

from __future__ import annotations

from serq.diagnostics import Diagnostic, IrPath, Place, SerqError


class Stop(Exception):
    """A run-time error; the path of the statement at fault is added where it is known."""

    def __init__(self, code: str, message: str, hint: str | None = None, path: IrPath = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.path = path

    def diagnostic(self, now: float) -> Diagnostic:
        """The error as a diagnostic, with the instant in its note."""
        place = Place(path=self.path)
        return Diagnostic(self.code, self.message, place, note=f"at time {now:g} of the run", hint=self.hint)


class RunError(SerqError):
    """A run stopped with an error; there is no report."""


def amount(value: float, what: str) -> float:
    """An amount: refused when NaN or negative beyond the tolerance, else at least 0 (interp.md §6)."""
    if value >= 0.0:
        return value
    if value >= -1e-9:
        return 0.0
    shown = "not a number" if value != value else f"negative ({value:g})"
    raise Stop(
        "SQ802",
        f"{what} is {shown}",
        hint="an amount is 0 or more: bound the expression with max(0, …) or correct its inputs",
    )
