"""The list of theorems that have to be there, so that an empty or shortened build cannot pass.

A project lists them in `obligatory.txt` beside its lakefile, or in several files `obligatory/*.txt`.
A line is `NAME` or `KIND NAME`; `#` opens a comment. Without a kind of its own a line takes the name
of its file in `obligatory/` (`claims.txt`: claims), else `theorem`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from serq.diagnostics import Diagnostic, Place, SerqError, Span
from serq.generators.toolchain.project import shown

LIST_FILE = "obligatory.txt"
LIST_FOLDER = "obligatory"


@dataclass(frozen=True)
class Obligation:
    """A theorem that has to be there, of a kind, and the line that says so."""

    name: str
    kind: str
    place: Place


def read_obligations(folder: Path) -> tuple[Obligation, ...]:
    """All obligations of a project; raises `SerqError` SQ961 when there is none or a line is malformed."""
    files = [f for f in (folder / LIST_FILE, *sorted((folder / LIST_FOLDER).glob("*.txt"))) if f.is_file()]
    found: list[Obligation] = []
    bad: list[Diagnostic] = []
    for file in files:
        default = "theorem" if file.name == LIST_FILE else file.stem
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            words = line.split("#", 1)[0].split()
            place = Place(shown(file), Span(number, 1, number, max(2, len(line) + 1)))
            if len(words) > 2:
                bad.append(_malformed(place))
            elif words:
                found.append(Obligation(words[-1], words[0] if len(words) == 2 else default, place))
    if bad:
        raise SerqError(bad)
    if not found:
        raise SerqError(_nothing(folder))
    return tuple(found)


def _malformed(place: Place) -> Diagnostic:
    return Diagnostic(
        "SQ961",
        "a line of the list of obligatory theorems has more than two words",
        place,
        hint="write `NAME` or `KIND NAME`",
    )


def _nothing(folder: Path) -> Diagnostic:
    return Diagnostic(
        "SQ961",
        "the project lists no obligatory theorem",
        Place(shown(folder / LIST_FILE)),
        note="without a list an empty build would pass",
        hint=f"write the names of its theorems into {LIST_FILE}, one a line",
    )
