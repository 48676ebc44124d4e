"""`hold` and its `at admission` clause: bindings written out in the header, set at the body's top when it
reads them (api.md §7.8, 002 *`at admission`*).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from serq.lang import tree
from serq.lang.constants import number
from serq.lang.context import Context
from serq.lang.definitions import live_read
from serq.lang.findings import Findings
from serq.lang.rewrite import draws, nodes_within, references, walk
from serq.lang.tree import Binding, Block, Expr, Statement

if TYPE_CHECKING:
    from serq.lang.statements import Lowering


def lower_hold(lowering: Lowering, hold: tree.Hold, context: Context) -> tuple[Statement, ...]:
    """The kernel hold; reports a binding that draws, repeats or comes too late (SQ655-SQ658)."""
    scope = context.scope
    bound: dict[str, Expr] = {}
    check_bindings(hold.bindings, lowering.findings)
    for binding in hold.bindings:
        # One that draws is reported; nothing else is said of what reads it.
        drawn = draws(binding.value) is not None
        value = number(1.0, binding) if drawn else scope.binding(bound).expr(binding.value)
        bound[binding.name.text] = value
    header = scope.binding(dict(bound)) if bound else scope
    takes = tuple(
        tree.Take(
            take.span,
            lowering.pool(take.pool, context, "hold"),
            header.expr(take.units),
            take.reserve and header.expr(take.reserve),
        )
        for take in hold.takes
    )
    reuse = hold.reuse and header.expr(hold.reuse)
    body = _body(lowering, hold, bound, context.inside_hold())
    cache = hold.cache and header.expr(hold.cache)
    lease = hold.lease and tree.Lease(
        hold.lease.span, lowering.pool(hold.lease.pool, context, "lease"), header.expr(hold.lease.duration)
    )
    return (tree.Hold(hold.span, takes, reuse, (), body, cache, lease),)


def check_bindings(bindings: tuple[Binding, ...], findings: Findings) -> None:
    """A binding is substituted: it may not draw, is bound once, and reads the ones before it."""
    names = [b.name.text for b in bindings]
    for position, binding in enumerate(bindings):
        name = binding.name.text
        if name in names[:position]:
            findings.error("SQ655", f"`{name}` is bound twice in one `at admission`", binding.name)
        drawn = draws(binding.value)
        if drawn is not None:
            message = f"`{name}` draws: a binding is written out, so a name read twice would draw twice"
            findings.error("SQ656", message, drawn, hint="`set` the draw above the hold and read that")
        later = set(names[position + 1 :])
        for ref in references(binding.value):
            if ref.name.text in later and not ref.members:
                message = f"`{name}` reads `{ref.name.text}`, which is bound after it"
                findings.error("SQ657", message, ref, hint="a binding sees the ones before it")


def _body(lowering: Lowering, hold: tree.Hold, bound: dict[str, Expr], context: Context) -> Block:
    read = names_read(hold.body.statements, set(bound))
    sets: list[Statement] = []
    scope = context.scope
    for binding in hold.bindings:
        name = binding.name.text
        if name not in read:
            continue
        live = _moves(bound[name])
        if live is not None:
            message = f"the body reads `{name}`, and `{name}` reads {live}"
            note = "the body sees a binding that reads only attributes and constants: it is set at its top"
            lowering.findings.error(
                "SQ658", message, binding, note=note, hint="the body reads `cached` for what was reused"
            )
            bound[name] = number(1.0, binding)
        sets.append(tree.Set(binding.span, scope.attribute(binding.name), bound[name]))
    body = lowering.block(hold.body, context)
    return Block(body.span, (*sets, *body.statements)) if sets else body


def _moves(value: Expr) -> str | None:
    """What in a binding has another value at the body's top than at the admission."""
    live = live_read(value)
    if live is not None:
        return f"`{live}`"
    for node in references(value):
        if node.name.text == "cached" and node.index is None:
            return "`cached`"
    if any(isinstance(n, tree.CostOf) for n in walk(value)):
        return "a cost"
    return None


def names_read(statements: Iterable[Statement], wanted: set[str]) -> set[str]:
    """Which names some statements read, where no hold inside binds them again."""
    found: set[str] = set()
    if wanted:
        for statement in statements:
            _names_read(statement, wanted, found)
    return found


def _names_read(node: tree.Node, wanted: set[str], found: set[str]) -> None:
    if isinstance(node, tree.Ref) and node.index is None and not node.members:
        found.update(wanted & {node.name.text})
    if isinstance(node, tree.Hold) and node.bindings:
        _read_by_hold(node, wanted, found)
        return
    for child in nodes_within(node):
        _names_read(child, wanted, found)


def _read_by_hold(hold: tree.Hold, wanted: set[str], found: set[str]) -> None:
    hidden = set(wanted)
    for binding in hold.bindings:
        _names_read(binding.value, hidden, found)
        hidden.discard(binding.name.text)
    for child in nodes_within(hold):
        if not isinstance(child, Binding):
            _names_read(child, hidden, found)
