"""Reading source files: everything that can be wrong with a file before its text is looked at."""

from __future__ import annotations

from pathlib import Path

from serq.diagnostics import Diagnostic, Place, SerqError, Span

MAX_BYTES = 16_000_000


def read_source(path: Path | str) -> str:
    """The text of a file, as UTF-8.

    Raises `SerqError`: SQ001 for a file that is missing, a folder or unreadable, SQ010 for
    one that is too large, SQ120 for one that is not text.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise SerqError(_unreadable(path, error)) from None
    if len(data) > MAX_BYTES:
        message = f"the file has more than {MAX_BYTES // 1_000_000} million bytes"
        raise SerqError(Diagnostic("SQ010", message, Place(str(path))))
    return decode_source(data, str(path))


def decode_source(data: bytes, file: str | None = None) -> str:
    """Bytes as the text of a program; raises `SerqError` (SQ120) when they are not UTF-8 text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SerqError(_not_text(data, error.start, f"byte {error.start} is not UTF-8", file)) from None
    zero = data.find(b"\0")
    if zero >= 0:
        raise SerqError(_not_text(data, zero, f"byte {zero} is zero", file))
    return text


def _unreadable(path: Path, error: OSError | ValueError) -> Diagnostic:
    if isinstance(error, FileNotFoundError):
        message = f"there is no file `{path}`"
    elif isinstance(error, IsADirectoryError):
        message = f"`{path}` is a folder"
    else:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        message = f"`{path}` cannot be read: {reason}"
    return Diagnostic("SQ001", message, Place(str(path)))


def _not_text(data: bytes, at: int, reason: str, file: str | None) -> Diagnostic:
    line = data.count(b"\n", 0, at) + 1
    line_start = data.rfind(b"\n", 0, at) + 1
    column = len(data[line_start:at].decode("utf-8", "replace")) + 1
    span = Span(line, column, line, column + 1)
    return Diagnostic(
        "SQ120", "the file is not text", Place(file, span), note=reason, hint="save the program as UTF-8"
    )
