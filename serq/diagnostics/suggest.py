"""Did-you-mean: the nearest known name to an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """`did you mean `x`?` for the closest of `known`, or None when none is close."""
    matches = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean `{matches[0]}`?" if matches else None
