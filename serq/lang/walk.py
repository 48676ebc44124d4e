"""Walking a syntax tree without recursion, so that its depth does not matter.

`walk` meets every node; `find` only goes where the types of the tree let a node of a kind be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints

from serq.lang import tree
from serq.lang.tree import Node

N = TypeVar("N", bound=Node)

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
    names = tuple(name for name, classes in _held()[cls].items() if classes)
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


def find(node: Node, *kinds: type[N]) -> Iterator[N]:
    """The nodes of some kinds in a tree, itself included: parents before children, in the order written."""
    ways = _ways(frozenset(kinds))
    stack: list[Any] = [node]
    while stack:
        current = stack.pop()
        cls = type(current)
        if cls in kinds:
            yield current
        for name in ways.get(cls, ()):
            value = getattr(current, name)
            kind = type(value)
            if kind is tuple:
                stack += [v for v in reversed(value) if type(v) in ways]
            elif kind in ways:
                stack.append(value)


@cache
def _ways(kinds: frozenset[type[Node]]) -> Mapping[type[Node], tuple[str, ...]]:
    """For each class of node that is or may contain one of the kinds, the fields through which it may, last first."""
    reaching = set(kinds)
    while True:
        found = {cls for cls, held in _held().items() if any(classes & reaching for classes in held.values())}
        if found <= reaching:
            break
        reaching |= found
    return {
        cls: tuple(name for name, classes in reversed(_held()[cls].items()) if classes & reaching)
        for cls in reaching
    }


@cache
def _held() -> Mapping[type[Node], dict[str, frozenset[type[Node]]]]:
    """The classes of node that each field of each class may hold."""
    known = {c for c in vars(tree).values() if isinstance(c, type) and issubclass(c, Node)}
    held: dict[type[Node], dict[str, frozenset[type[Node]]]] = {}
    for cls in known:
        hints = get_type_hints(cls)
        held[cls] = {
            f.name: frozenset(k for k in known if issubclass(k, tuple(classes_of(hints[f.name]) & known)))
            for f in fields(cls)
        }
    return held
