"""`def`: the table of definitions, what a definition may look like, and what an argument may be (api.md §7.2).

A definition is a text: a call stands for the body with its parameters replaced by the arguments.
The rules here keep that from changing what an argument means.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from serq.lang import tree
from serq.lang.findings import Findings
from serq.lang.rewrite import draws, nodes_within, references, walk
from serq.lang.tree import BlockDef, Def, Expr
from serq.lang.vocabulary import (
    BLOCK_SIZE,
    CONTEXT_BY_NAME,
    DEF_WORDS,
    ENGINE_LISTS,
    FUNCTION_BY_NAME,
    PARAMETER_WORDS,
    SUPPLIED,
)
from serq.lang.walk import find

_Naming = tree.Assignment | tree.Binding | tree.Observe
_NAMING: tuple[type[_Naming], ...] = (*tree.ASSIGNMENTS, tree.Binding)


@dataclass
class Definition:
    """A definition: its node, what its body uses and leaves unread, and where it is called."""

    node: Def
    order: int
    size: int
    mentions: frozenset[str]
    bound: frozenset[str]
    unread: tuple[int, ...] = ()
    calls: list[tree.Node] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name it is called by."""
        return self.node.name.text


class Definitions:
    """The definitions of a program in the order they are read."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.by_name: dict[str, Definition] = {}
        self._reads: dict[tuple[str, str], int] = {}
        self._assigned: dict[str, frozenset[str]] = {}

    def add(self, node: Def) -> None:
        """Add a definition; reports a misnamed, repeated, recursive or misordered one (SQ235-SQ240)."""
        name = node.name.text
        size = sum(1 for _ in walk(node.body))
        bound = frozenset(bound_names(node.body))
        read = {ref.name.text for ref in references(node.body)}
        unread = tuple(i for i, p in enumerate(node.parameters) if p.text not in read)
        definition = Definition(node, len(self.by_name), size, _mentions(node), bound, unread)
        if name in self.by_name:
            first = self.by_name[name].node.name
            note = f"first defined at {self.findings.where(first)}"
            self.findings.error("SQ235", f"`{name}` is defined twice", node.name, note=note)
            return
        self._check_names(node)
        self._check_order(definition)
        self.by_name[name] = definition

    def _check_names(self, node: Def) -> None:
        name = node.name.text
        hint = "choose another name"
        if name in DEF_WORDS and name not in SUPPLIED:
            message = f"`{name}` is a word of the language: a definition needs another name"
            self.findings.error("SQ236", message, node.name, hint=hint)
        seen: set[str] = set()
        bound = bound_names(node.body, observations=True)
        for parameter in node.parameters:
            text = parameter.text
            if text in seen:
                self.findings.error("SQ237", f"`{text}` is a parameter of `{name}` twice", parameter)
            seen.add(text)
            if text in SUPPLIED:
                message = f"`{text}` is a name the language supplies: a parameter needs another name"
                self.findings.error("SQ312", message, parameter, hint=hint)
            elif text in PARAMETER_WORDS:
                message = f"`{text}` is a word of the language: a parameter needs another name"
                self.findings.error("SQ236", message, parameter, hint=hint)
            if text in bound:
                message = f"`{text}` is a parameter of `{name}`, and its body assigns or binds the name"
                self.findings.error("SQ238", message, parameter, hint="assign another name")

    def _check_order(self, definition: Definition) -> None:
        name = definition.name
        if name in definition.mentions:
            message = f"`{name}` uses itself: a definition is written out where it is used"
            self.findings.error("SQ239", message, definition.node.name)
        for earlier in self.by_name.values():
            if name in earlier.mentions:
                message = f"`{earlier.name}` uses `{name}`, which is defined after it"
                hint = f"move `{name}` above `{earlier.name}`"
                self.findings.error("SQ240", message, definition.node.name, hint=hint)

    def check_call(self, definition: Definition, call: tree.Call | tree.CallStatement) -> bool:
        """Whether a call may be written out; reports what is wrong with it (SQ241-SQ245)."""
        definition.calls.append(call)
        node, name, arguments = definition.node, definition.name, call.arguments
        wanted = len(node.parameters)
        if len(arguments) != wanted:
            message = f"`{name}` takes {wanted} argument{'s' if wanted != 1 else ''}, not {len(arguments)}"
            self.findings.error("SQ241", message, call, note=self._defined(node))
            return False
        if isinstance(node, BlockDef) != isinstance(call, tree.CallStatement):
            self._wrong_kind(node, call)
            return False
        good = True
        for parameter, argument in zip(node.parameters, arguments, strict=True):
            good &= self._check_argument(definition, parameter.text, argument)
        return good

    def _wrong_kind(self, node: Def, call: tree.Call | tree.CallStatement) -> None:
        if isinstance(node, BlockDef):
            message = f"`{node.name.text}` is a definition of statements, not of an expression"
            hint = f"call it as a statement: `{node.name.text} (...);`"
        else:
            message = f"`{node.name.text}` is a definition of an expression, not of statements"
            hint = "use it where a value is read"
        self.findings.error("SQ242", message, call, note=self._defined(node), hint=hint)

    def _defined(self, node: Def) -> str:
        return f"`{node.name.text}` is defined at {self.findings.where(node.name)}"

    def _check_argument(self, definition: Definition, parameter: str, argument: Expr) -> bool:
        name = definition.name
        if type(argument) is tree.Num:
            return True
        drawn = draws(argument)
        if drawn is not None and (times := self.reads(definition, parameter)) > 1:
            message = f"this argument draws, and `{name}` reads `{parameter}` {times} times: it would draw each time"
            self.findings.error("SQ243", message, argument, hint="`set` the draw first and pass the name")
            return False
        assigned = self.assigned(definition)
        for ref in references(argument):
            if ref.name.text in assigned and not ref.members:
                text = ref.name.text
                message = f"this argument reads `{text}`, which `{name}` assigns or binds: its body would read its own"
                self.findings.error(
                    "SQ244", message, argument, hint=f"copy `{text}` to another name and pass that"
                )
                return False
        if isinstance(definition.node, BlockDef):
            return self._check_stable(definition, argument)
        return True

    def _check_stable(self, definition: Definition, argument: Expr) -> bool:
        """An argument to statements keeps its value while they run."""
        live = live_read(argument)
        if live is None:
            return True
        message = (
            f"this argument of `{definition.name}` reads `{live}`, which changes while the statements run"
        )
        note = "the body would read it where it reads the parameter, not at the call"
        self.findings.error(
            "SQ245", message, argument, note=note, hint="`set` the value first and pass the name"
        )
        return False

    def assigned(self, definition: Definition) -> frozenset[str]:
        """The names the written-out body assigns or binds."""
        name = definition.name
        if name not in self._assigned:
            self._assigned[name] = definition.bound  # ends a recursive definition
            inner = (self.by_name[m] for m in definition.mentions if m in self.by_name)
            self._assigned[name] = definition.bound.union(*(self.assigned(d) for d in inner))
        return self._assigned[name]

    def reads(self, definition: Definition, parameter: str) -> int:
        """How often the written-out body reads a parameter."""
        key = definition.name, parameter
        if key not in self._reads:
            self._reads[key] = 0  # ends a recursive definition, reported where it is declared
            self._reads[key] = self._count(definition.node.body, parameter)
        return self._reads[key]

    def _count(self, node: tree.Node, parameter: str) -> int:
        total = 0
        if isinstance(node, tree.Ref) and node.name.text == parameter:
            total = 1
        if isinstance(node, tree.Call | tree.CallStatement) and node.function.text in self.by_name:
            inner = self.by_name[node.function.text]
            names = [p.text for p in inner.node.parameters]
            for name, argument in zip(names, node.arguments, strict=False):
                total += self._count(argument, parameter) * self.reads(inner, name)
            return total
        return total + sum(self._count(child, parameter) for child in nodes_within(node))


def live_read(expr: Expr) -> str | None:
    """A value of an expression that changes while statements run: a query or a context variable."""
    for node in walk(expr):
        if isinstance(node, tree.Call):
            function = FUNCTION_BY_NAME.get(node.function.text)
            if (function is not None and function.moves) and node.function.text != BLOCK_SIZE:
                return f"{node.function.text}(...)"
        elif isinstance(node, tree.Ref):
            name = node.name.text
            if name in CONTEXT_BY_NAME or (name in ENGINE_LISTS and node.members):
                return name
    return None


def bound_names(node: tree.Node, *, observations: bool = False) -> set[str]:
    """The names statements assign or bind: sets, choices, bindings, aggregate indices."""
    kinds = (*_NAMING, tree.Observe) if observations else _NAMING
    found = {inner.name.text for inner in find(node, *kinds)}
    return found | {inner.index.text for inner in find(node, tree.Aggregate)}


def _mentions(node: Def) -> frozenset[str]:
    """The names a definition calls."""
    functions = (call.function.text for call in find(node.body, tree.Call))
    statements = (call.function.text for call in find(node.body, tree.CallStatement))
    return frozenset((*functions, *statements))
