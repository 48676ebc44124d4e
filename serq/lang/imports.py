"""`use "file.sq"`: libraries, read next to the program and spliced in where they are named (api.md §7.2)."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from serq.diagnostics import SerqError
from serq.lang import tree
from serq.lang.findings import FileSpan, Findings
from serq.lang.parser import parse
from serq.lang.source import read_source
from serq.lang.tree import Node

N = TypeVar("N", bound=Node)

ARGS = "std/args"


class Imports:
    """The library files a program reads, each read once."""

    def __init__(self, findings: Findings, program: Path | None) -> None:
        self.findings = findings
        self.program = program
        self.sources: dict[str, str] = {}
        self._read: set[Path] = set()

    def definitions(self, use: tree.Use) -> tuple[tree.Def, ...]:
        """The definitions a `use` brings in, those of the libraries it uses first.

        Reports a library that cannot be read or holds more than definitions (SQ230-SQ233).
        """
        path = use.path.value
        if path.startswith("std/"):
            message = f"there is no library `{path}`"
            self.findings.error("SQ233", message, use.path, hint=f'the built-in library is "{ARGS}"')
            return ()
        if self.program is None:
            message = f"`{path}` is a file next to the program, and this program was given as text"
            self.findings.error("SQ231", message, use.path, hint="write the program to a file")
            return ()
        return self._library(use, self.program.parent / path)

    def _library(self, use: tree.Use, path: Path) -> tuple[tree.Def, ...]:
        resolved = path.resolve()
        if resolved in self._read:
            return ()
        self._read.add(resolved)
        name = str(path)
        try:
            text = read_source(path)
            library = parse(text, name)
        except SerqError as error:
            self._cannot_read(use, error)
            return ()
        self.sources[name] = text
        found: list[tree.Def] = []
        for item in (*library.prelude, *((library.main,) if library.main else ()), *library.rest):
            if isinstance(item, tree.ExprDef | tree.BlockDef):
                found.append(relocate(item, name))
            elif isinstance(item, tree.Use):
                found.extend(self._nested(relocate(item, name), path))
            else:
                message = "a library holds only `def` and `use`"
                self.findings.error("SQ232", message, relocate(item, name), hint="move this to the program")
        return tuple(found)

    def _nested(self, use: tree.Use, library: Path) -> tuple[tree.Def, ...]:
        if use.path.value.startswith("std/"):
            message = f"a library cannot use `{use.path.value}`"
            self.findings.error("SQ233", message, use.path, hint="inputs are declared by the program")
            return ()
        return self._library(use, library.parent / use.path.value)

    def _cannot_read(self, use: tree.Use, error: SerqError) -> None:
        for found in error.diagnostics:
            if found.code.startswith("SQ0"):
                message = f"the library `{use.path.value}` cannot be read"
                self.findings.error("SQ230", message, use.path, note=found.message)
            else:
                self.findings.found.append(found)


def relocate(node: N, file: str) -> N:
    """A tree whose spans carry the name of its file."""
    return _relocated(node, file)  # type: ignore[no-any-return]


def _relocated(value: Any, file: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_relocated(v, file) for v in value)
    if not isinstance(value, Node):
        return value
    parts = [_relocated(getattr(value, f.name), file) for f in fields(value)]
    parts[0] = FileSpan.of(value.span, file)
    return type(value)(*parts)
