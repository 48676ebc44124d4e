"""Execution settings: what a run is told from outside, by flags or an instance file (api.md §7.1, §9)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.lang import tree
from serq.lang.findings import Findings


@dataclass(frozen=True)
class Settings:
    """How a program is run; `horizon` is required, `trace` overrides the program's."""

    horizon: float | None = None
    warmup: float = 0.0
    seed: int = 1
    arrivals: int | None = None
    trace: str | None = None


def check_settings(settings: Settings, findings: Findings) -> None:
    """Report a missing horizon (SQ270); the values are judged with the program."""
    if settings.horizon is None:
        hint = "give one with `--horizon T`, or an instance file that does"
        findings.error("SQ270", "a run needs a horizon", None, hint=hint)


def apply_instance(
    settings: Settings, inputs: Mapping[str, str | float], instance: tree.Instance, text: str
) -> tuple[Settings, dict[str, str | float]]:
    """Settings and inputs with an instance file's laid over them: what is given later wins.

    Raises `SerqError` (SQ271) for a seed or a number of arrivals that is not whole.
    """
    found: dict[str, str | float] = dict(inputs)
    for binding in instance.bindings:
        found[binding.name.text] = _written(binding.value, text)
    for setting in instance.settings.settings if instance.settings is not None else ():
        value = setting.value.value
        match setting.name.text:
            case "horizon":
                settings = replace(settings, horizon=value)
            case "warmup":
                settings = replace(settings, warmup=value)
            case "seed":
                settings = replace(settings, seed=_whole(setting, instance))
            case "arrivals":
                settings = replace(settings, arrivals=_whole(setting, instance))
    return settings, found


def _whole(setting: tree.Setting, instance: tree.Instance) -> int:
    value = setting.value.value
    if not (math.isfinite(value) and value == math.floor(value)):
        message = f"`{setting.name.text}` is a whole number, not {setting.value.text}"
        raise SerqError(Diagnostic("SQ271", message, Place(instance.file, setting.value.span)))
    return int(value)


def _written(expr: tree.Expr, text: str) -> str | float:
    """The value of a binding as written, so that it may read the program's constants."""
    if isinstance(expr, tree.Num):
        return expr.value
    lines = text.split("\n")
    s = expr.span
    if s.line == s.end_line:
        return lines[s.line - 1][s.column - 1 : s.end_column - 1]
    first, last = lines[s.line - 1][s.column - 1 :], lines[s.end_line - 1][: s.end_column - 1]
    return "\n".join((first, *lines[s.line : s.end_line - 1], last))
