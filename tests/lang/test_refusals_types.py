"""Types, sides and cost declarations (api.md §10.6): every trigger with its code and its place."""

from __future__ import annotations

import pytest

from tests.lang.refused import Case, check, main, server, session

CASES: list[Case] = [
    (server("run s (1);"), "SQ505", "(1)"),
    (server("hold p (1) { }"), "SQ505", "(1)"),
    (server("hold p (cost(q, 1)) { }"), "SQ505", "(cost(q, 1))"),
    (server("run s (cost(p, 1));"), "SQ505", "(cost(p, 1))"),
    (server("hold p (cost(p, 1)), q (cost(q, 1)) { } cache (cost(p, 1))"), "SQ505", "(cost(p, 1))"),
    (server("run s (cost(s, cost(s, 1)));"), "SQ506", "(cost(s, cost(s, 1)))"),
    (server("tool on s (cost(s, 1));"), "SQ506", "(cost(s, 1))"),
    (server("set x = cost(s, 1) + 2;"), "SQ507", "cost(s, 1) + 2"),
    (server("set x = max(cost(s, 1), 2);"), "SQ507", "max(cost(s, 1), 2)"),
    (server("set x = exp(cost(s, 1));"), "SQ506", "exp(cost(s, 1))"),
    (server("branch (cost(s, 1)) { }"), "SQ506", "(cost(s, 1))"),
    (server("run t[cost(s, 1)] (cost(t, 1));"), "SQ506", "[cost(s, 1)]"),
    (server("hold p (cost(p, 1)) { } lease p (cost(p, 1))"), "SQ506", "(cost(p, 1))"),
    (server("choose j in 2 by (cost(s, 1));"), "SQ506", "cost(s, 1)"),
    (server("set c = cost(s, 1); set c = 2;"), "SQ504", "2"),
    (server("set c = cost(s, 1); set c = cost(p, 1);"), "SQ504", "cost(p, 1)"),
    (server("branch (n > 1) { set c = cost(s, 1); } run s (c);"), "SQ509", "(c)"),
    (server("hold p (cost(p, 1)) { set c = cost(p, 2); } cache (c)"), "SQ509", "(c)"),
    (server("Cost c = 3;"), "SQ551", "Cost c = 3;"),
    (server("Cost c = { s : 1, s : 2 };"), "SQ552", "s"),
    (server("Cost c = { t[0] : 1 };"), "SQ552", "t[0]"),
    (server("Cost c = { s : cost(s, 1) };"), "SQ506", "s : cost(s, 1)"),
    (server("Cost c = { s : 1 }; run s (c);"), "SQ554", "(c)"),
    (server("Cost c = { s : 1 }; set c = 2;"), "SQ553", "c"),
    (server("Cost c = { s : 1, p : 1 }; Cost c = { p : 1, s : 1 };"), "SQ553", "c"),
    (server("set n = 2;"), "SQ502", "set n = 2;"),
    (server("Size m = 3;"), "SQ211", "Size m = 3;"),
    (server("choose serial in 2 by (1);"), "SQ502", "choose serial in 2 by (1);"),
    (server("set c = cost(t[~bernoulli(0.5)], 1);"), "SQ555", "[~bernoulli(0.5)]"),
    (main("gauge g = cost(p, 1);"), "SQ506", "cost(p, 1)"),
    (
        server("", workload="workload { arrive batch(1); turn { set n = 1; set c = cost(s, 1); } }"),
        "SQ511",
        "cost(s, 1)",
    ),
    (server("set x = 2;", workload=session("set x = 1; turn;")), "SQ502", "set x = 2;"),
    (server("run s (cost(s, 1));", workload=session("turn; run s (cost(s, 1));")), "SQ510", "(cost(s, 1))"),
    (server("", workload=session("turn; Size c = cost(s, 1);")), "SQ550", "Size c = cost(s, 1);"),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_is_refused_with_its_code_at_its_place(case: Case) -> None:
    check(case)
