"""Requests (api.md §7.6, §10.9): every trigger with its code and its place."""

from __future__ import annotations

import pytest

from tests.lang.refused import Case, check, engine, request, server, session

REGISTER = engine(
    items="state w = 0; request (x) { observe z = w; prefill (x); }",
    schedule="schedule { set w = 1; advance running; admit waiting; }",
)

CASES: list[Case] = [
    (server("", REGISTER), "SQ772", "w"),
    (server("E (n);", REGISTER), "SQ772", "w"),
    (server("E (1, 2);", request()), "SQ799", "E (1, 2);"),
    (server("E (~exp(1));", request()), "SQ799", "~exp(1)"),
    (server("E (n);", request(body="set x = 1; prefill (x) growing kv;")), "SQ778", "x"),
    (server("E (n);", request(body="prefill (x + o) growing kv;")), "SQ772", "o"),
    (server("E (n);", request(body="prefill (serial) growing kv;")), "SQ772", "(serial)"),
    (server("E (n);", request(taking="taking r (1), kv (o)")), "SQ772", "(o)"),
    (server("E (n);", request(taking="taking r (1), kv (now)")), "SQ772", "(now)"),
    (
        server("E (n);", request(taking="taking r (1), kv (z)", before="at admission { z = o; }")),
        "SQ772",
        "o",
    ),
    (
        server("E (n);", request(body="set y = 1; prefill (y) growing kv;", taking="taking r (1), kv (y)")),
        "SQ777",
        "(y)",
    ),
    (
        server("E (n);", request(body="prefill (x);", taking="", before="at admission { z = 1; }")),
        "SQ769",
        "at admission { z = 1; }",
    ),
    (server("E (n);", request(body="prefill (x); cache (x);", taking="")), "SQ769", "cache (x);"),
    (server("E (n);", request(taking="taking r (1), p (x)")), "SQ769", "p"),
    (server("E (n);", request(taking="taking r (1), r (x)")), "SQ776", "kv", "SQ769", "r"),
    (server("E (n);", request(body="hold p (cost(p, 1)) { }")), "SQ776", "p"),
    (server("E (n);", request(body="end;")), "SQ650", "end;"),
    (server("", request(), session("turn; E (1);")), "SQ771", "E (1);"),
    (server("E (1);", engine()), "SQ771", "E (1);"),
    (server("E (n);", request(body="observe z = queue(s); prefill (x) growing kv;")), "SQ779", "s"),
    (server("E (n);", request(body="observe z = E.y; prefill (x) growing kv;")), "SQ779", "E.y"),
    (server("E (n); observe z = y;", request(body="set y = 1; prefill (y) growing kv;")), "SQ782", "y"),
    (server("set y = 2; E (n);", request(body="set y = 1; prefill (y) growing kv;")), "SQ782", "y"),
    (server("E (n);", request(body="E (x);")), "SQ796", "E (x);"),
    (server("E (1, 2);", request(parameters="x, x")), "SQ237", "x"),
    (server("E (n);", request(body="observe z = nope; prefill (x) growing kv;")), "SQ301", "nope"),
    (server("E (n);", request(body="prefill (x) growing p;")), "SQ776", "p"),
    (
        server("", engine(schedule="schedule { advance running; admit waiting taking r (1); }")),
        "SQ769",
        "taking r (1)",
    ),
    (
        server(
            "E (1);",
            engine(
                items="request (x) { prefill (x); }",
                schedule="schedule { advance running; admit waiting taking r (1); admit waiting; }",
            ),
        ),
        "SQ769",
        "admit waiting;",
    ),
    (
        server("", engine(size="[2]", devices="[2]", items="request (x) { prefill (x); }")),
        "SQ770",
        "request (x) { prefill (x); }",
    ),
    (
        server("E (n);", request(items="request (y) { }")),
        "SQ751",
        "request (x) {  prefill (x) growing kv; }",
        "SQ301",
        "(x)",
    ),
    (server("E (n);", request(taking="taking r (1), kv (~exp(1))")), "SQ403", "(~exp(1))"),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_is_refused_with_its_code_at_its_place(case: Case) -> None:
    check(case)
