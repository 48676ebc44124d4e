"""The type of every attribute: a size, a value, or the cost of a resource (api.md §6.1, 004 *Types*).

An attribute has the type of its first assignment; later ones are judged by the IR's rules.
"""

from __future__ import annotations

from collections.abc import Mapping

from serq.diagnostics import Span
from serq.ir import expressions as ex
from serq.ir.program import AttrType, Side
from serq.ir.tables import BINARY, BUILTIN_ATTRIBUTES, BUILTIN_VALUES, FUNCTION, CostRule
from serq.lang import tree
from serq.lang.findings import Findings

_KEEPS = frozenset({CostRule.KEEP, CostRule.SAME})


class AttributeTypes:
    """Types by slot, filled as assignments are met."""

    def __init__(self, findings: Findings, declared: Mapping[tuple[str, Span], str]) -> None:
        self.findings = findings
        self.declared = declared
        self.types: dict[int, AttrType] = {
            slot: "Value" if name in BUILTIN_VALUES else "Size"
            for slot, name in enumerate(BUILTIN_ATTRIBUTES)
        }

    def assigned(self, slot: int, value: ex.Expr | None, side: Side, at: tree.Set | tree.Choose) -> None:
        """An assignment of a value, None for a chosen index; checks what `Size` and `Cost` say (SQ550, SQ551)."""
        cost = None if value is None else self.cost(value)
        declared = self.declared.get((at.name.text, at.span))
        if declared == "Cost" and cost is None:
            message = f"`{at.name.text}` is declared a `Cost`, and this is an ordinary quantity"
            hint = "convert it: `cost(RESOURCE, e)`"
            self.findings.error("SQ551", message, at, hint=hint)
        elif declared == "Size" and cost is not None:
            message = f"`{at.name.text}` is declared a `Size`, and this is a cost"
            self.findings.error("SQ550", message, at, hint="declare it `Cost`, in the server")
        if slot not in self.types:
            self.types[slot] = cost or ("Size" if side == "Workload" else "Value")

    def cost(self, value: ex.Expr) -> ex.CostTarget | None:
        """The resources an expression is a cost of, None for an ordinary quantity."""
        match value:
            case ex.Cost(target=target):
                return target
            case ex.Attr(slot=slot):
                kind = self.types.get(slot)
                return kind if isinstance(kind, ex.CostTarget) else None
            case ex.Unary(op="Neg", arg=arg):
                return self.cost(arg)
            case ex.Binary(op=op, left=left, right=right):
                return self._binary(BINARY[op].costs, left, right)
            case ex.Cond(then=then, other=other):
                return self.cost(then) or self.cost(other)
            case ex.Call(fun=fun, args=args) if FUNCTION[fun].costs in _KEEPS:
                return next((c for a in args if isinstance(a, ex.Expr) and (c := self.cost(a))), None)
            case _:
                return None

    def _binary(self, rule: CostRule, left: ex.Expr, right: ex.Expr) -> ex.CostTarget | None:
        if rule in (CostRule.SAME, CostRule.SCALE):
            return self.cost(left) or self.cost(right)
        return self.cost(left) if rule is CostRule.SCALE_LEFT else None

    def of(self, slot: int) -> AttrType:
        """The type of a slot."""
        return self.types.get(slot, "Value")
