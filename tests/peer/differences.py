"""Differences from the peer that stand, numbered: why, and a small program that shows each.

`test_reports_agree.py` fails when the program of an entry stops showing it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from serq.ir.program import Program


@dataclass(frozen=True)
class Declared:
    """One difference: where it shows in the report, why it stands, and a program with it."""

    number: int
    path: str
    reason: str
    program: Callable[[], Program]


DECLARED: tuple[Declared, ...] = ()
