"""JSON to a program (004, *Format*): every mistake in its shape is reported at once, with its path.

Optional fields may be missing or null; unknown fields and another version are refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from serq.diagnostics import Diagnostic, IrPath, Place, SerqError
from serq.ir import decode_nodes as nodes
from serq.ir import program as pr
from serq.ir.cursor import Cursor, Issues
from serq.ir.depth import MAX_JSON_DEPTH, deep_recursion
from serq.ir.encode import SLOTS

T = TypeVar("T")

_REQUIRED = [
    "version",
    "attrs",
    "attr_types",
    "sides",
    "observes",
    "pools",
    "stages",
    "arrival",
    "trace_ordered",
    "init",
    "turn",
    "session",
    "blocks",
    "horizon",
    "warmup",
    "seed",
    "hidden",
] + [f"slot_{name}" for name in SLOTS]
_OPTIONAL = ("trace", "arrivals", "share", "gauges", "claims", "registers")


def loads(text: str, file: str | None = None) -> pr.Program:
    """Read a program from JSON text.

    Raises `SerqError` with every mistake found in the shape of the document.
    The program is not validated: see `serq.ir.validate`.
    """
    try:
        with deep_recursion():
            data = json.loads(text)
    except RecursionError:
        raise SerqError(_too_deep(file)) from None
    except json.JSONDecodeError as error:
        raise SerqError(_not_json(error, file)) from None
    except ValueError as error:  # an integer of more digits than Python converts
        raise SerqError(Diagnostic("SQ002", f"this is not JSON: {error}", Place(file))) from None
    return from_data(data, file)


def from_data(data: Any, file: str | None = None) -> pr.Program:
    """Read a program from parsed JSON; raises `SerqError` as `loads` does."""
    if _depth_exceeds(data, MAX_JSON_DEPTH):
        raise SerqError(_too_deep(file))
    issues = Issues(file)
    with deep_recursion():
        program = _program(Cursor(data, issues))
    if issues.found or program is None:
        raise SerqError(issues.found)
    return program


def _not_json(error: json.JSONDecodeError, file: str | None) -> Diagnostic:
    from serq.diagnostics import Span

    span = Span(error.lineno, error.colno, error.lineno, error.colno + 1)
    whole = not error.doc.strip()
    message = "the file is empty" if whole else f"this is not JSON: {error.msg}"
    hint = "print a program's IR with `serq ir FILE.sq`"
    return Diagnostic("SQ002", message, Place(file, span), hint=hint)


def _too_deep(file: str | None) -> Diagnostic:
    return Diagnostic(
        "SQ008",
        f"the document is nested more than {MAX_JSON_DEPTH} levels deep",
        Place(file),
        hint="name parts of the expression with attributes set before it",
    )


def _depth_exceeds(data: Any, limit: int) -> bool:
    level = [data]
    for _ in range(limit):
        deeper: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                deeper.extend(value.values())
            elif isinstance(value, list):
                deeper.extend(value)
        if not deeper:
            return False
        level = deeper
    return True


def _program(c: Cursor) -> pr.Program | None:
    if not isinstance(c.value, dict):
        c.wrong("a program is a JSON object")
        return None
    version = c.value.get("version")
    if version != pr.IR_VERSION or isinstance(version, bool):
        said = "no version" if version is None else f"version {version!r}"
        c.issue(
            "SQ003",
            f"this document has {said}; this serq reads IR {pr.IR_VERSION}",
            hint="compile the program again from its source",
        )
        return None
    fields = c.fields(_REQUIRED, _OPTIONAL)
    if fields is None:
        return None
    values = {
        "attrs": fields["attrs"].strings(),
        "attr_types": fields["attr_types"].each(nodes.attr_type),
        "sides": fields["sides"].each(_sides),
        "observes": fields["observes"].strings(),
        "pools": fields["pools"].each(nodes.pool),
        "stages": fields["stages"].each(nodes.stage),
        "arrival": nodes.arrival(fields["arrival"]),
        "trace": fields["trace"].maybe(Cursor.string),
        "trace_ordered": fields["trace_ordered"].boolean(),
        "init": fields["init"].natural(),
        "turn": fields["turn"].natural(),
        "session": fields["session"].natural(),
        "blocks": fields["blocks"].each(_block),
        "horizon": fields["horizon"].number(),
        "warmup": fields["warmup"].number(),
        "seed": fields["seed"].natural(),
        "arrivals": fields["arrivals"].maybe(Cursor.natural),
        "hidden": fields["hidden"].each(Cursor.natural),
        "share": fields["share"].maybe(lambda x: x.one_of(("MaxMin", "Bottleneck"))),
        "gauges": _list(fields["gauges"], nodes.gauge),
        "claims": _list(fields["claims"], nodes.claim),
        "registers": _list(fields["registers"], nodes.register),
    }
    for name in SLOTS:
        values[f"slot_{name}"] = fields[f"slot_{name}"].natural()
    return None if c.issues.found else pr.Program.model_validate(values)


def _list(c: Cursor, read: Callable[[Cursor], T]) -> tuple[T, ...]:
    return () if c.value is None else c.each(read)


def _sides(c: Cursor) -> tuple[str, ...]:
    return c.each(lambda x: x.one_of(("Workload", "Server")))


def _block(c: Cursor) -> tuple[Any, ...]:
    return c.each(nodes.statement)


__all__ = ["IrPath", "from_data", "loads"]
