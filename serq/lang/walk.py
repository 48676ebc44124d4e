"""Walking a syntax tree without recursion, so that its depth does not matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from serq.lang import tree
from serq.lang.tree import Node

# The fields of each node class that may hold nodes: read once, as a walk meets few classes and many nodes.
_HOLDING: dict[type[Node], tuple[str, ...]] = {}


def classes_of(hint: Any) -> set[type]:
    """The classes a type hint names, at any depth."""
    if isinstance(hint, type) and not get_args(hint):
        return {hint}
    found: set[type] = set()
    for part in get_args(hint):
        if part is not Ellipsis:
            found |= classes_of(part)
    return {k for k in found if isinstance(k, type)}


def _holding(cls: type[Node]) -> tuple[str, ...]:
    hints = get_type_hints(cls, vars(tree))
    names = tuple(f.name for f in fields(cls) if any(issubclass(k, Node) for k in classes_of(hints[f.name])))
    _HOLDING[cls] = names
    return names


def children(node: Node) -> list[Node]:
    """The nodes directly below a node, in the order they are written."""
    names = _HOLDING.get(type(node))
    found: list[Node] = []
    for name in _holding(type(node)) if names is None else names:
        value = getattr(node, name)
        if type(value) is tuple:
            found += [v for v in value if isinstance(v, Node)]
        elif isinstance(value, Node):
            found.append(value)
    return found


def walk(*roots: Node) -> Iterator[Node]:
    """Every node of some trees, parents before children, in the order they are written."""
    stack: list[Node] = list(reversed(roots))
    while stack:
        node = stack.pop()
        yield node
        if _HOLDING.get(type(node)) != ():
            stack += reversed(children(node))
