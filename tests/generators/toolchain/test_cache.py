"""The cache folder, locks, and folders that appear whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from serq.diagnostics import SerqError
from serq.generators.toolchain.cache import cache_folder, folder_made_whole, locked


def test_the_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("SERQ_CACHE", raising=False)
    assert cache_folder() == Path.home() / ".cache" / "serq"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "serq"
    monkeypatch.setenv("SERQ_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


def test_an_interrupted_folder_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a" / "made"
    with pytest.raises(KeyboardInterrupt), folder_made_whole(target) as partial:
        (partial / "file").write_text("half")
        raise KeyboardInterrupt
    assert list(target.parent.iterdir()) == []


def test_a_folder_replaces_the_old_one_and_leftovers_go(tmp_path: Path) -> None:
    target = tmp_path / "made"
    for name in ("made", ".partial-killed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "old").touch()
    with folder_made_whole(target) as partial:
        (partial / "new").touch()
        assert (target / "old").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["made"]
    assert [p.name for p in target.iterdir()] == ["new"]


_HOLD = """
import sys
from pathlib import Path
from serq.generators.toolchain.cache import locked
with locked(Path(sys.argv[1]), lambda: None, 10):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_waits_and_then_gives_up(tmp_path: Path) -> None:
    lock, heard = tmp_path / "lock", list[str]()
    command = [sys.executable, "-c", _HOLD, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(SerqError) as error, locked(lock, lambda: heard.append("waiting"), 0.2):
            pytest.fail("held by both")
        assert [d.code for d in error.value.diagnostics] == ["SQ974"]
        assert heard == ["waiting"]
        other.stdin.close()
        with locked(lock, lambda: None, 10):
            pass


def test_a_file_in_the_way_is_a_diagnostic(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(SerqError) as error, locked(tmp_path / "a" / "lock", lambda: None, 1):
        pytest.fail("written")
    assert [d.code for d in error.value.diagnostics] == ["SQ001"]
