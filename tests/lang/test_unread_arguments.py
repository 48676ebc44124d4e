"""An argument a definition does not read: its names are the program's all the same (api.md §7.2)."""

from __future__ import annotations

import pytest

from tests.lang.refused import check, engine, entry, findings, main, request, server

DEFS = "def f(x) { 1 } def d(x) { set y = 1; } def g(x) { f(x) }"


def _server(statements: str) -> str:
    return server(statements, DEFS)


def _above(declarations: str) -> str:
    return main(f"{DEFS} {declarations}")


REFUSED = [
    (_server("set z = f(nope);"), "SQ301", "nope"),
    (_server("set z = g(nope);"), "SQ301", "nope"),
    (_server("set z = f(n + nope);"), "SQ301", "nope"),
    (_server("set z = f(nope[0]);"), "SQ301", "nope[0]"),
    (_server("set z = f(a[nope]);"), "SQ301", "[nope]"),
    (_server("d(nope);"), "SQ301", "nope"),
    (_server("set z = f(nope(1));"), "SQ305", "nope"),
    (_server("set z = f(~nope(1));"), "SQ305", "nope"),
    (_server("set z = f(used(nope));"), "SQ302", "nope"),
    (_server("set z = f(queue(p));"), "SQ304", "p"),
    (_server("set z = f(used(a));"), "SQ316", "a"),
    (_server("set z = f(used(a[7]));"), "SQ318", "[7]"),
    (_server("set z = f(min(1));"), "SQ319", "min(1)"),
    (_above("let K = f(nope);"), "SQ301", "nope"),
    (_above("gauge m = f(nope);"), "SQ301", "nope"),
    (_above(entry("set x = f(nope);")), "SQ301", "nope"),
    (_above(entry("set x = f(k + nope);")), "SQ301", "nope"),
    (_above(entry("set x = f(k + nope(1));")), "SQ305", "nope"),
    (_above(request(before="set w = f(nope);")), "SQ301", "nope"),
    (_above(engine(execute="execute (f(nope));")), "SQ301", "nope"),
]

ACCEPTED = [
    _server(
        "set z = f(n) + f(p) + f(s) + f(a[1]) + f(a[n]) + f(now) + f(~exp(2)) + f(sum j in 2 (used(a[j])));"
    ),
    _server("observe w = n; set z = f(largest(w)); d(p); d(n);"),
    _server("hold p (cost(p, 1)) at admission (b = n) { set z = f(b); }"),
    _above(entry("set x = f(k) + f(kv) + f(used(kv)) + f(queue(L)) + f(L);")),
    _above(request(before="set w = f(x);")),
    _above(engine(device="kv cap 9; mm(u) = f(u);", execute="execute (f(mm(2)) + f(running.count));")),
]


@pytest.mark.parametrize("case", REFUSED)
def test_its_names_are_checked(case: tuple[str, ...]) -> None:
    check(case)


@pytest.mark.parametrize("text", ACCEPTED)
def test_any_name_of_the_program_may_stand_there(text: str) -> None:
    assert not findings(text)
