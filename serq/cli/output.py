"""What every verb prints through: diagnostics on stderr, files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from serq.diagnostics import RENDERERS, Diagnostic, Place, SerqError, Severity


def report_diagnostics(
    diagnostics: Sequence[Diagnostic],
    sources: Mapping[str, str] | None = None,
    how: str = "text",
    to_stdout: bool = False,
) -> None:
    """Print diagnostics in one of the formats; a count of errors ends the text format."""
    click.echo(RENDERERS[how](diagnostics, sources), err=not to_stdout, nl=False)
    errors = sum(1 for d in diagnostics if d.severity is Severity.ERROR and d.suppressed is None)
    if how == "text" and errors:
        click.echo(f"{errors} error{'' if errors == 1 else 's'}", err=not to_stdout)


@contextmanager
def written_whole(path: Path) -> Iterator[IO[str]]:
    """A text file written beside its place and renamed when done; raises `SerqError` SQ001."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise SerqError(cannot_write(path, error)) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            yield out
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        _discard(name)
        raise SerqError(cannot_write(path, error)) from None
    except BaseException:
        _discard(name)
        raise


def _discard(name: str) -> None:
    if os.path.exists(name):
        os.unlink(name)


def cannot_write(path: Path, error: OSError) -> Diagnostic:
    """The diagnostic of a file that cannot be written."""
    return Diagnostic(
        "SQ001",
        f"cannot write {path}: {error.strerror}",
        Place(str(path)),
        hint="check the folder and its permissions",
    )
