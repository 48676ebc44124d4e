"""The embedded Lean over a small project: what is unchanged is skipped, and each planted fault is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from serq.generators.toolchain import Report
from serq.generators.toolchain.embedded.process import Answer, Ending, LeanProcess
from serq.generators.toolchain.results import Status
from tests.generators.toolchain.conftest import Check
from tests.generators.toolchain.demo import Demo

HEAD = "module\npublic import Demo.Base\npublic section\n"


def codes(report: Report) -> list[str]:
    return [d.code for d in report.diagnostics]


def status(report: Report) -> dict[str, str]:
    return {name: str(result.status) for name, result in report.modules.items()}


def test_a_sound_project_passes(checked_once: tuple[Path, Report]) -> None:
    report = checked_once[1]
    assert report.diagnostics == ()
    assert set(status(report).values()) == {"checked"}
    assert report.audit is not None
    assert {"Demo.twice_zero", "Demo.twice_add", "Demo.total_nil"} <= report.audit.theorems.keys()
    assert report.judge.kind == "embedded"
    assert "authority" in report.judge.authority


def test_nothing_runs_when_nothing_changed(checked: Demo, check: Check) -> None:
    report = check(checked)
    assert report.ok
    assert set(status(report).values()) == {"unchanged"}


def test_a_change_reaches_what_depends_on_it(checked: Demo, check: Check) -> None:
    checked.edit("Demo/Base.lean", "n + n", "2 * n")
    assert status(check(checked)) == dict.fromkeys(("Demo.Base", "Demo.Facts", "Demo", "Main"), "checked")


def test_an_error_is_where_the_source_has_it(checked: Demo, check: Check) -> None:
    checked.edit("Demo/Facts.lean", "  decide\n", "  skip; exact absent\n")
    report = check(checked)
    (found,) = report.diagnostics
    assert found.code == "SQ951"
    assert "absent" in found.message
    assert found.place.file is not None
    assert found.place.file.endswith("Demo/Facts.lean")
    assert found.place.span is not None
    assert (found.place.span.line, found.place.span.column, found.place.span.end_column) == (9, 15, 21)
    assert status(report) == {
        "Demo.Base": "unchanged",
        "Demo.Facts": "failed",
        "Demo": "skipped",
        "Main": "skipped",
    }


def test_planted_faults_of_proofs_are_found(checked: Demo, check: Check) -> None:
    """One run over five files; what a check of each alone finds is what it finds of them together."""
    checked.add("Demo.Sorry", HEAD + "theorem s1 : Demo.twice 1 = 3 := by\n  sorry\n")
    checked.add(
        "Demo.Silent",
        HEAD + "set_option warn.sorry false in\ntheorem s2 : Demo.twice 1 = 4 := by\n  sorry\n"
        "theorem s3 : Demo.twice 1 = 4 := s2\n",
    )
    checked.add("Demo.Axiom", HEAD + "axiom a1 : Demo.twice 1 = 5\ntheorem s4 : 2 = 5 := a1\n")
    checked.add("Demo.Compiler", HEAD + "theorem s5 : 1 + 1 = 2 := by native_decide\n")
    checked.add(
        "Demo.Kernel",
        HEAD + "set_option debug.skipKernelTC true in\ntheorem s6 : 1 = 2 := by decide +kernel\n",
    )
    report = check(checked)
    found: dict[str, set[str]] = {}
    for diagnostic in report.diagnostics:
        assert diagnostic.place.file is not None
        found.setdefault(Path(diagnostic.place.file).stem, set()).add(diagnostic.code)
    assert found == {
        "Sorry": {"SQ952", "SQ957", "SQ958"},
        "Silent": {"SQ957", "SQ958"},
        "Axiom": {"SQ957", "SQ958", "SQ959"},
        "Compiler": {"SQ957", "SQ958"},
        "Kernel": {"SQ957"},
    }
    messages = [d.message for d in report.diagnostics]
    assert "s2 depends on sorryAx" in messages
    assert "s3 depends on sorryAx" not in messages


def test_a_deleted_proof_is_missed(checked: Demo, check: Check) -> None:
    checked.edit("Demo/Facts.lean", "theorem total_nil : total [] = 0 := by\n  rfl\n", "")
    report = check(checked)
    assert report.modules["Demo.Base"].status is Status.UNCHANGED
    assert report.modules["Main"].status is Status.CHECKED
    assert [(d.code, d.message) for d in report.diagnostics] == [
        ("SQ960", "the obligatory theorem Demo.total_nil is not in the build")
    ]


def test_an_empty_build_does_not_pass(checked: Demo, check: Check) -> None:
    checked.write("Demo.lean", "module\n")
    checked.write("Main.lean", "module\n")
    found = codes(check(checked))
    assert found.count("SQ960") == 3
    assert found.count("SQ956") == 2


def test_a_proof_that_no_root_reaches_is_found(checked: Demo, check: Check) -> None:
    checked.write("Demo/Lost.lean", HEAD + "theorem lost : 1 = 2 := by sorry\n")
    assert codes(check(checked)) == ["SQ956", "SQ957"]


def test_without_the_list_nothing_passes(checked: Demo, check: Check) -> None:
    (checked.folder / "obligatory.txt").unlink()
    assert codes(check(checked)) == ["SQ961"]


def test_a_part_is_checked_with_what_it_imports(checked: Demo, check: Check) -> None:
    report = check(checked, checked.folder / "Demo" / "Facts.lean")
    assert report.ok
    assert not report.whole
    assert set(report.modules) == {"Demo.Base", "Demo.Facts"}


def test_code_that_would_run_is_not_elaborated(checked: Demo, check: Check) -> None:
    mark = checked.folder / ".lake" / "serq" / "mark"
    checked.add("Demo.Runs", f'module\n#eval IO.FS.writeFile "{mark}" "x"\n')
    report = check(checked)
    assert codes(report) == ["SQ957"]
    assert report.modules["Demo.Runs"].status is Status.FAILED
    assert not mark.exists()


def test_a_file_without_an_end_is_stopped(checked: Demo, check: Check) -> None:
    checked.add("Demo.Endless", HEAD + _ENDLESS)
    report = check(checked, checked.folder / "Demo" / "Endless.lean", limit=3.0)
    assert codes(report) == ["SQ953"]
    assert status(report) == {"Demo.Base": "unchanged", "Demo.Endless": "failed"}


def test_a_file_whose_process_stalls_is_given_to_another(
    checked: Demo, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three times at the most: a process that never answers is no pass."""
    real, stalls = LeanProcess.run, [2]

    def run(process: LeanProcess, options: Any, arguments: Any, limit: float) -> Answer:
        if stalls[0]:
            stalls[0] -= 1
            process.kill()
            return Answer(Ending.STALLED, detail="nothing computed")
        return real(process, options, arguments, limit)

    monkeypatch.setattr(LeanProcess, "run", run)
    checked.edit("Demo/Base.lean", "n + n", "2 * n")
    assert check(checked).ok
    stalls[0] = 3
    checked.edit("Demo/Base.lean", "2 * n", "n + n")
    assert codes(check(checked))[0] == "SQ954"


_ENDLESS = """
namespace Demo
/-- A number after 2 ^ n steps, each evaluated before the next. -/
def steps : Nat → Nat → Nat
  | 0, a => (a * 16807 + 3) % 2147483647
  | n + 1, a => match steps n a with
    | 0 => steps n 1
    | b + 1 => steps n (b + 1)
theorem endless : steps 40 1 = 0 := by decide +kernel
end Demo
"""


def test_a_fresh_check_runs_everything(checked: Demo, check: Check) -> None:
    report = check(checked, checked.folder / "Demo" / "Facts.lean", fresh=True)
    assert report.ok
    assert set(status(report).values()) == {"checked"}
