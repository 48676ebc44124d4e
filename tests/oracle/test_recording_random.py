"""Random scenarios: the same for a seed, valid, and of their class."""

from __future__ import annotations

import pytest

from serq.diagnostics import Severity
from serq.oracle.recording.files import parse_scenario, scenario_text
from serq.oracle.recording.random_scenarios import CLASSES, classes_of, draw
from serq.oracle.recording.rules import check_scenario

SEEDS = range(60)


@pytest.mark.parametrize("kind", CLASSES)
def test_a_seed_gives_one_scenario(kind: str) -> None:
    assert draw(kind, 5) == draw(kind, 5)
    assert len({str(draw(kind, seed)["requests"]) for seed in SEEDS}) == len(SEEDS)


@pytest.mark.parametrize("kind", CLASSES)
def test_every_scenario_is_valid(kind: str) -> None:
    for seed in SEEDS:
        scenario = draw(kind, seed)
        found = check_scenario(scenario)
        assert [d for d in found if d.severity is Severity.ERROR] == []
        # Only the oversize class has requests that never fit, and it always has one.
        assert ({d.code for d in found} == {"SQ932"}) == (kind == "oversize")


@pytest.mark.parametrize("kind", CLASSES)
def test_the_text_of_a_scenario_reads_back(kind: str) -> None:
    scenario = draw(kind, 1)
    assert parse_scenario(scenario_text(scenario), "x") == (scenario, check_scenario(scenario, "x"))


def test_classes_are_what_they_are_called() -> None:
    for seed in SEEDS:
        assert {r["out"] for r in draw("single_token", seed)["requests"]} == {1}
        exact = draw("exact_blocks", seed)
        assert all(r["prompt"] % exact["block_size"] == 0 for r in exact["requests"])
        assert draw("no_full_isl", seed)["reserve_full_isl"] is False
        assert draw("watermark", seed)["watermark"] > 0
        assert draw("threshold", seed)["chunk"] > 0
        adaptive = draw("adaptive", seed)
        assert adaptive["chunk_adaptive"] is True and 0 < adaptive["chunk"] <= adaptive["budget"] // 3
        assert draw("priority", seed)["policy"] == "priority"
        assert "chunk" not in draw("plain", seed)
    assert {draw("block_sizes", seed)["block_size"] for seed in SEEDS} == {1, 2, 4, 8, 32, 64}


def test_a_version_has_the_classes_of_its_settings() -> None:
    assert classes_of("0.31.0") == classes_of("0.33.0") == tuple(CLASSES)
    assert set(CLASSES) - set(classes_of("0.30.0")) == {"adaptive"}


def test_a_conversation_goes_on_from_the_turn_before() -> None:
    for seed in SEEDS:
        rows = draw("conversation", seed)["requests"]
        turns = [r for r in rows if "share" in r]
        assert turns
        for turn in turns:
            before, shared = turn["share"]
            assert shared == rows[before]["prompt"] + rows[before]["out"]
            assert turn["after"][0] == before
            assert turn["prompt"] > shared
        # A turn is gone on from once: each chain is one session.
        assert len({t["share"][0] for t in turns}) == len(turns)


def test_an_unknown_class_is_refused() -> None:
    with pytest.raises(KeyError):
        draw("unheard of", 1)
