"""Inputs: `use "std/args"`, `args.number`, the values supplied for them, replaced definitions (api.md §7.2, §9)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from serq.diagnostics import SerqError, Span, suggestion
from serq.ir.symbolic import exactly
from serq.lang import tree
from serq.lang.constants import shown
from serq.lang.findings import FileSpan, Findings
from serq.lang.imports import relocate
from serq.lang.parser import parse_expression
from serq.lang.tree import Expr

_IDENTIFIER = re.compile(r"[^\W\d]\w*\Z")


@dataclass
class Inputs:
    """The inputs a program declares and the texts or numbers supplied for them.

    `sources` collects the supplied texts by the name diagnostics show them under.
    """

    findings: Findings
    supplied: Mapping[str, str | float]
    replaced: Mapping[str, str]
    enabled: bool = False
    declared: dict[str, tree.Text] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    _replacing: set[str] = field(default_factory=set)

    def declare(self, node: tree.Input, inside_main: bool) -> Expr | None:
        """The supplied expression of an input, None for its default; reports misuse (SQ250-SQ253)."""
        if not (self.enabled and inside_main):
            message = '`args.number` needs `use "std/args";` above it and a `let` inside `fn main()`'
            self.findings.error("SQ250", message, node, hint='add `use "std/args";` at the top of the file')
            return None
        name = node.external.value
        if not _IDENTIFIER.match(name):
            self.findings.error("SQ251", f"`{name}` is not a name an input can have", node.external)
            return None
        if name in self.declared:
            note = f"first declared at {self.findings.where(self.declared[name])}"
            hint = "read it once and use that constant again"
            self.findings.error(
                "SQ252", f"the input `{name}` is declared twice", node.external, note=note, hint=hint
            )
            return None
        self.declared[name] = node.external
        if name not in self.supplied:
            return None
        return self._supplied(name, self.supplied[name])

    def _supplied(self, name: str, value: str | float) -> Expr | None:
        if not isinstance(value, str):
            return tree.Num(FileSpan.of(Span(1, 1, 1, 1), f"--set {name}"), exactly(value), shown(value))
        return self._parse(f"--set {name}", value, f"the value of the input `{name}`")

    def _parse(self, label: str, text: str, what: str) -> Expr | None:
        self.sources[label] = text
        try:
            return relocate(parse_expression(text, label), label)
        except SerqError as error:
            for found in error.diagnostics:
                note = found.note or found.message
                message = f"{what} is not an expression"
                span = found.place.span or Span(1, 1, 1, 1)
                at = FileSpan.of(span, label)
                self.findings.error("SQ254", message, at, note=note)
            return None

    def replacement(self, definition: tree.Def) -> tree.Def:
        """The definition with its body replaced where the outside says so (SQ255, SQ256)."""
        name = definition.name.text
        text = self.replaced.get(name)
        if text is None:
            return definition
        self._replacing.add(name)
        if isinstance(definition, tree.BlockDef):
            message = f"`{name}` is a definition of statements: only an expression's body can be replaced"
            self.findings.error("SQ256", message, definition.name)
            return definition
        body = self._parse(f"--def {name}", text, f"the body for the definition `{name}`")
        return definition if body is None else replace(definition, body=body)

    def check_used(self, definitions: Mapping[str, object]) -> None:
        """Report supplied values and bodies that nothing declares (SQ253, SQ255)."""
        for name in self.supplied:
            if name not in self.declared:
                self._unknown(
                    "SQ253", f"the program declares no input `{name}`", name, self.declared, "inputs"
                )
        for name in self.replaced:
            if name not in definitions:
                self._unknown(
                    "SQ255", f"the program has no definition `{name}`", name, definitions, "definitions"
                )

    def _unknown(self, code: str, message: str, name: str, known: Mapping[str, object], what: str) -> None:
        hint = suggestion(name, known)
        if hint is None and known:
            hint = f"its {what}: {', '.join(known)}"
        self.findings.error(code, message, None, hint=hint)
