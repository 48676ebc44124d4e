"""Collecting what is wrong with a text: every finding once, placed in its own file."""

from __future__ import annotations

from dataclasses import dataclass, field

from serq.diagnostics import Diagnostic, Place, SerqError, Span
from serq.lang.tree import Node


class FileSpan(Span):
    """A span of another file than the program's: a library's or a supplied text's."""

    file: str

    @staticmethod
    def of(span: Span, file: str) -> FileSpan:
        """A span, said to be of a file."""
        found = FileSpan(*span)
        found.file = file
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FileSpan) and tuple.__eq__(self, other) and self.file == other.file

    def __hash__(self) -> int:
        return hash((tuple(self), self.file))


@dataclass
class Findings:
    """The diagnostics found so far in one program; `file` is the program's own."""

    file: str | None = None
    found: list[Diagnostic] = field(default_factory=list)
    _seen: set[tuple[str, Place, str]] = field(default_factory=set)

    def error(
        self,
        code: str,
        message: str,
        at: Node | Span | None,
        *,
        note: str | None = None,
        hint: str | None = None,
    ) -> None:
        """Report an error at a node; the same one at the same place is kept once."""
        place = self.place(at)
        key = (code, place, message)
        if key not in self._seen:
            self._seen.add(key)
            self.found.append(Diagnostic(code, message, place, note=note, hint=hint))

    def place(self, at: Node | Span | None) -> Place:
        """The file and span of a node."""
        span = at.span if isinstance(at, Node) else at
        if isinstance(span, FileSpan):
            return Place(span.file, Span(*span))
        return Place(self.file, span)

    def where(self, at: Node | Span) -> str:
        """`line 3` or `line 3 of lib.sq`, for notes that point at another place."""
        place = self.place(at)
        line = f"line {place.span.line}" if place.span else "the program"
        return line if place.file == self.file else f"{line} of {place.file}"

    def stop(self) -> None:
        """Raise everything found, if anything was."""
        if self.found:
            raise SerqError(self.found)
