"""Run settings, arrivals, hidden attributes and declared names (004 *Program*, *Arrivals*; api.md §10.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir.validate.facts import Facts
from serq.ir.validate.names import number


def settings(facts: Facts) -> None:
    """004 *Program*: horizon, warmup, arrivals."""
    program = facts.program
    if not 0 <= program.warmup < program.horizon < math.inf:
        facts.add(
            "SQ020",
            f"warmup {number(program.warmup)} and horizon {number(program.horizon)} do not satisfy "
            "0 ≤ warmup < horizon",
            ("horizon",) if not program.horizon > 0 else ("warmup",),
            "give a finite horizon above 0 and a warmup from 0 below it",
        )
    if program.arrivals is None:
        return
    if program.arrivals == 0:
        facts.add(
            "SQ021", "a run of 0 arrivals", ("arrivals",), "give a positive number of arrivals, or none"
        )
    elif not isinstance(program.arrival, pr.Poisson | pr.Renewal):
        facts.add(
            "SQ021",
            f"a number of arrivals is set, but {_arrival(program.arrival)}",
            ("arrivals",),
            "leave `arrivals` out, or let sessions arrive with `poisson` or `renewal`",
        )


def _arrival(arrival: pr.Arrival) -> str:
    match arrival:
        case pr.Closed():
            return "a closed population has no arrivals to count"
        case pr.Batch():
            return "a batch starts all its sessions at time 0"
        case pr.Sessions():
            return "explicit sessions all start at time 0"
        case _:
            return "nothing arrives"


def arrivals(facts: Facts) -> None:
    """004 *Arrivals*: positive gaps, positive finite rates, populations from 1 to a million."""
    match facts.program.arrival:
        case pr.Poisson(rate=rate) if not 0 < rate < math.inf:
            hint = "give a rate that is positive and finite, or `arrive none`"
            facts.add("SQ618", f"the arrival rate is {number(rate)}", ("arrival", "Poisson"), hint)
        case pr.Renewal(gap=gap):
            _gap(facts, gap)
        case pr.Closed(population=n):
            _population(facts, n, ("arrival", "Closed"))
        case pr.Batch(size=n):
            _population(facts, n, ("arrival", "Batch"))
        case pr.Sessions(sessions=sessions):
            for i, session in enumerate(sessions):
                path: IrPath = ("arrival", "Sessions", i)
                _preset(facts, session.attrs, (*path, "attrs"))
                for j, turn in enumerate(session.turns or ()):
                    _preset(facts, turn, (*path, "turns", j))
        case _:
            return


def _gap(facts: Facts, gap: ex.Expr) -> None:
    if isinstance(gap, ex.Num) and not 0 < gap.value < math.inf:
        facts.add(
            "SQ618",
            f"the constant gap between arrivals is {number(gap.value)}",
            ("arrival", "Renewal"),
            "give a gap that is positive and finite",
        )


def _population(facts: Facts, n: int, path: IrPath) -> None:
    if not 1 <= n <= pr.MAX_SESSIONS:
        hint = f"give a number of sessions from 1 to {pr.MAX_SESSIONS}"
        facts.add("SQ618", f"a population of {n} sessions", path, hint)


def _preset(facts: Facts, preset: pr.Preset, path: IrPath) -> None:
    for i, (slot, _) in enumerate(preset):
        kind = facts.attr_type(slot)
        if kind is not None and kind != "Size":
            facts.add(
                "SQ515",
                f"an explicit session presets `{facts.names.attr(slot)}`, which is not a size",
                (*path, i, 0),
                "preset only attributes the workload owns; the server computes the others",
            )


def hidden(facts: Facts) -> None:
    """api.md §7.7: a hidden attribute is named once, and is not one the scheduler sets."""
    program = facts.program
    for i, slot in enumerate(program.hidden):
        name = facts.names.attr(slot)
        if slot in program.hidden[:i]:
            facts.add("SQ516", f"`{name}` is hidden twice", ("hidden", i), "name it once")
        if slot in (program.slot_cached, program.slot_computed):
            facts.add(
                "SQ516",
                f"`{name}` cannot be hidden: the scheduler sets it",
                ("hidden", i),
                "hide the attributes the workload draws",
            )


def declared_names(facts: Facts) -> None:
    """004 *Registers and claims*: gauges, claims and registers are told apart by name."""
    program = facts.program
    _distinct(facts, [g.name for g in program.gauges], "gauge", "gauges")
    _distinct(facts, [c.name for c in program.claims], "claim", "claims")
    _distinct(facts, [r.name for r in program.registers], "register", "registers")
    for i, gauge in enumerate(program.gauges):
        if gauge.name in program.observes:
            facts.add(
                "SQ028",
                f"`{gauge.name}` is a gauge and an observation",
                ("gauges", i, "name"),
                "give the gauge a name of its own: the report shows both",
            )


def _distinct(facts: Facts, names: Sequence[str], kind: str, table: str) -> None:
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            hint = f"give each {kind} a name of its own"
            facts.add("SQ028", f"two {kind}s are named `{name}`", (table, i, "name"), hint)
        seen.add(name)


def declarations(facts: Facts) -> None:
    """api.md §7.3, §7.4: a block is positive, and a fifo stage has servers."""
    for i, pool in enumerate(facts.program.pools):
        if pool.block is not None and not pool.block > 0:
            facts.add(
                "SQ029",
                f"pool `{pool.label}` allocates in blocks of {number(pool.block)}",
                ("pools", i, "block"),
                "give a block above 0, or leave it out to allocate single units",
            )
    for i, stage in enumerate(facts.program.stages):
        if isinstance(stage.kind, pr.Fifo) and stage.kind.servers < 1:
            facts.add(
                "SQ029",
                f"stage `{stage.label}` has no server",
                ("stages", i, "kind", "Fifo"),
                "give it at least one server",
            )


RULES = (settings, arrivals, hidden, declared_names, declarations)
