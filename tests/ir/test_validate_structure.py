"""Settings, tables, indices, the tree of blocks, signatures (SQ02x)."""

from __future__ import annotations

import pytest

from tests.ir.builders import (
    DESK,
    DESK_COST,
    JOB,
    LINE,
    LLM,
    LONG,
    MEMORY,
    UNREACHED,
    Case,
    Doc,
    K,
    S,
    assign,
    attr,
    binary,
    branch,
    call,
    check,
    cost,
    hold,
    joint,
    num,
    observe,
    pool_arg,
    put,
    ref,
    run,
    server,
    stage_arg,
    target,
)

SETTINGS = [
    Case("SQ020", ("horizon",), put(("horizon",), 0), put(("horizon",), 0.5)),
    Case("SQ020", ("warmup",), put(("warmup",), 100), put(("warmup",), 99.9), "horizon 100"),
    Case("SQ020", ("warmup",), put(("warmup",), -1), put(("warmup",), 0)),
    Case(
        "SQ021",
        ("arrivals",),
        put(("arrivals",), 3),
        lambda d: d.put(("arrivals",), 3).put(("arrival",), {"Poisson": 2}),
    ),
    Case(
        "SQ021",
        ("arrivals",),
        lambda d: d.put(("arrivals",), 0).put(("arrival",), {"Poisson": 2}),
        lambda d: d.put(("arrivals",), 1).put(("arrival",), {"Renewal": num(2)}),
    ),
    Case(
        "SQ028",
        ("gauges", 1, "name"),
        lambda d: d["gauges",].append({"name": "used", "expr": num(1)}),
        lambda d: d["gauges",].append({"name": "busy", "expr": num(1)}),
        "used",
    ),
    Case("SQ028", ("gauges", 0, "name"), put(("gauges", 0, "name"), "wait"), put(("gauges", 0, "name"), "d")),
    Case("SQ028", ("claims", 1, "name"), put(("claims", 1, "name"), "busy"), put(("claims", 1, "name"), "k")),
    Case(
        "SQ028",
        ("registers", 1, "name"),
        lambda d: d["registers",].append({"name": "turns", "stage": LLM, "init": 0}),
        lambda d: d["registers",].append({"name": "rest", "stage": LLM, "init": 0}),
    ),
    Case(
        "SQ029", ("pools", 3, "block"), put(("pools", 3, "block"), 0), put(("pools", 3, "block"), 0.5), "kv"
    ),
    Case(
        "SQ029",
        ("stages", 0, "kind", "Fifo"),
        put(("stages", 0, "kind", "Fifo"), 0),
        put(("stages", 0, "kind", "Fifo"), 2),
        "desk",
    ),
]

TABLES = [
    Case(
        "SQ022",
        ("attr_types",),
        lambda d: d["attrs",].append("z"),
        lambda d: (d["attrs",].append("z"), d["attr_types",].append("Value")),
    ),
    Case("SQ022", ("sides",), lambda d: d["sides",].append([]), lambda d: d.block()),
    Case(
        "SQ022",
        ("sides", UNREACHED),
        lambda d: d["blocks", UNREACHED].append(observe(num(1))),
        lambda d: (d["blocks", UNREACHED].append(observe(num(1))), d["sides", UNREACHED].append("Server")),
        "block 3",
    ),
    Case("SQ023", ("init",), put(("init",), 9), put(("init",), UNREACHED)),
    Case("SQ024", ("session",), put(("session",), 1), put(("session",), UNREACHED)),
    Case(
        "SQ024",
        (*S, "Branch", 2),
        lambda d: d.server(branch(d.block(), 4)),
        lambda d: d.server(branch(d.block(), d.block())),
        "block 4",
    ),
    Case(
        "SQ024", (*S, "Loop"), lambda d: d.workload({"Loop": 2}), lambda d: d.server({"Loop": d.block(run())})
    ),
    Case("SQ023", (*S, "Loop"), server({"Loop": 9}), lambda d: d.server({"Loop": d.block(run())}), "9"),
    Case(
        "SQ025",
        ("blocks", 0, 0),
        lambda d: d.put(("blocks", 0, 0), {"Drop": ref(MEMORY)}),
        put(("blocks", 0, 0), observe(num(1))),
        "drop",
    ),
]

