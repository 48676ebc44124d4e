"""Holds, indices, legs, loops, amounts, flows and arrivals (SQ60x, SQ61x)."""

from __future__ import annotations

import pytest

from serq.diagnostics import IrPath
from tests.ir.builders import (
    BANK,
    CACHED,
    CLIENT,
    COMPUTED,
    DESK,
    DESK_COST,
    DOWN,
    JOB,
    KV,
    LINE,
    LLM,
    LONG,
    MEMORY,
    NOW,
    PART,
    UP,
    Case,
    Doc,
    Edit,
    Json,
    K,
    M,
    S,
    assign,
    attr,
    bank,
    binary,
    branch,
    call,
    check,
    choose,
    cost,
    flow,
    grow,
    hold,
    load,
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

USED = pool_arg("Used", ref(MEMORY))
NAN = binary("Div", num(0), num(0))
HOLD: IrPath = (*S, "Hold")


def holding(pool: Json, *body: Json, **more: Json) -> Edit:
    """An edit that adds a hold of a pool around statements."""
    return lambda d: d.server(hold(d.block(*body), pool, **more))


def wanting(amount: Json, pool: Json | None = None, reserve: Json = None) -> Edit:
    """An edit that adds a hold of so many units."""
    where = ref(MEMORY) if pool is None else pool
    row = [where, cost("Pool", where, amount), None if reserve is None else cost("Pool", where, reserve)]
    return lambda d: d.server(hold(d.block(), row))


def looping(*body: Json) -> Edit:
    """An edit that adds a loop."""
    return lambda d: d.server({"Loop": d.block(*body)})


AMOUNTS = [
    Case("SQ601", (*S, "Run", "work"), server(run(amount=num(-1))), server(run(amount=num("inf"))), "-1"),
    Case("SQ601", (*S, "Run", "work"), server(run(amount=NAN)), server(run(amount=num(0))), "NaN"),
    Case(
        "SQ601",
        (*S, "Run", "work"),
        server(run(amount=call("Min", num(-1), num(2)))),
        server(run(amount=call("Min", num(-1), attr(JOB)))),
    ),
    Case(
        "SQ601",
        (*S, "Run", "work"),
        server(run(amount={"Cond": [num(0), attr(JOB), num(-1)]})),
        server(run(amount={"Cond": [num(1), attr(JOB), num(-1)]})),
    ),
    Case("SQ601", (*HOLD, "pools", 0, 1), wanting(num(-0.5)), wanting(num(0.5)), "memory"),
    Case(
        "SQ601",
        ("blocks", 4, 0, "Grow", 1),
        holding(ref(MEMORY), grow(ref(MEMORY), num(-1))),
        holding(ref(MEMORY), grow(ref(MEMORY), num(100))),
    ),
    Case(
        "SQ601",
        ("blocks", 4, 0, "Load", 1),
        holding(ref(MEMORY), load(ref(MEMORY), num("-inf"))),
        holding(ref(MEMORY), load(ref(MEMORY), num(1))),
    ),
    Case("SQ602", (*HOLD, "pools", 0, 1), wanting(num(10)), wanting(num(9)), "cap 9"),
    Case("SQ602", (*HOLD, "pools", 0, 2), wanting(num(1), reserve=num(10)), wanting(num(1), reserve=num(-1))),
    Case("SQ602", (*HOLD, "pools", 0, 1), wanting(num(65), ref(KV)), wanting(num(61), ref(KV)), "cap 64"),
    Case(
        "SQ602",
        (*HOLD, "pools", 0, 1),
        lambda d: wanting(num(9), ref(KV))(d.put(("pools", KV, "cap"), 11)),
        lambda d: wanting(num(8), ref(KV))(d.put(("pools", KV, "cap"), 11)),
    ),
    Case(
        "SQ602",
        (*HOLD, "pools", 0, 1),
        lambda d: wanting(num(6), part(num(0)))(d.put(("pools", 2, "cap"), 7)),
        lambda d: wanting(num(6), part(attr(K)))(d.put(("pools", 2, "cap"), 7)),
    ),
    Case("SQ602", (*HOLD, "pools", 0, 1), wanting(num("inf")), wanting(attr(JOB))),
]

OWNERSHIP = [
    Case(
        "SQ603",
        (*S, "Grow", 0),
        server(grow(ref(MEMORY))),
        holding(ref(MEMORY), grow(ref(MEMORY))),
        "grow memory",
    ),
    Case("SQ603", (*S, "Load", 0), server(load(ref(MEMORY))), holding(ref(MEMORY), load(ref(MEMORY)))),
    Case(
        "SQ603",
        (*S, "Release"),
        server({"Release": ref(MEMORY)}),
        holding(ref(MEMORY), {"Release": ref(MEMORY)}),
    ),
    Case(
        "SQ603",
        ("blocks", 4, 0, "Grow", 0),
        holding(ref(MEMORY), grow(ref(MEMORY, 1, num(0)))),
        holding(ref(MEMORY, 1, num(0)), grow(ref(MEMORY, 1, num(0)))),
    ),
    Case(
        "SQ603",
        ("blocks", 4, 0, "Release"),
        holding(part(num(0)), {"Release": part(num(1))}),
        holding(part(attr(K)), {"Release": part(attr(K))}),
        "part[1]",
    ),
    Case(
        "SQ603",
        (*S, "Release"),
        lambda d: d.server({"Release": ref(MEMORY)}, hold(d.block(), ref(MEMORY))),
        lambda d: d.server(
            {"Release": ref(MEMORY)}, hold(d.block(), ref(MEMORY), lease=[ref(MEMORY), num(1)])
        ),
    ),
    Case(
        "SQ603",
        ("blocks", 4, 0, "Run", "growing"),
        holding(ref(MEMORY), run(ref(LLM), mode="Prefill", growing=ref(KV))),
        holding(ref(KV), run(ref(LLM), mode="Prefill", growing=ref(KV))),
    ),
    Case(
        "SQ603",
        ("blocks", 4, 0, "Grow", 0),
        lambda d: d.server(hold(d.block({"Fork": d.block(grow(ref(MEMORY)))}, "Join"), ref(MEMORY))),
        lambda d: d.server({"Fork": d.block(hold(d.block(grow(ref(MEMORY))), ref(MEMORY)))}, "Join"),
    ),
    Case(
        "SQ604",
        (*HOLD, "pools", 1, 0),
        lambda d: d.server(hold(d.block(), ref(MEMORY), ref(MEMORY))),
        lambda d: d.server(hold(d.block(), ref(MEMORY), ref(MEMORY, 1, num(0)))),
        "memory",
    ),
    Case(
        "SQ604",
        (*HOLD, "pools", 1, 0),
        lambda d: d.server(hold(d.block(), part(attr(K)), part(attr(K)))),
        lambda d: d.server(hold(d.block(), part(attr(K)), part(attr(M)))),
    ),
    Case(
        "SQ605",
        (*HOLD, "lease", 0),
        holding(ref(MEMORY), lease=[ref(KV), num(1)]),
        holding(ref(MEMORY), lease=[ref(MEMORY), num(-1)]),
        "kv",
    ),
]

INDEX: IrPath = (*HOLD, "pools", 0, 0, "index")
INDICES = [
    Case(
        "SQ606",
        INDEX,
        holding(part(attr(K)), assign(K, num(1))),
        holding(part(attr(K)), assign(M, num(1))),
        "`k`",
    ),
    Case("SQ606", INDEX, holding(part(attr(K)), choose(K)), holding(part(attr(K)), choose(M))),
    Case(
        "SQ606",
        INDEX,
        lambda d: d.server(hold(d.block(branch(d.block(assign(K, num(1))), d.block())), part(attr(K)))),
        lambda d: d.server(hold(d.block({"Fork": d.block(assign(K, num(1)))}, "Join"), part(attr(K)))),
    ),
    Case(
        "SQ606",
        INDEX,
        lambda d: d.workload(hold(d.block("Turn", side="Workload"), part(attr(LONG)))),
        lambda d: d.workload(hold(d.block("Turn", side="Workload"), part(num(1)))),
    ),
    Case(
        "SQ606",
        INDEX,
        lambda d: d.server(hold(d.block(hold(d.block(), ref(MEMORY))), part(attr(CACHED)))),
        holding(part(attr(CACHED)), grow(part(attr(CACHED)))),
        "cached",
    ),
    Case(
        "SQ606",
        INDEX,
        lambda d: d.server(hold(d.block(hold(d.block(), ref(MEMORY))), part(attr(COMPUTED)))),
        holding(part(attr(COMPUTED))),
    ),
    Case(
        "SQ607",
        ("blocks", 4, 0, "Grow", 0),
        holding(part(USED), grow(part(USED))),
        holding(part(attr(K)), grow(part(attr(K)))),
    ),
    Case(
        "SQ607", ("blocks", 4, 0, "Release"), holding(part(NOW), {"Release": part(NOW)}), holding(part(NOW))
    ),
    Case(
        "SQ607",
        ("blocks", 4, 0, "Load", 0),
        holding(part({"Sample": ["Det", [num(1)]]}), load(part({"Sample": ["Det", [num(1)]]}))),
        holding(part(call("Min", attr(K), num(1))), load(part(call("Min", attr(K), num(1))))),
    ),
    Case("SQ608", INDEX, holding(bank(NOW)), holding(part(NOW)), "bank"),
    Case("SQ608", INDEX, holding(bank(attr(CACHED))), holding(bank(attr(K)))),
    Case(
        "SQ608",
        (*HOLD, "pools", 1, 0, "index"),
        lambda d: d.server(hold(d.block(), ref(KV), part(USED))),
        lambda d: d.server(hold(d.block(), ref(MEMORY), part(USED))),
        "kv",
    ),
    Case(
        "SQ608",
        ("blocks", 5, 0, "Hold", "pools", 0, 0, "index"),
        lambda d: _nested(d, ref(KV), part(NOW)),
        lambda d: _nested(d, part(NOW), ref(KV)),
    ),
    Case(
        "SQ608",
        INDEX,
        lambda d: holding(bank(NOW))(d.put(("pools", BANK, "preempt"), "None")),
        lambda d: holding(ref(BANK, 1))(d.put(("pools", BANK, "preempt"), "None")),
    ),
]


def _nested(d: Doc, outer: Json, inner: Json) -> Doc:
    return d.server(hold(d.block(hold(d.block(), inner)), outer))


LEGS = [
    *(
        Case(
            "SQ612",
            ("blocks", 4, 0),
            lambda d, s=s: d.workload({"Fork": d.block(s, side="Workload")}, "Join"),
            lambda d: d.server({"Fork": d.block(run())}, "Join"),
            s.lower(),
        )
        for s in ("Turn", "End", "Join")
    ),
    Case(
        "SQ612",
        ("blocks", 5, 0),
        lambda d: d.server({"Fork": d.block({"Fork": d.block()})}, "Join"),
        lambda d: d.server({"Fork": d.block()}, {"Fork": d.block()}, "Join"),
        "fork",
    ),
    Case(
        "SQ612",
        ("blocks", 4, 0),
        lambda d: d.server({"Fork": d.block(branch(d.block("End"), d.block()))}, "Join"),
        lambda d: d.server({"Fork": d.block()}, branch(d.block("End"), d.block("Join"))),
    ),
    Case(
        "SQ613",
        ("blocks", 5, 0),
        lambda d: d.server(hold(d.block({"Fork": d.block()}, "Join"), ref(KV))),
        lambda d: d.server({"Fork": d.block()}, hold(d.block("Join"), ref(KV))),
        "kv",
    ),
    Case(
        "SQ613",
        ("blocks", 5, 0),
        lambda d: d.server(hold(d.block({"Fork": d.block()}, "Join"), bank(num(0)))),
        lambda d: d.server(hold(d.block({"Fork": d.block(hold(d.block(), ref(KV)))}, "Join"), ref(MEMORY))),
    ),
    Case(
        "SQ614",
        S,
        lambda d: d.server({"Fork": d.block()}),
        lambda d: d.server({"Fork": d.block()}, "Join"),
        "joins",
    ),
    Case("SQ614", S, server("Join"), lambda d: d.server({"Fork": d.block()}, "Join")),
]

LOOPS = [
    Case("SQ609", S, looping(assign(K, num(1))), looping(run()), "loop"),
    Case(
        "SQ609",
        S,
        lambda d: d.server({"While": [num(0), d.block()]}),
        lambda d: d.server({"While": [num(0), d.block(run())]}),
    ),
    Case("SQ609", S, looping(run(amount=binary("Sub", num(1), num(1)))), looping(run(amount=attr(JOB)))),
    Case(
        "SQ609",
        S,
        lambda d: d.server({"Loop": d.block(branch(d.block(run()), d.block()))}),
        lambda d: d.server({"Loop": d.block(branch(d.block(run()), d.block("End")))}),
    ),
    Case(
        "SQ609",
        S,
        lambda d: d.server({"Loop": d.block({"While": [attr(K), d.block(run())]})}),
        lambda d: d.server({"Loop": d.block({"Loop": d.block(run())})}),
    ),
    Case(
        "SQ609",
        S,
        lambda d: d.server({"Loop": d.block({"Fork": d.block(run())}, "Join")}),
        lambda d: d.server({"Loop": d.block(hold(d.block(run()), ref(MEMORY)))}),
    ),
    Case(
        "SQ610",
        (*S, "While", 0),
        lambda d: d.server({"While": [num(3), d.block(run())]}),
        lambda d: d.server({"While": [num(1), d.block(run())]}),
        "3",
    ),
    Case("SQ611", S, server(choose(keys=[])), server(choose(count=num(0.5)))),
]

_SHARE = put(("share",), "MaxMin")


def flowing(*stages: int, **more: Json) -> Edit:
    """An edit that adds a run over several stages, and a policy."""
    return lambda d: (_SHARE(d), d.server(flow(stages, **more)))


FLOWS = [
    Case("SQ615", (*S, "Run", "also", 0), flowing(UP, UP), flowing(UP, DOWN), "up"),
    Case("SQ616", (*S, "Run", "also", 0), flowing(UP, DESK), flowing(DOWN, UP), "desk"),
    Case("SQ616", (*S, "Run", "stage"), flowing(CLIENT, UP), flowing(UP, DOWN), "client"),
    Case(
        "SQ616",
        (*S, "Run", "also", 0),
        lambda d: flowing(UP, DOWN)(d.put(("stages", DOWN, "kind", "Ps"), num(0))),
        lambda d: flowing(UP, DOWN)(d.put(("stages", DOWN, "kind", "Ps"), num("inf"))),
    ),
    Case("SQ617", S, server(flow((UP, DOWN))), flowing(UP, DOWN)),
    Case("SQ617", ("share",), _SHARE, lambda d: flowing(UP, DOWN)(d) and d.put(("share",), "Bottleneck")),
]

ARRIVALS = [
    Case(
        "SQ618",
        ("arrival", "Poisson"),
        put(("arrival",), {"Poisson": 0}),
        put(("arrival",), {"Poisson": 0.1}),
    ),
    Case(
        "SQ618",
        ("arrival", "Renewal"),
        put(("arrival",), {"Renewal": num(-1)}),
        put(("arrival",), {"Renewal": num(1)}),
    ),
    Case(
        "SQ618",
        ("arrival", "Renewal"),
        put(("arrival",), {"Renewal": num("inf")}),
        put(("arrival",), "None"),
        "inf",
    ),
    Case("SQ618", ("arrival", "Closed"), put(("arrival",), {"Closed": 0}), put(("arrival",), {"Closed": 1})),
    Case(
        "SQ618",
        ("arrival", "Batch"),
        put(("arrival",), {"Batch": 1_000_001}),
        put(("arrival",), {"Batch": 1_000_000}),
    ),
]

CASES = [*AMOUNTS, *OWNERSHIP, *INDICES, *LEGS, *LOOPS, *FLOWS, *ARRIVALS]


@pytest.mark.parametrize("case", CASES, ids=[c.id for c in CASES])
def test_rule(case: Case) -> None:
    check(case)


def test_a_family_of_stages_is_judged_member_by_member() -> None:
    doc = Doc().put(("share",), "MaxMin")
    line = ref(LINE, 2, attr(K))
    work = {
        "Cost": [
            {"Joint": [{"Stage": {"base": LINE, "count": 2}}, {"Stage": {"base": UP, "count": 1}}]},
            num(1),
        ]
    }
    doc.server({"Run": {"stage": line, "mode": "Plain", "work": work, "growing": None, "also": [ref(UP)]}})
    assert [(d.code, d.place.path) for d in doc.findings()] == [("SQ616", (*S, "Run", "stage"))]


def test_an_index_may_read_what_a_leg_changes_only_in_its_copy() -> None:
    doc = Doc()
    doc.server(hold(doc.block({"Fork": doc.block(assign(K, num(1)))}, "Join"), part(attr(K))))
    doc.server(observe(stage_arg("Queue", ref(DESK))), observe(attr(DESK_COST)))
    assert doc.findings() == ()


def test_a_lease_anywhere_may_be_released() -> None:
    doc = Doc()
    leg = doc.block(hold(doc.block(), part(attr(K)), lease=[part(attr(K)), num("inf")]))
    doc.server({"Fork": leg}, "Join", {"Release": part(attr(K))})
    assert doc.findings() == ()
    assert PART == 1
