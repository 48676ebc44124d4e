"""Membership in the Lean fragment: a member, one refusal and more for every rule, nothing dropped silently."""

from __future__ import annotations

import pytest

from serq.generators import refusals
from serq.generators.membership import membership
from serq.generators.refusals import FIELDS, Rule, rule_of
from serq.generators.translate import translate
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.build import assign, branch, end, hold, observe, run, while_
from serq.ir.quantity import call, context, greatest, lift, when
from serq.ir.validate import validate
from tests.generators.claims_programs import CLAIMS, at_end, claiming, some, total
from tests.generators.fragment_programs import (
    AUX,
    DECODES,
    KV,
    ONE,
    REFUSED,
    REQS,
    WAIT,
    Attributes,
    Refused,
    member,
    only_body,
)


def test_the_program_is_a_member() -> None:
    assert membership(member()) == ()


@pytest.mark.parametrize("case", REFUSED, ids=lambda c: c.name)
def test_a_rule_refuses(case: Refused) -> None:
    program = case.make()
    invalid = validate(program)
    assert not invalid, invalid
    reasons = membership(program)
    by_rule = [d for d in reasons if rule_of(d) is case.rule and case.words in d.message]
    assert by_rule, reasons
    assert all(d.note == f"rule {case.rule.value} of the Lean fragment" for d in by_rule)
    assert all(d.place.path for d in by_rule)


def test_every_rule_has_a_refusal() -> None:
    assert {case.rule for case in REFUSED} == set(Rule)


def test_every_reason_is_given() -> None:
    program = member(
        lambda a: [observe("x", -a.prompt), observe("y", a.prompt / 3)],
        engine={"budget": 2.5, "cost": 1 + context("Nres")},
        pools={"aux": {"cap": float("inf")}},
    )
    found = {rule_of(d) for d in membership(program)}
    assert {Rule.EXPRESSIONS, Rule.BUDGET, Rule.COST, Rule.POOLS} <= found


def test_what_the_model_covers_is_in() -> None:
    def statements(a: Attributes) -> list[object]:
        count = while_(a.left < 3, [assign(a.left, a.left + 1), run(WAIT, a.left)])
        tiles = call("Ceil", a.prompt / 4) + call("Floor", a.prompt / a.answer)
        twice = hold([(AUX, 1)], [run(WAIT, greatest(a.prompt - 3, 0))])
        again = while_(a.more, [run(WAIT, 1)])
        return [count, observe("x", tiles), twice, again, observe("y", KV.query("CachedIn"))]

    chunk = when(context("Nres") + REQS.query("Queued") > 1, 4, 0)
    cost = 3 + 2 * context("Npre") + context("Kvb") + 2 * context("Attn")
    program = member(statements, engine={"chunk": chunk, "cost": cost, "iteration": only_body(DECODES)})
    assert membership(program) == ()


def test_a_unit_may_be_cached_without_blocks() -> None:
    assert membership(member(lambda a: [hold([(AUX, 1)], [run(WAIT, 1)], cache=1)])) == ()
    assert membership(member(lambda a: [hold([(AUX, 2)], [run(WAIT, 1)])])) == ()


def test_constants_are_folded_before_they_have_to_be_natural() -> None:
    program = member(lambda a: [observe("x", a.prompt + (5 * ONE - 7 + 3))])
    assert membership(program) == ()


def test_a_conditional_chunk_of_two_equal_constants_is_that_constant() -> None:
    chunk = when(context("Ndec") > 1, 0, 0)
    assert membership(member(engine={"chunk": chunk})) == ()


def test_an_invalid_program_is_refused_by_the_validator() -> None:
    program = member(update={"session": 99})
    codes = {d.code for d in membership(program)}
    assert codes and not any(rule_of(d) for d in membership(program))


def test_a_field_that_is_not_known_takes_its_program_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, fields in FIELDS.items():
        for field in fields:
            if name in _ELSEWHERE:
                continue
            monkeypatch.setitem(refusals.FIELDS, name, fields - {field})
            program = CLAIMING.get(name) or _everything()
            said = [d.message for d in membership(program)]
            assert f"the field `{field}` of {name} is not translated" in said, (name, field)
            monkeypatch.setitem(refusals.FIELDS, name, fields)


_GAP = pr.Renewal(gap=lift(10))
# Nodes that only programs with claims have.
CLAIMING = {
    "Poisson": claiming(CLAIMS),
    "Claim": claiming(CLAIMS),
    "EveryIteration": claiming(CLAIMS),
    "Renewal": claiming(CLAIMS, arrival=_GAP),
    "Batch": claiming(CLAIMS, arrival=pr.Batch(size=3)),
    "SomeIteration": claiming(
        [some("x", context("Ntok") > 0)], arrival=_GAP, init=lambda s: [assign(s.prompt, 1)]
    ),
    "Agg": claiming([at_end("x", total("late") < 9)]),
}


def test_programs_with_claims_are_members() -> None:
    assert all(membership(program) == () for program in CLAIMING.values())


# Nodes that the program below has none of.
_ELSEWHERE = {"Serve", "Admit", "Unary", "Loop", "StageArg", "Cond"}


def _everything() -> pr.Program:
    def statements(a: Attributes) -> list[object]:
        again = while_(a.more, [run(WAIT, 1)])
        return [assign(a.left, KV.query("CachedIn")), again, branch(a.left > 1, [end()])]

    return member(statements)


def test_the_known_fields_are_those_of_the_nodes() -> None:
    for name, fields in FIELDS.items():
        node = next(getattr(m, name) for m in (pr, st, ex) if hasattr(m, name))
        assert set(node.model_fields) == fields, name


def test_the_digest_is_that_of_the_program() -> None:
    program = member()
    assert translate(program).digest == program.digest


def test_what_is_proved_of_a_place_lifts_its_differences_alone() -> None:
    program = member(lambda a: [while_((9 - a.answer) / a.prompt < 1, [run(WAIT, 1), assign(a.answer, 0)])])
    paths = [d.place.path for d in membership(program) if "a difference in the guard" in d.message]
    assert len(paths) == 1
    left = [d.message for d in membership(program, frozenset(paths))]
    assert any("not a positive constant in the guard" in m for m in left)
    assert not any("a difference" in m for m in left)
    elsewhere = frozenset([("blocks", 99, 0, "While", 0)])
    assert membership(program, elsewhere) == membership(program)
