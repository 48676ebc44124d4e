"""Random programs of the fragment, valid by construction: the case of a seed, its program, simpler cases.

A third of the cases serve requests in one body with switches (`random_requests`); the others have a
random body each (`random_bodies`). generators.md §10.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from serq.generators.random_bodies import BodyCase, random_body_case
from serq.generators.random_programs import program_of_body
from serq.generators.random_requests import (
    Case,
    Request,
    program_of_requests,
    random_cost,
    random_requests,
    smaller_requests,
)
from serq.generators.random_shrinking import smaller_bodies
from serq.ir.program import Program

__all__ = ["AnyCase", "BodyCase", "Case", "Request", "program_of_case", "random_case", "smaller"]

AnyCase = Case | BodyCase


def random_case(seed: int) -> AnyCase:
    """The case of a seed."""
    d = random.Random(seed)
    return random_body_case(d, random_cost(d)) if seed % 3 else random_requests(d)


def program_of_case(case: AnyCase) -> Program:
    """The program of a case."""
    return program_of_body(case) if isinstance(case, BodyCase) else program_of_requests(case)


def smaller(case: AnyCase) -> Iterator[AnyCase]:
    """Simpler cases, the boldest first; there is no endless chain of them."""
    yield from smaller_bodies(case) if isinstance(case, BodyCase) else smaller_requests(case)
