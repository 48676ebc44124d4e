"""What a diagnostic is: a code, a sentence, a place, a note and a hint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

PathStep = str | int
IrPath = tuple[PathStep, ...]


class Severity(StrEnum):
    """How grave a diagnostic is; only errors change the exit status."""

    ERROR = "error"
    WARNING = "warning"


class Span(NamedTuple):
    """A half-open piece of a source text; lines and columns count from 1."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Place:
    """Where a diagnostic points: a file, a span of its text, a path in the IR; each may be absent."""

    file: str | None = None
    span: Span | None = None
    path: IrPath = ()

    def sort_key(self) -> tuple[str, int, int, tuple[tuple[int, int, str], ...]]:
        """An order over places: by file, then position in the text, then position in the IR."""
        line, column = (self.span.line, self.span.column) if self.span else (0, 0)
        steps = tuple((0, s, "") if isinstance(s, int) else (1, 0, s) for s in self.path)
        return self.file or "", line, column, steps


@dataclass(frozen=True)
class Diagnostic:
    """One finding. `message` is one sentence; `note` explains; `hint` says what to do.

    `suppressed` is the reason the source gives for expecting it: it then fails nothing.
    """

    code: str
    message: str
    place: Place = Place()
    note: str | None = None
    hint: str | None = None
    severity: Severity = Severity.ERROR
    suppressed: str | None = None

    def at(self, place: Place) -> Diagnostic:
        """The same diagnostic at another place."""
        return replace(self, place=place)


class SerqError(Exception):
    """Carries the diagnostics of whatever refused its input; raised by every public entry point.

    `sources` are the texts the diagnostics point into, by file, where they are known.
    """

    def __init__(
        self,
        diagnostics: Iterable[Diagnostic] | Diagnostic,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(diagnostics, Diagnostic):
            diagnostics = (diagnostics,)
        self.diagnostics = ordered(diagnostics)
        self.sources = dict(sources or {})
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in self.diagnostics))


def ordered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Diagnostics by place, then code, without repetitions."""
    unique = dict.fromkeys(diagnostics)
    return tuple(sorted(unique, key=lambda d: (d.place.sort_key(), d.code, d.message)))


def format_path(path: IrPath) -> str:
    """An IR path as text: `("blocks", 2, 0, "Hold")` is `blocks[2][0].Hold`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text
