"""One program, two interpreters: what each reports, and the first thing they disagree on.

Two outcomes agree when every field of the reports is written alike (all but
the version), and every sample, its time, session and turn, and every change
point of a gauge have the same bits; or when both runs end in an error. A
program the peer breaks down on (it panics) is compared by nobody.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyserq

from serq import sim
from serq.diagnostics import SerqError
from serq.ir.encode import dumps
from serq.ir.program import Program

_OURS_ALONE = frozenset({"serq_version"})


@dataclass(frozen=True)
class Outcome:
    """What a run came to: an error, or a report with the lists behind it."""

    error: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)
    report: dict[str, Any] | None = None


@dataclass(frozen=True)
class Disagreement:
    """The first place two outcomes differ, and what each says there."""

    path: str
    ours: Any
    peer: Any

    def __str__(self) -> str:
        return f"{self.path}: ours {self.ours!r}, the peer's {self.peer!r}"


class PeerRefuses(Exception):
    """The peer does not take a program as valid."""


class PeerBreaks(Exception):
    """The peer neither reports nor names an error: it breaks down in the middle of a run."""


def ours(program: Program) -> Outcome:
    """Run a program here."""
    try:
        report = sim.run(program, detailed=True)
    except SerqError as error:
        return Outcome(error=str(error))
    return _outcome(report)


def peer(program: Program) -> Outcome:
    """Run a program at the peer; raises `PeerRefuses` when it calls it invalid, `PeerBreaks` when it fails."""
    try:
        theirs = pyserq.Program.from_json(dumps(program))
    except ValueError as error:
        raise PeerRefuses(str(error)) from None
    try:
        report = pyserq.run(theirs)
    except ValueError as error:
        return Outcome(error=str(error))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic there is no Exception
        raise PeerBreaks(str(error)) from None
    return _outcome(report)


def _outcome(report: Any) -> Outcome:
    text = report.json()
    lists: dict[str, list[Any]] = {}
    for kind, rows in (("observes", report.observes), ("client", report.client)):
        for row in _rows(rows):
            for name in ("times", "sessions", "turns", "samples"):
                lists[f"{kind}.{row.name}.{name}"] = list(getattr(row, name))
    for row in _rows(report.gauges):
        lists[f"gauges.{row.name}.times"] = list(row.times)
        lists[f"gauges.{row.name}.values"] = list(row.values)
    return Outcome(fields=_written(text), lists=lists, report=json.loads(text))


def _rows(named: Any) -> list[Any]:
    """Rows in the program's order; the peer has them by name."""
    return list(named.values() if isinstance(named, dict) else named)


def _written(text: str) -> Any:
    """JSON with its numbers as they are written."""
    return json.loads(text, parse_float=lambda s: f"#{s}", parse_int=lambda s: f"#{s}")


def disagreement(here: Outcome, there: Outcome) -> Disagreement | None:
    """The first difference of two outcomes."""
    if here.error is not None or there.error is not None:
        if (here.error is None) == (there.error is None):
            return None
        return Disagreement("error", here.error, there.error)
    differences = _lists(here.lists, there.lists)
    return next(differences, None) or next(_differences("", here.fields, there.fields), None)


def _lists(here: dict[str, list[Any]], there: dict[str, list[Any]]) -> Iterator[Disagreement]:
    if list(here) != list(there):
        yield Disagreement("lists", list(here), list(there))
        return
    for name, mine in here.items():
        yours = there[name]
        for i, (x, y) in enumerate(zip(mine, yours, strict=False)):
            if _bits(x) != _bits(y):
                yield Disagreement(f"{name}[{i}]", x, y)
        if len(mine) != len(yours):
            yield Disagreement(f"len({name})", len(mine), len(yours))


def _bits(value: float) -> bytes:
    """The bits of a number; all NaNs alike."""
    return b"nan" if value != value else struct.pack("<d", value)


def _differences(path: str, here: Any, there: Any) -> Iterator[Disagreement]:
    if isinstance(here, dict) and isinstance(there, dict):
        mine, yours = ([k for k in side if k not in _OURS_ALONE] for side in (here, there))
        if mine != yours:
            yield Disagreement(f"keys of {path or 'the report'}", mine, yours)
        for key in mine:
            if key in there:
                yield from _differences(f"{path}.{key}" if path else key, here[key], there[key])
    elif isinstance(here, list) and isinstance(there, list):
        if len(here) != len(there):
            yield Disagreement(f"len({path})", len(here), len(there))
        for i, (x, y) in enumerate(zip(here, there, strict=False)):
            yield from _differences(f"{path}[{i}]", x, y)
    elif here != there:
        yield Disagreement(path, here, there)


def repeats(program: Program, runs: int = 5) -> bool:
    """Whether the peer reports the same of a program every time.

    Its eviction keys all entries in an order of its own, so that keys that draw give another run each time.
    """
    first = peer(program)
    return all(disagreement(first, peer(program)) is None for _ in range(runs))


def compare(program: Program) -> Disagreement | None:
    """Run a program on both sides and compare."""
    return disagreement(ours(program), peer(program))
