"""The rules of membership in the Lean fragment, and where refusals are collected.

The numbers are those of the rows of the table of membership (lean-model.md §11), so that a refusal
can be looked up; 18 and 19 are conditions of the model itself. Rule `n` has the code SQ979 + n.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from serq.diagnostics import Diagnostic, IrPath, Place
from serq.ir.expressions import CRef, Node


class Rule(IntEnum):
    """One number a row of the table."""

    SETTINGS = 1
    WORKLOAD = 2
    STAGES = 4
    SERVING = 5
    ITERATION = 6
    BUDGET = 7
    CHUNK = 8
    COST = 9
    FAMILIES = 10
    POOLS = 11
    QUEUES = 12
    STATEMENTS = 14
    EXPRESSIONS = 15
    GUARDS = 16
    CLAIMS = 17
    STRUCTURE = 18
    NUMBERS = 19

    @property
    def code(self) -> str:
        """The code of its refusals."""
        return f"SQ{979 + self}"


_BY_CODE = {rule.code: rule for rule in Rule}


def rule_of(d: Diagnostic) -> Rule | None:
    """The rule a diagnostic refuses by, None for one that is not of the fragment."""
    return _BY_CODE.get(d.code)


# The fields the translation reads, or knows to leave a run as it is, by node. A field that
# is not listed here takes its program out of the fragment.
FIELDS: dict[str, frozenset[str]] = {
    name: frozenset(fields.split())
    for name, fields in {
        "Program": "attrs attr_types sides observes pools stages arrival trace trace_ordered init turn session "
        "blocks horizon warmup seed arrivals slot_cached slot_serial slot_turn slot_new slot_out slot_think "
        "slot_more slot_forced slot_computed hidden share gauges claims registers",
        "Pool": "name index cap block evict preempt queue spill admit_via reserve_held",
        "PreemptBy": "keys tail",
        "Stage": "name index kind",
        "Step": "budget cost chunk granule serve memory iteration",
        "Ps": "capacity",
        "Serve": "only by",
        "Admit": "only gate",
        "Sessions": "sessions",
        "Poisson": "rate",
        "Renewal": "gap",
        "Batch": "size",
        "Claim": "name given kind expr",
        "EveryIteration": "stage",
        "SomeIteration": "stage",
        "Agg": "fun observe",
        "Session": "attrs turns",
        "CRef": "base count index",
        "Turn": "",
        "End": "",
        "Set": "slot value",
        "Observe": "observe value",
        "Hold": "pools reuse body cache lease",
        "HoldPool": "pool units reserve",
        "Run": "stage mode work growing also",
        "Branch": "guard then other",
        "Loop": "body",
        "While": "guard body",
        "Num": "value",
        "Attr": "slot",
        "Ctx": "var",
        "Call": "fun args",
        "PoolArg": "ref",
        "StageArg": "ref",
        "Unary": "op arg",
        "Binary": "op left right",
        "Cond": "test then other",
        "Cost": "target arg",
    }.items()
}


@dataclass
class Refusals:
    """What was refused so far.

    `proved` are the places of expressions in which no difference goes below 0, wherever they are read.
    """

    proved: frozenset[IrPath] = frozenset()
    found: list[Diagnostic] = field(default_factory=list)

    def refuse(self, rule: Rule, path: IrPath, message: str, hint: str | None = None) -> None:
        """Record a refusal."""
        note = f"rule {rule.value} of the Lean fragment"
        self.found.append(Diagnostic(rule.code, message, Place(path=path), note=note, hint=hint))

    def know(self, node: Node, path: IrPath) -> None:
        """Refuse the fields of a node that the translation has never heard of."""
        name = type(node).__name__
        known = FIELDS.get(name, frozenset())
        for unknown in sorted(set(type(node).model_fields) - known):
            self.refuse(Rule.STATEMENTS, path, f"the field `{unknown}` of {name} is not translated")

    def single(self, ref: CRef, path: IrPath, what: str) -> int:
        """The index of a reference to one pool or stage; families are refused."""
        self.know(ref, path)
        if ref.count != 1 or ref.index is not None:
            self.refuse(Rule.FAMILIES, path, f"a family of {what}s is indexed", hint=f"name one {what}")
        return ref.base

    def natural(self, value: float, path: IrPath, what: str, rule: Rule = Rule.NUMBERS) -> int:
        """A natural number; anything else is refused, and stands for 0."""
        if value < 0 or value != value or value == float("inf") or value != int(value):
            self.refuse(rule, path, f"{what} is {value:g}, not a natural number")
            return 0
        return int(value)
