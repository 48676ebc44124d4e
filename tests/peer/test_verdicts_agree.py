"""Programs with words put where others stood: both sides accept them, or both refuse them.

`SERQ_PEER_N` says how many (40 unless set), `SERQ_PEER_FROM` the first. What is refused on one side
alone is written out where it is known (`test_ir_agrees.py`); one in a hundred may be of a kind that is.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from serq.diagnostics import SerqError
from tests.generators.sq_programs import random_source
from tests.lang.sources import SOURCES, reworded
from tests.peer.test_ir_agrees import first_difference, ours, peers

COUNT = int(os.environ.get("SERQ_PEER_N", "40"))
FIRST = int(os.environ.get("SERQ_PEER_FROM", "0"))
PROGRAMS = [text for text in SOURCES if "fn main" in text and 'use "' not in text]


def _written(seed: int) -> str:
    return reworded(random_source(seed) if seed % 2 else PROGRAMS[seed // 2 % len(PROGRAMS)], seed)


def _ours(text: str) -> Any:
    try:
        return ours(text)
    except SerqError:
        return None


def _peers(text: str) -> Any:
    try:
        return peers(text)
    except ValueError:
        return None


@pytest.fixture(scope="module")
def disagreeing() -> list[str]:
    """The programs whose verdicts or IR differ, with what does."""
    found = []
    for seed in range(FIRST, FIRST + COUNT):
        text = _written(seed)
        here, there = _ours(text), _peers(text)
        if here is None and there is None:
            continue
        if here is None or there is None:
            found.append(
                f"seed {seed}: only {'the peer accepts' if here is None else 'accepted here'}: {text}"
            )
        elif (difference := first_difference(here, there)) is not None:
            found.append(f"seed {seed}: {difference}: {text}")
    return found


def test_verdicts_agree(disagreeing: list[str]) -> None:
    assert len(disagreeing) <= COUNT // 100, "\n".join(disagreeing)
