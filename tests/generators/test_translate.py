"""Expressions, costs and statements as terms of the model."""

from __future__ import annotations

import pytest

from serq.generators.costs import CostError, cost_term
from serq.generators.lean_text import LeanText, constants, mangled
from serq.generators.model import (
    Assign,
    Bin,
    Choice,
    Finish,
    Forever,
    Hold,
    If,
    Lit,
    Not,
    See,
    Term,
    Var,
    Work,
)
from serq.generators.translate import translate
from serq.ir.build import assign, branch, end, loop, observe, run
from serq.ir.quantity import NOW, Quantity, Value, call, context, greatest, least, lift, when
from tests.generators.fragment_programs import ENGINE, KV, WAIT, Attributes, member

TOKENS, PREFILLED = context("Ntok"), context("Npre")


def _shown(t: Term) -> str:
    return LeanText(translate(member())).term(t)


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (1, "1"),
        (5 - TOKENS + TOKENS, "5"),
        (1 + 2 * (3 * PREFILLED), "1 + 6 * .var .prefilled"),
        (1 + 0 * context("Ndec"), "1"),
        ((4 + 2 * TOKENS) / 2, "2 + .var .tokens"),
        (3 + 2 * context("Attn"), "3 + .var .attention"),
        (3 + 4 * context("Attn") + context("Kvb"), "3 + .var .kvDecode + 2 * .var .attention"),
        (1 + 7 * call("Ceil", TOKENS / 16), "1 + 7 * .ceil (.var .tokens) 16"),
        (1 + call("Ceil", (TOKENS + 2 * PREFILLED) / 8), "1 + .ceil (.var .tokens + 2 * .var .prefilled) 8"),
    ],
)
def test_a_cost_is_a_sum_of_natural_multiples(cost: Value, text: str) -> None:
    assert _shown(cost_term(lift(cost))) == text


@pytest.mark.parametrize(
    "cost",
    [
        TOKENS - TOKENS,
        0.5,
        1 - PREFILLED,
        1 + 3 * context("Attn"),
        1 + call("Ceil", TOKENS / 0.5),
        1 + TOKENS / 0,
    ],
)
def test_another_cost_is_refused(cost: Value) -> None:
    with pytest.raises(CostError):
        cost_term(lift(cost))


def _value(make: Value) -> Term:
    found = translate(member(lambda a: [observe("x", make)])).code[-2]
    assert isinstance(found, See)
    return found.value


def test_leaves_of_a_session() -> None:
    def read(a: Attributes) -> list[object]:
        values = (a.prompt, a.cached, a.serial, NOW, KV.query("CachedIn"), ENGINE.query("BudgetLeft"))
        return [observe("x", v) for v in values]

    code = translate(member(read)).code
    found = [s.value for s in code if isinstance(s, See)][1:]
    assert found == [
        Var("attr", 9),
        Var("cached"),
        Var("serial"),
        Var("now"),
        Var("cachedIn", 1),
        Var("budgetLeft"),
    ]


def test_operators() -> None:
    one = Quantity(lift(1))
    assert _value(NOW > 1) == Bin("lt", Lit(1), Var("now"))
    assert _value(NOW >= 1) == Bin("le", Lit(1), Var("now"))
    assert _value((NOW < 1).not_()) == Not(Bin("lt", Var("now"), Lit(1)))
    assert _value(call("Floor", NOW / 2)) == Bin("div", Var("now"), Lit(2))
    assert _value(call("Ceil", NOW / 2)) == Bin("ceil", Var("now"), Lit(2))
    assert _value(when(NOW < 1, 2, 3)) == If(Bin("lt", Var("now"), Lit(1)), Lit(2), Lit(3))
    assert _value(one * 5 - 7 + 3) == Lit(1)
    assert _value(least(greatest(NOW, 1), 2)) == Bin("min", Bin("max", Var("now"), Lit(1)), Lit(2))


def test_an_arm_that_is_never_chosen_is_kept_where_it_reads() -> None:
    assert _value(when(1, 5, NOW)) == If(Lit(1), Lit(5), Var("now"))
    assert _value(when(1, 5, 6)) == Lit(5)


def test_blocks_become_a_tree() -> None:
    def statements(a: Attributes) -> list[object]:
        return [branch(a.prompt > 2, [run(WAIT, 1), end()], [assign(a.left, 1)]), loop([run(WAIT, 2)])]

    program = member(statements)
    # The builder ends every session; after an endless loop that end is never reached.
    blocks = list(program.blocks)
    blocks[program.session] = blocks[program.session][:-1]
    sides = list(program.sides)
    sides[program.session] = sides[program.session][:-1]
    code = translate(program.model_copy(update={"blocks": tuple(blocks), "sides": tuple(sides)})).code
    hold, choice, endless = code[1], code[3], code[4]
    assert isinstance(hold, Hold) and hold.needs[1].reserve == Var("attr", 9)
    assert isinstance(choice, Choice) and choice.yes == (Work("delay", Lit(1)), Finish())
    assert choice.no == (Assign(11, Lit(1)),)
    assert endless == Forever((Work("delay", Lit(2)),))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("prompt", "prompt"),
        ("gpu[2]", "gpu_2"),
        ("end", "«end»"),
        ("2nd", "n2nd"),
        ("über", "ber"),
        ("…", "x"),
    ],
)
def test_names_become_identifiers(name: str, text: str) -> None:
    assert mangled(name) == text


def test_names_that_collide_get_their_number() -> None:
    found = constants(["a b", "a_b", "c"], [0, 1, 2])
    assert [c.name for c in found.values()] == ["a_b_0", "a_b_1", "c"]
