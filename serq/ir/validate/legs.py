"""Legs of a request: what may stand in a fork, and forks and joins together (004 *Parallel legs*)."""

from __future__ import annotations

from serq.ir import statements as st
from serq.ir.validate.facts import Facts, Located


def legs(facts: Facts) -> None:
    """A leg neither turns, ends, forks nor joins; a program that forks joins, and the other way round."""
    forks = list(facts.statements_of(st.Fork))
    joins = list(facts.statements_of(st.Join))
    if forks and not joins:
        facts.add(
            "SQ614",
            "the program forks a leg and never joins it",
            forks[0].path,
            "`join` before the session ends: it may not end while its leg runs",
        )
    if joins and not forks:
        facts.add(
            "SQ614", "the program joins and forks no leg", joins[0].path, "remove the `join`, or `fork`"
        )
    reported: set[tuple[int, int]] = set()
    for fork in forks:
        _leg(facts, fork, reported)


def _leg(facts: Facts, fork: Located, reported: set[tuple[int, int]]) -> None:
    stack, seen = list(st.bodies(fork.stmt)), set()
    while stack:
        block = stack.pop()
        if block in seen or block >= len(facts.blocks):
            continue
        seen.add(block)
        for located in facts.blocks[block]:
            key = (located.block, located.position)
            if isinstance(located.stmt, st.Turn | st.End | st.Fork | st.Join) and key not in reported:
                reported.add(key)
                facts.add(
                    "SQ612",
                    f"`{type(located.stmt).__name__.lower()}` in a leg",
                    located.path,
                    "leave it to the session: only the session turns, ends, forks and joins",
                )
            if not isinstance(located.stmt, st.Fork):
                stack.extend(st.bodies(located.stmt))


RULES = (legs,)
