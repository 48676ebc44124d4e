"""The closed list of diagnostic codes; one band per phase (`BANDS`), one row per code."""

from __future__ import annotations

import importlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """Documentation of one code: what it says, why it is refused, a bad and a repaired program.

    `bad` and `good` are `.sq` programs where the finding can be written as text,
    else empty; `fix` says in words what to do.
    """

    code: str
    title: str
    why: str
    fix: str
    bad: str = ""
    good: str = ""


# What the first digit of a code says.
BANDS: dict[str, str] = {
    "SQ0": "files, JSON, the shape of the IR, settings",
    "SQ1": "text: characters and syntax",
    "SQ2": "text: program structure, inputs, imports",
    "SQ3": "names",
    "SQ4": "moments of evaluation",
    "SQ5": "types, sides, hidden attributes",
    "SQ6": "holds, loops, legs, amounts, flows, arrivals",
    "SQ7": "engines, requests, queues, claims",
    "SQ8": "a run that stops",
    "SQ9": "tools around a program",
}

_REGISTRY: dict[str, Code] = {}


def register(*rows: Code) -> None:
    """Add rows to the registry; a code is registered once."""
    for row in rows:
        if row.code in _REGISTRY:
            raise ValueError(f"code {row.code} is registered twice")
        _REGISTRY[row.code] = row


def _load() -> None:
    importlib.import_module("serq.diagnostics.catalogue")


def lookup(code: str) -> Code | None:
    """The row of a code, or None."""
    _load()
    return _REGISTRY.get(code)


def all_codes() -> tuple[Code, ...]:
    """Every row, by code."""
    _load()
    return tuple(_REGISTRY[c] for c in sorted(_REGISTRY))
