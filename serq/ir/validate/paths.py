"""Nodes of an expression together with their place in the IR's JSON (004, *Format*)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from serq.diagnostics import IrPath
from serq.ir import expressions as ex


class Visit(NamedTuple):
    """A node and how it is reached; the path is only put together when a finding needs it."""

    expr: ex.Expr
    above: Visit | None
    steps: IrPath

    def path(self, base: IrPath) -> IrPath:
        """The path of this node in an expression that stands at `base`."""
        parts = []
        node: Visit | None = self
        while node is not None:
            parts.append(node.steps)
            node = node.above
        return (*base, *(step for steps in reversed(parts) for step in steps))


def walk(expr: ex.Expr) -> Iterator[Visit]:
    """Every node of an expression, itself first, depth first from the left; no recursion."""
    stack = [Visit(expr, None, ())]
    while stack:
        visit = stack.pop()
        yield visit
        children = ex.children(visit.expr)
        if children:
            steps = steps_down(visit.expr)
            stack += [Visit(c, visit, s) for c, s in zip(reversed(children), reversed(steps), strict=True)]


def steps_down(expr: ex.Expr) -> Sequence[IrPath]:
    """For each of `expressions.children`, the steps that lead to it."""
    match expr:
        case ex.Call(args=args):
            return [s for i, arg in enumerate(args) if (s := _argument_steps(i, arg)) is not None]
        case ex.Sample(args=args):
            return [("Sample", 1, i) for i in range(len(args))]
        case _:
            return _STEPS.get(type(expr), ())


_STEPS: dict[type[ex.Expr], tuple[IrPath, ...]] = {
    ex.Unary: (("Unary", 1),),
    ex.Cost: (("Cost", 1),),
    ex.Binary: (("Binary", 1), ("Binary", 2)),
    ex.Cond: (("Cond", 0), ("Cond", 1), ("Cond", 2)),
}


def _argument_steps(i: int, arg: ex.Expr | ex.PoolArg | ex.StageArg) -> IrPath | None:
    if isinstance(arg, ex.Expr):
        return ("Call", 1, i, "Expr")
    if arg.ref.index is None:
        return None
    return ("Call", 1, i, "Pool" if isinstance(arg, ex.PoolArg) else "Stage", "index")


def same(a: ex.Expr | None, b: ex.Expr | None) -> bool:
    """Whether two expressions are the same tree; no recursion, so that any depth is compared."""
    stack = [(a, b)]
    while stack:
        x, y = stack.pop()
        if x is None or y is None:
            if x is not y:
                return False
            continue
        if _head(x) != _head(y):
            return False
        stack.extend(zip(ex.children(x), ex.children(y), strict=True))
    return True


def _head(e: ex.Expr) -> tuple[object, ...]:
    """What a node is apart from its children; equal heads have as many children."""
    match e:
        case ex.Num(value=v):
            return ("Num", v)
        case ex.Attr(slot=i):
            return ("Attr", i)
        case ex.Ctx(var=var):
            return ("Ctx", var)
        case ex.Reg(index=i):
            return ("Reg", i)
        case ex.Unary(op=op):
            return ("Unary", op)
        case ex.Binary(op=op):
            return ("Binary", op)
        case ex.Sample(dist=dist, args=args):
            return ("Sample", dist, len(args))
        case ex.Agg(fun=fun, observe=i):
            return ("Agg", fun, i)
        case ex.Cost(target=target):
            return ("Cost", target)
        case ex.Call(fun=fun, args=args):
            return ("Call", fun, *(_argument_head(a) for a in args))
        case _:
            return (type(e).__name__,)


def _argument_head(arg: ex.Expr | ex.PoolArg | ex.StageArg) -> tuple[object, ...]:
    if isinstance(arg, ex.Expr):
        return ("Expr",)
    return (type(arg).__name__, arg.ref.base, arg.ref.count, arg.ref.index is None)


def same_ref(a: ex.CRef, b: ex.CRef) -> bool:
    """Whether two references are written alike: base, count and index expression (004, *Ownership*)."""
    return a.base == b.base and a.count == b.count and same(a.index, b.index)
