"""IEEE arithmetic: nothing raises, signs of zero and NaN behave."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.sim import numeric
from serq.sim.report import format_number

FLOATS = st.floats(allow_nan=True, allow_infinity=True)


def same(a: float, b: float) -> bool:
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


@given(FLOATS, FLOATS)
def test_division_and_power_are_numpys(a: float, b: float) -> None:
    with np.errstate(all="ignore"):
        assert same(numeric.div(a, b), float(np.float64(a) / np.float64(b)))
        assert numeric.power(a, b) == pytest.approx(
            float(np.float64(a) ** np.float64(b)), nan_ok=True, rel=1e-12
        )


@given(FLOATS)
def test_functions_of_one_argument_are_numpys(x: float) -> None:
    with np.errstate(all="ignore"):
        assert same(numeric.floor(x), float(np.floor(x)))
        assert same(numeric.ceil(x), float(np.ceil(x)))
        assert numeric.sqrt(x) == pytest.approx(float(np.sqrt(x)), nan_ok=True, rel=1e-15)
        assert numeric.exp(x) == pytest.approx(float(np.exp(x)), nan_ok=True, rel=1e-12)
        assert numeric.ln(x) == pytest.approx(float(np.log(x)), nan_ok=True, rel=1e-12)


@given(FLOATS, FLOATS)
def test_least_and_greatest_ignore_a_nan(a: float, b: float) -> None:
    assert numeric.fmin(a, b) == pytest.approx(float(np.fmin(a, b)), nan_ok=True)
    assert numeric.fmax(a, b) == pytest.approx(float(np.fmax(a, b)), nan_ok=True)


@given(st.lists(FLOATS))
def test_the_total_order_agrees_with_the_ordinary_one_and_orders_zeros_and_nan(values: list[float]) -> None:
    ordered = sorted([*values, 0.0, -0.0, math.nan, -math.nan], key=numeric.order_key)
    finite = [v for v in ordered if v == v]
    assert finite == sorted(finite)
    assert ordered[0] != ordered[0] and ordered[-1] != ordered[-1]
    zeros = [math.copysign(1, v) for v in ordered if v == 0.0]
    assert zeros == sorted(zeros)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_report_numbers_read_back_and_have_no_exponent(x: float) -> None:
    text = format_number(x)
    assert same(float(text), x)
    assert "e" not in text and not text.endswith((".", ".0"))


@pytest.mark.parametrize(
    ("x", "text"), [(1e22, "1" + "0" * 22), (1e-9, "0.000000001"), (3.0, "3"), (-0.0, "-0"), (0.1, "0.1")]
)
def test_report_numbers_of_the_reference(x: float, text: str) -> None:
    assert format_number(x) == text


@pytest.mark.parametrize(
    ("value", "first"),
    [
        (numeric.sqrt(-1.0), True),
        (numeric.power(-1.0, 0.5), True),
        (numeric.div(0.0, 0.0), True),
        (numeric.ln(-1.0), False),
        (-numeric.sqrt(-1.0), False),
    ],
)
def test_what_is_no_number_comes_before_or_after_all_numbers(value: float, first: bool) -> None:
    """As the peer's queues order them: an invalid operation's sign is set, but for the logarithm's."""
    assert (numeric.order_key(value) < numeric.order_key(-math.inf)) is first
    assert (numeric.order_key(value) > numeric.order_key(math.inf)) is not first
