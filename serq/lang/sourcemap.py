"""From the IR back to the text: which piece of which file a node of a program was written as.

Nodes are kept by identity while linking; paths are walked only when a diagnostic needs one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from serq.diagnostics import IrPath, Place, Span
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.expressions import Node
from serq.lang.findings import FileSpan


@dataclass
class Spans:
    """The spans of IR nodes by identity, and those of a program's own fields by name."""

    by_id: dict[int, Span] = field(default_factory=dict)
    fields: dict[str, Span] = field(default_factory=dict)
    kept: list[Node] = field(default_factory=list)

    def add(self, node: Node, span: Span) -> None:
        """Remember where a node was written."""
        self.by_id[id(node)] = span
        self.kept.append(node)


@dataclass
class SourceMap:
    """Places of IR paths in the text of one program."""

    program: pr.Program
    spans: Spans
    file: str | None

    def place(self, path: IrPath) -> Place:
        """The place of the innermost node on a path that was written in the text; the path alone if none was."""
        found = self.spans.fields.get(str(path[0])) if path else None
        node: object = self.program
        for step in path:
            node = _child(node, step)
            if node is None:
                break
            found = self.spans.by_id.get(id(node), found)
        if isinstance(found, FileSpan):
            return Place(found.file, Span(*found), path)
        return Place(self.file, found, path)


def _child(node: object, step: str | int) -> object:
    """The part of a program a step of a JSON path leads to."""
    if isinstance(node, tuple):
        return node[step] if isinstance(step, int) and 0 <= step < len(node) else None
    if isinstance(step, int):
        parts = list(_parts(node))
        return parts[step] if step < len(parts) else None
    tagged = _TAGGED.get((type(node), step))
    if tagged is not None:
        return getattr(node, tagged)
    if step == type(node).__name__ or step in _TAGS:
        return node
    return getattr(node, step, None)


# Tags that stand for one field of what they tag, and tags that stand for all of it.
_TAGGED: dict[tuple[type, str], str] = {
    (pr.Ps, "Ps"): "capacity",
    (pr.Renewal, "Renewal"): "gap",
    (pr.EvictBy, "By"): "keys",
    (ex.PoolArg, "Pool"): "ref",
    (ex.StageArg, "Stage"): "ref",
}
_TAGS = frozenset({"By", "Expr", "Step", "Branch", "Set"})


def _parts(node: object) -> Iterator[object]:
    """The positions of a value the JSON writes as a list."""
    match node:
        case st.Set(slot=slot, value=value):
            yield from (slot, value)
        case st.Observe(observe=observe, value=value):
            yield from (observe, value)
        case st.Grow(pool=pool, amount=amount) | st.Load(pool=pool, amount=amount):
            yield from (pool, amount)
        case st.Branch(guard=guard, then=then, other=other):
            yield from (guard, then, other)
        case st.While(guard=guard, body=body):
            yield from (guard, body)
        case st.HoldPool(pool=pool, units=units, reserve=reserve):
            yield from (pool, units, reserve)
        case st.Lease(pool=pool, duration=duration):
            yield from (pool, duration)
        case pr.IterBranch(guard=guard, then=iter_then, other=iter_other):
            yield from (guard, iter_then, iter_other)
        case pr.IterSet(reg=reg, value=value):
            yield from (reg, value)
        case ex.Unary(op=op, arg=arg):
            yield from (op, arg)
        case ex.Binary(op=op, left=left, right=right):
            yield from (op, left, right)
        case ex.Cond(test=test, then=then_expr, other=other_expr):
            yield from (test, then_expr, other_expr)
        case ex.Call(fun=fun, args=args):
            yield from (fun, args)
        case ex.Sample(dist=dist, args=args):
            yield from (dist, args)
        case ex.Cost(target=target, arg=arg):
            yield from (target, arg)
        case ex.Agg(fun=fun, observe=observe):
            yield from (fun, observe)
        case _:
            return