INDICES = [
    Case("SQ023", (*S, "Set", 0), server(assign(99, num(1))), server(assign(K, num(1))), "attribute 99"),
    Case("SQ023", (*S, "Set", 1), server(assign(K, attr(99))), server(assign(K, attr(JOB)))),
    Case(
        "SQ023",
        (*S, "Set", 1, "Binary", 2),
        server(assign(K, binary("Add", num(1), attr(99)))),
        server(assign(K, binary("Add", num(1), attr(JOB)))),
    ),
    Case("SQ023", (*S, "Observe", 0), server({"Observe": [7, num(1)]}), server(observe(num(1)))),
    Case(
        "SQ023",
        (*S, "Choose", "var"),
        server({"Choose": {"var": 99, "count": num(1), "key": [num(1)]}}),
        server(),
    ),
    Case("SQ023", (*S, "Drop"), server({"Drop": ref(9)}), server({"Drop": ref(MEMORY)}), "no pool 9"),
    Case("SQ023", (*S, "Drop"), server({"Drop": ref(0, 0)}), server({"Drop": ref(0, 2)})),
    Case(
        "SQ023",
        (*S, "Observe", 1, "Call", 1, 0, "Pool"),
        server(observe(pool_arg("Used", ref(7, 2)))),
        server(observe(pool_arg("Used", ref(6, 2)))),
    ),
    Case(
        "SQ023",
        (*S, "Observe", 1, "Call", 1, 0, "Stage"),
        server(observe(stage_arg("Queue", ref(8)))),
        server(observe(stage_arg("Queue", ref(7)))),
    ),
    Case(
        "SQ023",
        (*S, "Run", "stage"),
        server({"Run": {"stage": ref(50), "mode": "Plain", "work": attr(DESK_COST), "growing": None}}),
        server(run()),
    ),
    Case("SQ023", ("slot_out",), put(("slot_out",), 99), put(("slot_out",), LONG)),
    Case("SQ023", ("hidden", 0), put(("hidden",), [99]), put(("hidden",), [LONG])),
    Case(
        "SQ023",
        ("pools", 0, "admit_via"),
        put(("pools", 0, "admit_via"), 50),
        put(("pools", 0, "admit_via"), LLM),
    ),
    Case(
        "SQ023",
        ("pools", 0, "spill", "to"),
        put(("pools", 0, "spill", "to"), 50),
        put(("pools", 0, "spill", "to"), 0),
    ),
    Case(
        "SQ023",
        ("pools", 0, "spill", "via"),
        put(("pools", 0, "spill", "via"), 50),
        put(("pools", 0, "spill", "via"), 5),
    ),
    Case(
        "SQ023",
        ("stages", LLM, "kind", "Step", "memory"),
        put(("stages", LLM, "kind", "Step", "memory"), 50),
        put(("stages", LLM, "kind", "Step", "memory"), None),
    ),
    Case(
        "SQ023",
        ("stages", LLM, "kind", "Step", "iteration", 2, "Set", 0),
        put(("stages", LLM, "kind", "Step", "iteration", 2, "Set", 0), 5),
        put(("stages", LLM, "kind", "Step", "iteration", 2, "Set", 1), num(5)),
    ),
    Case(
        "SQ023",
        ("registers", 1, "stage"),
        lambda d: d["registers",].append({"name": "r", "stage": 50, "init": 0}),
        server(),
    ),
    Case(
        "SQ023",
        ("claims", 0, "kind", "EveryIteration"),
        put(("claims", 0, "kind", "EveryIteration"), 50),
        server(),
    ),
    Case(
        "SQ023",
        ("claims", 1, "expr"),
        put(("claims", 1, "expr"), {"Agg": ["Total", 3]}),
        put(("claims", 1, "expr"), {"Agg": ["Total", 0]}),
    ),
    Case(
        "SQ023",
        ("arrival", "Sessions", 0, "turns", 0, 1, 0),
        put(("arrival",), {"Sessions": [{"attrs": [], "turns": [[[JOB, 1], [99, 1]]]}]}),
        put(("arrival",), {"Sessions": [{"attrs": [], "turns": [[[JOB, 1], [LONG, 1]]]}]}),
    ),
    Case(
        "SQ023",
        (*S, "Observe", 1, "Cost", 0),
        server(observe(cost("Pool", ref(50)))),
        server(observe(cost("Pool", ref(MEMORY)))),
    ),
    Case(
        "SQ023",
        ("attr_types", 15, "Cost"),
        lambda d: (d["attrs",].append("z"), d["attr_types",].append({"Cost": target("Stage", ref(50))})),
        lambda d: (d["attrs",].append("z"), d["attr_types",].append({"Cost": target("Stage", ref(1, 2))})),
    ),
    Case(
        "SQ027",
        (*S, "Run", "stage", "index"),
        server(run(ref(LINE, 2, num(2)))),
        server(run(ref(LINE, 2, num(1)))),
        "line[2]",
    ),
    Case(
        "SQ027",
        (*S, "Drop", "index"),
        server({"Drop": ref(1, 2, num(0.5))}),
        server({"Drop": ref(1, 2, attr(K))}),
    ),
    Case(
        "SQ027",
        (*S, "Drop", "index"),
        server({"Drop": ref(0, 1, num(1))}),
        server({"Drop": ref(0, 1, num(0))}),
    ),
    Case(
        "SQ027",
        (*S, "Drop", "index"),
        server({"Drop": ref(1, 2, binary("Sub", num(1), num(2)))}),
        server({"Drop": ref(1, 2, binary("Sub", num(2), num(1)))}),
        "-1",
    ),
    Case(
        "SQ027", (*S, "Drop", "index"), server({"Drop": ref(1, 2, num("inf"))}), server({"Drop": ref(1, 2)})
    ),
    Case(
        "SQ027",
        (*S, "Drop", "index"),
        server({"Drop": ref(1, 2, binary("Div", num(0), num(0)))}),
        server({"Drop": ref(1, 2, binary("Div", num(0), num(1)))}),
        "NaN",
    ),
]

