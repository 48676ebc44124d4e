"""A stand-in for a name whose mistake has been reported: no later pass judges it."""

from __future__ import annotations

from serq.lang import tree
from serq.lang.tree import Name, Ref

POISON = "\0"


def poison(at: tree.Node) -> Ref:
    """A reference that stands for nothing, at the place of a mistake."""
    return Ref(at.span, Name(at.span, POISON))
