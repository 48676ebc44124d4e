"""Random programs of the IR, valid by construction.

`random_program(seed)` makes the same program everywhere; `programs()` is the
same as a hypothesis strategy; `classes(program, report)` says what a run of
one exercised.
"""

from __future__ import annotations

from hypothesis import strategies as st

from serq.ir.program import Program
from tests.generators.ir.families import FAMILIES, random_program


def programs(family: str | None = None) -> st.SearchStrategy[Program]:
    """Random programs, of one family when named."""
    return st.integers(0, 2**32 - 1).map(lambda seed: random_program(seed, family))


__all__ = ["FAMILIES", "programs", "random_program"]
