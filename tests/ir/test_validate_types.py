"""Types, sides, hidden attributes, presets, and costs set on every path (SQ50x, SQ51x)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from serq.ir import tables
from serq.ir.tables import CostRule
from tests.ir.builders import (
    CACHED,
    CLIENT,
    COMPUTED,
    DESK,
    DESK_COST,
    HOME,
    JOB,
    KV,
    LINE,
    LONG,
    MEMORY,
    MEMORY_COST,
    SERIAL,
    Case,
    Doc,
    Json,
    K,
    M,
    S,
    assign,
    attr,
    binary,
    branch,
    call,
    check,
    choose,
    cost,
    grow,
    hold,
    joint,
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
    target,
)

DESK_1 = cost("Stage", ref(DESK))
LESS = binary("Lt", DESK_1, DESK_1)


def _run(work: Json) -> Json:
    return {"Run": {"stage": ref(DESK), "mode": "Plain", "work": work, "growing": None}}


def _new_cost(doc: Doc) -> int:
    """An attribute for a cost of the desk that nothing sets."""
    doc["attrs",].append("late")
    doc["attr_types",].append({"Cost": target("Stage", ref(DESK))})
    return len(doc["attrs",]) - 1


USES = [
    Case("SQ501", ("slot_cached",), put(("slot_cached",), JOB), put(("slot_cached",), K), "job"),
    Case("SQ501", ("slot_out",), put(("slot_out",), K), put(("slot_out",), JOB)),
    Case("SQ504", (*S, "Set", 1), server(assign(K, DESK_1)), server(assign(K, LESS)), "`k`"),
    Case("SQ504", (*S, "Set", 1), server(assign(DESK_COST, num(2))), server(assign(DESK_COST, DESK_1))),
    Case(
        "SQ504",
        (*S, "Set", 1),
        server(assign(DESK_COST, cost("Pool", ref(MEMORY)))),
        server(assign(DESK_COST, {"Unary": ["Neg", attr(DESK_COST)]})),
    ),
    Case("SQ504", (*S, "Choose", "var"), server(choose(DESK_COST)), server(choose(K))),
    Case("SQ505", (*S, "Run", "work"), server(_run(num(1))), server(_run(DESK_1)), "cost of `desk`"),
    Case(
        "SQ505", (*S, "Run", "work"), server(_run(cost("Pool", ref(MEMORY)))), server(_run(attr(DESK_COST)))
    ),
    Case(
        "SQ505",
        (*S, "Run", "work"),
        server({**_run(cost("Stage", ref(LINE))), "Run": {**_run(DESK_1)["Run"], "stage": ref(LINE, 2)}}),
        server(run(ref(LINE, 2))),
        "line",
    ),
    Case(
        "SQ505",
        (*S, "Hold", "pools", 0, 1),
        lambda d: d.server(hold(d.block(), [ref(MEMORY), num(1), None])),
        lambda d: d.server(hold(d.block(), [ref(MEMORY), attr(MEMORY_COST), None])),
        "units",
    ),
    Case(
        "SQ505",
        (*S, "Hold", "pools", 0, 2),
        lambda d: d.server(hold(d.block(), [ref(MEMORY), attr(MEMORY_COST), num(1)])),
        lambda d: d.server(hold(d.block(), [ref(MEMORY), attr(MEMORY_COST), attr(MEMORY_COST)])),
        "reserve",
    ),
    Case(
        "SQ505",
        (*S, "Hold", "cache"),
        lambda d: d.server(hold(d.block(), ref(MEMORY), ref(KV), cache=attr(MEMORY_COST))),
        lambda d: d.server(
            hold(
                d.block(),
                ref(KV),
                ref(MEMORY),
                cache=joint(target("Pool", ref(MEMORY)), target("Pool", ref(KV))),
            )
        ),
        "memory, kv",
    ),
    Case(
        "SQ505",
        (*S, "Hold", "reuse"),
        lambda d: d.server(hold(d.block(), part(num(0)), part(num(1)), reuse=cost("Pool", ref(1)))),
        lambda d: d.server(hold(d.block(), part(num(0)), part(num(1)), reuse=cost("Pool", part()))),
    ),
    Case(
        "SQ505",
        (*S, "Hold", "cache"),
        lambda d: d.server(hold(d.block(), cache=cost("Pool", ref(MEMORY)))),
        lambda d: d.server(hold(d.block())),
    ),
    Case(
        "SQ505",
        ("blocks", 4, 0, "Grow", 1),
        lambda d: d.server(hold(d.block({"Grow": [ref(MEMORY), num(1)]}), ref(MEMORY))),
        lambda d: d.server(hold(d.block(grow(ref(MEMORY))), ref(MEMORY))),
    ),
    Case(
        "SQ505",
        ("blocks", 4, 0, "Load", 1),
        lambda d: d.server(hold(d.block({"Load": [ref(MEMORY), DESK_1]}), ref(MEMORY))),
        lambda d: d.server(hold(d.block(load(ref(MEMORY))), ref(MEMORY))),
    ),
]

ORDINARY = [
    Case(
        "SQ506",
        (*S, "Branch", 0),
        *[lambda d, g=g: d.server(branch(d.block(), d.block(), g)) for g in (DESK_1, LESS)],
    ),
    Case("SQ506", (*S, "Choose", "count"), server(choose(count=DESK_1)), server(choose(count=LESS))),
    Case("SQ506", (*S, "Choose", "key", 0), server(choose(keys=[DESK_1])), server(choose(keys=[LESS]))),
    Case("SQ506", (*S, "Drop", "index"), server({"Drop": part(DESK_1)}), server({"Drop": part(LESS)})),
    Case(
        "SQ506",
        (*S, "Hold", "lease", 1),
        *[
            lambda d, t=t: d.server(hold(d.block(), ref(MEMORY), lease=[ref(MEMORY), t]))
            for t in (DESK_1, num(3))
        ],
    ),
    Case(
        "SQ506",
        (*S, "Observe", 1),
        server(observe(cost("Stage", ref(DESK), DESK_1))),
        server(observe(DESK_1)),
    ),
    Case(
        "SQ506",
        (*S, "Observe", 1),
        server(observe({"Sample": ["Exp", [DESK_1]]})),
        server(observe({"Sample": ["Exp", [LESS]]})),
    ),
    Case(
        "SQ506",
        (*S, "Observe", 1),
        server(observe(pool_arg("Used", part(DESK_1)))),
        server(observe(pool_arg("Used", part(attr(K))))),
    ),
    Case(
        "SQ506",
        (*S, "Observe", 1),
        server(observe({"Cond": [DESK_1, num(1), num(2)]})),
        server(observe({"Cond": [num(1), DESK_1, DESK_1]})),
    ),
    Case(
        "SQ506",
        ("gauges", 0, "expr"),
        put(("gauges", 0, "expr"), DESK_1),
        put(("gauges", 0, "expr"), stage_arg("Queue", ref(DESK))),
        "gauge `used`",
    ),
    Case(
        "SQ506",
        ("pools", 0, "queue", 0, "Binary", 1),
        put(("pools", 0, "queue", 0), LESS),
        put(("pools", 0, "queue", 0), binary("Lt", attr(JOB), num(2))),
    ),
    Case("SQ506", ("claims", 0, "given"), put(("claims", 0, "given"), attr(DESK_COST)), server()),
    Case(
        "SQ507",
        (*S, "Run", "work"),
        server(_run(binary("Add", DESK_1, num(2)))),
        server(_run(binary("Mul", DESK_1, num(2)))),
    ),
    Case(
        "SQ507",
        (*S, "Run", "work", "Cond", 1),
        server(_run({"Cond": [num(1), binary("Div", num(4), DESK_1), DESK_1]})),
        server(_run({"Cond": [num(1), binary("Div", DESK_1, num(4)), DESK_1]})),
    ),
    Case(
        "SQ507",
        (*S, "Run", "work"),
        server(_run({"Cond": [num(1), DESK_1, num(1)]})),
        server(_run({"Cond": [num(1), DESK_1, attr(DESK_COST)]})),
        "?:",
    ),
]

AUTHORITY = [
    Case("SQ502", S, server(assign(JOB, num(1))), server(assign(CACHED, num(1))), "job"),
    Case("SQ502", S, server(choose(SERIAL)), lambda d: d.workload(choose(LONG))),
    Case(
        "SQ503",
        ("blocks", 0, 0),
        put(("blocks", 0, 0, "Set", 0), K),
        put(("blocks", 0, 0, "Set", 0), JOB),
        "`k`",
    ),
    Case("SQ503", S, lambda d: d.workload(choose(K)), lambda d: d.workload(assign(JOB, num(2)))),
    Case(
        "SQ510",
        (*S, "Run", "work"),
        lambda d: d.server(run(ref(CLIENT))).workload(run(ref(CLIENT))),
        lambda d: d.workload(run(ref(CLIENT))),
        "client",
    ),
    Case(
        "SQ510",
        (*S, "Observe", 1, "Binary", 1),
        lambda d: d.server(run(ref(LINE, 2))).workload(
            observe(binary("Mul", cost("Stage", ref(LINE + 1)), num(2)))
        ),
        lambda d: d.server(run(ref(LINE))).workload(
            observe(binary("Mul", cost("Stage", ref(LINE + 1)), num(2)))
        ),
    ),
    Case(
        "SQ510",
        (*S, "Observe", 1),
        lambda d: d.server(hold(d.block(), ref(MEMORY))).workload(observe(attr(MEMORY_COST))),
        lambda d: d.server(hold(d.block(), ref(KV))).workload(observe(attr(MEMORY_COST))),
    ),
    Case(
        "SQ510",
        (*S, "Observe", 1),
        lambda d: d.server(hold(d.block(), ref(HOME))).workload(
            observe(joint(target("Pool", ref(HOME)), target("Stage", ref(CLIENT))))
        ),
        lambda d: d.server({"Drop": ref(HOME)}).workload(
            observe(joint(target("Pool", ref(HOME)), target("Stage", ref(CLIENT))))
        ),
    ),
    Case("SQ511", ("blocks", 1, 0, "Set", 1), put(("blocks", 1, 0, "Set", 1), LESS), server()),
    Case("SQ511", ("blocks", 0, 0, "Observe", 1), put(("blocks", 0, 0), observe(attr(DESK_COST))), server()),
    Case(
        "SQ512",
        ("blocks", 4, 0),
        lambda d: d.server({"Loop": d.block("End", side="Workload")}),
        lambda d: d.workload({"Loop": d.block("End", side="Workload")}),
    ),
    Case("SQ513", ("blocks", 2, 0), put(("sides", 2, 0), "Server"), put(("sides", 2, 4), "Server")),
    Case(
        "SQ514",
        ("sides", 1, 0),
        lambda d: d.put(("blocks", 1, 0), observe(num(1))).put(("sides", 1, 0), "Server"),
        lambda d: d.put(("blocks", 1, 0), observe(num(1))),
        "turn",
    ),
]

_SESSIONS = ("arrival", "Sessions", 0)
SLOTS = [
    Case(
        "SQ515",
        (*_SESSIONS, "attrs", 0, 0),
        put(("arrival",), {"Sessions": [{"attrs": [[K, 1]]}]}),
        put(("arrival",), {"Sessions": [{"attrs": [[JOB, 1]]}]}),
        "`k`",
    ),
    Case(
        "SQ515",
        (*_SESSIONS, "turns", 1, 0, 0),
        put(("arrival",), {"Sessions": [{"attrs": [], "turns": [[], [[CACHED, 1]]]}]}),
        put(("arrival",), {"Sessions": [{"attrs": [], "turns": [[], [[LONG, 1]]]}]}),
    ),
    Case("SQ516", ("hidden", 0), put(("hidden",), [COMPUTED]), put(("hidden",), [SERIAL]), "computed"),
    Case("SQ516", ("hidden", 1), put(("hidden",), [JOB, JOB]), put(("hidden",), [JOB, LONG]), "twice"),
]


def _late(*statements: Callable[[Doc, int], Json]) -> Callable[[Doc], object]:
    def edit(doc: Doc) -> None:
        slot = _new_cost(doc)
        doc.server(*(make(doc, slot) for make in statements))

    return edit


def _set(doc: Doc, slot: int) -> Json:
    return assign(slot, DESK_1)


def _read(doc: Doc, slot: int) -> Json:
    return observe(attr(slot))


def _arms(then: bool, other: bool) -> Callable[[Doc, int], Json]:
    def make(doc: Doc, slot: int) -> Json:
        return branch(*(doc.block(*([_set(doc, slot)] if arm else [])) for arm in (then, other)))

    return make


def _inside(wrap: Callable[[int], Json], *, run_first: bool = True) -> Callable[[Doc, int], Json]:
    def make(doc: Doc, slot: int) -> Json:
        return wrap(doc.block(*([run()] if run_first else []), _set(doc, slot)))

    return make


def _caching(doc: Doc, slot: int) -> Json:
    doc["attr_types", slot].update({"Cost": target("Pool", ref(MEMORY))})
    body = doc.block(assign(slot, cost("Pool", ref(MEMORY))))
    return hold(body, ref(MEMORY), cache=attr(slot))


def _memory_set(doc: Doc, slot: int) -> Json:
    return assign(slot, cost("Pool", ref(MEMORY)))


READ: tuple[str | int, ...] = ("Observe", 1)
READY = [
    Case("SQ509", (*S, *READ), _late(_read), _late(_set, _read), "late"),
    Case(
        "SQ509",
        (*S, "Set", 1),
        _late(lambda d, s: assign(s, attr(s))),
        _late(_set, lambda d, s: assign(s, attr(s))),
    ),
    Case("SQ509", ("blocks", 2, 5, *READ), _late(_arms(True, False), _read), _late(_arms(True, True), _read)),
    Case(
        "SQ509",
        ("blocks", 2, 5, *READ),
        _late(_inside(lambda b: {"While": [attr(K), b]}), _read),
        _late(_inside(lambda b: hold(b, ref(MEMORY))), _read),
    ),
    Case(
        "SQ509",
        ("blocks", 2, 6, *READ),
        _late(_inside(lambda b: {"Fork": b}), lambda d, s: "Join", _read),
        _late(_set, lambda d, s: {"Fork": d.block(_read(d, s))}, lambda d, s: "Join"),
    ),
    Case("SQ509", (*S, "Hold", "cache"), _late(_caching), _late(_memory_set, _caching)),
]

CASES = [*USES, *ORDINARY, *AUTHORITY, *SLOTS, *READY]


@pytest.mark.parametrize("case", CASES, ids=[c.id for c in CASES])
def test_rule(case: Case) -> None:
    check(case)


def _kinds(rule: CostRule) -> dict[str, str]:
    """What an operator gives for (cost, cost), (cost, other cost), (cost, number), (number, cost)."""
    accepted = {
        CostRule.SAME: {"cc": "cost"},
        CostRule.COMPARE: {"cc": "number"},
        CostRule.SCALE: {"cn": "cost", "nc": "cost"},
        CostRule.SCALE_LEFT: {"cn": "cost"},
        CostRule.REFUSE: {},
    }
    return {pair: accepted[rule].get(pair, "refused") for pair in ("cc", "cd", "cn", "nc")}


_OPERANDS = {"c": DESK_1, "d": cost("Pool", ref(MEMORY)), "n": num(0.5)}


def _kind(e: Json) -> str:
    if not Doc().server(_run(e)).findings():
        return "cost"
    return "refused" if Doc().server(assign(K, e)).findings() else "number"


BINARY = [(row.ir, row.costs, lambda a, b, op=row.ir: binary(op, a, b)) for row in tables.BINARY.values()]
BINARY += [
    (row.ir, row.costs, lambda a, b, fun=row.ir: call(fun, a, b))
    for row in tables.FUNCTIONS
    if row.params == (tables.Param.NUMBER, tables.Param.NUMBER)
]


@pytest.mark.parametrize(("name", "rule", "make"), BINARY, ids=[row[0] for row in BINARY])
def test_costs_in_binary_operators(name: str, rule: CostRule, make: Callable[[Json, Json], Json]) -> None:
    found = {pair: _kind(make(_OPERANDS[pair[0]], _OPERANDS[pair[1]])) for pair in ("cc", "cd", "cn", "nc")}
    if name == "Sub":  # one unit less one unit is no work, and no finding either
        assert found["cc"] == "cost"
    assert found == _kinds(rule)


UNARY = [(row.ir, row.costs, lambda a, op=row.ir: {"Unary": [op, a]}) for row in tables.UNARY.values()]
UNARY += [
    (row.ir, row.costs, lambda a, fun=row.ir: call(fun, a))
    for row in tables.FUNCTIONS
    if row.params == (tables.Param.NUMBER,)
]


@pytest.mark.parametrize(("name", "rule", "make"), UNARY, ids=[row[0] for row in UNARY])
def test_costs_in_unary_operators(name: str, rule: CostRule, make: Callable[[Json], Json]) -> None:
    nothing = cost("Stage", ref(DESK), num(0))
    assert _kind(make(nothing)) == ("cost" if rule is CostRule.KEEP else "refused")


def test_a_mistake_inside_an_expression_is_reported_once() -> None:
    doc = Doc().server(_run(binary("Add", binary("Add", DESK_1, num(1)), num(2))))
    assert [d.code for d in doc.findings()] == ["SQ507"]


def test_other_attributes_stay_what_they_are() -> None:
    doc = Doc().server(assign(K, attr(M)), observe(attr(DESK_COST)))
    assert doc.findings() == ()