SIGNATURES = [
    Case(
        "SQ026",
        (*S, "Set", 1),
        server(assign(K, call("Min", num(1)))),
        server(assign(K, call("Min", num(1), num(2)))),
        "min",
    ),
    Case(
        "SQ026",
        (*S, "Set", 1, "Call", 1, 0),
        server(assign(K, stage_arg("Used", ref(DESK)))),
        server(assign(K, stage_arg("Busy", ref(DESK)))),
        "pool",
    ),
    Case(
        "SQ026",
        (*S, "Set", 1, "Call", 1, 0),
        server(assign(K, call("Used", num(1)))),
        server(assign(K, pool_arg("Used", ref(MEMORY)))),
    ),
    Case(
        "SQ026",
        (*S, "Set", 1),
        server(assign(K, {"Sample": ["Uniform", [num(1)]]})),
        server(assign(K, {"Sample": ["Uniform", [num(1), num(2)]]})),
        "low, high",
    ),
    Case(
        "SQ508",
        (*S, "Observe", 1, "Cost", 0),
        server(observe(joint(target("Stage", ref(DESK)), target("Pool", ref(MEMORY))))),
        server(observe(joint(target("Pool", ref(MEMORY)), target("Stage", ref(DESK))))),
    ),
    Case(
        "SQ508",
        (*S, "Observe", 1, "Cost", 0),
        server(observe(joint(target("Pool", ref(MEMORY))))),
        server(observe(cost("Pool", ref(MEMORY)))),
    ),
    Case(
        "SQ508",
        (*S, "Observe", 1, "Cost", 0),
        server(observe(joint(target("Pool", ref(1, 2)), target("Pool", ref(1, 2))))),
        server(observe(joint(target("Pool", ref(1)), target("Pool", ref(2))))),
    ),
]

CASES = [*SETTINGS, *TABLES, *INDICES, *SIGNATURES]


@pytest.mark.parametrize("case", CASES, ids=[c.id for c in CASES])
def test_rule(case: Case) -> None:
    check(case)


def test_blocks_nothing_reaches_are_left_alone() -> None:
    doc = Doc()
    doc.block({"Loop": doc.block(run())})
    doc.block({"Loop": len(doc["blocks",])}, run())
    assert doc.findings() == ()


def test_blocks_in_a_circle_are_found_and_walked_once() -> None:
    doc = Doc()
    inner = doc.block(run())
    doc.put(("blocks", inner, 0), {"While": [num(1), inner]})
    doc.server(hold(inner, ref(MEMORY)))
    found = [(d.code, d.place.path) for d in doc.findings()]
    assert found == [("SQ609", ("blocks", inner, 0)), ("SQ024", ("blocks", inner, 0, "While", 1))]


def test_everything_wrong_is_reported_at_once_in_order() -> None:
    doc = Doc().put(("horizon",), 0).put(("hidden",), [0])
    doc.server(assign(JOB, num(1)), run(amount=num(-1)))
    found = doc.findings()
    assert [d.code for d in found] == ["SQ502", "SQ601", "SQ516", "SQ020"]
    assert [d.place.path[0] for d in found] == ["blocks", "blocks", "hidden", "horizon"]
