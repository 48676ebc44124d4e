"""Text to syntax tree: programs, libraries, instance files and single expressions."""

from __future__ import annotations

from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError, Span
from serq.lang import tree as t
from serq.lang.limits import expressions_too_deep
from serq.lang.recovery import Reader
from serq.lang.scanner import scan


def parse(text: str, file: str | None = None) -> t.Program:
    """Read a program or a library (002, *Syntax*).

    Raises `SerqError` with every mistake in characters and syntax. The shape of the program
    is not judged here: see `serq.lang.structure`.
    """
    items, span = _parse(text, file, "program")
    main = next((i for i, item in enumerate(items) if isinstance(item, t.Fn)), None)
    if main is None:
        return t.Program(span, file, items, None, ())
    entry = items[main]
    assert isinstance(entry, t.Fn)
    return t.Program(span, file, items[:main], entry, items[main + 1 :])


def parse_instance(text: str, file: str | None = None) -> t.Instance:
    """Read an instance file (api.md §9): bindings of inputs and at most one `run { ... }`.

    Raises `SerqError` with every mistake in characters and syntax, an input bound twice, a
    second `run` and a setting given twice.
    """
    items, span = _parse(text, file, "instance")
    bindings = tuple(i for i in items if isinstance(i, t.Let))
    settings = [i for i in items if isinstance(i, t.Settings)]
    found = _repeated([b.name for b in bindings], "is bound", file)
    for extra in settings[1:]:
        found.append(Diagnostic("SQ209", "an instance has one `run { ... }`", Place(file, extra.span)))
    for block in settings:
        found += _repeated([s.name for s in block.settings], "is given", file)
    if found:
        raise SerqError(found)
    return t.Instance(span, file, bindings, settings[0] if settings else None)


def parse_expression(text: str, file: str | None = None) -> t.Expr:
    """Read one expression, as the value of an input or the body of a definition is given.

    Raises `SerqError` with every mistake in characters and the first in syntax.
    """
    expression: t.Expr
    expression, _ = _parse(text, file, "expression")
    return expression


def _repeated(names: list[t.Name], verb: str, file: str | None) -> list[Diagnostic]:
    seen: dict[str, t.Name] = {}
    found = []
    for name in names:
        first = seen.setdefault(name.text, name)
        if first is not name:
            message = f"`{name.text}` {verb} twice"
            note = f"the first is on line {first.span.line}"
            found.append(Diagnostic("SQ209", message, Place(file, name.span), note))
    return found


def _parse(text: str, file: str | None, start: str) -> tuple[Any, Span]:
    scanned = scan(text, file)
    end = scanned.tokens[-1].span
    reader = Reader(scanned, start, file)
    value = reader.read()
    if scanned.deep and not reader.found:
        roots = value if isinstance(value, tuple) else (value,)
        reader.found = expressions_too_deep(roots, file)
    if reader.found:
        raise SerqError(reader.found)
    return value, Span(1, 1, end.end_line, end.end_column)
