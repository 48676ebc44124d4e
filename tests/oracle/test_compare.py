"""The main job: programs against the recorded scheduler, step by step, and what the comparison must notice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from serq.diagnostics import SerqError
from serq.ir.program import Program, Step
from serq.ir.validate import validate
from serq.oracle import compare as comparison
from serq.oracle.compare import MODES, RULES, Outcome, compare, first_difference, vanished
from serq.oracle.differences import DECLARED
from serq.oracle.grid import difference_text, step_grid
from serq.oracle.observer import observe_steps
from serq.oracle.recorded import read_trace, recorded_scenarios, traces_of
from serq.oracle.request import program_of, sessions_of
from serq.oracle.scenario import read_scenario

COVERED = ["01", "02", "03", "04", "05", "06", "07", "08", "14"]
PATHS = {p.name[:2]: p for p in recorded_scenarios() if p.name[0].isdigit()}
ALL = [o for p in recorded_scenarios() for o in comparison.compare_file(p)]


def compare_file(path: Path) -> Outcome:
    """The outcome against the latest version."""
    return comparison.compare_file(path)[0]


@pytest.mark.parametrize("number", COVERED)
def test_the_program_does_what_the_real_scheduler_did(number: str) -> None:
    outcome = compare_file(PATHS[number])
    assert outcome.difference is None, difference_text(outcome)
    assert outcome.status == "agrees"
    assert outcome.steps > 10 and outcome.tokens > 100


def test_preemption_and_resumption_are_among_them() -> None:
    outcomes = [compare_file(PATHS[n]) for n in COVERED]
    assert sum(o.preemptions for o in outcomes) >= 10
    assert sum(1 for o in outcomes for s in o.recorded if s.resumed) >= 5


@pytest.mark.parametrize("o", ALL, ids=lambda o: f"{o.name}-{o.version}")
def test_every_recording_agrees_or_falls_under_a_declared_difference(o: Outcome) -> None:
    if o.status == "not covered":
        assert o.declared and o.reason and len(o.reason) > 20
    else:
        assert o.status == "agrees", difference_text(o)


def test_every_declared_difference_shows() -> None:
    assert vanished(ALL) == []
    assert {o.declared for o in ALL if o.declared} == {d.number for d in DECLARED}


def test_a_declared_difference_that_vanishes_is_noticed() -> None:
    agreeing = [replace(o, difference=None) if o.declared == 1 else o for o in ALL]
    assert [d.number for d in vanished(agreeing)] == [1]


def test_enough_is_recorded_and_covered() -> None:
    agreeing = [o for o in ALL if o.status == "agrees"]
    assert {o.version for o in ALL} >= {"0.31.0", "0.33.0"}
    assert len({o.name for o in agreeing}) >= 100
    assert sum(o.preemptions for o in agreeing) >= 200
    assert sum(n for o in agreeing for s in o.recorded for _, n in s.hits) >= 5_000


def test_the_versions_differ_where_their_programs_do() -> None:
    for number, version in (("12", "0.31.0"), ("07", "0.30.0")):
        scenario, trace = (
            read_scenario(PATHS[number]),
            next(t for p in traces_of(PATHS[number]) if (t := read_trace(p)).version == version),
        )
        assert compare(scenario, trace).status == "agrees"
        assert compare(scenario, replace(trace, version="0.33.0")).status == "differs"


@pytest.mark.parametrize("number", COVERED)
def test_the_programs_are_valid(number: str) -> None:
    assert validate(program_of(read_scenario(PATHS[number]))) == ()


@pytest.mark.parametrize("number", ["12", "15", "22", "95"])
@pytest.mark.parametrize("version", ["0.30.0", "0.31.0", "0.33.0"])
def test_the_programs_of_every_version_are_valid(number: str, version: str) -> None:
    assert validate(program_of(read_scenario(PATHS[number]), version=version)) == ()


class TestPlantedFaults:
    """The comparison notices a model that is wrong, and says at which step and in what."""

    @staticmethod
    def differs(monkeypatch: pytest.MonkeyPatch, number: str, change: object) -> comparison.Outcome:
        def wrong(scenario: object, horizon: float | None = None, version: str = "0.33.0") -> Program:
            return change(program_of(scenario, horizon, version))  # type: ignore[operator, arg-type]

        monkeypatch.setattr(comparison, "program_of", wrong)
        outcome = compare_file(PATHS[number])
        assert outcome.status == "differs" and outcome.difference is not None
        text = difference_text(outcome)
        assert outcome.name in text and RULES[outcome.difference.mode] in text and "before" in text
        return outcome

    def test_one_block_too_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def change(p: Program) -> Program:
            kv = p.pools[1].model_copy(update={"cap": p.pools[1].cap + 16})
            return p.model_copy(update={"pools": (p.pools[0], kv)})

        found = self.differs(monkeypatch, "01", change)
        assert found.difference is not None and found.difference.mode == "free blocks"

    def test_one_request_slot_too_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def change(p: Program) -> Program:
            reqs = p.pools[0].model_copy(update={"cap": p.pools[0].cap + 1})
            return p.model_copy(update={"pools": (reqs, p.pools[1])})

        self.differs(monkeypatch, "05", change)

    def test_a_victim_requeued_at_the_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def change(p: Program) -> Program:
            rule = p.pools[1].preempt
            assert rule is not None
            kv = p.pools[1].model_copy(update={"preempt": rule.model_copy(update={"tail": True})})
            return p.model_copy(update={"pools": (p.pools[0], kv)})

        found = self.differs(monkeypatch, "01", change)
        assert found.difference is not None and found.difference.mode == "waiting order"

    def test_no_chunk_threshold(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def change(p: Program) -> Program:
            step = p.stages[0].kind
            assert isinstance(step, Step)
            free = step.model_copy(update={"chunk": step.budget.model_copy(update={"value": 0.0})})
            stage = p.stages[0].model_copy(update={"kind": free})
            return p.model_copy(update={"stages": (stage, *p.stages[1:])})

        found = self.differs(monkeypatch, "07", change)
        assert found.difference is not None and found.difference.mode == "scheduled tokens"

    def test_a_smaller_budget(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def change(p: Program) -> Program:
            step = p.stages[0].kind
            assert isinstance(step, Step)
            less = step.model_copy(update={"budget": step.budget.model_copy(update={"value": 31.0})})
            return p.model_copy(
                update={"stages": (p.stages[0].model_copy(update={"kind": less}), *p.stages[1:])}
            )

        self.differs(monkeypatch, "01", change)

    @pytest.mark.parametrize("mode", sorted(MODES))
    def test_every_mode_notices_its_own_field(self, mode: str) -> None:
        steps, _ = observe_steps(program_of(read_scenario(PATHS["01"])))
        altered = {
            "scheduled tokens": {"scheduled": ((9, 9),)},
            "admitted": {"admitted": (9,)},
            "resumed": {"resumed": (9,)},
            "preempted": {"preempted": (9,)},
            "preempted for": {"preempted_for": (9,)},
            "running order": {"running": (9,)},
            "waiting order": {"waiting": (9,)},
            "free blocks": {"free": 99},
            "finished": {"finished": (9,)},
            "running at the end": {"running_end": (9,)},
            "free blocks at the end": {"free_end": 99},
            "prefix hits": {"hits": ((9, 9),)},
        }
        wrong = [*steps[:7], replace(steps[7], **altered[mode]), *steps[8:]]
        found = first_difference(steps, wrong)
        assert found is not None and (found.step, found.mode) == (steps[7].step, mode)

    def test_a_missing_and_a_superfluous_step_are_noticed(self) -> None:
        steps, _ = observe_steps(program_of(read_scenario(PATHS["01"])))
        missing = first_difference(steps, steps[:5] + steps[6:])
        superfluous = first_difference(steps[:-1], steps)
        assert missing is not None and missing.step == steps[5].step
        assert superfluous is not None and superfluous.step == steps[-1].step
        assert first_difference(steps, steps) is None


def test_the_grid_shows_both_sides_where_they_differ() -> None:
    outcome = compare_file(PATHS["01"])
    assert "|" not in step_grid(outcome)
    changed = replace(outcome.program[2], scheduled=((2, 99),))
    other = replace(outcome, program=(*outcome.program[:2], changed, *outcome.program[3:]))
    assert "4|99" in step_grid(other)


def test_files_that_are_not_what_they_should_be(tmp_path: Path) -> None:
    bad = tmp_path / "x.scenario.json"
    for text in ("", "[]", '{"budget": 3}', '{"budget": -1, "max_seqs": 1, "num_blocks": 2, "requests": []}'):
        bad.write_text(text)
        with pytest.raises(SerqError, match=r"SQ9[02]"):
            read_scenario(bad)
    good = json.loads(PATHS["01"].read_text())
    bad.write_text(json.dumps(good))
    with pytest.raises(SerqError, match="SQ903"):
        compare_file(bad)
    (tmp_path / "x.trace.json").write_text('{"vllm": "1", "steps": [{}]}')
    with pytest.raises(SerqError, match="SQ902"):
        compare_file(bad)
    with pytest.raises(SerqError, match="SQ001"):
        read_scenario(tmp_path / "none.scenario.json")


def test_a_trace_that_disagrees_is_found_through_files(tmp_path: Path) -> None:
    source = traces_of(PATHS["01"])[0]
    (tmp_path / "x.scenario.json").write_text(PATHS["01"].read_text())
    trace = read_trace(source)
    assert compare(read_scenario(tmp_path / "x.scenario.json"), trace).status == "agrees"
    wrong = replace(trace, steps=(*trace.steps[:3], replace(trace.steps[3], free=7), *trace.steps[4:]))
    outcome = compare(read_scenario(tmp_path / "x.scenario.json"), wrong)
    assert outcome.difference is not None
    assert (outcome.difference.step, outcome.difference.recorded, outcome.difference.program) == (3, 7, 0)


def test_every_mode_names_the_rule_that_decides_it() -> None:
    assert set(RULES) == {*MODES, "the step itself"}


def test_conversations_are_sessions_with_turns() -> None:
    turns = sessions_of(read_scenario(PATHS["22"]))
    assert sorted(i for chain in turns for i in chain) == list(range(14))
    assert [5, 7] in [chain[:2] for chain in turns]
    assert all(len(chain) == 1 for chain in sessions_of(read_scenario(PATHS["01"])))
