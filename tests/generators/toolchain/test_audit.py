"""The judgement over audited constants, without Lean."""

from __future__ import annotations

import pytest

from serq.diagnostics import Place
from serq.generators.toolchain import load_project
from serq.generators.toolchain.audit import (
    Audit,
    Constant,
    judge_axioms,
    judge_obligations,
    plain_name,
    written_name,
)
from serq.generators.toolchain.obligatory import Obligation
from tests.generators.toolchain.demo import Demo

SORRY = frozenset({"sorryAx"})
FACTS = "Demo.Facts"


@pytest.mark.parametrize(
    ("name", "plain", "written"),
    [
        ("A.b", "A.b", "A.b"),
        ("_private.A.B.0.C.d", "C.d", "C.d"),
        ("A.b._proof_1", "A.b._proof_1", "A.b"),
        ("_private.A.B.0.C.d.match_1", "C.d.match_1", "C.d"),
        ("A.eq_1", "A.eq_1", "A"),
    ],
)
def test_names_are_read_back(name: str, plain: str, written: str) -> None:
    assert plain_name(name) == plain
    assert written_name(name) == written


def test_the_culprit_is_named_and_its_dependants_counted(demo: Demo) -> None:
    audit = Audit(
        (
            Constant("Demo.twice_zero._proof_1", FACTS, "theorem", SORRY, SORRY),
            Constant("Demo.twice_zero", FACTS, "theorem", SORRY),
            Constant("Demo.twice_add", FACTS, "theorem", SORRY),
            Constant("Demo.total_nil", FACTS, "theorem", frozenset({"propext"}), frozenset({"propext"})),
        )
    )
    (found,) = judge_axioms(audit, load_project(demo.folder))
    assert found.code == "SQ958"
    assert found.message == "Demo.twice_zero depends on sorryAx"
    assert found.note == "1 more declaration rests on sorryAx"
    assert found.place.span is not None
    assert found.place.span.line == 8
    assert audit.axioms_used == {"propext": 1, "sorryAx": 3}


def test_a_declared_axiom_is_found(demo: Demo) -> None:
    audit = Audit((Constant("Demo.a", FACTS, "axiom", frozenset({"Demo.a"})),))
    assert [d.code for d in judge_axioms(audit, load_project(demo.folder))] == ["SQ959"]


def test_an_obligation_is_met_by_a_theorem_only() -> None:
    audit = Audit((Constant("a", "M", "theorem", frozenset()), Constant("b", "M", "def", frozenset())))
    wanted = [Obligation(name, "theorem", Place()) for name in ("a", "b", "c")]
    found = list(judge_obligations(audit, wanted))
    assert [(d.code, d.message) for d in found] == [
        ("SQ960", "the obligatory theorem b is not in the build"),
        ("SQ960", "the obligatory theorem c is not in the build"),
    ]
    assert found[0].note is not None
    assert "kind is def" in found[0].note
