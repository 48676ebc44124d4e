"""Mutated programs: what is valid here is valid to the peer, and the other way round.

`KNOWN` lists the differences that stand, each with its reason and a program that shows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import pyserq
import pytest

from serq.diagnostics import Code, SerqError
from serq.ir import statements as st
from serq.ir.decode import loads
from serq.ir.program import Program
from serq.ir.validate import validate
from tests.ir.builders import DESK, LLM, MEMORY, Case, Doc, num, ref, run
from tests.ir.test_mutations import mutant
from tests.ir.test_validate_all import CASES, CODES

Json = Any
MUTANTS = 150


@dataclass(frozen=True)
class Known:
    """A difference: the codes we alone refuse with, why, and a program the peer takes."""

    codes: frozenset[str]
    reason: str
    program: Callable[[], Json]


def _unknown_field() -> Json:
    return Doc().put(("colour",), "blue").data


def _block() -> Json:
    return Doc().put(("pools", 3, "block"), 0).data


def _servers() -> Json:
    return Doc().put(("stages", DESK, "kind", "Fifo"), 0).data


def _member() -> Json:
    return Doc().put(("stages", LLM, "index"), 0).data


def _folded() -> Json:
    return Doc().server(run(amount={"Unary": ["Neg", {"Unary": ["Not", num(0)]}]})).data


def _folded_index() -> Json:
    return Doc().server({"Drop": ref(MEMORY, 1, {"Unary": ["Not", num(0)]})}).data


def _folded_loop() -> Json:
    doc = Doc()
    return doc.server({"Loop": doc.block(run(amount={"Unary": ["Not", num(1)]}))}).data


KNOWN = (
    Known(
        frozenset({"SQ005"}),
        "a field we do not know may change the meaning; the peer drops it",
        _unknown_field,
    ),
    Known(frozenset({"SQ029"}), "text refuses a block that is not positive, and so do we in the IR", _block),
    Known(frozenset({"SQ029"}), "text refuses a stage without servers, and so do we in the IR", _servers),
    Known(
        frozenset({"SQ708"}),
        "a register's stage is no member of an array (004); the peer does not look",
        _member,
    ),
    Known(
        frozenset({"SQ601"}), "a constant is a constant under `!` too; the peer does not compute it", _folded
    ),
    Known(frozenset({"SQ027"}), "the same in an index", _folded_index),
    Known(frozenset({"SQ609"}), "the same in the work of a loop", _folded_loop),
)


def refusals(text: str) -> frozenset[str]:
    """The codes we refuse a document with."""
    try:
        found = validate(loads(text))
    except SerqError as error:
        found = error.diagnostics
    return frozenset(diagnostic.code for diagnostic in found)


def peer_refuses(text: str) -> bool:
    """Whether the peer refuses a document; an internal error of the peer's is a refusal."""
    try:
        pyserq.Program.from_json(text)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return True
    return False


def goes_round(program: Program) -> bool:
    """Whether some block lies inside itself."""
    below = [{b for s in block for b in st.bodies(s) if b < len(program.blocks)} for block in program.blocks]
    for start in range(len(below)):
        seen: set[int] = set()
        todo = set(below[start])
        while todo:
            block = todo.pop()
            seen.add(block)
            todo |= below[block] - seen
        if start in seen:
            return True
    return False


def _readable(text: str) -> Program | None:
    try:
        return loads(text)
    except SerqError:
        return None


def _computes_not(text: str) -> bool:
    return '"Not"' in text


def _expected(text: str, ours: frozenset[str]) -> bool:
    """Whether a refusal of ours alone is one of the known differences."""
    if ours <= {"SQ601", "SQ602", "SQ027", "SQ609"}:
        return _computes_not(text)
    return ours <= {"SQ005", "SQ029", "SQ708"}


@pytest.mark.parametrize("seed", range(MUTANTS))
def test_the_verdict_is_the_same(seed: int) -> None:
    text = json.dumps(mutant(Random(10_000 + seed)))
    ours = refusals(text)
    program = _readable(text)
    # The peer does not come back from a block inside itself that nothing reaches.
    theirs = peer_refuses(text) if program is None or not goes_round(program) else bool(ours)
    if theirs:
        assert ours, text
    else:
        assert not ours or _expected(text, ours), (sorted(ours), text)


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_every_rule_is_the_peers_too(case: Case) -> None:
    bad, good = Doc(), Doc()
    case.bad(bad)
    case.good(good)
    text = json.dumps(bad.data)
    assert peer_refuses(text) or _expected(text, refusals(text))
    assert not peer_refuses(json.dumps(good.data))


def _compiles(text: str) -> bool:
    try:
        pyserq.compile(source=text, horizon=10)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("code", [c for c in CODES if c.bad], ids=lambda c: c.code)
def test_examples_of_codes(code: Code) -> None:
    assert not _compiles(code.bad)
    assert _compiles(code.good)


@pytest.mark.parametrize("known", KNOWN, ids=lambda k: k.program.__name__.strip("_"))
def test_known_differences_stand(known: Known) -> None:
    text = json.dumps(known.program())
    assert refusals(text) == known.codes, known.reason
    assert not peer_refuses(text)
