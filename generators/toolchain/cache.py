"""The user's cache folder, locks between processes, and folders that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from serq.diagnostics import Diagnostic, Place, SerqError

if sys.platform != "win32":
    import fcntl

_PARTIAL = ".partial-"


def cache_folder() -> Path:
    """`$SERQ_CACHE`, else `$XDG_CACHE_HOME/serq`, else `~/.cache/serq`."""
    own = os.environ.get("SERQ_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").absolute() / "serq"


@contextmanager
def locked(path: Path, waiting: Callable[[], None], limit: float) -> Iterator[None]:
    """Hold the lock file `path`; `waiting` is called once if another process has it.

    Raises `SerqError` SQ974 after `limit` seconds.
    """
    with _lock_file(path) as handle:
        deadline = time.monotonic() + limit
        if not _try_lock(handle):
            waiting()
            while not _try_lock(handle):
                if time.monotonic() > deadline:
                    raise SerqError(_still_locked(path))
                time.sleep(0.1)
        yield


@contextmanager
def _lock_file(path: Path) -> Iterator[int]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise SerqError(cannot_write(path, error)) from None
    try:
        yield handle
    finally:
        os.close(handle)


def _try_lock(handle: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _still_locked(path: Path) -> Diagnostic:
    return Diagnostic(
        "SQ974",
        "another process is at work in the same folder and does not finish",
        Place(str(path)),
        hint="wait for it, or end it; the lock goes with the process",
    )


@contextmanager
def folder_made_whole(target: Path) -> Iterator[Path]:
    """A folder filled beside `target` and renamed to it when done; nothing is left when interrupted.

    Call it under a lock: leftovers of a killed process are removed first.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        for leftover in target.parent.glob(f"{_PARTIAL}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        partial = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=target.parent))
        old = partial.with_name(f"{partial.name}-old")
    except OSError as error:
        raise SerqError(cannot_write(target, error)) from None
    try:
        yield partial
        partial.chmod(0o755)
        if target.exists():
            target.rename(old)
        partial.rename(target)
    finally:
        for leftover in (partial, old):
            shutil.rmtree(leftover, ignore_errors=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text file beside its place and rename it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
        out.write(text)
    os.replace(name, path)


def cannot_write(path: Path, error: OSError) -> Diagnostic:
    """The diagnostic of a folder or file that cannot be written."""
    return Diagnostic(
        "SQ001",
        f"cannot write {path}: {error.strerror or error}",
        Place(str(path)),
        hint="check the folder, its permissions and the free space",
    )
