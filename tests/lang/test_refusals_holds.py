"""Holds, loops, legs, indices, amounts, flows, bindings (api.md §10.7): every trigger with its code and its place."""

from __future__ import annotations

import pytest

from tests.lang.refused import Case, check, engine, server, session

CASES: list[Case] = [
    (server("release p;"), "SQ603", "release p;"),
    (server("grow p (cost(p, 1));"), "SQ603", "p"),
    (server("load p (cost(p, 1));"), "SQ603", "p"),
    (server("hold a[0] (cost(a, 1)), a[0] (cost(a, 1)) { }"), "SQ604", "a[0]"),
    (server("hold p (cost(p, 20)) { }"), "SQ602", "(cost(p, 20))"),
    (server("hold p (cost(p, 1)) reserve (cost(p, 10)) { }"), "SQ602", "(cost(p, 10))"),
    (server("hold p (cost(p, -1)) { }"), "SQ601", "(cost(p, -1))"),
    (server("run s (cost(s, min(-1, 2)));"), "SQ601", "(cost(s, min(-1, 2)))"),
    (server("hold p (cost(p, 1)) { } lease q (1)"), "SQ605", "q"),
    (server("run t[5] (cost(t, 1));"), "SQ318", "[5]"),
    (server("set k = 0; hold a[k] (cost(a, 1)) { set k = 1; }"), "SQ606", "[k]"),
    (server("hold a[used(p)] (cost(a, 1)) { grow a[used(p)] (cost(a, 1)); }"), "SQ607", "a[used(p)]"),
    (server("loop { set x = 1; }"), "SQ609", "loop { set x = 1; }"),
    (
        server("loop { branch (n > 1) { run s (cost(s, 1)); } }"),
        "SQ609",
        "loop { branch (n > 1) { run s (cost(s, 1)); } }",
    ),
    (server("fork { }"), "SQ614", "fork { }"),
    (server("join;"), "SQ614", "join;"),
    (server("fork { fork { } } join;"), "SQ612", "fork { }"),
    (server("fork { join; }"), "SQ612", "join;"),
    (server("hold p (cost(p, 1)) { fork { release p; } join; }"), "SQ603", "release p;"),
    (server("hold p (cost(p, 1)) { end; }"), "SQ650", "end;"),
    (server("fork { end; } join;"), "SQ650", "end;"),
    (server("turn;"), "SQ211", "turn;"),
    (server("run s prefill (cost(s, 1));"), "SQ701", "run s prefill (cost(s, 1));"),
    (server("run s (cost(s, 1)) growing p;"), "SQ603", "p", "SQ702", "p"),
    (
        server("run t[0], t[1] (cost(t, 1));"),
        "SQ617",
        "run t[0], t[1] (cost(t, 1));",
        "SQ616",
        "t[0]",
        "SQ615",
        "t[1]",
        "SQ616",
        "t[1]",
    ),
    (server("hold p (cost(p, 1)) at admission (x = 1, x = 2) { }"), "SQ655", "x"),
    (server("hold p (cost(p, 1)) at admission (x = y, y = 2) { }"), "SQ657", "y"),
    (server("hold p (cost(p, 1)) at admission (x = used(p)) { set y = x; }"), "SQ658", "x = used(p)"),
    (
        server("hold p (cost(p, 1)) at admission (x = cached) { set y = x; } cache (cost(p, 1))"),
        "SQ658",
        "x = cached",
    ),
    (server("hold p (cost(p, 1)) at admission (x = n) { set y = x; } observe z = x;"), "SQ659", "x"),
    (server("hold z[now] (cost(z, 1)) { }", "pool z[2] { cap 5; preempt lifo; }"), "SQ608", "[now]"),
    (server("hold z[cached] (cost(z, 1)) { }", "pool z[2] { cap 5; preempt lifo; }"), "SQ608", "[cached]"),
    (server("hold z[used(p)] (cost(z, 1)) { }", "pool z[2] { cap 5; preempt lifo; }"), "SQ608", "[used(p)]"),
    (
        server("hold z[0] (cost(z, 1)) { fork { } join; }", "pool z[2] { cap 5; preempt lifo; }"),
        "SQ613",
        "fork { }",
    ),
    (
        server("run u, v (cost(u, v, 1));", "stage u : ps(1); stage v : ps(1);"),
        "SQ617",
        "run u, v (cost(u, v, 1));",
    ),
    (server("", "share maxmin;"), "SQ617", "share maxmin;"),
    (server("run u, s (cost(u, s, 1));", "share maxmin; stage u : ps(1);"), "SQ616", "s"),
    (server("run E (cost(E, 1));", engine()), "SQ701", "run E (cost(E, 1));"),
    (
        server("set k = 1;", workload=session("set k = 0; hold a[k] (cost(a, 1)) { turn; }")),
        "SQ606",
        "[k]",
        "SQ502",
        "set k = 1;",
    ),
    (server("", workload=session("fork { turn; } join;")), "SQ612", "turn;"),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_is_refused_with_its_code_at_its_place(case: Case) -> None:
    check(case)
