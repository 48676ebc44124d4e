"""Characters and syntax: every trigger has its code, its place and a message in words."""

from __future__ import annotations

import re

import pytest

from serq.diagnostics import Diagnostic, SerqError
from serq.lang.parser import parse, parse_expression, parse_instance
from tests.lang.sources import findings, marked


def _main(text: str) -> str:
    return "fn main() {\n" + text + "\n}\n"


def _server(text: str) -> str:
    return _main("  workload { }\n  server {\n    " + text + "\n  }")


def _schedule(text: str) -> str:
    return _main("engine E on d { schedule { " + text + " } }")


def _request(text: str) -> str:
    return _main("engine E on d { request (p) { " + text + " } }")


def _only(text: str) -> Diagnostic:
    plain, span = marked(text)
    (found,) = findings(plain)
    assert found.place.span == span
    return found


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("SQ101", "set x = now «%» 2;"),
        ("SQ101", "set x = «'»x;"),
        ("SQ101", "«#» comment"),
        ("SQ101", "set x = a «&» b;"),
        ("SQ101", "set x = a «|» b;"),
        ("SQ101", "set x = a «×» b;"),
        ("SQ101", "set x = «٣»;"),
        ("SQ101", "set x = «²»;"),
        ("SQ101", "set e«\u0301» = 1;"),
        ("SQ101", "set x = «\x00» 1;"),
        ("SQ102", "set x = «1.2.3»;"),
        ("SQ102", "set x = «1..2»;"),
        ("SQ105", "set x = «+»1;"),
        ("SQ105", "set x = 1«e»;"),
        ("SQ105", "set x = 1 - -«;»"),
        ("SQ105", "set x = (1«;»"),
        ("SQ105", "set x = 1«)»;"),
        ("SQ105", "set x = «[»1];"),
        ("SQ105", "set x = f(«,»1);"),
        ("SQ105", "set x = f(1,«;»"),
        ("SQ105", 'set x = «"abc"»;'),
        ("SQ105", "set x = (kv)«[»0];"),
        ("SQ105", "set x = sum q in N«*»1 (q);"),
        ("SQ105", "set x = 10«k»;"),
        ("SQ105", "set x «;»"),
        ("SQ105", "set «=» 1;"),
        ("SQ105", "«{» set x = 1; }"),
        ("SQ105", "«;»"),
        ("SQ105", "run s«;»"),
        ("SQ105", "run s «1»;"),
        ("SQ105", "run s (1) growing«;»"),
        ("SQ105", "hold p (1) { };«;»"),
        ("SQ105", "hold p (1) at admission («)» { }"),
        ("SQ105", "hold p (1) at admission (x = 1) «reuse» (1) { }"),
        ("SQ105", "choose j in 2 by «j»;"),
        ("SQ105", "transfer (1)«;»"),
        ("SQ105", "tool on s«;»"),
        ("SQ105", "Cost c = { «}»;"),
        ("SQ105", "e.x«;»"),
        ("SQ106", "«foo»;"),
        ("SQ106", "«x» = 3;"),
        ("SQ106", "«return»;"),
        ("SQ106", "«let» y = 3;"),
        ("SQ106", "«evict» lru;"),
        ("SQ107", "hold p (1) { } lease p (1) «cache» (1);"),
        ("SQ107", "«at» admission { }"),
        ("SQ108", "«request»;"),
        ("SQ108", "«enter» p (1) { }"),
        ("SQ108", "«admit» p (1);"),
        ("SQ108", "«keep» (1);"),
        ("SQ108", "«step»;"),
        ("SQ108", "«if» (1) { }"),
        ("SQ108", "hold p (1) «where» x = 1 { }"),
        ("SQ108", "branch (1) { } else «branch» (0) { }"),
        ("SQ109", "set x = a < b «<» c;"),
        ("SQ109", "set x = a == b «==» c;"),
        ("SQ109", "set x = a < b «==» c;"),
        ("SQ110", "set x = ~exp(1)«^»2;"),
        ("SQ111", "set x = min(1, 2«,»);"),
        ("SQ111", "Cost c = { s : 1«,» };"),
        ("SQ115", "«pool» p { }"),
        ("SQ116", "set x = 1« »"),
        ("SQ116", "set x = 1« »\n    set y = 2;"),
        ("SQ116", "end« »"),
    ],
)
def test_in_a_server(code: str, text: str) -> None:
    assert _only(_server(text)).code == code


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("SQ105", "let x «1»;"),
        ("SQ105", "stage s : fifo(«)»;"),
        ("SQ105", "stage s : delay«(»);"),
        ("SQ105", "stage s : ps«;»"),
        ("SQ105", "stage s[«]» : fifo;"),
        ("SQ105", "stage s[2 «:» fifo;"),
        ("SQ105", "claim c «every» iteration of E (1);"),
        ("SQ105", "queue D : «{» }"),
        ("SQ105", "queue D : decode «decode» { }"),
        ("SQ105", "D pull P«;»"),
        ("SQ105", "use «std»;"),
        ("SQ105", "let a = args.number(«a», 1);"),
        ("SQ105", 'let a = args.number("a"«)»;'),
        ("SQ105", "pool p { reserve«;» }"),
        ("SQ105", "pool p { evict by «1»; }"),
        ("SQ105", "pool p { preempt lifo «requeue» tail; }"),
        ("SQ105", "workload { arrive poisson«;» }"),
        ("SQ105", "workload { hidden«;» }"),
        ("SQ105", 'workload { trace "x" «foo»; }'),
        ("SQ105", "let a = 1;«;»"),
        ("SQ107", "pool p { «foo» 1; }"),
        ("SQ107", "stage s : «lifo»;"),
        ("SQ107", "workload { arrive «uniform»(3); }"),
        ("SQ107", "workload { «foo»; }"),
        ("SQ107", "share «fair»;"),
        ("SQ107", "claim c : «sometimes» (1);"),
        ("SQ107", "queue D : «foo» { }"),
        ("SQ107", "queue D : decode, «prefil» { }"),
        ("SQ107", "pool p { evict «fifo»; }"),
        ("SQ107", "pool p { preempt «fifo»; }"),
        ("SQ107", "«foo»;"),
        ("SQ107", "«D» pulls P share maxmin;"),
        ("SQ107", "engine E on d { «foo» 3; }"),
        ("SQ108", "def f(x) «=» x;"),
        ("SQ108", "stage e : «step» { }"),
        ("SQ108", "pool p { «admit» via E; }"),
        ("SQ116", "pool p { cap 1« »}"),
        ("SQ116", "workload { arrive poisson(1)« »}"),
        ("SQ116", "let x = 1« »\nstage s : fifo;"),
        ("SQ117", "def f(x) { x«;» }"),
        ("SQ117", "def f(x) { set y = 1; «x» }"),
        ("SQ117", "def f(x) { set y = 1; «x» + 1 }"),
    ],
)
def test_in_main(code: str, text: str) -> None:
    assert _only(_main(text)).code == code


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("SQ105", _schedule("advance running by (a) «only» (1);")),
        ("SQ105", _schedule("admit waiting each at most (3) «while» (1);")),
        ("SQ105", _schedule("advance«;»")),
        ("SQ107", _schedule("«foo»;")),
        ("SQ107", _schedule("«while» (1) { advance running; }")),
        ("SQ107", _schedule("advance «waiting»;")),
        ("SQ107", _schedule("admit «running»;")),
        ("SQ107", _schedule("exclusive «decode»;")),
        ("SQ107", _schedule("advance running; «let» t = 3;")),
        ("SQ108", _schedule("branch (1) { } else «branch» (1) { }")),
        ("SQ105", _request("at admission «(»x = 1)")),
        ("SQ105", _request("prefill «p»;")),
        ("SQ107", _request("cache (1); «prefill» (p);")),
        ("SQ107", _request("at admission { x = 1; } «at» admission { y = 1; }")),
        ("SQ116", _request("at admission { x = 1« »}")),
    ],
)
def test_in_an_engine(code: str, text: str) -> None:
    assert _only(text).code == code


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("SQ103", "fn main() { «/*» never closed\n}"),
        ("SQ104", 'use «"std/args;»\nfn main() { }'),
        ("SQ105", "fn main«{» }"),
        ("SQ105", "fn «(») { }"),
        ("SQ112", "fn main() «{»\n  pool p { }\n"),
        ("SQ112", "fn main() { server «{» "),
        ("SQ113", "fn main() { }\n«}»"),
        ("SQ101", "«\ufeff»fn main() { }"),
    ],
)
def test_in_a_file(code: str, text: str) -> None:
    plain, span = marked(text)
    found = findings(plain)
    assert (found[0].code, found[0].place.span) == (code, span)


