"""Diagnostics as text, JSON, SARIF or GitHub annotations: the one place that renders them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from serq.diagnostics.codes import lookup
from serq.diagnostics.model import Diagnostic, Severity, format_path

Sources = Mapping[str, str]


def render_text(diagnostics: Sequence[Diagnostic], sources: Sources | None = None) -> str:
    """One block per diagnostic that is not suppressed: headline, place, the source line, note, help."""
    return "\n".join(_block(d, sources or {}) for d in diagnostics if d.suppressed is None)


def _block(d: Diagnostic, sources: Sources) -> str:
    lines = [f"{d.severity}[{d.code}]: {d.message}"]
    lines += _location(d, sources)
    if d.note:
        lines.append(f"  = note: {d.note}")
    if d.hint:
        lines.append(f"  = help: {d.hint}")
    return "\n".join(lines) + "\n"


def _location(d: Diagnostic, sources: Sources) -> list[str]:
    place = d.place
    lines = []
    where = place.file or ""
    if place.span:
        where += f"{':' if where else ''}{place.span.line}:{place.span.column}"
    if where:
        lines.append(f"  --> {where}")
    if place.path:
        lines.append(f"  at {format_path(place.path)}")
    source = sources.get(place.file or "")
    if place.span and source is not None:
        lines += _excerpt(source, d)
    return lines


def _excerpt(source: str, d: Diagnostic, width: int = 160) -> list[str]:
    span = d.place.span
    rows = source.split("\n")
    if span is None or span.line > len(rows):
        return []
    row = rows[span.line - 1].rstrip("\r")
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(row)
    # A very long line is shown around the caret only.
    shift = max(0, start - width // 2) if len(row) > width else 0
    shown = row[shift : shift + width].replace("\t", " ")
    start, end = start - shift, min(end - shift, len(shown))
    gutter = " " * len(str(span.line))
    carets = " " * start + "^" * max(1, end - start)
    return [f" {gutter} |", f" {span.line} | {shown}", f" {gutter} | {carets}"]


def as_dict(d: Diagnostic) -> dict[str, Any]:
    """A diagnostic as plain JSON data; absent parts are left out."""
    span = d.place.span
    data: dict[str, Any] = {"code": d.code, "severity": str(d.severity), "message": d.message}
    if d.place.file:
        data["file"] = d.place.file
    if span:
        data["span"] = {
            "line": span.line,
            "column": span.column,
            "end_line": span.end_line,
            "end_column": span.end_column,
        }
    if d.place.path:
        data["path"] = format_path(d.place.path)
    if d.note:
        data["note"] = d.note
    if d.hint:
        data["hint"] = d.hint
    if d.suppressed is not None:
        data["suppressed"] = d.suppressed
    return data


def render_json(diagnostics: Sequence[Diagnostic], sources: Sources | None = None) -> str:
    """A JSON array, one object per diagnostic."""
    return json.dumps([as_dict(d) for d in diagnostics], indent=2, ensure_ascii=False) + "\n"


def render_github(diagnostics: Sequence[Diagnostic], sources: Sources | None = None) -> str:
    """Workflow commands that annotate the lines of a pull request; nothing of what is suppressed."""
    return "".join(_github_line(d) for d in diagnostics if d.suppressed is None)


def _github_line(d: Diagnostic) -> str:
    kind = "error" if d.severity is Severity.ERROR else "warning"
    properties = [f"title={_escape(d.code, True)}"]
    if d.place.file:
        properties.insert(0, f"file={_escape(d.place.file, True)}")
    if d.place.span:
        s = d.place.span
        properties += [
            f"line={s.line}",
            f"col={s.column}",
            f"endLine={s.end_line}",
            f"endColumn={s.end_column}",
        ]
    text = d.message if not d.place.path else f"{d.message} (at {format_path(d.place.path)})"
    if d.hint:
        text += f"\n{d.hint}"
    return f"::{kind} {','.join(properties)}::{_escape(text, False)}\n"


def _escape(text: str, is_property: bool) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if is_property else text


def render_sarif(diagnostics: Sequence[Diagnostic], sources: Sources | None = None) -> str:
    """A SARIF 2.1.0 log with one run."""
    codes = sorted({d.code for d in diagnostics})
    rules = []
    for code in codes:
        row = lookup(code)
        rules.append({"id": code, "shortDescription": {"text": row.title if row else code}})
    results = [_sarif_result(d, codes.index(d.code)) for d in diagnostics]
    if any(d.suppressed is not None for d in diagnostics):
        # The format wants the property in every result of a run or in none.
        for d, result in zip(diagnostics, results, strict=True):
            result["suppressions"] = _sarif_suppressions(d)
    run = {"tool": {"driver": {"name": "serq", "rules": rules}}, "results": results}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _sarif_result(d: Diagnostic, rule: int) -> dict[str, Any]:
    text = "\n".join(t for t in (d.message, d.note, d.hint) if t)
    result: dict[str, Any] = {
        "ruleId": d.code,
        "ruleIndex": rule,
        "level": str(d.severity),
        "message": {"text": text},
    }
    location: dict[str, Any] = {}
    if d.place.file:
        physical: dict[str, Any] = {"artifactLocation": {"uri": d.place.file}}
        if d.place.span:
            s = d.place.span
            physical["region"] = {
                "startLine": s.line,
                "startColumn": s.column,
                "endLine": s.end_line,
                "endColumn": s.end_column,
            }
        location["physicalLocation"] = physical
    if d.place.path:
        location["logicalLocations"] = [{"fullyQualifiedName": format_path(d.place.path)}]
    if location:
        result["locations"] = [location]
    return result


def _sarif_suppressions(d: Diagnostic) -> list[dict[str, str]]:
    return [] if d.suppressed is None else [{"kind": "inSource", "justification": d.suppressed}]


Renderer = Callable[[Sequence[Diagnostic], Sources | None], str]
RENDERERS: dict[str, Renderer] = {
    "text": render_text,
    "json": render_json,
    "sarif": render_sarif,
    "github": render_github,
}
