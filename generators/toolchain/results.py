"""What a build gives, whichever toolchain it came from: messages, modules, and the name of the judge."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from serq.diagnostics import Diagnostic, Place, Span
from serq.generators.toolchain.project import SourceModule


class Status(StrEnum):
    """What became of a module."""

    CHECKED = "checked"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Message:
    """One message of Lean; lines and columns count from 1."""

    severity: str
    text: str
    span: Span | None = None


@dataclass(frozen=True)
class ModuleResult:
    """One module of a build. `problems` are findings other than Lean's messages: a crash, a time-out.

    `memory` is the most that Lean's process had resident while it checked the module, in bytes; 0
    where it was not measured.
    """

    name: str
    status: Status
    seconds: float = 0.0
    messages: tuple[Message, ...] = ()
    problems: tuple[Diagnostic, ...] = ()
    memory: int = 0


@dataclass(frozen=True)
class Judge:
    """The toolchain a result came from. `exact_audit`: the audit sees through the library."""

    kind: str
    version: str
    exact_audit: bool

    @property
    def authority(self) -> str:
        """What a result of this toolchain is worth."""
        if self.kind == "native":
            return "the official toolchain: its verdict counts"
        return "the embedded build of Lean; the official toolchain is the authority"


def message_diagnostic(module: SourceModule, message: Message) -> Diagnostic | None:
    """A message of Lean as SQ951 (error) or SQ952 (warning); information is no finding."""
    if message.severity not in ("error", "warning"):
        return None
    headline, _, rest = message.text.strip().partition("\n")
    if message.severity == "error":
        return Diagnostic("SQ951", headline, Place(module.file, message.span), note=rest or None)
    return Diagnostic(
        "SQ952",
        headline,
        Place(module.file, message.span),
        note=rest or None,
        hint="a warning fails the check: it may be the only sign of a missing proof",
    )