def test_an_instance_holds_bindings_and_one_run() -> None:
    texts = {
        "SQ107": "«pool» p { }",
        "SQ116": "run { horizon 3« »}",
        "SQ105": "run { horizon «x»; }",
        "SQ209": "run { horizon 1; } «run { seed 1; }»",
    }
    for code, text in texts.items():
        plain, span = marked(text)
        found = findings(plain, parse_instance)
        assert [(d.code, d.place.span) for d in found] == [(code, span)]
    assert [d.code for d in findings("let a = 1; let a = 2; run { seed 1; seed 2; }", parse_instance)] == [
        "SQ209"
    ] * 2
    assert [d.code for d in findings("fn main() { pool p { } }", parse_instance)] == ["SQ107"]
    assert [d.code for d in findings("run { horizom 3; }", parse_instance)] == ["SQ107"]


def test_an_expression_is_one() -> None:
    assert [d.code for d in findings("1 +", parse_expression)] == ["SQ105"]
    assert [d.code for d in findings("", parse_expression)] == ["SQ105"]
    assert [d.code for d in findings("1; 2", parse_expression)] == ["SQ105"]


# What is said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_server("set x = ;"), "expected an expression, found `;`"),
        (_server(";"), "expected a statement, found `;`"),
        (_server("set x = 1"), "expected `;` after `1`"),
        (_server("transfer (1);"), "expected `from`, found `;`"),
        (_server("grow;"), "expected a pool, found `;`"),
        (_server("run;"), "expected a stage, found `;`"),
        (_server("sett x = 1;"), "`sett` is not a statement"),
        (_main("pool p { capp 3; }"), "`capp` is not a pool option"),
        (_main("let x = 1 2;"), "expected `;`, found `2`"),
        (_main("use 1;"), "expected a string, found `1`"),
        (_main("pool { }"), "expected a name, found `{`"),
    ],
)
def test_messages(text: str, message: str) -> None:
    assert findings(text)[0].message == message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (_server("sett x = 1;"), "did you mean `set`?"),
        (_server("observ x = 1;"), "did you mean `observe`?"),
        (_main("pool p { evit lru; }"), "did you mean `evict`?"),
        (_main("pool p { evict lur; }"), "did you mean `lru`?"),
        (_main("stage s : fiffo;"), "did you mean `fifo`?"),
        (_main("queue Q : gatway { }"), "did you mean `gateway`?"),
        (_main("workload { arrive poison(1); }"), "did you mean `poisson`?"),
        (_main("claim c: evry iteration of E (1);"), "did you mean `every`?"),
        (_main("share maxmim;"), "did you mean `maxmin`?"),
        (_main("workloud { }"), "did you mean `workload`?"),
        (_schedule("advanse running;"), "did you mean `advance`?"),
        (_server("preempt lifo;"), "`preempt` is a pool option"),
        (_server("set x = a = b;"), "equality is written `==`"),
        (_server("set x = 10 % 3;"), "write a remainder as `a - b * floor(a / b)`"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert findings(text)[0].hint == hint


def test_all_errors_of_a_file_are_found_at_once() -> None:
    text = """
    fn main() {
      pool p { cap 1 block 2; foo 3; }
      stage s : lifo;
      let = 3;
      workload { arrive poisson(1) turn { set n = ; } }
      server {
        x = 3;
        run s (1;
        hold p (1) { foo; set y = 1 < 2 < 3; }
        branch (1) { } else branch (2) { }
        set ok = 1;
      }
      gauge g = 1 +;
    }
    """
    lines = [d.place.span.line for d in findings(text) if d.place.span]
    assert lines == [3, 3, 4, 5, 6, 8, 9, 10, 10, 11, 14]


_SMALL = """fn main() {
  pool m { cap 4; }
  stage d : delay;
  workload { arrive poisson(1);
    turn { Size t = ~exp(1); }
  }
  server {
    hold m (cost(m, 1)) {
      run d (cost(d, t));
    }
  }
  gauge u = used(m);
  claim c: at end (1);
}
"""


@pytest.mark.parametrize("at", [m.start() for m in re.finditer(r"[{}();,]", _SMALL)])
def test_one_missing_mark_is_one_error(at: int) -> None:
    assert len(findings(_SMALL[:at] + _SMALL[at + 1 :])) == 1


@pytest.mark.parametrize("at", [m.start() for m in re.finditer(r"\b[a-z]\w+", _SMALL)])
def test_a_misspelt_word_is_at_most_two_errors(at: int) -> None:
    assert len(findings(_SMALL[:at] + "q" + _SMALL[at:])) <= 2


def test_messages_name_no_tokens() -> None:
    texts = [
        _SMALL[:at] + extra + _SMALL[at:]
        for at in range(0, len(_SMALL), 3)
        for extra in ("@", "}", "( x", "1 1")
    ]
    for text in texts:
        for found in findings(text):
            assert not re.search(r"\b[A-Z]{2,}\b|__|\$", found.message)


def test_the_file_is_named() -> None:
    with pytest.raises(SerqError) as caught:
        parse("% fn main(", "p.sq")
    assert [(d.code, d.place.file) for d in caught.value.diagnostics] == [
        ("SQ101", "p.sq"),
        ("SQ112", "p.sq"),
    ]
