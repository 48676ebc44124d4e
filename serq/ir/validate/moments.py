"""What an expression may read where it stands (004 *Moments*; api.md §3.6, §5, §10.5).

The table is `serq.ir.tables`: a row's moments column decides. What depends on more than
the moment (whose engine, which register, a hidden attribute) is checked beside it.
"""

from __future__ import annotations

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import tables
from serq.ir.moments import ATTRIBUTE_MOMENTS, DRAW_MOMENTS, REGISTER_MOMENTS, SCHEDULER_MOMENTS, Moment
from serq.ir.validate.facts import Facts, Site
from serq.ir.validate.names import and_list
from serq.ir.validate.paths import Visit, steps_down

M = Moment

WHERE = {
    M.SESSION: "session statements",
    M.ADMIT: "hold headers",
    M.SELECT: "queue keys",
    M.EVICT: "eviction keys and spills",
    M.PS: "ps capacities",
    M.BUDGET: "budgets and chunks",
    M.STEP: "iteration costs",
    M.SERVE: "serving keys",
    M.ONLY: "`only` predicates",
    M.VICTIM: "preemption keys",
    M.PLAN: "schedules",
    M.GAUGE: "gauges",
    M.GIVEN: "`given` conditions",
    M.ITERATION: "claims over iterations",
    M.END: "claims at the end",
    M.RENEWAL: "renewal gaps",
    M.CONSTANT: "constants",
}
_NO_CLOCK = {
    M.ONLY: "an engine whose requests are all excluded waits for an event, and time passing is none",
    M.PLAN: "an engine whose schedule serves nobody waits for an event, and time passing is none",
    M.GAUGE: "a gauge is constant between events, and the clock is not",
    M.GIVEN: "it is a condition on one session's attributes",
}
_NO_SESSION = {
    M.PS: "the stage's jobs are of many sessions",
    M.BUDGET: "an engine's budget is for all its residents",
    M.STEP: "an iteration serves many sessions",
    M.PLAN: "a schedule is for all the residents",
    M.GAUGE: "a gauge reads the state",
    M.ITERATION: "a claim over iterations reads the engine",
    M.END: "a claim at the end reads the whole run",
}
_NO_DRAW = {
    M.ADMIT: "a header is read again at every attempt to admit",
    M.SELECT: "the keys are read again before every admission",
    M.SERVE: "the keys are read for every resident at every iteration",
    M.ONLY: "it is read for every resident at every iteration",
    M.VICTIM: "the keys are read for every candidate",
    M.PLAN: "it is read at every iteration",
    M.GAUGE: "a draw would move the run's streams",
    M.GIVEN: "a draw would move the run's streams",
    M.ITERATION: "a draw would move the run's streams",
    M.END: "a draw would move the run's streams",
}


def moments(facts: Facts) -> None:
    """Every leaf of every expression is readable at the expression's moment."""
    for site, visit in facts.nodes_of(ex.Ctx, ex.Attr, ex.Reg, ex.Sample, ex.Agg, ex.Call):
        if site.moment is M.RENEWAL:
            _renewal(facts, site, visit)
        else:
            _leaf(facts, site, visit)


def _leaf(facts: Facts, site: Site, visit: Visit) -> None:
    match visit.expr:
        case ex.Ctx(var=var):
            _context(facts, site, visit, tables.CONTEXT[var])
        case ex.Attr(slot=slot):
            _attribute(facts, site, visit, slot)
        case ex.Reg(index=index):
            _register(facts, site, visit, index)
        case ex.Sample(dist=dist) if site.moment not in DRAW_MOMENTS:
            facts.add(
                "SQ403",
                f"`~{tables.DISTRIBUTION[dist].text}` draws in {site.what}",
                visit.path(site.path),
                "draw into an attribute before, and read the attribute",
                _NO_DRAW.get(site.moment),
            )
        case ex.Agg(fun=fun) if site.moment is not M.END:
            facts.add(
                "SQ405",
                f"`{tables.AGGREGATE[fun].text}` is read in {site.what}",
                visit.path(site.path),
                "read aggregates in a claim at the end",
            )
        case ex.Call():
            _call(facts, site, visit, visit.expr)
        case _:
            return


def _context(facts: Facts, site: Site, visit: Visit, row: tables.ContextVariable) -> None:
    if site.moment in row.moments:
        return
    path = visit.path(site.path)
    if row.ir == "Now":
        hint = "compare what the state shows instead of the time"
        facts.add("SQ406", f"`now` is read in {site.what}", path, hint, _NO_CLOCK.get(site.moment))
        return
    places = and_list([WHERE[m] for m in M if m in row.moments])
    facts.add(
        "SQ401",
        f"`{row.text}` is not known in {site.what}",
        path,
        f"`{row.text}` ({row.meaning}) is known only in {places}",
    )


