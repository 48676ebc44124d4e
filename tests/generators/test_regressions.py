"""Stored regressions: what a run of each gives, and the way from a difference to a stored theorem."""

from __future__ import annotations

from pathlib import Path

import pytest

from serq.cli import lean_drt
from serq.cli.main import main
from serq.diagnostics import SerqError
from serq.generators.random_cases import Case, Request
from serq.generators.toolchain import set_up
from serq.ir.program import Program, Sessions
from serq.oracle import differential
from serq.oracle.differential import interpreted, outcome_of
from serq.oracle.lean_bench import LeanBench
from serq.oracle.lean_regressions import REGRESSIONS, Regression, store, stored

# The first request is preempted where the last admitted one should be.
FAULT = ("then some i else some j", "then some j else some i")
# Two requests that decode until the memory is full, with more of everything than that takes.
CASE = Case(((Request(2, 4, think=1),), (Request(1, 6),)), budget=3, block=1, spare=0, slots=3, detour=1)


@pytest.mark.parametrize("regression", stored(), ids=lambda r: r.name)
def test_the_interpreter_still_gives_what_is_stored(regression: Regression) -> None:
    found = outcome_of(regression.program, regression.sessions)
    assert found is not None and found[0] == regression.outcome


def test_the_stored_answers_are_those_of_the_reference() -> None:
    """lean-model.md §14 and §15."""
    by_name = {r.name: r for r in stored()}
    cost, own, cap = (by_name[n] for n in ("every_cost", "own_victim", "lifted_cap"))

    def seen(r: Regression, name: str) -> tuple[tuple[int, ...], ...]:
        return r.outcome.observed[r.program.observes.index(name)]

    # The second session arrives at 5: its first token comes 6934 later.
    assert seen(cost, "first") == ((1723,), (5 + 6934,)) and seen(cost, "done") == ((7074,), (7159,))
    assert own.program.pools[1].cap == 48 and own.sessions == 2 and own.outcome.preemptions == 8
    assert {i.preempted for i in own.outcome.iterations if i.preempted} == {(0,)}
    assert seen(cap, "first") == ((5,), (5,), (11,)) and seen(cap, "done") == ((9,), (11,), (13,))


def test_what_is_stored_is_read_back(tmp_path: Path) -> None:
    for regression in stored():
        store(regression, tmp_path, tmp_path)
    assert stored(tmp_path) == stored()
    assert all(p.read_bytes() == (REGRESSIONS / p.name).read_bytes() for p in tmp_path.glob("*.json"))


@pytest.mark.parametrize("spoil", ["{", "[]", '{"name": "x"}', '{"name": 1, "why": "", "program": {}}'])
def test_a_file_that_is_no_regression_is_refused(tmp_path: Path, spoil: str) -> None:
    (tmp_path / "x.regression.json").write_text(spoil)
    with pytest.raises(SerqError, match="SQ903"):
        stored(tmp_path)


def test_a_file_of_another_name_is_refused(tmp_path: Path) -> None:
    kept, _ = store(stored()[0], tmp_path, tmp_path)
    kept.rename(tmp_path / "other.regression.json")
    with pytest.raises(SerqError, match="SQ903"):
        stored(tmp_path)


class _Faulty(LeanBench):
    """A bench whose model has a fault."""

    def _prepare(self) -> None:
        super()._prepare()
        path = self.folder / "Serq" / "Model" / "Growth.lean"
        text = path.read_text(encoding="utf-8")
        assert text.count(FAULT[0]) == 1
        path.write_text(text.replace(*FAULT), encoding="utf-8")


def test_a_difference_is_shrunk_stored_and_told_apart_by_its_theorem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up("auto", tmp_path, lambda text: None)
    faulty = _Faulty(folder=tmp_path / "bench")
    monkeypatch.setattr(lean_drt, "LeanBench", lambda kind: faulty)
    monkeypatch.setattr(differential, "random_case", lambda seed: CASE)
    with pytest.raises(SystemExit) as ended:
        main(["lean", "drt", "-n", "1", "--store", str(tmp_path / "kept")])
    out, err = capsys.readouterr()
    assert ended.value.code == 1
    assert "0 of 1 programs agree" in out and "theorem outcome_agrees" in out and "kept in" in err

    (kept,) = stored(tmp_path / "kept")
    module = tmp_path / "kept" / f"{kept.module}.lean"
    assert module.read_text(encoding="utf-8") == kept.text
    whole = interpreted("x", CASE)
    assert whole is not None and 0 < kept.outcome.preemptions <= whole.outcome.preemptions
    assert kept.sessions <= len(whole.case.sessions)
    assert kept.program.digest != whole.program.digest
    assert _amounts(kept.program) < _amounts(whole.program)

    right = LeanBench().ask({kept.module: kept.text})[kept.module]
    assert right.proved, right
    wrong = faulty.ask({kept.module: kept.text})[kept.module]
    assert wrong.refused == (f"Serq.Generated.{kept.module}.Run.outcome_agrees",)


def _amounts(program: Program) -> float:
    """All that the sessions of a program ask for."""
    assert isinstance(program.arrival, Sessions)
    turns = [t for s in program.arrival.sessions for t in s.turns or ()]
    return sum(value for turn in turns for _, value in turn)
