"""`serq lean`: what it prints, and with which exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from serq.cli.main import main
from serq.generators.toolchain import Toolchain, report
from tests.generators.toolchain.demo import Demo


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["lean", *map(str, words)])
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out, err


def test_check_prints_a_summary(checked: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "check", checked.folder, "--toolchain", "embedded")
    assert (code, err) == (0, "")
    assert "4 unchanged modules" in out
    assert "3 theorems in 4 modules; obligatory: 2 claim, 1 theorem (all there)" in out
    assert "passed: checked with Lean 4.28.0-pre" in out
    assert "the official toolchain is the authority" in out
    assert "the project asks for leanprover/lean4:v4.28.0" in out


def test_check_says_how_long_and_how_large(
    checked: Demo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out, _ = run(capsys, "check", checked.folder, "--toolchain", "embedded")
    assert re.search(r"time: \d+ s for all modules, at most \d+\.\d s \([\w.]+\)", out)
    assert re.search(r"memory: at most [1-9]\d+ MiB \([\w.]+\); every module stays under 1024 MiB", out)
    monkeypatch.setattr(report, "MEMORY_LIMIT", 1 << 20)
    _, out, _ = run(capsys, "check", checked.folder, "--toolchain", "embedded")
    assert "; OVER 1 MiB, to be split: Demo" in out
    _, out, _ = run(capsys, "check", checked.folder, "--toolchain", "embedded", "--json")
    data = json.loads(out)
    assert sorted(data["over_memory"]) == sorted(m["name"] for m in data["modules"])
    assert all(m["memory"] > 1 << 20 for m in data["modules"])


def test_findings_show_the_source_and_fail(checked: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    checked.write("Demo/Lost.lean", "module\ntheorem lost : 1 = 2 := by sorry\n")
    code, _, err = run(capsys, "check", checked.folder, "--toolchain", "embedded")
    assert code == 1
    assert "error[SQ957]: `sorry` is not allowed in a source" in err
    assert " 2 | theorem lost : 1 = 2 := by sorry" in err
    assert err.endswith("2 errors\n")
    code, out, err = run(capsys, "check", checked.folder, "--toolchain", "embedded", "--format", "github")
    assert (code, err) == (1, "")
    assert [line.split(" ")[0] for line in out.splitlines()] == ["::error", "::error"]


def test_json_says_all_of_it(checked: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "audit", checked.folder, "--toolchain", "embedded", "--json")
    data = json.loads(out)
    assert (code, data["ok"], data["toolchain"]["kind"]) == (0, True, "embedded")
    assert [m["theorems"] for m in data["modules"]] == [0, 3, 0, 0]
    assert data["obligatory"] == {"by_kind": {"claim": 2, "theorem": 1}, "missing": []}
    assert set(data["rests_on"]) == {"Demo.twice_zero", "Demo.twice_add", "Demo.total_nil"}


def test_audit_lists_theorems(checked: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "audit", checked.folder, "--toolchain", "embedded")
    assert code == 0
    assert "Demo.total_nil: no axioms\n" in out


def test_setup_says_what_it_chose(
    embedded: Toolchain, checked: Demo, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "setup", checked.folder, "--toolchain", "embedded")
    assert code == 0
    assert out.startswith("embedded: Lean 4.28.0-pre")


def test_clean_removes_what_checks_left(checked: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "clean", checked.folder)
    assert code == 0
    assert err.startswith("removed ")
    assert not (checked.folder / ".lake" / "serq").exists()
    assert (checked.folder / "Demo.lean").exists()


def test_a_stranger_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "check", tmp_path)
    assert code == 1
    assert "error[SQ950]: no Lean project" in err
