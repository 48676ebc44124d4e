"""A program with something changed: sessions by name, settings. Programs themselves never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from serq.diagnostics import Diagnostic, Place, SerqError, suggestion
from serq.ir.program import Preset, Program, Session, Sessions

Values = Mapping[str, float]


def with_sessions(
    program: Program, sessions: Sequence[Values], turns: Sequence[Sequence[Values] | None] | None = None
) -> Program:
    """The program with explicit sessions, each a mapping from attribute names to preset values.

    `turns[i]`, where given, are the turns of session i. Raises `SerqError` SQ014 for unknown names.
    """
    problems: list[Diagnostic] = []
    made = []
    for i, values in enumerate(sessions):
        own = turns[i] if turns is not None else None
        made.append(
            Session(
                attrs=_preset(program, values, problems),
                turns=None if own is None else tuple(_preset(program, t, problems) for t in own),
            )
        )
    if problems:
        raise SerqError(problems)
    return program.model_copy(update={"arrival": Sessions(sessions=tuple(made)), "arrivals": None})


def _preset(program: Program, values: Values, problems: list[Diagnostic]) -> Preset:
    for name in values:
        if name not in program.attrs:
            hint = suggestion(name, program.attrs)
            place = Place(path=("arrival", "Sessions"))
            problems.append(Diagnostic("SQ014", f"the program has no attribute `{name}`", place, hint=hint))
    return tuple((program.attrs.index(n), float(v)) for n, v in values.items() if n in program.attrs)


def with_settings(
    program: Program,
    *,
    horizon: float | None = None,
    warmup: float | None = None,
    seed: int | None = None,
    arrivals: int | None = None,
    trace: str | None = None,
) -> Program:
    """The program with other execution settings; those not given stay. Validate it again before a run."""
    given = {"horizon": horizon, "warmup": warmup, "seed": seed, "arrivals": arrivals, "trace": trace}
    return program.model_copy(update={k: v for k, v in given.items() if v is not None})


def with_trace_beside(program: Program, folder: Path) -> Program:
    """The program with a relative trace path resolved against the folder of its file."""
    if program.trace is None or Path(program.trace).is_absolute():
        return program
    return program.model_copy(update={"trace": str(folder / program.trace)})
