"""Scenario and trace files: read with diagnostics, written in one canonical form, the same bytes each time."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError, Span
from serq.oracle.recording.rules import REQUEST_KEYS, SCENARIO_KEYS, check_scenario

SCENARIO_SUFFIX = ".scenario.json"
TRACE_SUFFIX = ".trace.json.gz"
TRACE_VERSION = 1


def scenario_name(path: Path) -> str:
    """The name of a scenario's file: `03_preempt_decode` of `03_preempt_decode.scenario.json`."""
    return path.name.removesuffix(".json").removesuffix(".scenario")


def parse_scenario(text: str, file: str) -> tuple[dict[str, Any], list[Diagnostic]]:
    """A scenario's text as data, and the findings in it; the data is empty when it is not JSON."""
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(items)
        if len(data) < len(items):
            names = [name for name, _ in items]
            twice.extend(sorted({name for name in names if names.count(name) > 1}))
        return data

    try:
        data = json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
        place = Place(file, Span(line, column, line, column + 1))
        return {}, [Diagnostic("SQ002", f"the file is not JSON: {error}", place)]
    found = [Diagnostic("SQ926", f"the key `{name}` is written twice", Place(file)) for name in twice]
    return data if isinstance(data, dict) else {}, found + check_scenario(data, file)


def read_scenario(path: Path) -> tuple[dict[str, Any], list[Diagnostic]]:
    """A scenario's file as data, and the findings in it."""
    try:
        return parse_scenario(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        return {}, [Diagnostic("SQ001", f"cannot read {path}: {reason}", Place(str(path)))]


def scenario_text(data: Mapping[str, Any]) -> str:
    """A scenario in canonical form: known keys in their order, one request a line."""
    lines = [
        f' "{key}": {json.dumps(data[key])},' for key in _ordered(data, SCENARIO_KEYS) if key != "requests"
    ]
    rows = [json.dumps({key: row[key] for key in _ordered(row, REQUEST_KEYS)}) for row in data["requests"]]
    return "{\n" + "\n".join(lines) + '\n "requests": [\n  ' + ",\n  ".join(rows) + "\n ]\n}\n"


def _ordered(data: Mapping[str, Any], known: Iterable[str]) -> list[str]:
    order = list(known)
    return sorted(data, key=lambda key: (order.index(key) if key in order else len(order), key))


def packed(trace: Mapping[str, Any]) -> bytes:
    """A trace as a gzip file with no name and time 0, so that the same trace is the same bytes."""
    text = json.dumps(trace, separators=(",", ":"), ensure_ascii=True) + "\n"
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as out:
        out.write(text.encode("ascii"))
    return buffer.getvalue()


def read_trace(path: Path) -> dict[str, Any]:
    """A trace's file as data; raises `SerqError` SQ001 or SQ937."""
    try:
        data = json.loads(gzip.decompress(path.read_bytes()))
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise SerqError(_not_a_trace(path, "it is not a gzip file")) from None
        raise SerqError(
            Diagnostic("SQ001", f"cannot read {path}: {error.strerror}", Place(str(path)))
        ) from None
    except (ValueError, EOFError, zlib.error) as error:
        raise SerqError(_not_a_trace(path, str(error))) from None
    if not isinstance(data, dict) or data.get("version") != TRACE_VERSION:
        raise SerqError(_not_a_trace(path, f"it is not of version {TRACE_VERSION}"))
    return data


def _not_a_trace(path: Path, reason: str) -> Diagnostic:
    return Diagnostic("SQ937", f"{path} is not a trace: {reason}", Place(str(path)))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole, beside its place and then renamed; raises `SerqError` SQ001."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.new")
        beside.write_bytes(data)
        beside.replace(path)
    except OSError as error:
        raise SerqError(
            Diagnostic("SQ001", f"cannot write {path}: {error.strerror}", Place(str(path)))
        ) from None


def same_names(paths: Sequence[Path]) -> list[Diagnostic]:
    """A finding for each scenario whose trace would overwrite another's."""
    seen: dict[str, Path] = {}
    found = []
    for path in paths:
        name = scenario_name(path)
        if name in seen:
            message = f"{seen[name]} and {path} would both be recorded as `{name}`"
            found.append(Diagnostic("SQ938", message, Place(str(path))))
        seen.setdefault(name, path)
    return found
