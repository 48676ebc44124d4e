"""Definitions (api.md §7.2): every trigger with its code and its place."""

from __future__ import annotations

import pytest

from tests.lang.refused import Case, check, main, server

CASES: list[Case] = [
    (main("def f(x) { g(x) } def g(x) { x }"), "SQ240", "g"),
    (main("def f(x) { f(x) }"), "SQ239", "f"),
    (main("def f(x) { x } def f(y) { y }"), "SQ235", "f"),
    (main("def f(x, x) { x }"), "SQ237", "x"),
    (main("def f(x) { set x = 1; }"), "SQ238", "x"),
    (main("def f(x) { sum x in 2 (x) }"), "SQ238", "x"),
    (main("def queue(x) { x }"), "SQ236", "queue"),
    (main("def f(queue) { 1 }"), "SQ236", "queue"),
    (main("def f(now) { 1 }"), "SQ312", "now"),
    (main("let A = f(1); def f(x) { x }"), "SQ321", "f"),
    (
        server(
            "set z = f(~exp(1));",
            "def f(x) { x + x } def h(x) { run s (cost(s, x)); set w = x; } def k(r) { run r (cost(s, 1)); }",
        ),
        "SQ243",
        "~exp(1)",
    ),
    (
        server(
            "set z = f(1, 2);",
            "def f(x) { x + x } def h(x) { run s (cost(s, x)); set w = x; } def k(r) { run r (cost(s, 1)); }",
        ),
        "SQ241",
        "f(1, 2)",
    ),
    (
        server(
            "set z = f;",
            "def f(x) { x + x } def h(x) { run s (cost(s, x)); set w = x; } def k(r) { run r (cost(s, 1)); }",
        ),
        "SQ301",
        "f",
    ),
    (
        server(
            "f(1);",
            "def f(x) { x + x } def h(x) { run s (cost(s, x)); set w = x; } def k(r) { run r (cost(s, 1)); }",
        ),
        "SQ242",
        "f(1);",
    ),
    (
        server(
            "set z = h(1);",
            "def f(x) { x + x } def h(x) { run s (cost(s, x)); set w = x; } def k(r) { run r (cost(s, 1)); }",
        ),
        "SQ242",
        "h(1)",
    ),
    (
        server(
            "h(now);",
            "def f(x) { x + x } def h(x) { run s (cost(s, x)); set w = x; } def k(r) { run r (cost(s, 1)); }",
        ),
        "SQ245",
        "now",
    ),
    (
        server(
            "h(used(p));",
            "def f(x) { x + x } def h(x) { run s (cost(s, x)); set w = x; } def k(r) { run r (cost(s, 1)); }",
        ),
        "SQ245",
        "used(p)",
    ),
    (
        server(
            "h(w);",
            "def f(x) { x + x } def h(x) { run s (cost(s, x)); set w = x; } def k(r) { run r (cost(s, 1)); }",
        ),
        "SQ244",
        "w",
    ),
    (
        server(
            "h(~exp(1));",
            "def f(x) { x + x } def h(x) { run s (cost(s, x)); set w = x; } def k(r) { run r (cost(s, 1)); }",
        ),
        "SQ243",
        "~exp(1)",
    ),
    (
        server(
            "k(n + 1);",
            "def f(x) { x + x } def h(x) { run s (cost(s, x)); set w = x; } def k(r) { run r (cost(s, 1)); }",
        ),
        "SQ246",
        "n + 1",
    ),
    (
        server(
            "set z = late(1);",
            "def f(x) { x + x } def h(x) { run s (cost(s, x)); set w = x; } def k(r) { run r (cost(s, 1)); }",
        ),
        "SQ305",
        "late",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_is_refused_with_its_code_at_its_place(case: Case) -> None:
    check(case)
