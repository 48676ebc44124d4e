"""Runs against closed forms: the exact mean lies within the reported interval (twice its width)."""

from __future__ import annotations

import math

import pytest

from serq.ir.build import DELAY, Builder, assign, observe, run, turn
from serq.ir.program import Closed, Fifo, Poisson, Program, Ps
from serq.ir.quantity import NOW, Quantity, draw
from serq.sim import Report
from serq.sim import run as simulate


def queue(kind: Fifo | Ps, service: Quantity, rate: float, seed: int) -> Program:
    b = Builder()
    desk = b.stage("desk", kind)
    work, began = b.attr("work"), b.attr("began")
    b.turn([assign(work, service)])
    b.server([assign(began, NOW), run(desk, work), observe("stay", NOW - began)])
    return b.build(arrival=Poisson(rate=rate), horizon=60_000, warmup=1_000, seed=seed)


def within(report: Report, name: str, exact: float) -> None:
    found = report.data["observes"][name]
    assert abs(found["mean"] - exact) <= 2.0 * found["ci"], (found, exact)
    assert found["ci"] < 0.25 * exact


@pytest.mark.parametrize(
    ("service", "mean", "cv2"),
    [
        (draw("Exp", 0.7), 0.7, 1.0),
        (draw("Det", 0.7), 0.7, 0.0),
        (draw("Erlang", 2, 0.7), 0.7, 0.5),
        (draw("H2", 0.7, 3), 0.7, 3.0),
        (draw("Uniform", 0.2, 1.2), 0.7, 1.0 / 12.0 / 0.49),
    ],
)
def test_the_mean_stay_in_mg1_is_pollaczek_khinchine(service: Quantity, mean: float, cv2: float) -> None:
    report = simulate(queue(Fifo(servers=1), service, 1.0, seed=3))
    load = mean
    within(report, "stay", load * mean * (1 + cv2) / (2 * (1 - load)) + mean)


@pytest.mark.parametrize("cv2", [1.0, 4.0])
def test_the_mean_stay_under_processor_sharing_ignores_the_variation(cv2: float) -> None:
    capacity = Ps(capacity=(Quantity(DELAY.capacity) * 0 + 1).expr)
    report = simulate(queue(capacity, draw("H2", 0.6, cv2), 1.0, seed=5))
    within(report, "stay", 0.6 / (1 - 0.6))


def test_two_servers_wait_as_erlang_says() -> None:
    report = simulate(queue(Fifo(servers=2), draw("Exp", 1.4), 1.0, seed=7))
    a, rho = 1.4, 0.7
    waiting = (a**2 / 2 / (1 - rho)) / (1 + a + a**2 / 2 / (1 - rho))
    within(report, "stay", waiting * 1.4 / (2 * (1 - rho)) + 1.4)


def test_a_closed_population_has_the_machine_repair_throughput() -> None:
    n, think, service = 8, 5.0, 1.0
    b = Builder()
    desk, rest = b.stage("desk", Fifo(servers=1)), b.stage("rest", DELAY)
    work, pause = b.attr("work"), b.attr("pause")
    b.turn([assign(work, draw("Exp", service)), assign(pause, draw("Exp", think))])
    b.session([turn(), run(rest, pause)])
    b.server([run(desk, work)])
    report = simulate(b.build(arrival=Closed(population=n), horizon=60_000, warmup=1_000, seed=9))
    weights = [math.factorial(n) / math.factorial(n - k) * (service / think) ** k for k in range(n + 1)]
    utilization = 1 - weights[0] / sum(weights)
    assert report.data["stages"][0]["utilization"] == pytest.approx(utilization, rel=0.02)
    assert report.data["stages"][0]["throughput"] == pytest.approx(utilization / service, rel=0.02)
