"""From text to a validated program: the passes in order, and every mistake of a file at once.

`parse` -> `resolve` -> `declare` -> `lower` -> `link` -> the IR's own rules. What each pass made
stays on the `Compiled`, for `serq ir --stage`.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.ir.depth import deep_recursion
from serq.ir.program import Program
from serq.ir.validate import validate
from serq.lang import tree
from serq.lang.bindings import check_binding_reads
from serq.lang.costs import check_records
from serq.lang.declare import declare
from serq.lang.definitions import Definition, Definitions
from serq.lang.findings import Findings
from serq.lang.hidden import check_hidden
from serq.lang.kernel import Kernel
from serq.lang.leases import resolve_leases
from serq.lang.link import Linker, names_of
from serq.lang.lints import check_lints
from serq.lang.lower import lower
from serq.lang.names import check_names
from serq.lang.parser import parse
from serq.lang.privacy import check_rooms
from serq.lang.private_names import check_private_names
from serq.lang.request_shape import check_requests
from serq.lang.resolve import Resolved, resolve
from serq.lang.settings import Settings, check_settings
from serq.lang.source import read_source
from serq.lang.sourcemap import SourceMap
from serq.lang.structure import check_structure
from serq.lang.unknown import check_calls
from serq.lang.unread import check_unread


@dataclass(frozen=True)
class Compiled:
    """A program, where its parts were written, the texts it was read from, and what each pass made."""

    program: Program
    source_map: SourceMap
    sources: Mapping[str, str]
    parsed: tree.Program
    resolved: Resolved
    kernel: Kernel


def compile_file(
    path: Path | str,
    settings: Settings,
    inputs: Mapping[str, str | float] | None = None,
    defs: Mapping[str, str] | None = None,
) -> Compiled:
    """Compile a `.sq` file; raises `SerqError` as `compile_text` does, and when it cannot be read."""
    path = Path(path)
    return _Compilation(read_source(path), str(path), path, settings).run(inputs or {}, defs or {})


def compile_text(
    text: str,
    *,
    file: str | None = None,
    settings: Settings,
    inputs: Mapping[str, str | float] | None = None,
    defs: Mapping[str, str] | None = None,
) -> Compiled:
    """Compile a program given as text (002); `file` is only what diagnostics call it.

    `inputs` are values for `args.number`, `defs` bodies for definitions of expressions.
    Raises `SerqError` with every mistake found, in the order of the text.
    """
    return _Compilation(text, file, None, settings).run(inputs or {}, defs or {})


@contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the cycle collector out: trees have no cycles, and it would walk them again and again.

    What was made meanwhile counts as old afterwards, so that it is not walked as soon as this ends.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if gc.get_freeze_count() == 0:
                gc.freeze()
                gc.unfreeze()
            gc.enable()


class _Compilation:
    """One program on its way through the passes."""

    def __init__(self, text: str, file: str | None, path: Path | None, settings: Settings) -> None:
        self.text = text
        self.file = file
        self.path = path
        self.settings = settings
        self.findings = Findings(file)

    def run(self, inputs: Mapping[str, str | float], defs: Mapping[str, str]) -> Compiled:
        """Every pass; raises at the end, so that one mistake does not hide another."""
        with deep_recursion(), _no_collection():
            try:
                return self._run(inputs, defs)
            except RecursionError:
                message = (
                    "with its definitions written out, an expression of the program is nested too deeply"
                )
                hint = "name parts of it with attributes set before it"
                raise SerqError([Diagnostic("SQ008", message, Place(self.file), hint=hint)]) from None

    def _run(self, inputs: Mapping[str, str | float], defs: Mapping[str, str]) -> Compiled:
        findings = self.findings
        parsed = parse(self.text, self.file)
        check_settings(self.settings, findings)
        findings.found.extend(check_structure(parsed))
        if parsed.main is None:
            findings.stop()
        shape = len(findings.found)
        resolved = resolve(parsed, findings, path=self.path, inputs=inputs, defs=defs)
        model = declare(resolved.items, findings)
        resolve_leases(model)
        check_requests(model)
        kernel = lower(model, resolved.definitions.by_name)
        names = names_of(kernel)
        linker = Linker(kernel, names)
        program = linker.program(self.settings)
        check_unread(resolved, model, linker.expressions)
        mixed = model.pools.keys() & model.stages.keys()
        whole = len(findings.found) == shape and not mixed
        check_names(resolved, findings, kernel.client_tool)
        check_rooms(model)
        check_calls(model, resolved.definitions.by_name)
        check_private_names(model)
        check_binding_reads(resolved.items, findings)
        check_records(kernel, names.assigned, findings)
        check_hidden(kernel, findings)
        check_lints(kernel, findings)
        source_map = SourceMap(program, linker.spans, self.file)
        self._validate(source_map, whole)
        findings.found = list(_without_echoes(findings.found))
        self._say_where_used(resolved.definitions)
        findings.stop()
        sources = {**resolved.sources, self.file or "": self.text}
        return Compiled(program, source_map, sources, parsed, resolved, kernel)

    def _validate(self, source_map: SourceMap, whole: bool) -> None:
        """The IR's own rules, placed in the text; of a program with holes, only the rules that see one expression."""
        for found in validate(source_map.program):
            if whole or found.code.startswith(_LOCAL):
                self._found(found, source_map)

    def _say_where_used(self, definitions: Definitions) -> None:
        """Note the call beside what is wrong in a definition's body: the body alone does not show it."""
        bodies = [(self.findings.place(d.node.body), d) for d in definitions.by_name.values() if d.calls]
        for i, found in enumerate(self.findings.found):
            inside = next((d for body, d in bodies if _covers(body, found.place)), None)
            if inside is not None:
                used = f"in `{inside.name}`, used at {self._calls(inside)}"
                note = used if found.note is None else f"{found.note}; {used}"
                self.findings.found[i] = replace(found, note=note)

    def _calls(self, definition: Definition) -> str:
        lines = list(dict.fromkeys(self.findings.where(call) for call in definition.calls))
        return ", ".join(lines[:_CALLS_SHOWN]) + (" and elsewhere" if len(lines) > _CALLS_SHOWN else "")

    def _found(self, found: Diagnostic, source_map: SourceMap) -> None:
        place = source_map.place(found.place.path)
        if place.span is not None:
            place = replace(place, path=())
        same = (found.code, found.message)
        if not any((d.code, d.message) == same and d.place == place for d in self.findings.found):
            self.findings.found.append(found.at(place))


# Settings, and what an expression may read where it stands.
_LOCAL = ("SQ02", "SQ4")


_CALLS_SHOWN = 3
_ROOM = frozenset({"SQ772", "SQ775", "SQ776", "SQ777", "SQ778", "SQ779"})
_ECHOES = frozenset({"SQ301", "SQ302", "SQ304", "SQ307", "SQ409", "SQ517", "SQ603"})


def _without_echoes(found: list[Diagnostic]) -> Iterator[Diagnostic]:
    """The diagnostics without those that only repeat that an entry or request sees something else."""
    rooms = [d.place for d in found if d.code in _ROOM]
    for item in found:
        if item.code in _ECHOES and any(_covers(item.place, place) for place in rooms):
            continue
        yield item


def _covers(outer: Place, inner: Place) -> bool:
    if outer.file != inner.file or outer.span is None or inner.span is None:
        return False
    start = (outer.span.line, outer.span.column) <= (inner.span.line, inner.span.column)
    inner_end = (inner.span.end_line, inner.span.end_column)
    return start and inner_end <= (outer.span.end_line, outer.span.end_column)
