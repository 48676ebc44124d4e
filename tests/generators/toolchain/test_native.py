"""The official toolchain: its output is read, its audit is written; `lake` is played by a script."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from serq.diagnostics import SerqError
from serq.generators.toolchain import Report, Settings, Toolchain, check_project, load_project, set_up
from serq.generators.toolchain.embedded.process import LeanProcess
from serq.generators.toolchain.native.audit import audit_program, quoted
from serq.generators.toolchain.native.lake import LakeReport, find_lake
from serq.generators.toolchain.results import ModuleResult
from tests.generators.toolchain.demo import Demo

BUILT = """\
\x1b[32m✔\x1b[0m [2/5] Built Demo.Base (1.2s)
⚠ [3/5] Built Demo.Facts (350ms)
warning: Demo/Facts.lean:8:8: declaration uses 'sorry'
warning: Demo/Facts.lean:11:8: unused variable `h`

Note: This linter can be disabled with `set_option linter.unusedVariables false`
✔ [4/5] Built Demo (12ms)
Build completed successfully (5 jobs).
"""
BROKEN = """\
✔ [2/5] Built Demo.Base (1.2s)
✖ [3/5] Building Demo.Facts (2.0s)
trace: .> LEAN_PATH=x lean Demo/Facts.lean
error: Demo/Facts.lean:9:2: unsolved goals
⊢ False
error: Lean exited with code 1
Some required targets logged failures:
- Demo.Facts
error: build failed
"""
AUDITED = """\
constant\ttheorem\tDemo.Facts\tDemo.twice_zero\tpropext\tpropext
constant\ttheorem\tDemo.Facts\tDemo.twice_add\tQuot.sound propext\t
constant\ttheorem\tDemo.Facts\tDemo.total_nil\t\t
constant\tdef\tDemo.Base\tDemo.twice\t\t
end\t4
"""
_LAKE = """\
#!/bin/sh
case "$1" in
--version) echo "Lake version 5.0.0 (Lean version 4.28.0)";;
build) cat "$0.build"; exit $(cat "$0.status");;
env) cat "$0.audit";;
esac
"""


class FakeLake:
    """A `lake` first on PATH that prints what it is told to."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lake"
        folder.mkdir()
        self.path.write_text(_LAKE)
        self.path.chmod(0o755)
        self.says(BUILT, 0, AUDITED)

    def says(self, build: str, status: int, audit: str) -> None:
        """Set the output of `lake build`, its exit status, and the output of the audit."""
        for suffix, text in ((".build", build), (".status", str(status)), (".audit", audit)):
            self.path.with_name("lake" + suffix).write_text(text, encoding="utf-8")


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeLake:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return FakeLake(tmp_path / "bin")


def native_check(demo: Demo) -> Report:
    toolchain = set_up("auto", demo.folder, lambda text: None)
    assert toolchain.native is not None
    return check_project(load_project(demo.folder), toolchain, Settings())


def test_lake_on_path_is_chosen(lake: FakeLake, demo: Demo) -> None:
    found = find_lake(demo.folder)
    assert found is not None
    assert found.judge.version == "Lake version 5.0.0 (Lean version 4.28.0)"
    lake.path.write_text("#!/bin/sh\nexit 1\n")
    assert find_lake(demo.folder) is None


def test_without_lake_native_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("ELAN_HOME", str(tmp_path))
    with pytest.raises(SerqError) as error:
        set_up("native", tmp_path, lambda text: None)
    assert [d.code for d in error.value.diagnostics] == ["SQ970"]


