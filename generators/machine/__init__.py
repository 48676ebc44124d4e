"""The executable Lean model once more in Python, state by state, for programs as terms of the model.

The generators write machines of the Lean model into theorems; they compute them here. Nothing trusts
what this says: Lean's kernel proves or refutes it. Modules are named after those of `lean/Serq/Model`.
"""

from serq.generators.machine.code import Code, code_of
from serq.generators.machine.events import initial, start, step
from serq.generators.machine.run import (
    as_recorded,
    next_time,
    observed,
    outcome,
    run,
    run_until,
    steps,
    steps_within,
)
from serq.generators.machine.state import Fault, Machine

__all__ = [
    "Code",
    "Fault",
    "Machine",
    "as_recorded",
    "code_of",
    "initial",
    "next_time",
    "observed",
    "outcome",
    "run",
    "run_until",
    "start",
    "step",
    "steps",
    "steps_within",
]
