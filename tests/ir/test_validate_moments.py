"""What may be read where (SQ40x, SQ41x, SQ517): the table of moments against every position."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from serq.diagnostics import IrPath
from serq.ir import tables
from serq.ir.moments import ATTRIBUTE_MOMENTS, DRAW_MOMENTS, REGISTER_MOMENTS, Moment
from tests.ir.builders import (
    COMPUTED,
    DESK,
    DRAW,
    JOB,
    LLM,
    LONG,
    MEMORY,
    NOW,
    OTHER,
    PART,
    REG,
    SLOTS_POOL,
    Case,
    Doc,
    Json,
    K,
    S,
    assign,
    attr,
    binary,
    branch,
    check,
    choose,
    cost,
    ctx,
    grow,
    hold,
    num,
    observe,
    part,
    pool_arg,
    put,
    ref,
    run,
    server,
    stage_arg,
)

M = Moment
LLM_STEP: IrPath = ("stages", LLM, "kind", "Step")
ITERATION: IrPath = (*LLM_STEP, "iteration")
VICTIM: IrPath = ("pools", 3, "preempt", "By", "keys", 0)

Place = tuple[Moment, IrPath, Callable[[Doc, Json], object]]


def _at(moment: Moment, path: IrPath) -> Place:
    return (moment, path, lambda doc, e: doc.put(path, e))


def _header(doc: Doc, **parts: Json) -> None:
    row = [ref(SLOTS_POOL), parts.get("units", cost("Pool", ref(SLOTS_POOL))), parts.get("reserve")]
    doc.server(hold(doc.block(), row, reuse=parts.get("reuse"), cache=parts.get("cache")))


def _slots(e: Json) -> Json:
    return cost("Pool", ref(SLOTS_POOL), e)


PLACES: list[Place] = [
    _at(M.SESSION, ("blocks", 0, 0, "Set", 1)),
    (M.SESSION, (*S, "Set", 1), lambda d, e: d.server(assign(K, e))),
    (M.SESSION, (*S, "Observe", 1), lambda d, e: d.server(observe(e))),
    (M.SESSION, (*S, "Run", "work", "Cost", 1), lambda d, e: d.server(run(amount=e))),
    (M.SESSION, (*S, "Branch", 0), lambda d, e: d.server(branch(d.block(), d.block(), e))),
    (M.SESSION, (*S, "While", 0), lambda d, e: d.server({"While": [e, d.block(run())]})),
    (M.SESSION, (*S, "Choose", "count"), lambda d, e: d.server(choose(count=e))),
    (M.SESSION, (*S, "Choose", "key", 0), lambda d, e: d.server(choose(keys=[e]))),
    (
        M.SESSION,
        ("blocks", 4, 0, "Grow", 1, "Cost", 1),
        lambda d, e: d.server(hold(d.block(grow(ref(MEMORY), e)), ref(MEMORY))),
    ),
    (
        M.SESSION,
        (*S, "Hold", "lease", 1),
        lambda d, e: d.server(hold(d.block(), ref(MEMORY), lease=[ref(MEMORY), e])),
    ),
    (M.SESSION, (*S, "Hold", "cache", "Cost", 1), lambda d, e: _header(d, cache=_slots(e))),
    (
        M.SESSION,
        (*S, "Drop", "index", "Binary", 1),
        lambda d, e: d.server({"Drop": part(binary("Mul", e, num(0)))}),
    ),
    (M.ADMIT, (*S, "Hold", "pools", 0, 1, "Cost", 1), lambda d, e: _header(d, units=_slots(e))),
    (M.ADMIT, (*S, "Hold", "pools", 0, 2, "Cost", 1), lambda d, e: _header(d, reserve=_slots(e))),
    (
        M.ADMIT,
        (*S, "Hold", "reuse", "Cost", 1),
        lambda d, e: _header(d, reuse=_slots(e), cache=_slots(num(1))),
    ),
    _at(M.SELECT, ("pools", SLOTS_POOL, "queue", 0)),
    (M.EVICT, ("pools", 0, "evict", "By", 0), lambda d, e: d.put(("pools", 0, "evict"), {"By": [e]})),
    _at(M.EVICT, ("pools", 0, "spill", "work")),
    _at(M.EVICT, ("pools", 0, "spill", "when")),
    _at(M.VICTIM, VICTIM),
    _at(M.PS, ("stages", 7, "kind", "Ps")),
    _at(M.BUDGET, (*LLM_STEP, "budget")),
    _at(M.BUDGET, (*LLM_STEP, "chunk")),
    _at(M.STEP, (*LLM_STEP, "cost")),
    (M.SERVE, (*LLM_STEP, "serve", "By", 0), lambda d, e: d.put((*LLM_STEP, "serve"), {"By": [e]})),
    (
        M.SERVE,
        (*ITERATION, 0, "Serve", "by", 0),
        lambda d, e: d.put((*ITERATION, 0), {"Serve": {"by": [e]}}),
    ),
    _at(M.ONLY, (*ITERATION, 0, "Serve", "only")),
    _at(M.ONLY, (*ITERATION, 1, "Admit", "only")),
    _at(M.PLAN, (*ITERATION, 1, "Admit", "gate")),
    _at(M.PLAN, (*ITERATION, 2, "Set", 1)),
    (
        M.PLAN,
        (*ITERATION, 0, "Branch", 0),
        lambda d, e: d.put((*ITERATION, 0), {"Branch": [e, [], [{"Serve": {}}]]}),
    ),
    _at(M.GAUGE, ("gauges", 0, "expr")),
    _at(M.ITERATION, ("claims", 0, "expr")),
    _at(M.GIVEN, ("claims", 0, "given")),
    _at(M.END, ("claims", 1, "expr")),
    (M.RENEWAL, ("arrival", "Renewal"), lambda d, e: d.put(("arrival",), {"Renewal": e})),
]

_ARGUMENTS: dict[tables.Param, Json] = {
    tables.Param.NUMBER: {"Expr": num(1)},
    tables.Param.POOL: {"Pool": ref(MEMORY)},
    tables.Param.STAGE: {"Stage": ref(DESK)},
    tables.Param.ENGINE: {"Stage": ref(OTHER)},
}


def _leaves() -> list[tuple[str, frozenset[Moment], Json]]:
    rows = [(f"ctx {row.ir}", row.moments, ctx(row.ir)) for row in tables.CONTEXT_VARIABLES]
    rows += [
        (row.ir, row.moments, {"Call": [row.ir, [_ARGUMENTS[p] for p in row.params]]})
        for row in tables.FUNCTIONS
    ]
    rows += [
        (f"~{row.ir}", row.moments, {"Sample": [row.ir, [num(1)] * len(row.params)]})
        for row in tables.DISTRIBUTIONS
    ]
    rows += [(row.ir, row.moments, {"Agg": [row.ir, 0]}) for row in tables.AGGREGATES]
    rows.append(("attribute", ATTRIBUTE_MOMENTS, attr(JOB)))
    rows.append(("register", REGISTER_MOMENTS, REG))
    return rows


LEAVES = _leaves()


@pytest.mark.parametrize(("name", "moments", "leaf"), LEAVES, ids=[row[0] for row in LEAVES])
def test_leaf_at_every_place(name: str, moments: frozenset[Moment], leaf: Json) -> None:
    for moment, path, edit in PLACES:
        doc = Doc()
        edit(doc, leaf)
        found = [(d.code[:3], d.place.path) for d in doc.findings()]
        assert found == ([] if moment in moments else [("SQ4", path)]), (name, path)


def test_every_moment_of_the_ir_has_a_place() -> None:
    assert {moment for moment, _, _ in PLACES} == set(Moment) - {M.CONSTANT}
    assert tables.DISTRIBUTION["Exp"].moments == DRAW_MOMENTS


def _gate(e: Json) -> Callable[[Doc], object]:
    return put((*ITERATION, 1, "Admit", "gate"), e)


CASES = [
    Case("SQ401", (*S, "Set", 1), server(assign(K, ctx("Size"))), server(assign(K, NOW)), "size"),
    Case(
        "SQ402",
        ("gauges", 0, "expr"),
        put(("gauges", 0, "expr"), attr(JOB)),
        put(("gauges", 0, "expr"), REG),
        "job",
    ),
    Case("SQ403", VICTIM, put(VICTIM, DRAW), put(VICTIM, ctx("Position")), "exp"),
    Case(
        "SQ404",
        VICTIM,
        put(VICTIM, stage_arg("BudgetLeft", ref(OTHER))),
        put(VICTIM, stage_arg("Work", ref(DESK))),
    ),
    Case(
        "SQ404",
        (*ITERATION, 0, "Serve", "only"),
        put((*ITERATION, 0, "Serve", "only"), stage_arg("Work", ref(DESK))),
        put((*ITERATION, 0, "Serve", "only"), stage_arg("Queue", ref(DESK))),
        "work",
    ),
    Case("SQ405", (*S, "Observe", 1), server(observe({"Agg": ["Total", 0]})), server(observe(attr(JOB)))),
    Case("SQ406", (*ITERATION, 1, "Admit", "gate"), _gate(NOW), _gate(ctx("Nres")), "now"),
    Case("SQ406", ("gauges", 0, "expr"), put(("gauges", 0, "expr"), NOW), put(("claims", 1, "expr"), NOW)),
    Case(
        "SQ407",
        (*ITERATION, 1, "Admit", "gate", "Call", 1, 0, "Stage"),
        _gate(stage_arg("BudgetLeft", ref(LLM))),
        _gate(stage_arg("BudgetLeft", ref(OTHER))),
    ),
    Case(
        "SQ407",
        (*ITERATION, 1, "Admit", "gate", "Call", 1, 0, "Stage"),
        _gate(stage_arg("BudgetLeft", ref(LLM, 2, num(1)))),
        put((*ITERATION, 0, "Serve", "only"), stage_arg("BudgetLeft", ref(LLM))),
    ),
    Case(
        "SQ408",
        (*S, "Set", 1, "Call", 1, 0, "Stage"),
        server(assign(K, stage_arg("BudgetLeft", ref(DESK)))),
        server(assign(K, stage_arg("BudgetLeft", ref(LLM)))),
        "desk",
    ),
    Case(
        "SQ408",
        (*S, "Set", 1, "Call", 1, 0, "Stage"),
        server(assign(K, stage_arg("BudgetLeft", ref(OTHER, 2, attr(K))))),
        server(assign(K, stage_arg("BudgetLeft", ref(LLM, 2, attr(K))))),
        "client",
    ),
    Case("SQ409", (*S, "Set", 1), server(assign(K, REG)), put(("gauges", 0, "expr"), REG), "turns"),
    Case(
        "SQ409",
        ("pools", 0, "queue", 0),
        put(("pools", 0, "queue", 0), REG),
        put(("pools", 6, "queue", 0), REG),
    ),
    Case(
        "SQ409",
        (*S, "Hold", "pools", 0, 1, "Cost", 1),
        lambda d: d.server(
            hold(d.block(), [ref(MEMORY), cost("Pool", ref(MEMORY), REG), None], ref(SLOTS_POOL))
        ),
        lambda d: d.server(
            hold(d.block(), ref(SLOTS_POOL), [ref(MEMORY), cost("Pool", ref(MEMORY), REG), None])
        ),
    ),
    Case(
        "SQ409",
        ("stages", OTHER, "kind", "Step", "cost"),
        put(("stages", OTHER, "kind", "Step", "cost"), REG),
        put((*LLM_STEP, "cost"), REG),
        "llm",
    ),
    Case(
        "SQ409",
        ("claims", 0, "expr"),
        lambda d: d.put(("claims", 0, "expr"), REG).put(("claims", 0, "kind"), {"SomeIteration": OTHER}),
        put(("claims", 0, "expr"), REG),
    ),
    Case("SQ411", VICTIM, put(VICTIM, attr(COMPUTED)), put(VICTIM, attr(JOB)), "computed"),
    Case(
        "SQ412",
        ("gauges", 0, "expr", "Call", 1, 0, "Pool", "index"),
        put(("gauges", 0, "expr"), pool_arg("Used", part(binary("Add", num(0), num(1))))),
        put(("gauges", 0, "expr"), pool_arg("Used", part(num(1)))),
    ),
    Case(
        "SQ412",
        ("claims", 0, "expr", "Call", 1, 0, "Pool", "index"),
        put(("claims", 0, "expr"), pool_arg("Used", part(ctx("Nres")))),
        put(("claims", 0, "expr"), pool_arg("Used", ref(PART, 2))),
    ),
    Case(
        "SQ413",
        ("arrival", "Renewal"),
        put(("arrival",), {"Renewal": attr(JOB)}),
        put(("arrival",), {"Renewal": DRAW}),
        "job",
    ),
    Case(
        "SQ517",
        (*S, "Hold", "pools", 0, 1, "Cost", 1),
        lambda d: (d.put(("hidden",), [LONG]), _header(d, units=_slots(attr(LONG)))),
        lambda d: (d.put(("hidden",), [LONG]), _header(d, cache=_slots(attr(LONG)))),
        "long",
    ),
    Case(
        "SQ517",
        VICTIM,
        lambda d: d.put(("hidden",), [LONG]).put(VICTIM, attr(LONG)),
        lambda d: d.put(("hidden",), [LONG]).put(("claims", 0, "given"), attr(LONG)),
    ),
    Case(
        "SQ517",
        (*S, "Hold", "pools", 0, 1, "Cost", 1, "Call", 1, 0, "Pool", "index"),
        lambda d: (d.put(("hidden",), [LONG]), _header(d, units=_slots(pool_arg("Used", part(attr(LONG)))))),
        lambda d: (d.put(("hidden",), [LONG]), _header(d, units=_slots(pool_arg("Used", part(attr(JOB)))))),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[c.id for c in CASES])
def test_rule(case: Case) -> None:
    check(case)
