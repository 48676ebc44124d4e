"""A request's own names: nothing else of the program reads or sets them (002, *An engine's request*)."""

from __future__ import annotations

from collections.abc import Iterator

from serq.lang import tree
from serq.lang.findings import Findings
from serq.lang.model import Engine, Model
from serq.lang.tree import Name
from serq.lang.walk import find

_NAMING: tuple[type[tree.Assignment | tree.Binding], ...] = (*tree.ASSIGNMENTS, tree.Binding)


def check_private_names(model: Model) -> None:
    """Report a name of a request that the session, the server, a gateway or another request uses (SQ782)."""
    owners: dict[str, Engine] = {}
    for engine in model.engines.values():
        if engine.request is None:
            continue
        for text in sorted(engine.locals):
            other = owners.setdefault(text, engine)
            if other is not engine:
                _shared(text, other, engine, model.findings)
    if owners:
        for name in _used_outside(model):
            owner = owners.get(name.text)
            if owner is not None:
                message = f"`{name.text}` is the own name of `{owner.name}`'s request, and this is outside it"
                hint = "`mark` a moment in the request, or use another name here"
                model.findings.error("SQ782", message, name, hint=hint)


def _shared(text: str, first: Engine, second: Engine, findings: Findings) -> None:
    at = next((n for n in _assigned(second.request) if n.text == text), None) if second.request else None
    message = f"`{text}` is the own name of `{first.name}`'s request and of `{second.name}`'s"
    note = "one attribute would carry both, mixed when the requests run beside each other"
    findings.error("SQ782", message, at, note=note, hint="give one of them another name")


def _assigned(node: tree.Node) -> Iterator[Name]:
    return (n.name for n in find(node, *_NAMING))


def _used_outside(model: Model) -> Iterator[Name]:
    """The names the workload, the server and the gateways set or read as values."""
    roots: list[tree.Node] = [n for n in (model.workload, model.server) if n is not None]
    for queue in model.queues.values():
        if queue.is_gateway:
            roots.extend(e.node.body for e in queue.entries)
    for root in roots:
        yield from (ref.name for ref in find(root, tree.Ref) if ref.index is None and not ref.members)
        yield from _assigned(root)
