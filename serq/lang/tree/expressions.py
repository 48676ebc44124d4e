"""Nodes of the syntax tree: names and expressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from serq.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Node:
    """What every node has: the piece of the text it was read from."""

    span: Span


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A name where it is declared or mentioned."""

    text: str


@dataclass(frozen=True, slots=True)
class Text(Node):
    """A string: a file name or the external name of an input, without its quotes."""

    value: str


# Expressions


@dataclass(frozen=True, slots=True)
class Num(Node):
    """A number; `text` is its spelling (`1_000`, `.5`)."""

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Ref(Node):
    """A name as it is read: `x`, `kv[i]`, `Q.kv`, `Q[i].kv`, `running.count`, `Q.nic.latency`, `P.nic[i]`.

    `index` is that of the first name, `members` are the names after dots, and `member_index`
    is the index after the last of those.
    """

    name: Name
    index: Expr | None = None
    members: tuple[Name, ...] = ()
    member_index: Expr | None = None


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`f(a, ...)`: a function of the language, a query or an expression `def`."""

    function: Name
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class CostOf(Node):
    """`cost(R, ..., e)`: the amount `e` as a cost of the resources."""

    resources: tuple[Ref, ...]
    amount: Expr


@dataclass(frozen=True, slots=True)
class Draw(Node):
    """`~d(a, ...)`: a fresh sample of a distribution."""

    distribution: Name
    arguments: tuple[Expr, ...]


UnaryOp = Literal["-", "!"]
BinaryOp = Literal["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`-e` or `!e`."""

    op: UnaryOp
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Two operands and the operator between them."""

    op: BinaryOp
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Cond(Node):
    """`test ? then : otherwise`."""

    test: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """`sum j in n (e)`, `min j in n (e)` or `max j in n (e)`; `kind` is the first word."""

    kind: Name
    index: Name
    count: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Input(Node):
    """`args.number("external", default)`: a value the outside may replace."""

    external: Text
    default: Expr


Expr = Num | Ref | Call | CostOf | Draw | Unary | Binary | Cond | Aggregate | Input


@dataclass(frozen=True, slots=True)
class Let(Node):
    """`let x = e;`"""

    name: Name
    value: Expr
