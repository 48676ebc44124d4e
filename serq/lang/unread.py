"""Arguments a definition does not read: nothing is written out for them, and their names still mean something.

What may be read where is not asked of them, as no value is.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.lang import tree
from serq.lang.definitions import bound_names
from serq.lang.link_expressions import ExpressionLinker
from serq.lang.model import Model
from serq.lang.poison import POISON
from serq.lang.resolve import Resolved
from serq.lang.rewrite import references, walk
from serq.lang.tree import Expr, Name, Ref
from serq.lang.unknown import is_function, no_function
from serq.lang.vocabulary import AGGREGATE_BY_NAME, SUPPLIED
from serq.lang.walk import find


def check_unread(resolved: Resolved, model: Model, linker: ExpressionLinker) -> None:
    """Report what is no name, function or member in an argument nothing reads (SQ301-SQ305, SQ316-SQ320)."""
    if not resolved.unread:
        return
    local = frozenset(_local(resolved))
    for argument in resolved.unread:
        _Unread(model, linker, local).check(argument)


class _Unread:
    """One argument, and the names of a program it may be made of."""

    def __init__(self, model: Model, linker: ExpressionLinker, local: frozenset[str]) -> None:
        self.model = model
        self.linker = linker
        self.local = local

    def check(self, argument: Expr) -> None:
        """An argument outside queues, engines and devices is linked as if it were read."""
        if isinstance(argument, Ref):
            if self._is_name(argument) or argument.name.text in self.local:
                self._index(argument)
            else:
                self.linker.expr(argument)
        elif self._in_a_room(argument):
            self._names(argument)
        else:
            self.linker.expr(argument)

    def _index(self, argument: Ref) -> None:
        for index in (argument.index, argument.member_index):
            if index is not None:
                self.check(index)

    def _is_name(self, ref: Ref) -> bool:
        name = ref.name.text
        model, linker = self.model, self.linker
        tables = (linker.attributes, linker.registers, linker.observes, linker.records, model.devices)
        declared = (model.pools, model.stages, model.engines, model.queues)
        return name in SUPPLIED or name == POISON or any(name in t for t in (*tables, *declared))

    def _in_a_room(self, argument: Expr) -> bool:
        """Whether a name or function of the argument may be one of a queue, an engine or a device."""
        times = {name for device in self.model.devices.values() for name in device.times}
        return any(
            (isinstance(n, Ref) and (n.name.text in self.local or n.members))
            or (isinstance(n, tree.Call) and n.function.text in times)
            for n in walk(argument)
        )

    def _names(self, argument: Expr) -> None:
        for ref in references(argument):
            if not ref.members and ref.name.text not in self.local and not self._is_name(ref):
                self.linker.expr(ref)
        for node in walk(argument):
            if isinstance(node, tree.Call) and not self._is_known(node.function.text):
                no_function(self.model, node)

    def _is_known(self, function: str) -> bool:
        times = any(function in device.times for device in self.model.devices.values())
        return times or is_function(function) or function in AGGREGATE_BY_NAME


def _local(resolved: Resolved) -> Iterator[str]:
    """The names read in one queue, engine, device or hold alone."""
    yield from ("self", "nic")
    for item in resolved.items:
        if isinstance(item, tree.Queue | tree.Engine | tree.Device):
            yield from bound_names(item)
            yield from (name.text for node in walk(item) for name in _names_of(node))
        else:
            yield from (binding.name.text for binding in find(item, tree.Binding))


def _names_of(node: tree.Node) -> tuple[Name, ...]:
    match node:
        case tree.Entry(parameters=parameters, source=Name() as source):
            return (*parameters, source)
        case tree.Entry() | tree.Request() | tree.TimeResource():
            return node.parameters
        case tree.Pool() | tree.Device() | tree.Capacity() | tree.State() | tree.Let():
            return (node.name,)
        case _:
            return ()
