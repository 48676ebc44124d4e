"""Recording scenario files: checked first, then run by the real scheduler, one compressed trace each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError, Severity
from serq.oracle.recording.files import (
    TRACE_SUFFIX,
    packed,
    read_scenario,
    same_names,
    scenario_name,
    write_bytes,
)
from serq.oracle.recording.host import Recorder


@dataclass(frozen=True)
class Recorded:
    """One written trace: the scenario's name, the file, its size in bytes, and what the summary says."""

    name: str
    path: Path
    size: int
    vllm: str
    steps: int
    preemptions: int
    ended: str


def record(
    scenarios: Sequence[Path],
    env: Path,
    out: Path,
    *,
    blocks: bool = True,
    recorder: Callable[[Path], Recorder] = Recorder,
    told: Callable[[Recorded], None] | None = None,
) -> list[Recorded]:
    """Record scenario files with the vLLM of `env` into `out/<version>/NAME.trace.json.gz`.

    Every file is checked before vLLM is started; errors in any of them raise `SerqError` with all of
    them. A scenario vLLM refuses stops the recording with its diagnostic. `told` hears of each trace.
    """
    checked = load(scenarios)
    done = []
    with recorder(env) as running:
        for path, data in checked:
            trace = _one(running, path, data, blocks)
            row = _write(out / running.version / (scenario_name(path) + TRACE_SUFFIX), trace)
            done.append(row)
            if told is not None:
                told(row)
    return done


def load(scenarios: Sequence[Path]) -> list[tuple[Path, dict[str, Any]]]:
    """The data of scenario files; raises `SerqError` with the errors of all of them."""
    findings = same_names(scenarios)
    checked = []
    for path in scenarios:
        data, found = read_scenario(path)
        findings += [*found, *_unrecordable(data, path)]
        checked.append((path, data))
    errors = [d for d in findings if d.severity is Severity.ERROR]
    if errors:
        raise SerqError(errors)
    return checked


def _unrecordable(data: Mapping[str, Any], path: Path) -> Iterator[Diagnostic]:
    """A scenario for programs alone: one with a serving order that the real scheduler does not have."""
    serve = data.get("serve", "admission")
    if isinstance(serve, str) and serve != "admission":
        yield Diagnostic(
            "SQ939",
            f"the real scheduler does not serve by `{serve}`",
            Place(str(path), None, ("serve",)),
            note="it serves running requests in the order of their admission",
        )


def _one(running: Recorder, path: Path, data: Mapping[str, Any], blocks: bool) -> dict[str, Any]:
    try:
        return running.record(data, blocks=blocks)
    except SerqError as error:
        raise SerqError(
            Diagnostic(d.code, d.message, Place(str(path)), d.note, d.hint) for d in error.diagnostics
        ) from None


def _write(path: Path, trace: Mapping[str, Any]) -> Recorded:
    data = packed(trace)
    write_bytes(path, data)
    summary = trace["summary"]
    return Recorded(
        name=path.name.removesuffix(TRACE_SUFFIX),
        path=path,
        size=len(data),
        vllm=trace["vllm"],
        steps=summary["steps"],
        preemptions=summary["preemptions"],
        ended=summary["ended"],
    )


def digest(trace: Mapping[str, Any]) -> str:
    """A short digest of what a trace says happened: equal for equal steps, whatever else differs."""
    steps = json.dumps(trace["steps"], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(steps.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Difference:
    """Where two traces of one scenario part: the first step, the keys that differ there, both steps' counts."""

    name: str
    step: int
    keys: tuple[str, ...]
    steps: tuple[int, int]


def first_difference(name: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> Difference | None:
    """The first step in which two traces differ, or None; a trace that ends earlier differs at its end."""
    counts = len(a["steps"]), len(b["steps"])
    for x, y in zip(a["steps"], b["steps"], strict=False):
        if x != y:
            keys = tuple(key for key in x if x[key] != y.get(key))
            return Difference(name, x["step"], keys, counts)
    return None if counts[0] == counts[1] else Difference(name, min(counts), (), counts)


def differences(pairs: Iterable[tuple[str, Mapping[str, Any], Mapping[str, Any]]]) -> list[Difference]:
    """The traces that differ, of pairs of one scenario's traces."""
    found = (first_difference(name, a, b) for name, a, b in pairs)
    return [d for d in found if d is not None]
