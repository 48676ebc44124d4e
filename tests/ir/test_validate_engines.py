"""Engines, admission, registers and claims (SQ70x, SQ71x)."""

from __future__ import annotations

import pytest

from serq.diagnostics import IrPath
from tests.ir.builders import (
    DESK,
    KV,
    LINE,
    LLM,
    MEMORY,
    OTHER,
    SLOTS_POOL,
    UP,
    Case,
    Doc,
    Edit,
    Json,
    S,
    binary,
    check,
    ctx,
    hold,
    num,
    put,
    ref,
    run,
    server,
)

STEP: IrPath = ("stages", OTHER, "kind", "Step")
BODY: IrPath = ("stages", LLM, "kind", "Step", "iteration")


def _granule(granule: Json, chunk: Json = None, **more: Json) -> Edit:
    def edit(doc: Doc) -> None:
        doc.put((*STEP, "granule"), granule).put((*STEP, "chunk"), num(0) if chunk is None else chunk)
        for name, value in more.items():
            doc.put((*STEP, name), value)

    return edit


def _growing(stage: int, mode: str) -> Edit:
    return lambda d: d.server(hold(d.block(run(ref(stage), mode=mode, growing=ref(KV))), ref(KV)))


MODES = [
    Case("SQ701", (*S, "Run", "mode"), server(run(ref(LLM))), server(run(ref(LLM), mode="Decode")), "llm"),
    Case("SQ701", (*S, "Run", "mode"), server(run(mode="Prefill")), server(run())),
    Case(
        "SQ701",
        (*S, "Run", "mode"),
        server(run(ref(OTHER, 2, num(0)), mode="Prefill")),
        server(run(ref(LLM, 2, num(0)), mode="Prefill")),
        "client",
    ),
    Case(
        "SQ702", ("blocks", 4, 0, "Run", "growing"), _growing(DESK, "Plain"), _growing(LLM, "Decode"), "desk"
    ),
]

POOLS = [
    Case(
        "SQ703",
        ("pools", SLOTS_POOL, "admit_via"),
        put(("pools", SLOTS_POOL, "admit_via"), UP),
        put(("pools", SLOTS_POOL, "admit_via"), OTHER),
        "slots",
    ),
    Case(
        "SQ704",
        ("pools", 0, "queue"),
        put(("pools", 0, "queue"), []),
        put(("pools", 0, "queue"), None),
        "memory",
    ),
    Case(
        "SQ704",
        ("pools", KV, "preempt", "By", "keys"),
        put(("pools", KV, "preempt", "By", "keys"), []),
        put(("pools", KV, "preempt"), {"By": {"keys": [num(1)], "tail": True}}),
    ),
]

ENGINES = [
    Case("SQ705", (*STEP, "granule"), _granule(num(0)), _granule(num("inf"))),
    Case("SQ705", (*STEP, "granule"), _granule(binary("Add", num(1), num(1))), _granule(num(2)), "1 + 1"),
    Case("SQ705", (*STEP, "granule"), _granule(num(4), num(2)), _granule(num(4), num(4)), "chunk 2"),
    Case(
        "SQ705",
        (*STEP, "granule"),
        _granule(num(4), {"Cond": [num(1), num(2), num(8)]}),
        _granule(num(4), {"Cond": [ctx("Nres"), num(2), num(8)]}),
    ),
    Case("SQ706", (*STEP, "granule"), _granule(num(4), serve="ExclusivePrefill"), _granule(num(4))),
    Case(
        "SQ706",
        (*STEP, "iteration"),
        lambda d: d.put((*STEP, "serve"), "ExclusivePrefill").put((*STEP, "iteration"), [{"Serve": {}}]),
        lambda d: d.put((*STEP, "serve"), "ExclusivePrefill"),
    ),
    Case(
        "SQ707",
        (*STEP, "iteration"),
        put((*STEP, "iteration"), []),
        put((*STEP, "iteration"), [{"Admit": {}}]),
        "other",
    ),
    Case(
        "SQ707",
        (*STEP, "iteration"),
        put((*STEP, "iteration"), [{"Branch": [num(1), [{"Serve": {}}], []]}]),
        put((*STEP, "iteration"), [{"Branch": [num(1), [{"Serve": {}}], []]}, {"Serve": {}}]),
    ),
    Case(
        "SQ707",
        BODY,
        put(BODY, [{"Set": [0, num(1)]}]),
        put(BODY, [{"Set": [0, num(1)]}, {"Serve": {"by": []}}]),
    ),
]

REGISTERS = [
    Case(
        "SQ708",
        ("registers", 1, "stage"),
        lambda d: d["registers",].append({"name": "rest", "stage": OTHER, "init": 0}),
        lambda d: d["registers",].append({"name": "rest", "stage": LLM, "init": 0}),
        "no iteration body",
    ),
    Case(
        "SQ708",
        ("registers", 1, "stage"),
        lambda d: d["registers",].append({"name": "rest", "stage": DESK, "init": 0}),
        server(),
        "not an engine",
    ),
    Case(
        "SQ708",
        ("registers", 0, "stage"),
        put(("stages", LLM, "index"), 0),
        put(("stages", OTHER, "index"), 0),
    ),
    Case(
        "SQ709",
        (*STEP, "iteration", 1, "Set", 0),
        put((*STEP, "iteration"), [{"Serve": {}}, {"Set": [0, num(1)]}]),
        put(BODY, [{"Serve": {}}, {"Set": [0, num(1)]}]),
        "turns",
    ),
    Case(
        "SQ709",
        (*STEP, "iteration", 0, "Branch", 2, 1, "Set", 0),
        put(
            (*STEP, "iteration"),
            [{"Branch": [num(1), [{"Serve": {}}], [{"Serve": {}}, {"Set": [0, num(1)]}]]}],
        ),
        put((*STEP, "iteration"), [{"Branch": [num(1), [{"Serve": {}}], [{"Serve": {}}]]}]),
    ),
    Case(
        "SQ710",
        ("claims", 0, "kind", "SomeIteration"),
        put(("claims", 0, "kind"), {"SomeIteration": LINE}),
        put(("claims", 0, "kind"), {"SomeIteration": OTHER}),
        "busy",
    ),
]

CASES = [*MODES, *POOLS, *ENGINES, *REGISTERS]


@pytest.mark.parametrize("case", CASES, ids=[c.id for c in CASES])
def test_rule(case: Case) -> None:
    check(case)


def test_names_of_everything_may_repeat_but_statistics() -> None:
    doc = Doc().put(("pools", MEMORY, "name"), "desk").put(("claims", 0, "name"), "used")
    assert doc.findings() == ()
