"""Loops let time pass, guards are tests, choices have keys (004 *Progress and amounts*; api.md §10.7)."""

from __future__ import annotations

from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.validate.constants import constant
from serq.ir.validate.facts import Facts, Located
from serq.ir.validate.names import number


def loops(facts: Facts) -> None:
    """Every path through a loop's body reaches a run, a hold whose body does, or the session's end."""
    passing = Passing(facts)
    for located in facts.statements:
        if isinstance(located.stmt, st.Loop | st.While) and not passing.block(located.stmt.body):
            word = type(located.stmt).__name__.lower()
            facts.add(
                "SQ609",
                f"a pass through this `{word}` may take no time",
                located.path,
                "put a `run` of some work, a hold around one, or `end` on every path through the body",
                "an inner `while` may make no pass, and a leg runs beside the loop",
            )


class Passing:
    """Which blocks let time pass on every path, each looked at once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._known: dict[int, bool] = {}

    def block(self, index: int) -> bool:
        """Whether every path through a block lets time pass or ends the session."""
        if index >= len(self._facts.blocks):
            return True  # reported as an index that names nothing
        if index not in self._known:
            self._known[index] = False
            self._known[index] = any(self._statement(x) for x in self._facts.blocks[index])
        return self._known[index]

    def _statement(self, located: Located) -> bool:
        match located.stmt:
            case st.End():
                return True
            case st.Run(work=work):
                value = constant(work)
                return value is None or value > 0
            case st.Hold(body=body) | st.Loop(body=body):
                return self.block(body)
            case st.Branch(then=then, other=other):
                return self.block(then) and self.block(other)
            case _:
                return False


def guards(facts: Facts) -> None:
    """A constant guard of a `while` is 0 or 1."""
    for located in facts.statements:
        if isinstance(located.stmt, st.While) and isinstance(located.stmt.guard, ex.Num):
            value = located.stmt.guard.value
            if value not in (0, 1):
                facts.add(
                    "SQ610",
                    f"the guard of this `while` is {number(value)}",
                    located.at(0),
                    "write a test, which is 0 or 1; `~bernoulli(p)` goes on with probability p",
                )


def choices(facts: Facts) -> None:
    """A `choose` compares by at least one key."""
    for located in facts.statements:
        if isinstance(located.stmt, st.Choose) and not located.stmt.key:
            facts.add(
                "SQ611", "a `choose` has no key", located.path, "give the keys it compares the members by"
            )


RULES = (loops, guards, choices)
