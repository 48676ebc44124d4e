"""Lints: well formed, and almost certainly not meant (api.md §10.1): every trigger with its code and its place."""

from __future__ import annotations

import pytest

from tests.lang.refused import Case, check, server

CASES: list[Case] = [
    (server("set u = used(p); hold p (cost(p, u)) { }"), "SQ670", "u"),
    (server("set u = used(p); hold p (cost(p, 1)) reserve (cost(p, u)) { }"), "SQ670", "u"),
    (
        server("set u = est_wait(s); hold p (cost(p, 1)) reuse (cost(p, u)) { } cache (cost(p, 1))"),
        "SQ670",
        "u",
    ),
    (server("set u = used(p); hold p (cost(p, 1)) { } cache (cost(p, u))"), "SQ670", "u"),
    (server("hold p (cost(p, 1)) { set y = cached; }"), "SQ671", "cached"),
    (server("hold p (cost(p, 1)) reuse (cost(p, 1)) { }"), "SQ672", "(cost(p, 1))"),
    (
        server("hold p (cost(p, 1)) { hold q (cost(q, 1)) { } observe c = cached; } cache (cost(p, 0))"),
        "SQ673",
        "cached",
    ),
    (server("branch (0.5) { }"), "SQ674", "(0.5)"),
    (server("branch (2) { }"), "SQ674", "(2)"),
    (server("while (3) { run s (cost(s, 1)); }"), "SQ610", "(3)"),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_is_refused_with_its_code_at_its_place(case: Case) -> None:
    check(case)
