"""Programs whose queues have formulas: runs agree with them, at the numbers the programs and instances state."""

from __future__ import annotations

from math import factorial

import pytest

from serq.lang import tree
from serq.lang.parser import parse, parse_instance
from serq.sim import Report, run
from tools.examples import examples

EXAMPLES = {e.name: e for e in examples()}


def _inputs(name: str, instance: str) -> dict[str, float]:
    """The value of each input of a program: the instance's, or else the program's default."""
    example = EXAMPLES[name]
    main = parse(example.path.read_text(encoding="utf-8")).main
    values = [item.value for item in main.items if isinstance(item, tree.Let)] if main else []
    given = parse_instance(example.instances[instance].read_text(encoding="utf-8")).bindings
    found = {x.external.value: x.default for x in values if isinstance(x, tree.Input)}
    found |= {b.name.text: b.value for b in given}
    return {n: x.value for n, x in found.items() if isinstance(x, tree.Num)}


def _report(name: str, instance: str) -> Report:
    return run(EXAMPLES[name].load(instance).program)


def _agrees(measured: float, half_width: float, exact: float) -> None:
    """Within the interval of the measurement, twice as wide, which is narrow enough to mean something."""
    assert abs(measured - exact) <= 2 * half_width
    assert half_width < exact / 3


def _observed(report: Report, name: str, exact: float) -> None:
    metric = next(m for m in (*report.observes, *report.client) if m.name == name)
    _agrees(metric.mean, metric.ci, exact)


def _gauged(report: Report, name: str, exact: float) -> None:
    gauge = next(g for g in report.gauges if g.name == name)
    _agrees(gauge.mean, gauge.ci, exact)


@pytest.mark.parametrize("instance", ["default", "deterministic"])
def test_mg1_has_the_wait_of_pollaczek_and_khinchine(instance: str) -> None:
    given = _inputs("single-turn/mg1", instance)
    load = given["rate"] * given["mean"]
    wait = load * given["mean"] * (1 + given["cv2"]) / (2 * (1 - load))
    report = _report("single-turn/mg1", instance)
    _observed(report, "wait", wait)
    _observed(report, "sojourn", wait + given["mean"])
    _gauged(report, "in_queue", given["rate"] * wait)


@pytest.mark.parametrize("instance", ["default", "heavy"])
def test_ps_has_a_sojourn_that_does_not_depend_on_the_law_of_service(instance: str) -> None:
    given = _inputs("single-turn/ps", instance)
    load = given["rate"] * given["mean"]
    report = _report("single-turn/ps", instance)
    _observed(report, "sojourn", given["mean"] / (1 - load))
    _observed(report, "slowdown", 1 / (1 - load))
    _gauged(report, "present_jobs", load / (1 - load))
    _gauged(report, "idle", 1 - load)


def test_closed_has_the_utilisation_of_the_machine_repairman() -> None:
    given = _inputs("multi-turn/closed", "default")
    clients, ratio = int(given["clients"]), given["service"] / given["think"]
    weights = (factorial(clients) / factorial(clients - k) * ratio**k for k in range(clients + 1))
    busy = 1 - 1 / sum(weights)
    assert busy == pytest.approx(0.87834, abs=1e-5)
    report = _report("multi-turn/closed", "default")
    _gauged(report, "utilisation", busy)
    _observed(report, "response", clients * given["service"] / busy - given["think"])


def test_a_saturated_server_serves_one_client_after_the_other() -> None:
    given = _inputs("multi-turn/closed", "saturated")
    report = _report("multi-turn/closed", "saturated")
    _gauged(report, "utilisation", 1.0)
    _observed(report, "response", given["clients"] * given["service"] - given["think"])
