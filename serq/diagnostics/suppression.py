"""What a source says about a finding it expects: the rules, the reason, and the lines it speaks of."""

from __future__ import annotations

from dataclasses import dataclass

from serq.diagnostics.model import Place


@dataclass(frozen=True)
class Suppression:
    """A comment `serq: allow(RULE, …) because REASON`.

    `lines` are those of `place.file` whose findings it speaks of; `reason` is empty when none is given.
    """

    rules: tuple[str, ...]
    reason: str
    place: Place
    lines: frozenset[int]

    def covers(self, place: Place) -> bool:
        """Whether something at a place is on one of its lines."""
        return place.file == self.place.file and place.span is not None and place.span.line in self.lines
