"""Walking a syntax tree without recursion, so that its depth does not matter."""

from __future__ import annotations

from collections.abc import Iterator

from serq.lang.tree import Node


def children(node: Node) -> list[Node]:
    """The nodes directly below a node, in the order they are written."""
    found: list[Node] = []
    names: tuple[str, ...] = type(node).__match_args__
    for name in names[1:]:
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            found += [v for v in value if isinstance(v, Node)]
    return found


def walk(*roots: Node) -> Iterator[Node]:
    """Every node of some trees, parents before children, in the order they are written."""
    stack: list[Node] = list(reversed(roots))
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(children(node))
