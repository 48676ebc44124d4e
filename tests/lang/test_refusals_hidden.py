"""Hidden attributes in the server (api.md §10.8): every trigger with its code and its place."""

from __future__ import annotations

import pytest

from tests.lang.refused import HIDDEN, Case, check, server

CASES: list[Case] = [
    (server("branch (o) { }", workload=HIDDEN), "SQ560", "(o)"),
    (server("while (o) { run s (cost(s, o)); }", workload=HIDDEN), "SQ560", "(o)"),
    (server("choose k in 2 by (o);", workload=HIDDEN), "SQ560", "o"),
    (server("run t[o] (cost(t, 1));", workload=HIDDEN), "SQ560", "[o]"),
    (server("hold a[o] (cost(a, 1)) { }", workload=HIDDEN), "SQ560", "[o]"),
    (server("hold p (cost(p, 1)) { grow p (cost(p, o)); }", workload=HIDDEN), "SQ560", "o"),
    (server("hold p (cost(p, 1)) { load p (cost(p, o)); }", workload=HIDDEN), "SQ560", "o"),
    (server("hold p (cost(p, 1)) { } lease p (o)", workload=HIDDEN), "SQ560", "(o)"),
    (server("branch with (o) { }", workload=HIDDEN), "SQ560", "(o)"),
    (server("set x = o; branch (x) { }", workload=HIDDEN), "SQ560", "(x)"),
    (server("set x = o; hold p (cost(p, x)) { }", workload=HIDDEN), "SQ560", "x"),
    (server("hold p (cost(p, o)) { }", workload=HIDDEN), "SQ517", "o"),
    (server("run s (cost(s, o)); hold p (cost(p, o)) { }", workload=HIDDEN), "SQ517", "o"),
    (server("branch (n) { run s (cost(s, o)); } branch (o) { }", workload=HIDDEN), "SQ560", "(o)"),
    (server("while (n > 1) { run s (cost(s, o)); } branch (o) { }", workload=HIDDEN), "SQ560", "(o)"),
    (server("fork { run s (cost(s, o)); } join; branch (o) { }", workload=HIDDEN), "SQ560", "(o)"),
    (server("run s (cost(s, n > 2 ? o : 1)); branch (o) { }", workload=HIDDEN), "SQ560", "(o)"),
    (server("run s (cost(s, n && o)); branch (o) { }", workload=HIDDEN), "SQ560", "(o)"),
    (server("loop { branch (o) { end; } run s (cost(s, o)); }", workload=HIDDEN), "SQ560", "(o)"),
    (server("", "pool x { queue by (o); }", HIDDEN), "SQ517", "o"),
    (server("", "pool x { evict by (o); }", HIDDEN), "SQ517", "o"),
    (server("", "pool x { preempt by (o); }", HIDDEN), "SQ517", "o"),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_is_refused_with_its_code_at_its_place(case: Case) -> None:
    check(case)
