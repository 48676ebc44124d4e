"""The generated Lean files: which recordings they state, how, and that a change of an input shows in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from serq.diagnostics import SerqError
from serq.generators.claims_text import claims_module_name, lean_name
from serq.generators.membership import membership
from serq.generators.recorded import WINDOW, module_name, windows
from serq.generators.recorded_modules import MOST_TEXT, recorded_module, recorded_parts
from serq.oracle.compare import first_difference
from serq.oracle.lean_files import (
    OPEN,
    chosen_recordings,
    claiming_programs,
    generated_files,
    group_of,
    in_fragment,
    proved_claims,
)
from serq.oracle.lean_folder import FOLDER
from serq.oracle.lean_recordings import (
    covered_recordings,
    plain_program,
    read_recording,
    recording_of,
    translated,
)
from serq.oracle.lean_regressions import stored
from serq.oracle.observer import observe_steps
from serq.oracle.recorded import SCENARIOS, Trace
from serq.oracle.request import program_of, sessions_of
from serq.oracle.scenario import Scenario

CHOSEN = list(chosen_recordings())
REQUIRED = {"01", "02", "03", "04", "05", "06", "07", "08", "14", *(str(n) for n in range(30, 37))}


def _members() -> list[tuple[Scenario, Trace]]:
    return [c for c in covered_recordings() if c[0].policy == "fcfs"]


@pytest.mark.parametrize("case", _members(), ids=lambda c: c[0].name)
def test_a_plain_program_is_a_member_and_does_what_was_recorded(case: tuple[Scenario, Trace]) -> None:
    scenario, trace = case
    program = plain_program(scenario, trace)
    assert membership(program) == ()
    longer = program_of(scenario, float(len(trace.steps) + 1), trace.version, plain=True)
    steps, _ = observe_steps(longer, sessions_of(scenario))
    assert first_difference(list(trace.steps), [s for s in steps if s.step < len(trace.steps)]) is None


def test_other_orders_are_outside_the_fragment() -> None:
    outside = [c for c in covered_recordings() if c[0].policy != "fcfs"]
    assert outside and not any(in_fragment(*c) for c in outside)
    with pytest.raises(SerqError):
        translated(*outside[0])


def test_the_recordings_that_have_to_be_stated_are() -> None:
    numbers = {s.name[:2] for s, _ in CHOSEN}
    assert numbers >= REQUIRED
    assert [c[0].name for c in CHOSEN] == [c[0].name for c in _members()]


def test_every_step_of_a_recording_is_stated_once() -> None:
    for scenario, trace in CHOSEN:
        recording = recording_of(scenario, trace)
        found = [s for w in windows(recording) for s in w.steps]
        assert [s.start for s in found] == [s.step for s in trace.steps if not s.empty]
        assert all(w.end - w.first <= WINDOW for w in windows(recording))
        assert sum(n for s in found for _, n in s.tokens) == sum(
            n for s in trace.steps for _, n in s.scheduled
        )


def test_published_scenarios_state_first_and_last_tokens() -> None:
    scenario, trace = next(c for c in CHOSEN if c[0].name == "34_published_preempt")
    published = recording_of(scenario, trace).published
    assert published is not None
    assert published.first == ((1,), (31,)) and published.last == ((30,), (60,))
    assert published.preemptions == 1


def test_modules_are_named_once_and_all_imported() -> None:
    files = generated_files()
    root = files[FOLDER / "Serq" / "Generated.lean"]
    modules = [p.stem for p in files if p.parent.name == "Generated"]
    others = {
        "Statements",
        "ClaimsProved",
        "Encoded",
        *(claims_module_name(name) for name in claiming_programs()),
    }
    others |= {r.module for r in stored()}
    assert len(set(modules)) == len(modules) and others < set(modules)
    assert all(m.startswith("Trace") for m in set(modules) - others)
    assert all(f"public import Serq.Generated.{m}\n" in root for m in modules)
    names = files[FOLDER / "obligatory" / "recorded.txt"]
    assert all(f"Serq.Generated.{module_name(s.name)}.belongs_to_the_fragment" in names for s, _ in CHOSEN)


def test_every_recording_is_stated_in_one_place() -> None:
    recorded = {p.stem: t for p, t in generated_files().items() if p.stem.startswith("Trace")}
    for scenario, _ in CHOSEN:
        stating = [name for name, text in recorded.items() if f"\n- `{scenario.name}`: " in text]
        assert stating == [group_of(scenario.name)] or all(
            name.startswith((group_of(scenario.name), module_name(scenario.name))) for name in stating
        )
        programs = [
            t
            for t in recorded.values()
            if f"namespace Serq.Generated.{module_name(scenario.name)}\n\n/-! ## Slots" in t
        ]
        assert len(programs) == 1
    assert all(len(text) < 1.3 * MOST_TEXT for text in recorded.values())


def _text(scenario: Scenario, trace: Trace) -> str:
    return recorded_module(recorded_parts(translated(scenario, trace), recording_of(scenario, trace)))


def test_a_changed_input_changes_the_text() -> None:
    scenario, trace = CHOSEN[0]
    text = _text(scenario, trace)
    assert _text(replace(scenario, budget=scenario.budget + 1), trace) != text
    first = replace(trace.steps[0], scheduled=((0, 1),))
    assert _text(scenario, replace(trace, steps=(first, *trace.steps[1:]))) != text


@pytest.mark.parametrize("case", [CHOSEN[0], *(c for c in CHOSEN if c[0].name.startswith(("57", "108")))])
def test_every_theorem_that_is_written_is_obligatory(case: tuple[Scenario, Trace]) -> None:
    parts = recorded_parts(translated(*case), recording_of(*case))
    text = recorded_module(parts)
    theorems = [name.rsplit(".", 1)[1] for part in parts for name in part.theorems]
    assert text.count("\ntheorem ") == len(theorems) == len(set(theorems))
    assert all(f"theorem {name} :" in text for name in theorems)
    # What is said of the recording is that every window of its steps is one of the run's.
    agree = [
        w for w in windows(recording_of(*case)) if f"theorem {w.theorem} : within {w.first} {w.end} =" in text
    ]
    assert agree == windows(recording_of(*case))


def test_a_scenario_without_a_recording_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "alone.scenario.json"
    path.write_text((SCENARIOS / "05_request_cap.scenario.json").read_text())
    with pytest.raises(SerqError, match="SQ903"):
        read_recording(path)


def test_every_claim_of_the_papers_is_stated_and_proved_unless_it_is_said_to_be_open() -> None:
    programs = claiming_programs()
    names = {f"{p}.{claim.name}" for p, claimed in programs.items() for claim in claimed.claims}
    assert len(names) == 8 and names > OPEN
    proofs = FOLDER / "Serq" / "Theorems" / "Papers"
    for name in sorted(names):
        program, claim = name.split(".")
        path = proofs / f"{lean_name(program)}.lean"
        there = path.is_file() and f"theorem {claim} : Claim.{claim}" in path.read_text(encoding="utf-8")
        assert there == (name not in OPEN), name
    files = generated_files()
    proved = files[FOLDER / "Serq" / "Generated" / "ClaimsProved.lean"]
    listed = files[FOLDER / "obligatory" / "claims.txt"]
    for claim in proved_claims(programs):
        assert f"Serq.Generated.Claims{claim.program}.Claim.{claim.name}" in proved
        assert f"claims Serq.Generated.Proved.{claim.program}.{claim.name}\n" in listed
