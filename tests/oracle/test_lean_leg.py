"""The third leg: Lean agrees with a recording, and where it does not, says what its own run is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from serq.cli.main import main
from serq.cli.oracle import command
from serq.generators.recorded import windows
from serq.generators.toolchain import set_up
from serq.generators.toolchain.results import Judge
from serq.oracle.lean_bench import Answer, LeanBench
from serq.oracle.lean_leg import legs_text, printed_steps, three_legs
from serq.oracle.lean_recordings import read_recording, recording_of
from serq.oracle.recorded import SCENARIOS, Trace
from serq.oracle.scenario import Scenario

PATH = SCENARIOS / "30_published_chunked.scenario.json"
SCENARIO, TRACE = read_recording(PATH)
LONG = read_recording(SCENARIOS / "56_self_preempt_again.scenario.json")


class _Agreeing:
    """Stands for a Lean that proves what it is asked."""

    judge = Judge("native", "Lean", True)

    def ask(self, modules: dict[str, str]) -> dict[str, Answer]:
        return {name: Answer(()) for name in modules}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> LeanBench:
    """The bench in the user's cache."""
    set_up("auto", tmp_path_factory.getbasetemp(), lambda text: None)
    return LeanBench()


def _spoiled(scenario: Scenario, trace: Trace, step: int) -> tuple[Scenario, Trace]:
    """A recording with a token too many at a step."""
    steps = list(trace.steps)
    request, tokens = steps[step].scheduled[0]
    steps[step] = replace(steps[step], scheduled=((request, tokens + 1), *steps[step].scheduled[1:]))
    return replace(scenario, name="spoiled"), replace(trace, steps=tuple(steps))


def test_lean_is_the_third_side(bench: LeanBench) -> None:
    agreeing, differing = three_legs(bench, [(SCENARIO, TRACE), _spoiled(SCENARIO, TRACE, 3)])
    assert agreeing.ok, legs_text(agreeing)
    assert "agree at every one of" in legs_text(agreeing)
    assert not differing.ok and differing.first_difference == 3
    row = next(r for r in differing.rows if r.step == 3)
    assert row.lean == row.program == recording_of(SCENARIO, TRACE).steps[3]
    assert row.recorded != row.lean
    assert "differ first at step 3" in legs_text(differing)


def test_a_run_of_several_pieces_names_its_step_too(bench: LeanBench) -> None:
    cut = windows(recording_of(*LONG))
    step = cut[1].first + 2
    agreeing, differing = three_legs(bench, [LONG, _spoiled(*LONG, step)])
    assert len(cut) > 1 and agreeing.ok, legs_text(agreeing)
    assert not differing.problems and differing.first_difference == step
    row = next(r for r in differing.rows if r.step == step)
    assert row.lean == row.program != row.recorded


def test_steps_that_lean_prints_are_read() -> None:
    text = (
        "some\n  [{ start := 0, tokens := [(2, 32)], admitted := [2], allocated := 32 },\n"
        "    { start := 1, tokens := [(2, 24),\n (0, 8)], preempted := [1], finished := [3], allocated := 80 }]"
    )
    first, second = printed_steps(text)
    assert (first.start, first.tokens, first.admitted, first.allocated) == (0, ((2, 32),), (2,), 32)
    assert (second.tokens, second.preempted, second.finished) == (((2, 24), (0, 8)), (1,), (3,))


def test_the_verb_shows_three_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serq.cli.oracle.LeanBench", _Agreeing)
    done = CliRunner().invoke(command, [str(PATH), "--lean"], standalone_mode=False)
    assert done.exception is None and done.return_value == 0
    assert "Python" in done.output and "Lean agrees in 1 of 1 scenarios" in done.output


def test_a_scenario_outside_the_fragment_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serq.cli.oracle.LeanBench", _Agreeing)
    with pytest.raises(SystemExit) as ended:
        main(["oracle", "--lean", str(Path(SCENARIOS / "12_priority.scenario.json"))])
    assert ended.value.code == 1
