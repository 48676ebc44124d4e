"""What a name means where it is read: in a session or server, in an entry, in an engine's clause.

A scope turns a reference as written into one under the IR's own names (`kv` in an entry of `P` is
`P.kv[i]`, `D.read_done` is the attribute of that name), and parameters into their arguments. Names it
does not know stay as they are: linking judges them.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace

from serq.lang import tree
from serq.lang.constants import Constant, spelled
from serq.lang.model import Entry, Family, Model, Queue
from serq.lang.poison import poison
from serq.lang.rewrite import map_children
from serq.lang.tree import Expr, Name, Ref
from serq.lang.vocabulary import ENGINE_LISTS


class Scope:
    """The scope of sessions, servers, gauges, claims and declarations: names are the program's."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.findings = model.findings
        self.bound: Mapping[str, Expr] = {}

    def binding(self, bound: Mapping[str, Expr]) -> Scope:
        """The same scope with names of an `at admission` standing for their values."""
        scope = copy(self)
        scope.bound = bound
        return scope

    def expr(self, node: Expr) -> Expr:
        """An expression under the IR's names."""
        kind = type(node)
        if kind is tree.Num or kind is Constant:
            return node
        if kind is Ref:
            return self.value(node)  # type: ignore[arg-type]
        if kind is tree.CostOf:
            return self._cost(node)  # type: ignore[arg-type]
        return map_children(node, self.expr, self.value)

    def _cost(self, node: tree.CostOf) -> Expr:
        return map_children(node, self.expr, self.family)

    def value(self, ref: Ref) -> Expr:
        """A name where a number or a function's argument stands."""
        if not ref.members:
            if ref.index is None:
                bound = self.bound.get(ref.name.text)
                return ref if bound is None else bound
            return map_children(ref, self.expr)
        return self.member(ref)

    def resource(self, ref: Ref) -> Ref:
        """A reference where a statement names a pool or stage; bindings do not reach into its index."""
        scope = self if not self.bound else self.binding({})
        if not ref.members:
            return map_children(ref, scope.expr)
        return scope.member(ref)

    def family(self, ref: Ref) -> Ref:
        """A resource of a `cost`: its index is judged and dropped later."""
        return self.resource(ref)

    def attribute(self, name: Name) -> Name:
        """The attribute a statement assigns under a name."""
        return name

    def member(self, ref: Ref) -> Ref:
        """`Q.kv`, `Q[i].kv`, `Q.x`, `E.m`, `c.mem`: one dotted name, with at most one index."""
        base = ref.name.text
        if base in ENGINE_LISTS:
            message = f"`{spelled(ref)}` is a value of an engine, read in its own clauses"
            hint = "elsewhere read the stage: `queue(E)`, `busy(E)`, `queued(P)`"
            self.findings.error("SQ450", message, ref, hint=hint)
            return poison(ref)
        canonical = ".".join((base, *(m.text for m in ref.members)))
        index = ref.index
        if index is not None or ref.member_index is not None:
            family = self.model.family(canonical)
            indexable = family is not None and canonical in self.model.pools and ref.member_index is None
            if not indexable:
                self._no_index(ref, canonical, family)
                return poison(ref)
        index = None if index is None else self.expr(index)
        return Ref(ref.span, Name(ref.span, canonical), index)

    def _no_index(self, ref: Ref, canonical: str, family: Family | None) -> None:
        if family is not None:
            message = f"`{spelled(ref)}`: a member of `{canonical}` is not named from outside its queue"
            hint = "name a pool of a member, `Q[i].kv`, or the stage of one, `Q[i]`"
        else:
            message = f"`{spelled(ref)}` reads an attribute of the request, which is no member's"
            hint = f"write `{canonical}`"
        self.findings.error("SQ317", message, ref, hint=hint)


class EntryScope(Scope):
    """The scope of an entry called on one member of its queue, with the arguments of the call."""

    def __init__(
        self,
        entry: Entry,
        model: Model,
        member: Expr | None,
        arguments: Mapping[str, Expr],
        source: tuple[Queue, Expr | None] | None,
    ) -> None:
        super().__init__(model)
        self.entry = entry
        self.queue = entry.queue
        self.index = member
        self.arguments = arguments
        self.source = source
        self.own: dict[str, Family] = dict(self.queue.pools)
        if self.queue.stage is not None:
            self.own[self.queue.name] = self.queue.stage

    def value(self, ref: Ref) -> Expr:
        """A name of an entry: a parameter, `self`, the queue's own, a local, or the request's."""
        name = ref.name.text
        if not ref.members and ref.index is None:
            if name in self.bound:
                return self.bound[name]
            if name in self.arguments:
                return self.arguments[name]
            if name == "self":
                return self._self(ref)
            if name in self.entry.locals:
                return Ref(ref.span, self.attribute(ref.name))
        elif ref.members and ref.index is None and name in self.entry.locals:
            fields = ".".join((self.attribute(ref.name).text, *(m.text for m in ref.members)))
            return Ref(ref.span, Name(ref.span, fields))
        return self.named(ref) or super().value(ref)

    def _self(self, ref: Ref) -> Expr:
        if self.index is not None:
            return self.index
        message = f"`self` in queue `{self.queue.name}`, which is not a family"
        self.findings.error("SQ794", message, ref, hint="`self` is the index of the member the call names")
        return tree.Num(ref.span, 0.0, "0")

    def resource(self, ref: Ref) -> Ref:
        """A pool or stage: the queue's own, the one `from` names, or the program's."""
        return self.named(ref) or super().resource(ref)

    def named(self, ref: Ref) -> Ref | None:
        """The queue's own pool or stage, or the leased pool, under its name in the IR."""
        name = ref.name.text
        if ref.members:
            return None
        family = self.own.get(name)
        if family is not None:
            return family.at(ref, self.index)
        if self.source is not None and name == self.source[0].name:
            leased = self.source[0].leased
            return poison(ref) if leased is None else leased.at(ref, self.source[1])
        return None

    def family(self, ref: Ref) -> Ref:
        """A resource of a `cost`."""
        named = self.named(ref)
        return replace(named, index=None) if named is not None else super().resource(ref)

    def attribute(self, name: Name) -> Name:
        """A name an entry sets is its queue's, except in a gateway."""
        if self.queue.is_gateway:
            return name
        return Name(name.span, f"{self.queue.name}.{name.text}")


class RequestScope(Scope):
    """The scope of an engine's request: its parameters, and the program's names."""

    def __init__(self, model: Model, arguments: Mapping[str, Expr]) -> None:
        super().__init__(model)
        self.arguments = arguments

    def value(self, ref: Ref) -> Expr:
        """A name of a request: a parameter or a name of the program."""
        if not ref.members and ref.index is None:
            name = ref.name.text
            if name in self.bound:
                return self.bound[name]
            if name in self.arguments:
                return self.arguments[name]
        return super().value(ref)
