"""Where an `at admission` binding is read: in the hold that binds it, and nowhere else (002, *`at admission`*)."""

from __future__ import annotations

from serq.lang import tree
from serq.lang.findings import Findings
from serq.lang.rewrite import nodes_within
from serq.lang.tree import Item
from serq.lang.walk import find

_NO_NAMES: frozenset[str] = frozenset()


def check_binding_reads(items: tuple[Item, ...], findings: Findings) -> None:
    """Report a binding read outside its hold (SQ659): in the program, or in the entry that binds it."""
    program = _NO_NAMES
    for item in items:
        if isinstance(item, tree.Workload | tree.Server):
            program |= _bound(item)
        elif isinstance(item, tree.Queue):
            for entry in (m for m in item.members if isinstance(m, tree.Entry)):
                _check(entry.body, _bound(entry.body), findings)
    for item in items:
        if isinstance(item, tree.Workload | tree.Server) and program:
            _check(item, program, findings)


def _bound(node: tree.Node) -> frozenset[str]:
    return frozenset(binding.name.text for binding in find(node, tree.Binding))


def _check(node: tree.Node, names: frozenset[str], findings: Findings) -> None:
    if names:
        _walk(node, names, findings)


def _walk(node: tree.Node, outside: frozenset[str], findings: Findings) -> None:
    """`outside` are the bound names no hold around the node binds."""
    if isinstance(node, tree.Ref) and node.name.text in outside and node.index is None and not node.members:
        message = f"`{node.name.text}` is bound by a hold, and this is outside that hold"
        findings.error("SQ659", message, node, hint="`set` a value to read it elsewhere")
    if isinstance(node, tree.Hold) and node.bindings:
        _hold(node, outside, findings)
        return
    for child in nodes_within(node):
        _walk(child, outside, findings)


def _hold(hold: tree.Hold, outside: frozenset[str], findings: Findings) -> None:
    inside = outside - {b.name.text for b in hold.bindings}
    for child in nodes_within(hold):
        if isinstance(child, tree.Binding):
            # A binding that reads a later one is reported for that.
            _walk(child.value, inside, findings)
        else:
            _walk(child, inside, findings)
