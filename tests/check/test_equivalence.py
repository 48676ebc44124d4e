"""Predicates and programs proved equal, or separated by a state."""

from __future__ import annotations

import pytest

from serq.check import Verdict
from serq.check.equivalence import compare, equivalent
from serq.ir.build import Builder
from serq.ir.expressions import Attr, Binary, Call, Cond, Expr, Num, Unary
from serq.ir.program import Program
from serq.ir.validate.constants import binary
from serq.lang.compile import compile_text
from serq.lang.settings import Settings


def program() -> Program:
    b = Builder()
    b.attr("x")
    b.attr("y")
    return b.build(horizon=1.0)


X, Y = Attr(slot=9), Attr(slot=10)


def op(name: str, a: Expr, b: Expr) -> Binary:
    return Binary(op=name, left=a, right=b)


EQUAL = [
    (op("Lt", X, Y), op("Gt", Y, X)),
    (Unary(op="Not", arg=op("Lt", X, Y)), op("Ge", X, Y)),
    (Call(fun="Min", args=(X, Y)), Cond(test=op("Le", X, Y), then=X, other=Y)),
    (op("Add", X, Y), op("Add", Y, X)),
]
DIFFERENT = [
    (op("Lt", X, Y), op("Le", X, Y)),
    (Call(fun="Floor", args=(X,)), X),
    (op("Mul", X, Num(value=4.0)), op("Mul", X, Num(value=2.0))),
]


@pytest.mark.parametrize("pair", EQUAL[:3])
def test_equal_predicates_are_proved(pair: tuple[Expr, Expr]) -> None:
    assert equivalent(program(), *pair).verdict is Verdict.PROVED


@pytest.mark.parametrize("pair", DIFFERENT)
def test_different_ones_are_separated_by_a_state(pair: tuple[Expr, Expr]) -> None:
    found = equivalent(program(), *pair)
    assert found.verdict is Verdict.REFUTED
    assert {what for what, _ in found.state} <= {"x", "y"}


def test_rounding_is_not_taken_for_a_difference() -> None:
    found = equivalent(program(), *EQUAL[3])
    assert found.verdict is not Verdict.REFUTED
    assert binary("Add", 0.1, 0.7) == binary("Add", 0.7, 0.1)


def served(order: str) -> Program:
    text = f"""fn main() {{
      device gpu {{ kv cap 64; }}
      engine llm on gpu {{
        reqs cap 4;
        tokens cap 16;
        schedule {{ advance running by ({order}); admit waiting; }}
        execute (1);
      }}
      pool kv on gpu {{ preempt lifo; }}
      pool reqs on llm {{ queue fifo; }}
      workload {{ arrive batch(2); turn {{ Size n = 4; }} }}
      server {{ hold reqs (cost(reqs, 1)), kv (cost(kv, n)) {{ run llm prefill (cost(llm, n)); }} }}
    }}"""
    return compile_text(text, settings=Settings(horizon=10.0)).program


def test_two_schedules_are_compared_key_by_key() -> None:
    same = compare(served("decoding ? 0 : 1"), served("!decoding"))
    assert all(p.verdict is Verdict.PROVED for p in same)
    other = compare(served("decoding ? 0 : 1"), served("decoding"))
    assert any(p.verdict is Verdict.REFUTED and p.state for p in other)


def test_programs_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        compare(served("decoding"), program())
