"""The encoding encloses what the interpreter computes: random expressions under random values, in doubles."""

from __future__ import annotations

import math
import random

import pytest
import z3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from serq.check import operations, readings
from serq.check.draws import DRAWS
from serq.check.encoder import Encoder
from serq.check.flags import as_z3, land
from serq.check.terms import Term, Values, constant, identical
from serq.check.variables import Variables
from serq.ir import expressions as ex
from serq.ir import tables
from serq.ir.build import Builder
from serq.ir.moments import Moment
from serq.ir.validate.names import Names
from serq.sim import draws as sim_draws
from serq.sim import numeric
from serq.sim.codegen import Codegen

PROGRAM = Builder().build(horizon=1.0)
ATTRIBUTES = 4

numbers = st.one_of(
    st.integers(-40, 40).map(float),
    st.sampled_from(
        [0.0, -0.0, 0.5, -0.5, 0.1, 0.3, 1e-9, 1e9, 123456.789, 2.0**52, math.inf, -math.inf, math.nan]
    ),
    st.floats(-1e6, 1e6),
)
whole_numbers = st.integers(-100_000, 100_000).map(float)


def _expressions(leaves: st.SearchStrategy[ex.Expr]) -> st.SearchStrategy[ex.Expr]:
    def extend(inner: st.SearchStrategy[ex.Expr]) -> st.SearchStrategy[ex.Expr]:
        return st.one_of(
            st.builds(lambda op, a: ex.Unary(op=op, arg=a), st.sampled_from(sorted(tables.UNARY)), inner),
            st.builds(
                lambda op, a, b: ex.Binary(op=op, left=a, right=b),
                st.sampled_from(sorted(tables.BINARY)),
                inner,
                inner,
            ),
            st.builds(lambda t, a, b: ex.Cond(test=t, then=a, other=b), inner, inner, inner),
            st.builds(
                lambda f, a: ex.Call(fun=f, args=(a,)),
                st.sampled_from(sorted(operations.ONE_ARGUMENT)),
                inner,
            ),
            st.builds(
                lambda f, a, b: ex.Call(fun=f, args=(a, b)),
                st.sampled_from(sorted(operations.TWO_ARGUMENTS)),
                inner,
                inner,
            ),
        )

    return st.recursive(leaves, extend, max_leaves=6)


attributes = st.integers(0, ATTRIBUTES - 1).map(lambda i: ex.Attr(slot=i))
expressions = _expressions(st.one_of(attributes, numbers.map(lambda v: ex.Num(value=v))))
whole_expressions = _expressions(
    st.one_of(attributes, st.integers(-9, 9).map(lambda v: ex.Num(value=float(v))))
)


class _Session:
    def __init__(self, attrs: list[float]) -> None:
        self.attrs = attrs


def interpreted(e: ex.Expr, attrs: list[float]) -> float:
    """The value the interpreter's generated code computes."""
    codegen = Codegen()
    name = codegen.function(e, Moment.ADMIT)
    names = {k: getattr(numeric, k) for k in ("div", "fmin", "fmax", "floor", "ceil", "sqrt", "exp", "ln")}
    space = {**names, "power": numeric.power, "INF": math.inf, "NAN": math.nan}
    return float(codegen.link(space)(name)(_Session(attrs)))


def encoded(
    e: ex.Expr, attrs: list[float], *, symbolic: bool
) -> tuple[Variables, Term, z3.BoolRef, dict[str, float]]:
    """The term of an expression whose attributes are constants, or variables held to these values."""
    variables = Variables()
    terms, held, witness = [], [], {}
    for value in attrs:
        if symbolic and math.isfinite(value):
            whole = value == math.floor(value)
            term = variables.term("x", -1e10, 1e17, exact=True, whole=whole)
            name = list(variables.table)[-1]
            witness[name] = value
            held.append(term.num == constant(value).num)
        else:
            term = constant(value)
        terms.append(term)
    encoder = Encoder(PROGRAM, Names(PROGRAM), variables, lambda slot: terms[slot])
    return variables, encoder.encode(e), z3.And(*held), witness


def admits(variables: Variables, term: Term, held: z3.BoolRef, value: float) -> z3.CheckSatResult:
    """Whether the encoding admits a value."""
    solver = z3.Solver()
    solver.set("timeout", 3000)
    parts = [held, as_z3(identical(term, constant(value)))]
    solver.add(*variables.rounding.relevant(parts), *parts)
    return solver.check()


def excludes_others(variables: Variables, term: Term, held: z3.BoolRef, value: float) -> z3.CheckSatResult:
    """Whether the encoding of whole quantities admits no other value."""
    solver = z3.Solver()
    solver.set("timeout", 3000)
    parts = [held, z3.Not(as_z3(identical(term, constant(value))))]
    solver.add(*variables.rounding.relevant(parts), *parts)
    return solver.check()