def test_elan_stands_in_for_path(lake: FakeLake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELAN_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = find_lake(tmp_path)
    assert found is not None
    assert found.command == str(lake.path)


def test_warnings_are_findings_and_the_audit_is_exact(lake: FakeLake, demo: Demo) -> None:
    report = native_check(demo)
    assert [(d.code, d.place.span and d.place.span.line) for d in report.diagnostics] == [
        ("SQ952", 8),
        ("SQ952", 11),
    ]
    assert report.diagnostics[0].message == "declaration uses 'sorry'"
    assert report.audit is not None
    assert report.audit.axioms_used == {"Quot.sound": 1, "propext": 2}
    assert report.judge.exact_audit
    assert {n: (str(m.status), m.seconds) for n, m in report.modules.items()} == {
        "Demo.Base": ("checked", 1.2),
        "Demo.Facts": ("checked", 0.35),
        "Demo": ("checked", 0.012),
        "Main": ("unchanged", 0.0),
    }


def test_errors_are_findings(lake: FakeLake, demo: Demo) -> None:
    lake.says(BROKEN, 1, "")
    report = native_check(demo)
    (found,) = report.diagnostics
    assert (found.code, found.message, found.note) == ("SQ951", "unsolved goals", "⊢ False")
    assert report.audit is None
    assert str(report.modules["Demo"].status) == "skipped"


def test_a_failure_of_no_module_is_told(lake: FakeLake, demo: Demo) -> None:
    lake.says("error: unknown target `Demo`\n", 1, "")
    with pytest.raises(SerqError) as error:
        native_check(demo)
    (found,) = error.value.diagnostics
    assert (found.code, found.note) == ("SQ976", "error: unknown target `Demo`")


@pytest.mark.parametrize(
    "audit", ["", AUDITED.replace("end\t4\n", ""), AUDITED.replace("end\t4", "end\t5"), "error: x\n"]
)
def test_an_audit_that_breaks_off_is_no_audit(lake: FakeLake, demo: Demo, audit: str) -> None:
    lake.says(BUILT, 0, audit)
    with pytest.raises(SerqError) as error:
        native_check(demo)
    assert [d.code for d in error.value.diagnostics] == ["SQ977"]


def test_a_refused_axiom_behind_the_library_is_found(lake: FakeLake, demo: Demo) -> None:
    row = "constant\ttheorem\tDemo.Facts\tDemo.total_nil\tLean.ofReduceBool\tLean.ofReduceBool\n"
    lines = AUDITED.replace("constant\ttheorem\tDemo.Facts\tDemo.total_nil\t\t\n", row)
    lake.says("", 0, lines)
    found = [(d.code, d.message) for d in native_check(demo).diagnostics]
    assert found == [("SQ958", "Demo.total_nil depends on Lean.ofReduceBool")]


def test_silence_ends_the_build(lake: FakeLake, demo: Demo) -> None:
    lake.path.write_text(_LAKE.replace('cat "$0.build"', "sleep 60"))
    toolchain = Toolchain(native=find_lake(demo.folder))
    with pytest.raises(SerqError) as error:
        check_project(load_project(demo.folder), toolchain, Settings(limit=0.3))
    assert [d.code for d in error.value.diagnostics] == ["SQ953"]


def test_progress_is_told_by_module(demo: Demo) -> None:
    heard: list[ModuleResult] = []
    report = LakeReport(load_project(demo.folder), heard.append)
    for line in BUILT.splitlines():
        report.read(line)
    assert [r.name for r in heard] == ["Demo.Base", "Demo.Facts", "Demo"]


def test_names_are_quoted_where_lean_needs_it() -> None:
    assert quoted("Demo.Runs-2.x") == "Demo.«Runs-2».x"


def test_the_audit_program_is_sound_lean(embedded: Toolchain, demo: Demo, tmp_path: Path) -> None:
    """The embedded Lean cannot run it, but it elaborates every line of it."""
    assert embedded.embedded is not None
    text = audit_program(load_project(demo.folder))
    assert "#[`Demo, `Main]" in text
    path = tmp_path / "Audit.lean"
    path.write_text(re.sub(r"^import Lean$", "import Lean noncomputable section", text, flags=re.MULTILINE))
    process = LeanProcess(embedded.embedded, tmp_path, tmp_path)
    try:
        answer = process.run([("J", None), ("D", "Elab.async=false")], [str(path)], 120)
    finally:
        process.kill()
    assert [json.loads(line)["data"] for line in answer.lines] == []
    assert answer.status == 0
