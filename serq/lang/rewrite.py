"""Rebuilding trees: a node's children mapped, and the node itself kept when none changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, TypeVar, get_type_hints

from serq.lang import tree
from serq.lang.tree import Node, Ref
from serq.lang.walk import classes_of

N = TypeVar("N", bound=Node)

# The fields of a node class, and the (position, is a reference) of those that hold nodes.
Shape = tuple[tuple[str, ...], tuple[tuple[int, bool], ...]]
_SHAPES: dict[type[Node], Shape] = {}
_INSIDE: dict[type[Node], tuple[str, ...]] = {}
_LEAVES = (tree.Name, tree.Text)


def _shape(cls: type[Node]) -> Shape:
    shape = _SHAPES.get(cls)
    if shape is None:
        shape = _SHAPES[cls] = _read_shape(cls)
    return shape


def _read_shape(cls: type[Node]) -> Shape:
    """All fields of a node class, and the (position, is a reference) of those that hold nodes."""
    hints = get_type_hints(cls)
    names = tuple(f.name for f in fields(cls))
    holding = []
    for position, name in enumerate(names):
        kinds = classes_of(hints[name])
        if any(issubclass(k, Node) and k not in _LEAVES for k in kinds):
            holding.append((position, kinds <= {Ref, type(None), tuple}))
    return names, tuple(holding)


def map_children(node: N, on_expr: Callable[[Any], Any], on_ref: Callable[[Ref], Any] | None = None) -> N:
    """A node with `on_expr` applied to its children, and `on_ref` to those that are always references."""
    names, holding = _shape(type(node))
    on_ref = on_ref or on_expr
    values: list[Any] | None = None
    for position, is_ref in holding:
        value = getattr(node, names[position])
        if value is None:
            continue
        change = on_ref if is_ref else on_expr
        new = _map_tuple(value, change) if type(value) is tuple else change(value)
        if new is not value:
            if values is None:
                values = [getattr(node, name) for name in names]
            values[position] = new
    return node if values is None else type(node)(*values)


def _map_tuple(items: tuple[Any, ...], change: Callable[[Any], Any]) -> tuple[Any, ...]:
    new = [change(item) for item in items]
    if all(a is b for a, b in zip(items, new, strict=True)):
        return items
    return tuple(new)


def nodes_within(node: Node) -> list[Node]:
    """The nodes directly inside one, names and texts left out."""
    names = _INSIDE.get(type(node))
    found: list[Node] = []
    for name in _inside(type(node)) if names is None else names:
        value = getattr(node, name)
        if type(value) is tuple:
            found += value
        elif value is not None:
            found.append(value)
    return found


def _inside(cls: type[Node]) -> tuple[str, ...]:
    names, holding = _shape(cls)
    return _INSIDE.setdefault(cls, tuple(names[position] for position, _ in holding))


def walk(node: Node) -> Iterator[Node]:
    """Every node in one, itself first, in the order written."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        if _INSIDE.get(type(current)) != ():
            inside = nodes_within(current)
            inside.reverse()
            stack += inside


def references(node: Node) -> Iterator[Ref]:
    """Every reference in a node, those inside indices included."""
    return (n for n in walk(node) if isinstance(n, Ref))


def draws(node: Node) -> tree.Draw | None:
    """The first draw written in a node."""
    return next((n for n in walk(node) if isinstance(n, tree.Draw)), None)


def same(a: object, b: object) -> bool:
    """Whether two trees say the same, wherever they are written."""
    if isinstance(a, tree.Num) and isinstance(b, tree.Num):
        return a.value == b.value
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if not isinstance(a, Node):
        return a == b
    names, _ = _shape(type(a))
    return all(same(getattr(a, n), getattr(b, n)) for n in names if n != "span")
