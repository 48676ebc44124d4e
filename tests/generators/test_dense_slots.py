"""Slots numbered anew: the same run under other numbers."""

from __future__ import annotations

import pytest

from serq.generators import model as m
from serq.generators.dense_slots import with_dense_slots
from serq.generators.machine import outcome, run
from serq.generators.model import Translated
from serq.generators.translate import translate
from serq.ir.build import assign, branch, observe, while_
from serq.ir.build import run as work
from serq.oracle.lean_regressions import Regression, stored
from tests.generators.fragment_programs import DECODES, WAIT, Attributes, member, only_body


def _every_construct() -> Translated:
    def statements(a: Attributes) -> list[object]:
        count = while_(a.left < 3, [assign(a.left, a.left + 1), work(WAIT, a.left)])
        return [count, branch(a.prompt > 6, [observe("long", a.prompt - 1)], [work(WAIT, 1)])]

    turns = [[{"prompt": 5, "answer": 3}, {"prompt": 9, "answer": 1}], None]
    program = member(
        statements,
        engine={"iteration": only_body(DECODES)},
        sessions=[{}, {"prompt": 7, "answer": 2}],
        turns=turns,
    )
    return translate(program)


def test_names_go_with_their_slots() -> None:
    before = _every_construct()
    after = with_dense_slots(before)
    named = {after.attrs[slot] for slot in (after.slots.turn, after.slots.more, after.slots.computed)}
    assert named == {
        before.attrs[slot] for slot in (before.slots.turn, before.slots.more, before.slots.computed)
    }
    assert len(set(after.attrs)) == len(after.attrs) < len(before.attrs)

    def presets(t: Translated) -> list[dict[str, int]]:
        return [{t.attrs[slot]: v for slot, v in c.presets} for c in t.clients]

    assert presets(after) == presets(before)


def test_the_slot_used_most_is_the_first() -> None:
    t = with_dense_slots(
        m.Translated(
            attrs=("a", "b", "c", "d", "e", "f"),
            pool_names=(),
            observes=("x",),
            deployment=m.Deployment((), 1, m.Lit(0), None, m.Lit(1)),
            clients=(m.Client(((4, 7),)),),
            slots=m.Slots(0, 1, 2),
            code=(m.See(0, m.Bin("add", m.Var("attr", 4), m.Var("attr", 4))), m.Finish()),
            horizon=None,
            digest="",
        )
    )
    assert t.attrs == ("e", "a", "b", "c")
    assert t.clients == (m.Client(((0, 7),)),)
    assert t.code[0] == m.See(0, m.Bin("add", m.Var("attr", 0), m.Var("attr", 0)))


@pytest.mark.parametrize("regression", stored(), ids=lambda r: r.name)
def test_a_run_is_the_same_under_other_numbers(regression: Regression) -> None:
    before = translate(regression.program)
    after = with_dense_slots(before)
    horizon = int(regression.program.horizon)
    assert outcome(after, run(after, horizon)) == outcome(before, run(before, horizon)) == regression.outcome
