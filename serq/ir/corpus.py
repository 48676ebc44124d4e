"""Trace corpora (api.md §8): sessions of turns from a CSV file, and inlining them into a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from serq.diagnostics import Diagnostic, Place, SerqError, Span
from serq.ir.program import Batch, Closed, Poisson, Program, Renewal, Session, Sessions

COLUMNS = ("session", "turn", "new", "out", "think", "forced")


@dataclass(frozen=True, slots=True)
class TraceTurn:
    """One row: tokens of the prompt, of the answer, the client's time, whether a miss is forced."""

    new: float
    out: float
    think: float
    forced: float


@dataclass(frozen=True)
class Corpus:
    """The sessions of a trace, in file order."""

    sessions: tuple[tuple[TraceTurn, ...], ...]


def read_corpus(path: Path) -> Corpus:
    """Read a trace file; raises `SerqError` (SQ011 for the file, SQ012 for its lines)."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        hint = "give its path with `--trace-file`, or place it beside the program"
        raise SerqError(
            Diagnostic("SQ011", f"cannot read the trace {path}: {reason}", Place(str(path)), hint=hint)
        ) from None
    return parse_corpus(text, str(path))


def parse_corpus(text: str, file: str | None = None) -> Corpus:
    """Read a trace from text; raises `SerqError` with every bad line."""
    problems: list[Diagnostic] = []
    sessions: list[list[TraceTurn]] = []
    current: float | None = None
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if not line or line.startswith(("#", "session")):
            continue
        row = _row(line, number, file, problems)
        if row is None:
            continue
        key, turn = row
        if current is None or key != current:
            sessions.append([])
            current = key
        sessions[-1].append(turn)
    if not sessions and not problems:
        hint = f"one row a turn: {','.join(COLUMNS)}"
        problems.append(Diagnostic("SQ012", "the trace is empty: it has no turn", Place(file), hint=hint))
    if problems:
        raise SerqError(problems)
    return Corpus(tuple(tuple(s) for s in sessions))


def _row(
    line: str, number: int, file: str | None, problems: list[Diagnostic]
) -> tuple[float, TraceTurn] | None:
    fields = line.split(",")
    if len(fields) not in (5, 6):
        place = Place(file, Span(number, 1, number, len(line) + 1))
        message = f"a trace row has 5 or 6 fields, this one has {len(fields)}"
        problems.append(Diagnostic("SQ012", message, place, hint=f"write {','.join(COLUMNS)}"))
        return None
    values = []
    column = 1
    for k, field in enumerate(fields):
        value = 0.0 if k == 1 else _number(field)
        if value is None:
            place = Place(file, Span(number, column, number, column + len(field)))
            message = f"`{field}` in column {COLUMNS[k]} is not a number"
            hint = "no blanks around inner fields; a header line starts with `session`"
            problems.append(Diagnostic("SQ012", message, place, hint=hint))
            return None
        values.append(value)
        column += len(field) + 1
    values += [0.0] * (6 - len(values))
    return values[0], TraceTurn(*values[2:])


def _number(field: str) -> float | None:
    if not field or field != field.strip() or "_" in field:
        return None
    try:
        return float(field)
    except ValueError:
        return None


def inline_trace(program: Program, corpus: Corpus) -> Program:
    """Replace an ordered trace by its sessions' turns; the result runs identically (004, *Program*).

    The program's arrivals must be explicit, a batch, or a number of open arrivals:
    otherwise how many sessions replay the trace is not known. Raises `SerqError` SQ013.
    """
    sessions = _explicit(program)
    if program.trace is None or not program.trace_ordered or sessions is None:
        raise SerqError(
            Diagnostic(
                "SQ013",
                "only an ordered trace of sessions that all arrive at time 0 can be written out",
                Place(path=("trace",)),
                hint="use `trace … ordered` with `arrive batch(n)` or explicit sessions",
            )
        )
    count = len(corpus.sessions)
    filled = [
        s
        if s.turns is not None
        else Session(attrs=s.attrs, turns=_turns(program, corpus.sessions[i % count]))
        for i, s in enumerate(sessions)
    ]
    return program.model_copy(
        update={"trace": None, "trace_ordered": False, "arrival": Sessions(sessions=tuple(filled))}
    )


def _explicit(program: Program) -> Sequence[Session] | None:
    match program.arrival:
        case Sessions(sessions=sessions):
            return sessions
        case Batch(size=n):
            return [Session()] * n
        case Closed() | Poisson() | Renewal() | None:
            return None


def _turns(program: Program, turns: tuple[TraceTurn, ...]) -> tuple[tuple[tuple[int, float], ...], ...]:
    p = program
    return tuple(
        (
            (p.slot_new, t.new),
            (p.slot_out, t.out),
            (p.slot_think, t.think),
            (p.slot_forced, t.forced),
        )
        for t in turns
    )
