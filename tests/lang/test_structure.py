"""The shape of a program: every trigger of the structural refusals, with its code and place."""

from __future__ import annotations

import pytest

from serq.diagnostics import all_codes
from serq.diagnostics import catalogue as _catalogue  # noqa: F401  registers the codes
from tests.lang.sources import findings, marked

WORKLOAD = "workload { arrive batch(1); turn { set n = 3; set o = 2; } }"


def _main(text: str) -> str:
    return "fn main() { " + text + " }"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("SQ201", ""),
        ("SQ201", "   // nothing\n"),
        ("SQ201", "def f() { 1 }"),
        ("SQ202", "fn main() { } fn «main»() { }"),
        ("SQ202", _main("fn «main»() { }")),
        ("SQ202", "fn «foo»() { }"),
        ("SQ202", "fn «foo»() { }\n"),
        ("SQ203", "fn main(«x») { }"),
        ("SQ204", "pool «p» { } fn main() { }"),
        ("SQ204", "«workload { }» fn main() { }"),
        ("SQ204", "«session { turn; }» fn main() { }"),
        ("SQ205", "fn main() { } let «A» = 1;"),
        ("SQ205", 'fn main() { } «use "std/args";»'),
        ("SQ206", _main("«run { horizon 3; }»")),
        ("SQ206", _main("«run { }»")),
        ("SQ207", _main("«session { turn; }»")),
        ("SQ208", _main("«workload { }»")),
        ("SQ208", _main("«server { }»")),
        ("SQ209", _main("workload { } «workload { }» server { }")),
        ("SQ209", _main("workload { } server { } «server { }»")),
        ("SQ209", _main("workload { session { turn; } «session { turn; }» } server { }")),
        ("SQ210", _main("workload { «session { }» } server { }")),
        ("SQ210", _main("workload { «session { set x = 1; }» } server { }")),
        ("SQ210", _main("workload { «session { loop { tool 1; } }» } server { }")),
        ("SQ211", _main(WORKLOAD + "server { «turn;» }")),
        ("SQ211", _main(WORKLOAD + "server { branch (1) { «turn;» } }")),
        ("SQ211", _main(WORKLOAD + "server { «Size m = 3;» }")),
        ("SQ211", _main(WORKLOAD + "server { «prefill (1);» }")),
        ("SQ211", _main(WORKLOAD + "server { «mark m;» }")),
        ("SQ211", _main(WORKLOAD + "server { «run (1);» }")),
        ("SQ211", _main("workload { session { turn; «mark m;» } } server { }")),
        ("SQ211", _main("queue Q : prefill { serve fifo; prefill (p) { «decode (p);» } }")),
        ("SQ211", _main("engine E on d { request (p) { at admission { } «run (p);» } }")),
        ("SQ211", _main("def f() { loop { «turn;» } }")),
        ("SQ212", _main("workload { init { «run s (1);» } } server { }")),
        ("SQ212", _main("workload { turn { «branch (1) { }» } } server { }")),
        ("SQ213", _main('let a = «args.number("x", 1)» + 1;')),
        ("SQ213", _main(WORKLOAD + 'server { observe x = «args.number("q", 1)»; }')),
        ("SQ214", _main("engine E on d { «schedule { let t = 3; }» }")),
        ("SQ215", _main("pool x«[2]» on d { }")),
        ("SQ215", _main("pool x on E.d { «cap 3;» }")),
        ("SQ217", _main("engine on «gpu» { }")),
        ("SQ216", "run { horizon 3; } let a = 1;"),
        ("SQ118", _main(WORKLOAD + "server { set x = «cost(s)»; }")),
        ("SQ118", _main(WORKLOAD + "server { set x = «cost()»; }")),
        ("SQ118", _main(WORKLOAD + "server { set x = «cost(1 + 2, 1)»; }")),
    ],
)
def test_refused(code: str, text: str) -> None:
    plain, span = marked(text)
    found = findings(plain)
    assert [d.code for d in found] == [code]
    assert found[0].place.span == span


@pytest.mark.parametrize(
    "text",
    [
        "fn main() { }",
        'use "lib.sq"; def f() { 1 } let a = 1; fn main() { }',
        _main("workload { init { f(); observe x = 1; } session { turn; turn; } } server { end; }"),
        _main("queue Q : prefill { serve fifo; prefill (p) { run (p); mark done; } }"),
        _main("engine E on d { request (p) { prefill (p); mark first; } }"),
        _main("def f(x) { mark m; prefill (x); run (x); }"),
        _main("server { } workload { }"),
        _main('let a = args.number("x", 1);'),
    ],
)
def test_accepted(text: str) -> None:
    assert findings(text) == []


def test_everything_is_found_at_once() -> None:
    text = "pool p { } fn main(x) { run { } session { turn; } workload { session { } } } let a = 1;"
    codes = ["SQ203", "SQ204", "SQ205", "SQ206", "SQ207", "SQ208", "SQ210"]
    assert sorted(d.code for d in findings(text)) == codes


_DOCUMENTED = [
    c for c in all_codes() if c.bad and ("SQ101" <= c.code <= "SQ120" or "SQ201" <= c.code <= "SQ217")
]


@pytest.mark.parametrize("code", _DOCUMENTED, ids=lambda c: c.code)
def test_documented_programs(code: object) -> None:
    assert {d.code for d in findings(code.bad)} == {code.code}  # type: ignore[attr-defined]
    assert findings(code.good) == []  # type: ignore[attr-defined]
