"""Writing out names: constants by their numbers, definitions by their bodies, aggregates by their terms.

One walk over a tree does all three. Nothing is evaluated; a part without such a name is returned as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from serq.lang import tree
from serq.lang.constants import Constant, number, plural, shown, spelled, whole
from serq.lang.definitions import Definition, Definitions, bound_names
from serq.lang.findings import Findings
from serq.lang.poison import poison
from serq.lang.rewrite import map_children
from serq.lang.tree import Expr, Ref, Statement

MAX_TERMS = 4096  # of all aggregates of a program (api.md §2.5)
MAX_WRITTEN = 500_000  # nodes definitions may write out: their nesting can double at each level


class Expander:
    """The constants and definitions known, and the meaning of names inside the body being written out."""

    def __init__(self, findings: Findings, definitions: Definitions) -> None:
        self.findings = findings
        self.definitions = definitions
        self.constants: dict[str, float | None] = {}
        self.indices: dict[str, tree.Name] = {}
        # Arguments of calls whose definition does not read them.
        self.unread: list[Expr] = []
        self.known = 0
        # Parameters of the definition being written out; around it, indices and shadowed names.
        self._parameters: dict[str, Expr] = {}
        self._around: dict[str, Expr | None] = {}
        self._inside: list[str] = []
        self._taking: tuple[tree.Name, ...] = ()
        self.terms = 0
        self._written = 0

    # Items and statements

    def item(self, item: tree.Item) -> tree.Item:
        """A declaration, workload or server with every name written out."""
        if isinstance(item, tree.Engine):
            return self._engine(item)
        return map_children(item, self._node, self.ref)

    def _engine(self, node: tree.Engine) -> tree.Engine:
        requests = [i for i in node.items if isinstance(i, tree.Request)]
        self._taking = requests[0].parameters if requests else ()
        return map_children(node, self._node, self.ref)

    def _node(self, node: Any) -> Any:
        match node:
            case tree.Block():
                return self.block(node)
            case tree.Request():
                return self._request(node)
            case tree.Engine():
                return self._engine(node)
            case tree.Taking():
                # An admission reads the parameters of the engine's request.
                with self._shadowed(p.text for p in self._taking):
                    return map_children(node, self._node, self.ref)
            case tree.TimeResource(parameters=parameters):
                with self._shadowed(p.text for p in parameters):
                    return map_children(node, self._node, self.ref)
            case tree.Entry(parameters=parameters, body=body):
                # What an entry sets is its queue's own, beside a constant of that name.
                with self._shadowed({p.text for p in parameters} | bound_names(body)):
                    return map_children(node, self._node, self.ref)
            case tree.Ref() | tree.Call() | tree.Aggregate() | tree.Input():
                return self.expr(node)
            case _:
                return map_children(node, self._node, self.ref)

    def block(self, block: tree.Block) -> tree.Block:
        """A block with the statements its calls stand for in their place."""
        statements = self.statements(block.statements)
        return block if statements is block.statements else tree.Block(block.span, statements)

    def statements(self, statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        """Statements with calls of definitions written out."""
        written: list[Statement] = []
        changed = False
        for statement in statements:
            if isinstance(statement, tree.CallStatement):
                body = self._call_statement(statement)
                changed |= len(body) != 1 or body[0] is not statement
                written.extend(body)
            else:
                new = map_children(statement, self._node, self.ref)
                changed |= new is not statement
                written.append(new)
        return tuple(written) if changed else statements

    def _request(self, node: tree.Request) -> tree.Request:
        with self._shadowed(p.text for p in node.parameters):
            before, body = self.statements(node.before), self.statements(node.body)
            admission = node.admission and map_children(node.admission, self._node, self.ref)
            cache = node.cache and map_children(node.cache, self._node, self.ref)
        return replace(node, before=before, body=body, admission=admission, cache=cache)

    def _call_statement(self, call: tree.CallStatement) -> tuple[Statement, ...]:
        definition = self._definition(call.function)
        if definition is None:
            return (map_children(call, self._node, self.ref),)
        if not self._may_write(definition, call):
            return ()
        with self._inside_of(definition, call) as body:
            return self.statements(body.statements)

    # Expressions

    def expr(self, node: Expr) -> Expr:
        """An expression with every name written out."""
        kind = type(node)
        if kind is tree.Num or kind is Constant:
            return node
        if kind is Ref:
            return self._value(node)  # type: ignore[arg-type]
        if kind is tree.Call:
            return self._call(node)  # type: ignore[arg-type]
        if kind is tree.Aggregate:
            return self._aggregate(node)  # type: ignore[arg-type]
        if kind is tree.Input:
            message = "`args.number` is the whole of a `let` in `fn main()`"
            self.findings.error("SQ250", message, node, hint="give it a `let` of its own and read that")
            return number(1.0, node)
        return map_children(node, self.expr, self.ref)

    def _value(self, ref: Ref) -> Expr:
        """A name where a value or a function's argument stands."""
        name = ref.name.text
        if name in self._parameters or name in self._around:
            return self._parameter(ref, self._argument(name), False)
        if name in self.constants and ref.index is None and not ref.members:
            value = self.constants[name]
            return number(1.0, ref) if value is None else Constant(ref.span, value, shown(value), name)
        return map_children(ref, self.expr)

    def ref(self, ref: Ref) -> Ref:
        """A reference where only a pool, stage or queue may stand."""
        name = ref.name.text
        if name in self._parameters or name in self._around:
            written = self._parameter(ref, self._argument(name), True)
            return written if isinstance(written, Ref) else ref
        return map_children(ref, self.expr)

    def _argument(self, name: str) -> Expr | None:
        return self._parameters[name] if name in self._parameters else self._around[name]

    def _parameter(self, ref: Ref, argument: Expr | None, only_ref: bool) -> Expr:
        if argument is None:
            return map_children(ref, self.expr)
        plain = ref.index is None and not ref.members
        if plain and (not only_ref or isinstance(argument, Ref)):
            return argument
        if not isinstance(argument, Ref):
            message = f"`{ref.name.text}` is used as a pool or stage, and the argument for it is none"
            note = f"in a definition, at {self.findings.where(ref)}"
            self.findings.error("SQ246", message, argument, note=note)
            return poison(ref)
        return self._selected(map_children(ref, self.expr), argument)

    def _selected(self, ref: Ref, argument: Ref) -> Ref:
        """`k[i].kv` where the argument for `k` is a reference: its index and members follow the argument's."""
        if ref.index is not None and (argument.index is not None or argument.members):
            message = f"`{spelled(argument)}` is already a member: `{spelled(ref)}` would index it again"
            self.findings.error("SQ246", message, ref)
            return argument
        index = argument.index if ref.index is None else ref.index
        return Ref(argument.span, argument.name, index, argument.members + ref.members, ref.member_index)

    def _call(self, call: tree.Call) -> Expr:
        definition = self._definition(call.function)
        if definition is None:
            return map_children(call, self.expr, self.ref)
        if not self._may_write(definition, call):
            return number(1.0, call)
        with self._inside_of(definition, call) as body:
            return self.expr(body)

    # Definitions

    def _definition(self, name: tree.Name) -> Definition | None:
        return self.definitions.by_name.get(name.text)

    def _may_write(self, definition: Definition, call: tree.Call | tree.CallStatement) -> bool:
        name = definition.name
        if name in self._inside:
            return False  # a recursive definition, reported where it is declared
        if not self._inside and definition.order >= self.known:
            message = f"`{name}` is used before it is defined"
            note = f"it is defined at {self.findings.where(definition.node.name)}"
            self.findings.error("SQ240", message, call, note=note, hint="move the definition up")
            return False
        if not self.definitions.check_call(definition, call):
            return False
        self._written += definition.size
        if self._written > MAX_WRITTEN:
            if self._written - definition.size > MAX_WRITTEN:
                return False
            message = "the definitions write out a program that is too large"
            self.findings.error(
                "SQ247", message, definition.node.name, hint="`set` a value once and read the name"
            )
            return False
        return True

    @contextmanager
    def _inside_of(self, definition: Definition, call: tree.Call | tree.CallStatement) -> Iterator[Any]:
        arguments = [self.expr(a) for a in call.arguments]
        self.unread.extend(arguments[i] for i in definition.unread)
        names = [p.text for p in definition.node.parameters]
        outer = self._parameters
        self._parameters = dict(zip(names, arguments, strict=True))
        self._inside.append(definition.name)
        try:
            yield definition.node.body
        finally:
            self._inside.pop()
            self._parameters = outer

    @contextmanager
    def _shadowed(self, names: Iterable[str]) -> Iterator[None]:
        with self._with(dict.fromkeys(names)):
            yield

    @contextmanager
    def _with(self, names: Mapping[str, Expr | None]) -> Iterator[None]:
        outer = self._around
        self._around = {**outer, **names}
        try:
            yield
        finally:
            self._around = outer

    # Aggregates

    def _aggregate(self, node: tree.Aggregate) -> Expr:
        name = node.index.text
        self.indices.setdefault(name, node.index)
        what = f"the count of `{node.kind.text} {name} in`"
        count = whole(self.expr(node.count), self.findings, what)
        if count is None:
            return number(1.0, node)
        if not self._may_add(node, count):
            return number(1.0, node)
        terms = []
        for k in range(count):
            with self._with({name: number(float(k), node.index)}):
                terms.append(self.expr(node.body))
        return _folded(node, terms)

    def _may_add(self, node: tree.Aggregate, count: int) -> bool:
        """Count the terms an aggregate writes out, those of aggregates inside another multiplied."""
        self.terms += count
        if self.terms <= MAX_TERMS:
            return True
        message = f"the program's aggregates write out more than {plural(MAX_TERMS, 'term')}"
        self.findings.error("SQ325", message, node, hint="aggregate over fewer members")
        return False


def _folded(node: tree.Aggregate, terms: list[Expr]) -> Expr:
    """The terms one after the other, from the left."""
    result = terms[0]
    for term in terms[1:]:
        if node.kind.text == "sum":
            result = tree.Binary(node.span, "+", result, term)
        else:
            result = tree.Call(node.span, node.kind, (result, term))
    return result
