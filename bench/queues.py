"""M/G/1 in three simulators: the same arrivals and work distribution, events counted alike.

A customer is two events, its arrival and its departure, whatever a simulator does inside.
"""

from __future__ import annotations

import math
import random
from pathlib import Path

import ciw
import simpy

from bench.timing import Contender, Result, measure
from serq.ir.decode import loads
from serq.ir.edit import with_settings
from serq.sim import run

PROGRAMS = Path(__file__).parent / "programs"
CUSTOMERS = 20_000
RATE, MEAN, CV2 = 0.8, 1.0, 4.0


def h2(rng: random.Random) -> float:
    """A balanced hyperexponential draw, as the program's."""
    p = 0.5 * (1.0 + math.sqrt((CV2 - 1.0) / (CV2 + 1.0)))
    mean = MEAN / (2.0 * p) if rng.random() < p else MEAN / (2.0 * (1.0 - p))
    return rng.expovariate(1.0 / mean)


def serq_queue() -> Contender:
    """The program of this repository."""
    program = loads((PROGRAMS / "mg1_fifo.ir.json").read_text())
    program = with_settings(program, arrivals=CUSTOMERS)

    def work() -> float:
        run(program)
        return 2.0 * CUSTOMERS

    return work


def simpy_queue() -> Contender:
    """One process a customer, one resource."""

    def work() -> float:
        rng = random.Random(1)
        env = simpy.Environment()
        desk = simpy.Resource(env, capacity=1)
        stays: list[float] = []

        def customer(service: float):  # type: ignore[no-untyped-def]
            began = env.now
            with desk.request() as turn:
                yield turn
                yield env.timeout(service)
            stays.append(env.now - began)

        def source():  # type: ignore[no-untyped-def]
            for _ in range(CUSTOMERS):
                env.process(customer(h2(rng)))
                yield env.timeout(rng.expovariate(RATE))

        env.process(source())
        env.run()
        assert len(stays) == CUSTOMERS
        return 2.0 * CUSTOMERS

    return work


class _H2(ciw.dists.Distribution):  # type: ignore[misc]
    def sample(self, t=None, ind=None):  # type: ignore[no-untyped-def]
        return h2(random)  # type: ignore[arg-type]


def ciw_queue() -> Contender:
    """The same node in ciw, run until as many customers have left."""

    def work() -> float:
        ciw.seed(1)
        network = ciw.create_network(
            arrival_distributions=[ciw.dists.Exponential(rate=RATE)],
            service_distributions=[_H2()],
            number_of_servers=[1],
        )
        simulation = ciw.Simulation(network)
        simulation.simulate_until_max_customers(CUSTOMERS, method="Finish")
        return 2.0 * CUSTOMERS

    return work


def results() -> list[Result]:
    """The comparison with both simulators."""
    contenders = {"serq": serq_queue(), "simpy": simpy_queue(), "ciw": ciw_queue()}
    return [measure("M/G/1", "events/s", contenders, {"simpy": 0.5, "ciw": 1.0})]
