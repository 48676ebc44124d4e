"""The self-check is quiet on every conformance case (see test_conformance) and notices planted faults."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from serq.sim import RunError, run, selfcheck
from serq.sim.caching import PrefixCache
from serq.sim.growth import Growth
from serq.sim.machine import Machine
from serq.sim.pools import PoolState
from serq.sim.records import READY, Member, Session
from tests.conformance import program

CASE = "eng-multiturn-cache"


def with_fault(fault: Callable[[Machine], None], at: int = 60) -> str:
    """Run a case, break the machine's state after some events, and return the finding."""
    machines: list[Machine] = []

    def install(machine: Machine) -> None:
        machines.append(machine)
        check = machine.linked.after_event
        assert check is not None
        count = [0]

        def after() -> None:
            count[0] += 1
            if count[0] == at:
                fault(machine)
            check()

        machine.linked.after_event = after

    with pytest.raises(RunError) as caught:
        run(program(CASE), self_check=True, on_machine=install)
    (found,) = caught.value.diagnostics
    assert found.code == "SQ850"
    return found.message


def holding(m: Machine) -> tuple[Session, Member]:
    session = next(s for s in m.everyone() if s.holds)
    return session, session.holds[-1].members[-1]


def lose_units(m: Machine) -> None:
    m.pools[0].used += 4.0


def lose_cached(m: Machine) -> None:
    m.pools[0].cached += 4.0


def empty_entry(m: Machine) -> None:
    pool = next(p for p in m.pools if p.cache.entries)
    entry = next(iter(pool.cache.entries.values()))
    pool.cached -= entry.size
    entry.size = 0.0


def overfill(m: Machine) -> None:
    _, member = holding(m)
    extra = member.pool.cap
    member.alloc += extra
    member.pool.used += extra


def forget_holder(m: Machine) -> None:
    _, member = holding(m)
    member.pool.holders.pop()


def two_places(m: Machine) -> None:
    session, _ = holding(m)
    session.status = READY
    m.pools[0].waiting.append(session)


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        (lose_units, "allocated_is_owned"),
        (lose_cached, "cached_is_entered"),
        (empty_entry, "cached_is_entered"),
        (overfill, "nothing_beyond_capacity"),
        (forget_holder, "holders_are_counted"),
        (two_places, "everyone_is_in_one_place"),
    ],
)
def test_a_fault_in_the_state_is_noticed(fault: Callable[[Machine], None], check: str) -> None:
    assert f"`{check}`" in with_fault(fault)


def test_a_position_beyond_its_allocation_is_noticed() -> None:
    def run_ahead(m: Machine) -> None:
        for s in m.everyone():
            if s.job is not None and s.job.member is not None and s.job.hold is not None:
                s.job.hold.grown = True
                s.job.member.position = s.job.member.alloc + 100.0

    assert "`positions_are_allocated`" in with_fault(run_ahead)


def test_every_check_has_a_planted_fault() -> None:
    planted = {
        "allocated_is_owned",
        "cached_is_entered",
        "nothing_beyond_capacity",
        "holders_are_counted",
        "everyone_is_in_one_place",
        "positions_are_allocated",
    }
    assert planted == {check.__name__ for check in selfcheck.CHECKS}


@pytest.mark.parametrize(
    ("target", "name", "broken"),
    [
        (PoolState, "remove_holder", lambda self, s: None),
        (PrefixCache, "put", lambda self, s, reader, size, slot: None),
        (Growth, "take", lambda self, pool, member, need: setattr(member, "alloc", member.alloc + need)),
    ],
)
def test_a_fault_in_the_code_is_noticed(
    monkeypatch: pytest.MonkeyPatch, target: type, name: str, broken: Callable[..., None]
) -> None:
    def put_without_total(self: PrefixCache, s: Session, reader: Session, size: float, slot: int) -> None:
        original(self, s, reader, size, slot)
        self.pool.cached -= size

    original = PrefixCache.put
    monkeypatch.setattr(target, name, put_without_total if name == "put" else broken)
    with pytest.raises(RunError, match="self-check"):
        run(program(CASE), self_check=True)
