"""Random programs run alike here and at the peer, to the last bit, and together they exercise every class.

`SERQ_PEER_N` says how many seeds (50 unless set), `SERQ_PEER_FROM` the first.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field

import pytest

from tests.generators.ir import random_program
from tests.generators.ir.classes import CLASSES, RARE, classes
from tests.peer.compare import PeerBreaks, PeerRefuses, compare, disagreement, ours, peer, repeats
from tests.peer.differences import DECLARED, declared_number

COUNT = int(os.environ.get("SERQ_PEER_N", "50"))
FIRST = int(os.environ.get("SERQ_PEER_FROM", "0"))
ENOUGH = 300  # seeds among which no class may be missing
SHOWN = 10


@dataclass
class Comparison:
    """What comparing many programs came to."""

    classes: Counter[str] = field(default_factory=Counter)
    differing: list[str] = field(default_factory=list)
    declared: Counter[int] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    unsteady: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def compared() -> Comparison:
    """Every program run on both sides."""
    found = Comparison()
    for seed in range(FIRST, FIRST + COUNT):
        program = random_program(seed)
        try:
            there = peer(program)
        except PeerRefuses as error:
            found.refused.append(f"seed {seed}: {error}")
            continue
        except PeerBreaks as error:
            found.broken.append(f"seed {seed}: {error}")
            continue
        difference = disagreement(ours(program), there)
        number = None if difference is None else declared_number(program)
        if number is not None:
            found.declared[number] += 1
        elif difference is not None and not repeats(program):
            found.unsteady.append(f"seed {seed}: {difference}")
        elif difference is not None:
            found.differing.append(f"seed {seed}: {difference}")
        found.classes.update(classes(program, there.report))
    return found


def test_every_program_is_valid(compared: Comparison) -> None:
    """The generator makes no program the peer refuses, and hardly one on which it breaks down or does not repeat."""
    assert not compared.refused, "\n".join(compared.refused[:SHOWN])
    assert len(compared.unsteady) <= 1 + COUNT / 200, "\n".join(compared.unsteady[:SHOWN])
    assert len(compared.broken) <= 1 + COUNT / 200, "\n".join(compared.broken[:SHOWN])


def test_reports_agree(compared: Comparison) -> None:
    """Every field, sample and change point is the same."""
    count = len(compared.differing)
    print("declared differences:", dict(compared.declared))
    assert not count, f"{count} of {COUNT} programs differ\n" + "\n".join(compared.differing[:SHOWN])


def test_every_class_is_exercised(compared: Comparison) -> None:
    """No class is missing among enough programs, and errors are few."""
    missing = [name for name in (*CLASSES, *RARE) if not compared.classes[name]]
    assert not missing or COUNT < ENOUGH, f"no program among {COUNT} exercises {missing}"
    for name, share in RARE.items():
        assert compared.classes[name] <= max(5, 2 * share * COUNT), (name, compared.classes[name])


def test_declared_differences_still_differ() -> None:
    """An entry of the list whose program runs alike is to be removed."""
    assert [d.number for d in DECLARED] == list(range(1, len(DECLARED) + 1))
    for declared in DECLARED:
        difference = compare(declared.program())
        assert difference is not None, f"difference {declared.number} no longer occurs: {declared.reason}"
        assert difference.path == declared.path, (declared.number, str(difference))
        assert compare(declared.repair(declared.program())) is None
