"""Statistics against numpy and closed forms (report.md §2)."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.sim.gauges import GaugeState
from serq.sim.statistics import Histogram, Samples, half_width

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=300)


def samples(values: list[float]) -> Samples:
    made = Samples(detailed=True)
    for i, v in enumerate(values):
        made.add(v, float(i), i, 1.0)
    return made


@given(VALUES)
def test_mean_variation_and_percentile(values: list[float]) -> None:
    made = samples(values)
    mean, cv2 = made.moments()
    assert mean == pytest.approx(np.mean(values), rel=1e-9, abs=1e-6)
    if abs(mean) > 1e-3:
        assert cv2 == pytest.approx(np.var(values, ddof=1) / np.mean(values) ** 2, rel=1e-6, abs=1e-9)
    assert made.p99() == np.percentile(values, 99, method="inverted_cdf")


def test_no_sample_has_no_statistics() -> None:
    empty = samples([])
    assert all(math.isnan(x) for x in (*empty.moments(), empty.p99()))
    assert empty.ci() == math.inf


@given(st.lists(st.floats(-100, 100), min_size=40, max_size=400))
def test_the_interval_is_that_of_twenty_batch_means(values: list[float]) -> None:
    size = len(values) // 20
    means = np.array(values[: 20 * size]).reshape(20, size).mean(axis=1)
    expected = 2.093 * means.std(ddof=1) / math.sqrt(20)
    assert half_width(values) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_below_forty_samples_there_is_no_interval() -> None:
    assert half_width([1.0] * 39) == math.inf
    assert half_width([1.0] * 40) == 0.0


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=200), st.sampled_from([0.5, 0.99]))
def test_a_histogram_quantile_is_within_one_bucket(values: list[float], q: float) -> None:
    made = Histogram()
    for v in values:
        made.add(v)
    exact = sorted(values)[max(math.ceil(q * len(values)), 1) - 1]
    assert made.quantile(q) == pytest.approx(exact, rel=0.011)
    assert made.mean() == pytest.approx(np.mean(values), rel=1e-9)


def test_zeros_share_the_lowest_bucket() -> None:
    made = Histogram()
    for v in (0.0, 0.0, 5.0):
        made.add(v)
    assert made.quantile(0.5) == 0.0
    assert made.quantile(0.99) == pytest.approx(5.0, rel=0.01)


@given(
    st.lists(st.tuples(st.floats(0.01, 5.0), st.integers(0, 3)), min_size=1, max_size=60),
    st.floats(0.0, 10.0),
)
def test_a_gauge_averages_its_steps(steps: list[tuple[float, int]], warmup: float) -> None:
    times = np.cumsum([0.0, *(dt for dt, _ in steps)])
    values = [float(v) for _, v in steps]
    end = float(times[-1])
    if end <= warmup:
        return
    current = [0.0]
    kept = GaugeState("g", lambda: current[0], warmup, end, keep=True)
    flat = GaugeState("g", lambda: current[0], warmup, end, keep=False)
    for t, v in zip(times, values, strict=False):
        current[0] = v
        kept.sample(float(t))
        flat.sample(float(t))
    result, streamed = kept.finish(end), flat.finish(end)
    spans = [max(0.0, b - max(a, warmup)) for a, b in pairwise(times)]
    total = sum(s * v for s, v in zip(spans, values, strict=True))
    assert result.mean == pytest.approx(total / (end - warmup), rel=1e-9, abs=1e-9)
    assert (result.mean, result.ci, result.least, result.greatest) == (
        streamed.mean,
        streamed.ci,
        streamed.least,
        streamed.greatest,
    )
    assert len(streamed.times) == 0
