"""What a run keeps: nothing grows with the horizon but the values that exact percentiles need."""

from __future__ import annotations

import gc
import tracemalloc

from serq.ir.edit import with_settings
from serq.sim.machine import Machine
from tests.conformance import program


def test_a_machine_without_observations_stays_flat() -> None:
    def peak(horizon: float) -> int:
        base = program("closed-ps").model_copy(update={"claims": (), "observes": ()})
        blocks = tuple(tuple(s for s in b if type(s).__name__ != "Observe") for b in base.blocks)
        sides = tuple(
            tuple(side for side, s in zip(base.sides[i], b, strict=True) if type(s).__name__ != "Observe")
            for i, b in enumerate(base.blocks)
        )
        machine = Machine(
            with_settings(base.model_copy(update={"blocks": blocks, "sides": sides}), horizon=horizon)
        )
        gc.collect()
        tracemalloc.start()
        machine.run()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # What remains is one double per response of the client section.
        return most - 8 * 4 * len(machine.clients.response.values)

    short, long = peak(300.0), peak(3_000.0)
    assert long < 1.5 * short + 100_000


def test_ended_sessions_are_forgotten() -> None:
    machine = Machine(program("fifo-mm1"))
    machine.run()
    assert len(machine.live_sessions) == machine.live
    assert sum(1 for _ in machine.everyone()) == machine.live
