"""Moments of evaluation (004, *Moments*): when an expression of the IR is read.

A moment is fixed by an expression's position in the IR. Every row of the tables
in `serq.ir.tables` says at which moments it may be read.
"""

from __future__ import annotations

from enum import StrEnum


class Moment(StrEnum):
    """One row per kind of position; `ONLY` and `RENEWAL` split positions 004 treats by extra checks."""

    SESSION = "session"  # statements, run work, a hold's cache, a lease's duration
    ADMIT = "admit"  # a hold's units, reserve, reuse
    SELECT = "select"  # a pool's queue keys
    EVICT = "evict"  # eviction keys, a spill's work and when
    PS = "ps"  # a ps stage's capacity
    BUDGET = "budget"  # an engine's budget and chunk
    STEP = "step"  # an engine's cost
    SERVE = "serve"  # an engine's serve keys
    ONLY = "only"  # an iteration body's only predicates: SERVE without the clock
    VICTIM = "victim"  # a pool's preemption keys
    PLAN = "plan"  # iteration-body guards, gates and register assignments
    GAUGE = "gauge"  # a gauge
    GIVEN = "given"  # a claim's given
    ITERATION = "iteration"  # a claim over iterations
    END = "end"  # a claim at the end
    RENEWAL = "renewal"  # the gap of a renewal arrival
    CONSTANT = "constant"  # text only: let, cap, block, counts


ALL_MOMENTS = frozenset(Moment)
ATTRIBUTE_MOMENTS = frozenset(
    {
        Moment.SESSION,
        Moment.ADMIT,
        Moment.SELECT,
        Moment.EVICT,
        Moment.SERVE,
        Moment.ONLY,
        Moment.VICTIM,
        Moment.GIVEN,
    }
)
DRAW_MOMENTS = frozenset(
    {Moment.SESSION, Moment.EVICT, Moment.PS, Moment.BUDGET, Moment.STEP, Moment.RENEWAL}
)
REGISTER_MOMENTS = frozenset(
    {
        Moment.ADMIT,
        Moment.SELECT,
        Moment.BUDGET,
        Moment.STEP,
        Moment.SERVE,
        Moment.ONLY,
        Moment.PLAN,
        Moment.GAUGE,
        Moment.ITERATION,
        Moment.END,
    }
)
# Moments the scheduler decides at: hidden attributes may not be read there.
SCHEDULER_MOMENTS = ATTRIBUTE_MOMENTS - {Moment.SESSION, Moment.GIVEN}