COMMON = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def _overflows(e: ex.Expr, attrs: list[float]) -> bool:
    """Whether a part of an expression of finite parts is beyond the doubles (outside the encoding)."""
    for part in ex.walk(e):
        value = interpreted(part, attrs)
        if abs(value) > 1e300:
            below = [interpreted(c, attrs) for c in ex.children(part)]
            if abs(value) < math.inf or all(abs(b) < math.inf for b in below):
                return True
    return False


@COMMON
@given(expressions, st.lists(numbers, min_size=ATTRIBUTES, max_size=ATTRIBUTES))
def test_every_value_of_the_interpreter_is_admitted(e: ex.Expr, attrs: list[float]) -> None:
    value = interpreted(e, attrs)
    if _overflows(e, attrs):
        return
    for symbolic in (False, True):
        variables, term, held, witness = encoded(e, attrs, symbolic=symbolic)
        assert admits(variables, term, held, value) != z3.unsat
        computed = Values(witness).of(term)
        assert computed == value or (computed != computed and value != value)
        if math.isfinite(value) and term.finite is not False:
            assert term.low <= value <= term.high


@COMMON
@given(whole_expressions, st.lists(whole_numbers, min_size=ATTRIBUTES, max_size=ATTRIBUTES))
def test_whole_quantities_are_exact(e: ex.Expr, attrs: list[float]) -> None:
    if any(isinstance(x, ex.Call) and x.fun in ("Exp", "Ln", "Sqrt", "Pow") for x in ex.walk(e)):
        return
    if any(isinstance(x, ex.Binary) and x.op in ("Pow", "Div") for x in ex.walk(e)) or _overflows(e, attrs):
        return
    value = interpreted(e, attrs)
    variables, term, held, _ = encoded(e, attrs, symbolic=True)
    assert admits(variables, term, held, value) != z3.unsat
    if term.whole:
        assert excludes_others(variables, term, held, value) != z3.sat


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(-(2**40), 2**40), st.integers(1, 2**20), st.sampled_from(["Floor", "Ceil"]))
def test_quotients_of_whole_numbers_round_exactly(a: int, b: int, fun: str) -> None:
    e = ex.Call(fun=fun, args=(ex.Binary(op="Div", left=ex.Attr(slot=0), right=ex.Attr(slot=1)),))
    attrs = [float(a), float(b), 0.0, 0.0]
    exact = a // b if fun == "Floor" else -(-a // b)
    assert interpreted(e, attrs) == exact
    variables = Variables()
    terms = [variables.term("a", -(2.0**40), 2.0**40, exact=True, whole=True), constant(float(b))]
    encoder = Encoder(PROGRAM, Names(PROGRAM), variables, lambda slot: terms[slot])
    held = terms[0].num == a
    term = encoder.encode(e)
    assert term.whole
    assert excludes_others(variables, term, held, float(exact)) == z3.unsat


@pytest.mark.parametrize("dist", sorted(tables.DISTRIBUTION))
def test_every_draw_lies_in_its_support(dist: str) -> None:
    random.seed(dist)
    edge = [0.0, 1.0 - 2.0**-53, 0.5, 2.0**-53]
    for trial in range(120):
        args = [random.choice([0.0, 1.0, 3.0, 0.25, 4.0, 7.3, 0.9]) for _ in tables.DISTRIBUTION[dist].params]
        unit = (lambda: random.choice(edge)) if trial % 2 else random.random
        value = float(getattr(sim_draws, f"draw_{dist.lower()}")(unit, *args))
        for constants in (True, False):
            variables = Variables()
            terms = []
            for a in args:
                free = variables.term("a", -10.0, 10.0, exact=True)
                terms.append(constant(a) if constants else free)
            held = z3.And(*(t.num == constant(a).num for t, a in zip(terms, args, strict=True)))
            term = DRAWS[dist](variables, "x", tuple(terms))
            assert admits(variables, term, held, value) != z3.unsat, (args, value)


def test_every_row_of_the_tables_has_an_encoding() -> None:
    assert set(operations.UNARY) == set(tables.UNARY)
    assert set(operations.BINARY) == set(tables.BINARY)
    plain = set(operations.ONE_ARGUMENT) | set(operations.TWO_ARGUMENTS)
    assert plain == {f.ir for f in tables.FUNCTIONS if not f.moves}
    assert set(readings.QUERIES) == {f.ir for f in tables.FUNCTIONS if f.moves}
    assert set(DRAWS) == set(tables.DISTRIBUTION)
    assert set(readings.CONTEXT) == set(tables.CONTEXT)
    assert set(readings.AGGREGATES) == set(tables.AGGREGATE)


def test_flags_fold() -> None:
    assert land(True, True) is True
    assert land(True, False) is False
