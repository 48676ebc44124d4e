"""The first pass: imports, inputs, constants, definitions and aggregates written out (api.md §2.4, §2.5, §7.2).

What is left is a program of declarations, a workload and a server that names no `let`, no `def` and no
index: the form `serq ir --stage resolved` prints. Array sizes are numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from serq.ir.symbolic import Symbolic
from serq.lang import tree
from serq.lang.constants import NotConstant, evaluate, number, value_of, whole
from serq.lang.definitions import Definitions
from serq.lang.expand import Expander
from serq.lang.findings import Findings
from serq.lang.imports import ARGS, Imports
from serq.lang.inputs import Inputs
from serq.lang.tree import Expr, Item

Sized = TypeVar("Sized", tree.Pool, tree.Stage, tree.Device, tree.Engine, tree.Queue, tree.Capacity)
MAX_MEMBERS = 100_000


@dataclass
class Resolved:
    """A program without imports, inputs, constants, definitions and aggregates.

    `constants` and `definitions` are what the program declared, `indices` the names of its aggregates,
    `unread` the arguments that were written out nowhere.
    """

    items: tuple[Item, ...]
    constants: dict[str, tree.Name]
    definitions: Definitions
    indices: dict[str, tree.Name]
    unread: list[Expr]
    sources: dict[str, str] = field(default_factory=dict)


def resolve(
    program: tree.Program,
    findings: Findings,
    *,
    path: Path | None = None,
    inputs: Mapping[str, str | float] | None = None,
    defs: Mapping[str, str] | None = None,
) -> Resolved:
    """Write out everything a program names once and uses elsewhere; mistakes go to `findings`."""
    resolver = _Resolver(findings, Imports(findings, path), Inputs(findings, inputs or {}, defs or {}))
    return resolver.program(program)


class _Resolver:
    """Reads the items in order, then writes out those that are not constants or definitions."""

    def __init__(self, findings: Findings, imports: Imports, inputs: Inputs) -> None:
        self.findings = findings
        self.imports = imports
        self.inputs = inputs
        self.definitions = Definitions(findings)
        self.names: dict[str, tree.Name] = {}
        self.expander = Expander(findings, self.definitions)
        # What the constants would be with every input at its default: array sizes may not depend on more.
        self.defaults: dict[str, float | None] = {}

    def program(self, program: tree.Program) -> Resolved:
        waiting: list[tuple[Item, int]] = []
        for item in program.prelude:
            self._read(item, False, waiting)
        for item in program.main.items if program.main else ():
            self._read(item, True, waiting)
        self.inputs.check_used(self.definitions.by_name)
        items = []
        for item, known in waiting:
            self.expander.known = known
            items.append(self.expander.item(item))
        sources = {**self.imports.sources, **self.inputs.sources}
        expander = self.expander
        return Resolved(
            tuple(items), self.names, self.definitions, expander.indices, expander.unread, sources
        )

    def _read(self, item: Item, inside_main: bool, waiting: list[tuple[Item, int]]) -> None:
        match item:
            case tree.Use(path=path) if path.value == ARGS:
                self.inputs.enabled = True
            case tree.Use():
                for definition in self.imports.definitions(item):
                    self._define(definition)
            case tree.ExprDef() | tree.BlockDef():
                self._define(item)
            case tree.Let():
                self.expander.known = len(self.definitions.by_name)
                self._let(item, inside_main)
            case _:
                sized = self._sized(item)
                waiting.append((sized, len(self.definitions.by_name)))

    def _define(self, node: tree.Def) -> None:
        self.definitions.add(self.inputs.replacement(node))

    def _let(self, item: tree.Let, inside_main: bool) -> None:
        name = item.name.text
        self.names.setdefault(name, item.name)
        value, default = item.value, item.value
        if isinstance(value, tree.Input):
            default = value.default
            supplied = self.inputs.declare(value, inside_main)
            value = default if supplied is None else supplied
        result = evaluate(self.expander.expr(value), self.findings, f"`let {name}`")
        self.defaults[name] = self._default(default) if value is not default or self._differs() else result
        self.expander.constants[name] = result

    def _differs(self) -> bool:
        actual = self.expander.constants
        return any(isinstance(v, Symbolic) for v in actual.values()) or self.defaults != actual

    def _default(self, value: Expr) -> float | None:
        actual = self.expander.constants
        self.expander.constants = self.defaults
        terms = self.expander.terms
        try:
            return value_of(self.expander.expr(value))
        except NotConstant:
            return None
        finally:
            self.expander.constants = actual
            self.expander.terms = terms

    def _sized(self, item: Item) -> Item:
        """The item with its array sizes as numbers, read with the constants above it."""
        match item:
            case tree.Queue(members=members):
                return self._with_size(replace(item, members=tuple(self._sized_member(m) for m in members)))
            case tree.Engine():
                return self._sized_engine(item)
            case tree.Pool():
                return self._with_size(item)
            case tree.Stage():
                return self._with_size(item)
            case tree.Device():
                return self._with_size(item)
            case _:
                return item

    def _sized_member(self, member: tree.QueueMember) -> tree.QueueMember:
        match member:
            case tree.Engine():
                return self._sized_engine(member)
            case tree.Pool():
                return self._with_size(member)
            case tree.Device():
                return self._with_size(member)
            case _:
                return member

    def _sized_engine(self, engine: tree.Engine) -> tree.Engine:
        items = tuple(self._with_size(i) if isinstance(i, tree.Capacity) else i for i in engine.items)
        return self._with_size(replace(engine, items=items))

    def _with_size(self, node: Sized) -> Sized:
        if node.size is None:
            return node
        size = self.expander.expr(node.size)
        count = whole(size, self.findings, "an array size", most=MAX_MEMBERS)
        if count is not None and self._differs() and self._default(node.size) != count:
            message = "a supplied value changes this array size"
            hint = "the size of an array is part of the program: write it with a `let`"
            self.findings.error("SQ257", message, node.size, hint=hint)
        return replace(node, size=number(float(count or 1), node.size))
