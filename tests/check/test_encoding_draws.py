"""Expressions that draw, in the interpreter and in the encoding; and faults planted in the encoding."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import z3
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from serq.check import draws, encoder, operations, terms
from serq.check.encoder import Encoder
from serq.check.flags import lor
from serq.check.terms import Term, Values, constant
from serq.check.variables import Variables
from serq.ir import expressions as ex
from serq.ir import tables
from serq.ir.validate.names import Names
from serq.sim import draws as sim_draws
from tests.check.test_encoding_agrees import (
    ATTRIBUTES,
    PROGRAM,
    _expressions,
    _overflows,
    admits,
    interpreted,
    numbers,
)

EDGES = [0.0, 2.0**-53, 0.25, 0.5, 0.75, 1.0 - 2.0**-53]
units = st.one_of(st.sampled_from(EDGES), st.floats(0.0, 1.0 - 2.0**-53))


def _number(value: float) -> ex.Expr:
    return ex.Num(value=value)


# Constant arguments tell the draws of an expression apart: a mean is another one for each.
samples = st.one_of(
    st.integers(1, 60).map(lambda k: ex.Sample(dist="Exp", args=(_number(k / 8),))),
    st.tuples(st.integers(1, 4), st.integers(1, 60)).map(
        lambda a: ex.Sample(dist="Erlang", args=(_number(float(a[0])), _number(a[1] / 8)))
    ),
    st.tuples(st.integers(1, 60), st.sampled_from([1.0, 2.5])).map(
        lambda a: ex.Sample(dist="H2", args=(_number(a[0] / 8), _number(a[1])))
    ),
    st.tuples(st.integers(-9, 9), st.integers(1, 9)).map(
        lambda a: ex.Sample(dist="Uniform", args=(_number(float(a[0])), _number(float(a[0] + a[1]))))
    ),
    st.sampled_from([0.0, 0.25, 0.5, 1.0]).map(lambda p: ex.Sample(dist="Bernoulli", args=(_number(p),))),
)
attributes = st.integers(0, ATTRIBUTES - 1).map(lambda i: ex.Attr(slot=i))
leaves = st.one_of(samples, samples, attributes, numbers.map(lambda v: ex.Num(value=v)))
drawing = _expressions(leaves)


def drawn(sample: ex.Sample, unit: Callable[[], float]) -> float:
    """The value the interpreter draws."""
    args = [a.value for a in sample.args if isinstance(a, ex.Num)]
    return float(getattr(sim_draws, f"draw_{sample.dist.lower()}")(unit, *args))


def settled(e: ex.Expr, values: Mapping[str, float]) -> ex.Expr:
    """The expression with its draws replaced by what they came to."""

    def put(node: Any) -> Any:
        if isinstance(node, ex.Sample):
            return ex.Num(value=values[text(node)])
        if isinstance(node, ex.Node):
            return node.model_copy(update={k: put(getattr(node, k)) for k in type(node).model_fields})
        return tuple(put(x) for x in node) if isinstance(node, tuple) else node

    result = put(e)
    assert isinstance(result, ex.Expr)
    return result


def text(sample: ex.Sample) -> str:
    return f"the draw {Names(PROGRAM).expr(sample)}"


def agrees(e: ex.Expr, attrs: list[float], given_units: list[float]) -> None:
    """What the interpreter computes with some draws is what the encoding admits and computes with them."""
    stream = iter(given_units * 64)
    values: dict[str, float] = {}
    for x in ex.walk(e):
        if isinstance(x, ex.Sample) and text(x) not in values:
            values[text(x)] = drawn(x, lambda: next(stream))
    plain = settled(e, values)
    if _overflows(plain, attrs):
        return
    value = interpreted(plain, attrs)
    variables = Variables()
    encoded = Encoder(PROGRAM, Names(PROGRAM), variables, lambda slot: constant(attrs[slot]))
    term = encoded.encode(e)
    held, witness = [], {}
    for name, v in variables.table.items():
        assert v.allows(values[v.what]), f"{v.what} = {values[v.what]} is outside {v.low} … {v.high}"
        held.append(v.num == constant(values[v.what]).num)
        witness[name] = values[v.what]
    assert admits(variables, term, z3.And(*held), value) != z3.unsat
    computed = Values(witness).of(term)
    assert computed == value or (computed != computed and value != value)
    if math.isfinite(value) and term.finite is not False:
        assert term.low <= value <= term.high
    if term.whole and math.isfinite(value):
        assert value == math.floor(value)


lists = st.lists(numbers, min_size=ATTRIBUTES, max_size=ATTRIBUTES)
unit_lists = st.lists(units, min_size=6, max_size=6)
COMMON: dict[str, Any] = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": list(HealthCheck),
}


@settings(max_examples=300, **COMMON)
@given(drawing, lists, unit_lists)
def test_drawing_expressions_agree(e: ex.Expr, attrs: list[float], given_units: list[float]) -> None:
    agrees(e, attrs, given_units)


def test_every_distribution_is_drawn() -> None:
    assert {"Exp", "Erlang", "H2", "Uniform", "Bernoulli"} | {"Det"} == set(tables.DISTRIBUTION)


# Faults


def binary(op: str) -> st.SearchStrategy[ex.Expr]:
    return st.builds(lambda a, b: ex.Binary(op=op, left=a, right=b), leaves, leaves)


def call(fun: str) -> st.SearchStrategy[ex.Expr]:
    if fun in operations.ONE_ARGUMENT:
        return st.builds(lambda a: ex.Call(fun=fun, args=(a,)), leaves)
    return st.builds(lambda a, b: ex.Call(fun=fun, args=(a, b)), leaves, leaves)


conditional: st.SearchStrategy[ex.Expr] = st.builds(
    lambda t, a, b: ex.Cond(test=t, then=a, other=b), leaves, leaves, leaves
)


def _shifted(op: Callable[..., Term]) -> Callable[..., Term]:
    """An operation one too high."""

    def wrong(r: terms.Rounding, *args: Term) -> Term:
        right = op(r, *args)
        return replace(right, num=right.num + 1)

    return wrong


def _narrow(op: Callable[..., Term]) -> Callable[..., Term]:
    """An operation whose bounds leave out the greatest values."""

    def wrong(r: terms.Rounding, *args: Term) -> Term:
        right = op(r, *args)
        return replace(right, high=right.low) if right.low > -math.inf else right

    return wrong


def _finite(op: Callable[..., Term]) -> Callable[..., Term]:
    """An operation that forgets NaN and infinities."""
    return lambda r, *args: replace(op(r, *args), nan=False, pos=False, neg=False)


def _exact(r: terms.Rounding, exact: z3.ArithRef, bounds: object, **_: object) -> z3.ArithRef:
    """Real arithmetic in place of rounded."""
    return exact


def _eager(self: Encoder, test: Term, then: ex.Expr, other: ex.Expr) -> Term:
    """A conditional with its arms the wrong way round."""
    flag = terms.truth(test)
    if isinstance(flag, bool):
        return self.encode(other if flag else then)
    return terms.ite(flag, lambda v: v.of(test) != 0.0, self.encode(other), self.encode(then))


def _short(variables: Variables, what: str, args: tuple[Term, ...]) -> Term:
    """A support of half the length."""
    return variables.term(what, args[0].low, (args[0].low + args[1].low) / 2, exact=True)


def _nan_wins(name: str) -> Callable[..., Term]:
    """A minimum or maximum that is NaN when an argument is."""
    op = operations.TWO_ARGUMENTS[name]

    def wrong(r: terms.Rounding, a: Term, b: Term) -> Term:
        right = op(r, a, b)
        return replace(right, nan=lor(a.nan, b.nan))

    return wrong


DIVIDE = operations.divide
Plant = Callable[[pytest.MonkeyPatch], None]
FAULTS: dict[str, tuple[st.SearchStrategy[ex.Expr], Plant]] = {
    "floor is one too high": (
        call("Floor"),
        lambda m: m.setitem(
            operations.ONE_ARGUMENT,
            "Floor",
            _shifted(operations.floor),
        ),
    ),
    "ceil is one too high": (
        call("Ceil"),
        lambda m: m.setitem(
            operations.ONE_ARGUMENT,
            "Ceil",
            _shifted(operations.ceil),
        ),
    ),
    "absolute values have narrow bounds": (
        call("Abs"),
        lambda m: m.setitem(
            operations.ONE_ARGUMENT,
            "Abs",
            _narrow(operations.absolute),
        ),
    ),
    "a product is one too high": (
        binary("Mul"),
        lambda m: m.setitem(
            operations.BINARY,
            "Mul",
            _shifted(operations.multiply),
        ),
    ),
    "a product is never infinite or NaN": (
        binary("Mul"),
        lambda m: m.setitem(
            operations.BINARY,
            "Mul",
            _finite(operations.multiply),
        ),
    ),
    "a sum is never infinite or NaN": (
        binary("Add"),
        lambda m: m.setitem(
            operations.BINARY,
            "Add",
            _finite(operations.add),
        ),
    ),
    "a quotient is never infinite or NaN": (
        binary("Div"),
        lambda m: m.setattr(operations, "divide", lambda r, a, b, quotient=False: _finite(DIVIDE)(r, a, b)),
    ),
    "ln is never infinite or NaN": (
        call("Ln"),
        lambda m: m.setitem(
            operations.ONE_ARGUMENT,
            "Ln",
            _finite(operations.logarithm),
        ),
    ),
    "sqrt of a negative is a number": (
        call("Sqrt"),
        lambda m: m.setitem(
            operations.ONE_ARGUMENT,
            "Sqrt",
            _finite(operations.square_root),
        ),
    ),
    "sums do not round": (binary("Add"), lambda m: m.setattr(terms.Rounding, "near", _exact)),
    "less is less or equal": (
        binary("Lt"),
        lambda m: m.setitem(
            operations.BINARY,
            "Lt",
            operations.BINARY["Le"],
        ),
    ),
    "min of NaN is NaN": (
        call("Min"),
        lambda m: m.setitem(
            operations.TWO_ARGUMENTS,
            "Min",
            _nan_wins("Min"),
        ),
    ),
    "or is and": (
        binary("Or"),
        lambda m: m.setitem(
            operations.BINARY,
            "Or",
            operations.BINARY["And"],
        ),
    ),
    "arms are swapped": (conditional, lambda m: m.setattr(encoder.Encoder, "_cond", _eager)),
    "a uniform draw ends half-way": (samples, lambda m: m.setitem(draws.DRAWS, "Uniform", _short)),
    "a coin is always heads": (
        samples,
        lambda m: m.setitem(
            draws.DRAWS,
            "Bernoulli",
            lambda variables, what, args: constant(1.0),
        ),
    ),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expressions, plant = FAULTS[fault]
    plant(monkeypatch)

    @settings(max_examples=3000, phases=[Phase.generate], **COMMON)
    @given(expressions, lists, unit_lists)
    def compared(e: ex.Expr, attrs: list[float], given_units: list[float]) -> None:
        agrees(e, attrs, given_units)

    with pytest.raises((AssertionError, KeyError)):
        compared()
