"""Differences from the peer that stand, numbered: why, and a small program that shows each.

`test_reports_agree.py` fails when the program of an entry stops showing it. A random
program that differs counts for an entry when the entry's repair makes both sides agree.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from serq.ir.build import Builder, hold, run
from serq.ir.decode import from_data
from serq.ir.encode import program_data
from serq.ir.program import Batch, Program, Ps
from serq.ir.quantity import lift
from tests.generators.renumber import engines_first
from tests.peer.compare import compare


@dataclass(frozen=True)
class Declared:
    """One difference: where it shows in the report, why it stands, a program with it, and its repair."""

    number: int
    path: str
    reason: str
    program: Callable[[], Program]
    repair: Callable[[Program], Program]


def _share_above_its_engine() -> Program:
    """A session admitted by an engine runs on a shared stage declared above the engine."""
    b = Builder()
    share = b.stage("share", Ps(capacity=lift(1)))
    engine = b.engine("engine", budget=4, cost=1)
    slots = b.pool("slots", cap=2, admit_via=engine)
    b.server([hold([(slots, 1)], [run(share, 1)])])
    return b.build(arrival=Batch(size=1), horizon=5)


def _engines_first(program: Program) -> Program:
    data = json.loads(json.dumps(program_data(program)))
    return from_data(engines_first(data))


DECLARED: tuple[Declared, ...] = (
    Declared(
        1,
        "len(client.response.times)",
        "After an instant's sessions, engines start their iterations and then shared stages divide their "
        "capacity anew (interp.md §5), so work that an admission starts is scheduled at that instant. The "
        "peer's build visits stages once, in the order declared: work on a stage above the engine waits for "
        "the next event of any kind, and for ever when there is none. Later builds do as we do.",
        _share_above_its_engine,
        _engines_first,
    ),
)


def declared_number(program: Program) -> int | None:
    """The declared difference whose repair makes both sides agree about a program, if any."""
    return next((d.number for d in DECLARED if compare(d.repair(program)) is None), None)