def _attribute(facts: Facts, site: Site, visit: Visit, slot: int) -> None:
    if site.moment is M.SESSION:
        return
    name = facts.names.attr(slot)
    if site.moment not in ATTRIBUTE_MOMENTS:
        facts.add(
            "SQ402",
            f"`{name}` is an attribute of a session, and {site.what} has none",
            visit.path(site.path),
            "read the state instead: a pool, a stage or the engine's own variables",
            _NO_SESSION.get(site.moment),
        )
    elif slot in facts.program.hidden and site.moment in SCHEDULER_MOMENTS:
        facts.add(
            "SQ517",
            f"`{name}` is hidden from the scheduler, and read in {site.what}",
            visit.path(site.path),
            f"decide without `{name}`, or by a bound that is not hidden",
        )
    if site.moment is M.VICTIM and slot == facts.program.slot_computed:
        facts.add(
            "SQ411",
            f"`{name}` is read in {site.what}",
            visit.path(site.path),
            "read `position`, where the candidate is now",
            f"`{name}` is where the session's last preemption caught it, 0 for one never preempted",
        )


def _register(facts: Facts, site: Site, visit: Visit, index: int) -> None:
    registers = facts.program.registers
    if index >= len(registers):
        return
    owner = registers[index].stage
    free = site.moment in (M.GAUGE, M.END)
    if site.moment in REGISTER_MOMENTS and (free or site.engine == owner):
        return
    facts.add(
        "SQ409",
        f"`{registers[index].name}`, a register of engine `{facts.names.stage(owner)}`, cannot be read in {site.what}",
        visit.path(site.path),
        "read it in the engine's own clauses, the queue keys of a pool the engine admits, the header of a "
        "hold whose first pool it admits, a gauge or a claim",
    )


def _call(facts: Facts, site: Site, visit: Visit, call: ex.Call) -> None:
    row = tables.FUNCTION[call.fun]
    if site.moment not in row.moments:
        places = and_list([WHERE[m] for m in M if m in row.moments and m is not M.CONSTANT])
        facts.add(
            "SQ404",
            f"`{row.text}` may not be read in {site.what}",
            visit.path(site.path),
            f"`{row.text}` ({row.meaning}) is readable in {places}",
        )
        return
    if site.moment in (M.GAUGE, M.ITERATION):
        _fixed_indices(facts, site, visit, call)
    if call.fun == "BudgetLeft":
        _budget_left(facts, site, visit, call)


def _fixed_indices(facts: Facts, site: Site, visit: Visit, call: ex.Call) -> None:
    for arg, steps in zip(ex.children(call), steps_down(call), strict=True):
        if steps[-1] == "index" and not isinstance(arg, ex.Num):
            facts.add(
                "SQ412",
                f"an index in {site.what} is not a number",
                (*visit.path(site.path), *steps),
                "name the member with a number, so that reading it cannot fail the run",
            )


def _budget_left(facts: Facts, site: Site, visit: Visit, call: ex.Call) -> None:
    ref = next((arg.ref for arg in call.args if isinstance(arg, ex.StageArg)), None)
    if ref is None:
        return
    others = [stage.label for stage in facts.stages_of(ref) if not isinstance(stage.kind, pr.Step)]
    if others:
        facts.add(
            "SQ408",
            f"`budget_left` of `{others[0]}`, which is not an engine",
            (*visit.path(site.path), "Call", 1, 0, "Stage"),
            "name an engine: no other stage has a token budget",
        )
    elif site.moment is M.PLAN and site.engine in range(ref.base, ref.base + ref.count):
        facts.add(
            "SQ407",
            f"{site.what} reads the engine's own `budget_left`",
            (*visit.path(site.path), "Call", 1, 0, "Stage"),
            "read what the schedule has done so far (`batch.tokens`) against the budget",
            "`budget_left` plans an iteration, and the schedule is the plan",
        )


def _renewal(facts: Facts, site: Site, visit: Visit) -> None:
    e = visit.expr
    if isinstance(e, ex.Sample) or (isinstance(e, ex.Call) and not tables.FUNCTION[e.fun].moves):
        return
    facts.add(
        "SQ413",
        f"`{facts.names.expr(e)}` is read in the gap of a renewal arrival",
        visit.path(site.path),
        "write the gap with constants and draws: it is read before there is a session",
    )


RULES = (moments,)
