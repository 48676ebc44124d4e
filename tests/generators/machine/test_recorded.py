"""The machine gives what schedulers were recorded to do, at every step of every recording in the fragment."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from serq.diagnostics import SerqError
from serq.generators import machine
from serq.generators.machine import engine, growth, statements
from serq.generators.machine.cache import evict
from serq.generators.machine.lists import Naturals
from serq.generators.machine.state import AtEngine, Entry, Job, State
from serq.generators.model import Translated
from serq.generators.recorded import Recording, RunStep
from serq.oracle.lean_recordings import covered_recordings, recording_of, translated


@cache
def _members() -> tuple[tuple[Translated, Recording], ...]:
    return tuple(_found())


def _found() -> Iterator[tuple[Translated, Recording]]:
    for scenario, trace in covered_recordings():
        try:
            program = translated(scenario, trace)
        except SerqError:
            continue
        yield program, recording_of(scenario, trace)


def _steps(program: Translated, recording: Recording) -> tuple[RunStep, ...]:
    found = machine.steps_within(program, 0, recording.length)
    return tuple(machine.as_recorded(s) for s in found)


def _differing() -> list[str]:
    return [recording.name for program, recording in _members() if _differs(program, recording)]


def _differs(program: Translated, recording: Recording) -> bool:
    try:
        return _steps(program, recording) != recording.steps
    except machine.Fault:
        return True


def test_every_recorded_step_is_given() -> None:
    assert len(_members()) > 100
    for program, recording in _members():
        for ours, recorded in zip(_steps(program, recording), recording.steps, strict=True):
            assert ours == recorded, recording.name


def test_a_wrong_victim_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_admitted(state: State, holders: Naturals) -> int | None:
        at_engine = (i for i in holders if isinstance(state.session(i).status, AtEngine))
        return next(at_engine, None)

    monkeypatch.setattr(growth, "victim", first_admitted)
    assert _differing()


def test_a_wrong_serving_order_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def newest_first(state: State, admission: int | None, job: Job) -> tuple[Job, ...]:
        return (job, *state.jobs)

    monkeypatch.setattr(statements, "insert_job", newest_first)
    assert _differing()


def test_a_missing_null_block_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def roomier(cap: int, block: int, allocated: int, need: int, entries: tuple[Entry, ...]) -> object:
        return evict(cap + block, block, allocated, need, entries)

    monkeypatch.setattr("serq.generators.machine.cache.evict", roomier)
    assert _differing()


def test_a_longer_prefill_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "want", lambda chunk, job: job.work)
    assert _differing()
