"""The house's own rules: arrows between folders, sizes of rooms, words that do not belong."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("serq", "generators", "oracle", "tests", "bench", "tools")
MODULES = sorted(
    p
    for folder in FOLDERS
    for p in (ROOT / folder).rglob("*.py")
    if not any(part.is_symlink() for part in p.parents) and "__pycache__" not in p.parts
)


def test_arrows_run_one_way() -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "lint-imports"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_an_arrow_against_the_rule_is_noticed(tmp_path: Path) -> None:
    from importlinter.cli import lint_imports

    package = tmp_path / "serq"
    for name in ("cli", "ir", "diagnostics", "check", "generators", "sim", "lang", "oracle"):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").write_text("")
    (package / "__init__.py").write_text("")
    (package / "ir" / "bad.py").write_text("import serq.sim\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    code = "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as c; c()"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert lint_imports is not None
    assert done.returncode != 0 and "serq.ir" in done.stdout


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_says_what_lives_in_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.name == "__init__.py" and not text.strip():
        return
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "a module opens with a docstring"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_room_is_not_too_large(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 620


def test_words_that_do_not_belong() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    pattern = re.compile(
        r"index-url|registry\.npmjs|files\.pythonhosted|pypi\.org/simple|/work/\w+|\bTODO\b|\bFIXME\b"
    )
    found = []
    for name in listed.splitlines():
        path = ROOT / name
        if (
            name == "tests/test_house.py"
            or path.is_symlink()
            or not path.is_file()
            or path.suffix in {".gz", ".jsonl"}
        ):
            continue
        for number, line in enumerate(
            path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1
        ):
            if pattern.search(line):
                found.append(f"{name}:{number}: {line.strip()[:80]}")
    assert found == []


def test_every_data_file_ships() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["serq"]
    suffixes = {p.rpartition("*")[2] for p in patterns}
    data = [
        p
        for folder in ("serq", "generators", "oracle")
        for p in (ROOT / folder).rglob("*")
        if p.is_file() and p.suffix not in {".py", ".pyc", ".md"}
    ]
    assert len(data) > 200
    assert [str(p) for p in data if p.suffix not in suffixes and p.name not in suffixes] == []
