"""The recorded answers of the real scheduler, from the example programs alone."""

from __future__ import annotations

import json

import pytest

from tools.published import PUBLISHED, REPLAY, recorded, replayed, scenarios, simulated

TURNS = list(replayed())


@pytest.mark.parametrize("turn", TURNS, ids=lambda t: t[0])
def test_a_replayed_turn_is_sent_answered_and_cached_as_recorded(
    turn: tuple[str, tuple[float, ...], tuple[float, ...]],
) -> None:
    _, theirs, ours = turn
    assert ours == theirs


def test_the_replayed_trace_is_the_recorded_one() -> None:
    assert (REPLAY.parent / "cache_trace.csv").read_bytes() == (PUBLISHED / "cache_trace.csv").read_bytes()


def test_all_nine_turns_are_there_and_two_hit_the_cache() -> None:
    assert len(TURNS) == 9
    assert sorted(name for name, (*_, cached), _ in TURNS if cached) == ["0:2", "1:2"]


@pytest.mark.parametrize("name", scenarios())
def test_a_request_of_a_scenario_gets_its_tokens_at_the_recorded_steps(name: str) -> None:
    assert simulated(name) == recorded(name)


def test_the_engine_on_the_device_recorded_the_same() -> None:
    results = json.loads((PUBLISHED / "a100_engine.json").read_text(encoding="utf-8"))["results"]
    assert len(results) >= 6
    for name, result in results.items():
        found = simulated(name)
        assert {key: found[key] for key in result} == result
