"""Every conformance case: the same report, samples and gauge points, to the last bit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from serq.ir.decode import from_data
from serq.sim import run
from serq.sim.report import Metric
from tests.conformance import cases, corpus

NAMES = sorted(cases())
# The cases keep the first samples and points of each list.
KEPT = 20


def differences(ours: Any, theirs: Any, path: str = "") -> list[str]:
    """Paths at which two JSON values differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found = [f"{path}/{k}: only on one side" for k in set(ours) ^ set(theirs)]
        return found + [
            d for k in ours if k in theirs for d in differences(ours[k], theirs[k], f"{path}/{k}")
        ]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [
            d
            for i, pair in enumerate(zip(ours, theirs, strict=True))
            for d in differences(*pair, f"{path}[{i}]")
        ]
    return [] if ours == theirs else [f"{path}: {ours!r} here, {theirs!r} expected"]


@pytest.mark.parametrize("name", NAMES)
def test_the_report_is_the_reference_one(name: str) -> None:
    case = cases()[name]
    report = run(from_data(case["ir"]), corpus=corpus(name), detailed=True, self_check=True)
    ours = json.loads(report.json())
    del ours["serq_version"]
    assert differences(ours, case["report"]) == []
    assert list(ours) == list(case["report"])


@pytest.mark.parametrize("name", NAMES)
def test_samples_and_gauge_points_are_the_reference_ones(name: str) -> None:
    case = cases()[name]
    report = run(from_data(case["ir"]), corpus=corpus(name), detailed=True)
    for metrics, recorded in ((report.observes, case["samples"]), (report.client, case["client_samples"])):
        for metric in metrics:
            kept = recorded[metric.name]
            assert _samples(metric)[: len(kept)] == kept, metric.name
            assert len(kept) == min(metric.count, KEPT)
    for gauge in report.gauges:
        points = [list(point) for point in zip(gauge.times, gauge.values, strict=True)]
        kept = case["gauge_points"][gauge.name]
        assert points[: len(kept)] == kept, gauge.name
        assert len(kept) == min(len(points), KEPT)


def _samples(metric: Metric) -> list[list[float]]:
    columns = (metric.times, metric.sessions, metric.turns, metric.samples)
    return [list(row) for row in zip(*columns, strict=True)]
