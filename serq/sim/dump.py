"""Dump files (report.md §4): samples and gauge change points as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from serq.sim.report import Metric, Report, format_number


def dump_files(report: Report) -> Iterator[tuple[str, Iterator[str]]]:
    """Relative names and lines: `NAME.csv` per observation, `client/NAME.csv`, `gauge/NAME.csv`.

    The report must come from a detailed run.
    """
    for metric in report.observes:
        yield f"{metric.name}.csv", _samples(metric)
    for metric in report.client:
        yield f"client/{metric.name}.csv", _samples(metric)
    for gauge in report.gauges:
        yield f"gauge/{gauge.name}.csv", _points(gauge.times, gauge.values)


def _samples(m: Metric) -> Iterator[str]:
    yield "time,session,turn,value\n"
    for t, s, k, x in zip(m.times, m.sessions, m.turns, m.samples, strict=True):
        yield f"{format_number(t)},{s},{k},{format_number(x)}\n"


def _points(times: Sequence[float], values: Sequence[float]) -> Iterator[str]:
    yield "time,value\n"
    for t, v in zip(times, values, strict=True):
        yield f"{format_number(t)},{format_number(v)}\n"
