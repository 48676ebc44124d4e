"""Expressions of the IR (004, *Expressions (CExpr)*) as immutable models.

Every node is frozen; children are tuples or nodes. Slots, stages, pools and
observations are named by index, as in the JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict


class Node(BaseModel):
    """Base of every IR model: immutable, no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class CRef(Node):
    """A pool or stage: `count` members from `base`, selected by `index` when there is one."""

    base: int
    count: int
    index: Expr | None = None


class CostTarget(Node):
    """Base of the resources a cost speaks of."""


class PoolTarget(CostTarget):
    """A family of pools."""

    tag: ClassVar[str] = "Pool"
    base: int
    count: int


class StageTarget(CostTarget):
    """A family of stages."""

    tag: ClassVar[str] = "Stage"
    base: int
    count: int


class JointTarget(CostTarget):
    """Several resources at once: at least two, distinct, sorted, not nested."""

    tag: ClassVar[str] = "Joint"
    targets: tuple[PoolTarget | StageTarget, ...]


class Expr(Node):
    """Base of all expressions."""


class Num(Expr):
    """A constant; infinities are the strings "inf" and "-inf" in JSON."""

    value: float


class Attr(Expr):
    """A session attribute by slot."""

    slot: int


class Ctx(Expr):
    """A context variable (a row of `CONTEXT_VARIABLES`)."""

    var: str


class Reg(Expr):
    """A stage register by index."""

    index: int


class Sample(Expr):
    """A draw (a row of `DISTRIBUTIONS`)."""

    dist: str
    args: tuple[Expr, ...]


class PoolArg(Node):
    """A pool as a function's argument."""

    ref: CRef


class StageArg(Node):
    """A stage as a function's argument."""

    ref: CRef


class Call(Expr):
    """A function (a row of `FUNCTIONS`) of numbers, pools and stages."""

    fun: str
    args: tuple[Expr | PoolArg | StageArg, ...]


class Unary(Expr):
    """A unary operator."""

    op: str
    arg: Expr


class Binary(Expr):
    """A binary operator."""

    op: str
    left: Expr
    right: Expr


class Cond(Expr):
    """`test ? then : other`; only the chosen arm is read."""

    test: Expr
    then: Expr
    other: Expr


class Agg(Expr):
    """An aggregate (a row of `AGGREGATES`) of an observation."""

    fun: str
    observe: int


class Cost(Expr):
    """An ordinary quantity read as a resource cost; its value is the inner one."""

    target: CostTarget
    arg: Expr


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside one, in the order they are evaluated; indices of references included."""
    below = _BELOW.get(type(expr))
    return () if below is None else below(expr)


def _arguments(call: Call) -> tuple[Expr, ...]:
    return tuple(e for arg in call.args if (e := _argument(arg)) is not None)


def _argument(arg: Expr | PoolArg | StageArg) -> Expr | None:
    return arg if isinstance(arg, Expr) else arg.ref.index


_BELOW: dict[type[Expr], Callable[[Any], tuple[Expr, ...]]] = {
    Unary: lambda e: (e.arg,),
    Cost: lambda e: (e.arg,),
    Binary: lambda e: (e.left, e.right),
    Cond: lambda e: (e.test, e.then, e.other),
    Sample: lambda e: e.args,
    Call: _arguments,
}


def walk(expr: Expr) -> Iterator[Expr]:
    """Every expression in one, itself first, depth first from the left; no recursion."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


CRef.model_rebuild()
Call.model_rebuild()
