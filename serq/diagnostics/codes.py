"""The closed list of diagnostic codes; one band per phase, one row per code.

| band  | phase                                            |
|-------|--------------------------------------------------|
| SQ0xx | files, JSON, the shape of the IR, settings       |
| SQ1xx | text: characters and syntax                      |
| SQ2xx | text: program structure, inputs, imports         |
| SQ3xx | names                                            |
| SQ4xx | moments of evaluation                            |
| SQ5xx | types, sides, hidden attributes                  |
| SQ6xx | holds, loops, legs, amounts, flows, arrivals     |
| SQ7xx | engines, requests, queues, claims                |
| SQ8xx | a run that stops                                 |
| SQ9xx | tools around a program                           |
"""

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
