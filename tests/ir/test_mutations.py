"""Whatever is done to a program's JSON, it is read and judged: valid, or refused with codes and places."""

from __future__ import annotations

import json
from datetime import timedelta
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from serq.diagnostics import SerqError, lookup
from serq.ir.decode import loads
from serq.ir.encode import program_data
from serq.ir.validate import validate
from tests.conformance import cases
from tests.ir.builders import Doc
from tests.ir.mutations import at, mutate

Json = Any

BASES: tuple[Json, ...] = (*(case["ir"] for case in cases().values()), *[Doc().data] * 10)


def mutant(random: Random) -> Json:
    """A program with one to three changes."""
    data = random.choice(BASES)
    for _ in range(random.choice([1, 1, 2, 3])):
        if not _has_tables(data):
            break
        data = mutate(random, data)
    return data


def _has_tables(data: Json) -> bool:
    tables = ("attrs", "pools", "stages", "blocks", "sides")
    if not isinstance(data, dict) or not all(isinstance(data.get(t), list) for t in tables):
        return False
    return bool(data["attrs"]) and all(isinstance(x, list) for t in ("blocks", "sides") for x in data[t])


def judge(text: str) -> tuple[str, ...]:
    """The codes a document is refused with, their places checked; none when it is valid."""
    try:
        program = loads(text)
    except SerqError as error:
        found = error.diagnostics
        assert found
    else:
        found = validate(program)
        data = program_data(program)
        for diagnostic in found:
            assert diagnostic.place.path
            at(data, diagnostic.place.path)
    for diagnostic in found:
        assert lookup(diagnostic.code) is not None, diagnostic
        assert diagnostic.message
        assert "\n" not in diagnostic.message
    return tuple(diagnostic.code for diagnostic in found)


@settings(max_examples=400, deadline=timedelta(seconds=20), derandomize=True)
@given(st.integers(min_value=0, max_value=2**64))
def test_every_mutant_is_judged(seed: int) -> None:
    judge(json.dumps(mutant(Random(seed))))


def test_mutants_are_of_every_kind() -> None:
    counts = {"valid": 0, "unreadable": 0, "refused": 0}
    codes: set[str] = set()
    for seed in range(400):
        found = judge(json.dumps(mutant(Random(seed))))
        codes.update(found)
        kind = "valid" if not found else "unreadable" if all(c < "SQ02" for c in found) else "refused"
        counts[kind] += 1
    assert min(counts.values()) >= 40, counts
    assert len(codes) >= 30, sorted(codes)
