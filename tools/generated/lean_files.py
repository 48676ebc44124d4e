"""The Lean files written from recorded scenarios (serq.oracle.lean_files)."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

from serq.oracle.lean_files import generated_files
from tools.generated.file import Generated


@cache
def _texts() -> dict[Path, str]:
    return dict(generated_files())


def _text(path: Path) -> str | None:
    return _texts().get(path)


def files() -> list[Generated]:
    """One per generated Lean file; files of scenarios that went are listed, to be removed."""
    paths = {*_texts(), *_stale()}
    return [Generated(path, partial(_text, path)) for path in sorted(paths)]


def _stale() -> set[Path]:
    folders = {path.parent for path in _texts() if path.parent.name == "Generated"}
    return {path for folder in folders for path in folder.glob("*.lean")}
