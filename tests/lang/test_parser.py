"""Text to tree: what each construct of the syntax table becomes, and where its names stand."""

from __future__ import annotations

import logging
from importlib.resources import files
from typing import Any

import lark
import pytest

from serq.diagnostics import Span
from serq.lang import tree as t
from serq.lang.automaton import STARTS, automaton
from serq.lang.parser import parse, parse_expression, parse_instance
from tests.lang.sources import EXAMPLES, PROGRAMS, bare, findings


def items(text: str) -> tuple[t.Item, ...]:
    main = parse("fn main() { " + text + " }").main
    assert main is not None
    return main.items


def item(text: str) -> Any:
    (only,) = items(text)
    return bare(only)


def statement(text: str) -> Any:
    (server,) = items("server { " + text + " }")
    assert isinstance(server, t.Server)
    (only,) = server.body.statements
    return bare(only)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_parse_and_are_well_formed(name: str) -> None:
    assert findings(PROGRAMS[name]) == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_parse_and_are_well_formed(name: str) -> None:
    read = parse_instance if "instances" in EXAMPLES[name].parts else parse
    assert findings(EXAMPLES[name].read_text("utf-8"), read) == []


def test_the_only_conflict_of_the_grammar_is_the_one_meant() -> None:
    # `cache (e);` after a hold's block belongs to the hold, though a request may end with one.
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    lark.logger.addHandler(handler)
    level = lark.logger.level
    lark.logger.setLevel(logging.DEBUG)
    grammar = (files("serq.lang") / "grammar.lark").read_text("utf-8")
    options = {"keep_all_tokens": True, "maybe_placeholders": True}
    lark.Lark(grammar, parser="lalr", lexer="basic", start=list(STARTS), debug=True, **options)
    lark.logger.removeHandler(handler)
    lark.logger.setLevel(level)
    conflicts = [r for r in records if "onflict" in r]
    assert conflicts
    assert all("terminal CACHE" in r for r in conflicts)


# Expressions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", ("Binary", "+", 1, ("Binary", "*", 2, 3))),
        ("1 - 2 - 3", ("Binary", "-", ("Binary", "-", 1, 2), 3)),
        ("8 / 4 / 2", ("Binary", "/", ("Binary", "/", 8, 4), 2)),
        ("2 ^ 3 ^ 2", ("Binary", "^", 2, ("Binary", "^", 3, 2))),
        ("-x ^ 2", ("Unary", "-", ("Binary", "^", "x", 2))),
        ("!x ^ 2", ("Unary", "!", ("Binary", "^", "x", 2))),
        ("x ^ -2", ("Binary", "^", "x", ("Unary", "-", 2))),
        ("2 ^ -2 ^ 3", ("Binary", "^", 2, ("Unary", "-", ("Binary", "^", 2, 3)))),
        ("2 ^ ~exp(1)", ("Binary", "^", 2, ("Draw", "exp", (1,)))),
        ("!a == 0", ("Binary", "==", ("Unary", "!", "a"), 0)),
        ("- -1", ("Unary", "-", ("Unary", "-", 1))),
        ("!-!1", ("Unary", "!", ("Unary", "-", ("Unary", "!", 1)))),
        ("-~exp(1)", ("Unary", "-", ("Draw", "exp", (1,)))),
        (
            "a < b && b < c || d",
            ("Binary", "||", ("Binary", "&&", ("Binary", "<", "a", "b"), ("Binary", "<", "b", "c")), "d"),
        ),
        ("a || b && c", ("Binary", "||", "a", ("Binary", "&&", "b", "c"))),
        ("a ? b : c ? d : e", ("Cond", "a", "b", ("Cond", "c", "d", "e"))),
        ("a ? b ? 1 : 2 : 3", ("Cond", "a", ("Cond", "b", 1, 2), 3)),
        ("(1 + 2) * 3", ("Binary", "*", ("Binary", "+", 1, 2), 3)),
        ("f()", ("Call", "f", ())),
        ("min (a, b)", ("Call", "min", ("a", "b"))),
        ("~ uniform (0, 1)", ("Draw", "uniform", (0, 1))),
        ("cost(kv, n)", ("CostOf", ("kv",), "n")),
        ("cost(a, b, n + 1)", ("CostOf", ("a", "b"), ("Binary", "+", "n", 1))),
        ("sum j in 3 (j) + 1", ("Binary", "+", ("Aggregate", "sum", "j", 3, "j"), 1)),
        ("-max k in N (k)", ("Unary", "-", ("Aggregate", "max", "k", "N", "k"))),
        ("min k in (N - 1) (k)", ("Aggregate", "min", "k", ("Binary", "-", "N", 1), "k")),
        ("max + max(max, 2)", ("Binary", "+", "max", ("Call", "max", ("max", 2)))),
        ("max in in 3 (in)", ("Aggregate", "max", "in", 3, "in")),
        ("running.count", ("Ref", "running", None, ("count",), None)),
        ("D.nic.latency", ("Ref", "D", None, ("nic", "latency"), None)),
        ("used(kv[i])", ("Call", "used", (("Ref", "kv", "i", (), None),))),
        ("used(Q[i + 1].kv)", ("Call", "used", (("Ref", "Q", ("Binary", "+", "i", 1), ("kv",), None),))),
        ("work(P.nic[0])", ("Call", "work", (("Ref", "P", None, ("nic",), 0),))),
    ],
)
def test_expressions(text: str, expected: object) -> None:
    assert bare(parse_expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1_000", 1000),
        ("1__0", 10),
        ("1_", 1),
        ("1._5", 1.5),
        ("5.", 5),
        (".5", 0.5),
        ("007", 7),
        ("1e3", 1000),
        ("1.5E-1", 0.15),
        ("2e+2", 200),
        ("1e999", float("inf")),
        ("1e-999", 0),
    ],
)
def test_numbers(text: str, value: float) -> None:
    number = parse_expression(text)
    assert isinstance(number, t.Num)
    assert (number.value, number.text) == (value, text)


@pytest.mark.parametrize("text", ["1e", "1e3_0", "10k", "10s", "0x10", "1 2"])
def test_a_number_ends_where_it_ends(text: str) -> None:
    assert [d.code for d in findings(text, parse_expression)] == ["SQ105"]


@pytest.mark.parametrize("name", ["x", "_x1", "é", "变量", "a²", "Zürich", "a٣"])
def test_names(name: str) -> None:
    assert bare(parse_expression(name)) == name


@pytest.mark.parametrize("blank", [" ", "\t", "\r\n", "\r", "\f", "\v", "\u00a0", "\u2003"])
def test_blanks(blank: str) -> None:
    assert bare(parse_expression(f"a{blank}+{blank}b")) == ("Binary", "+", "a", "b")


def test_comments() -> None:
    assert bare(parse_expression("a // one */ /* two\n + /* three // \n /* four */ b // five")) == (
        "Binary",
        "+",
        "a",
        "b",
    )


def test_strings_are_taken_as_they_are() -> None:
    assert item('use "a\\b\n//c";') == ("Use", ("Text", "a\\b\n//c"))


# Statements


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("turn;", ("Turn",)),
        ("Size n = 1;", ("SizeSet", "n", 1)),
        ("Cost c = cost(s, 1);", ("CostSet", "c", ("CostOf", ("s",), 1))),
        (
            "Cost c = { s : 1, P.kv : n };",
            (
                "CostRecord",
                "c",
                (("CostField", "s", 1), ("CostField", ("Ref", "P", None, ("kv",), None), "n")),
            ),
        ),
        ("set x = 1;", ("Set", "x", 1)),
        ("observe x = now;", ("Observe", "x", "now")),
        ("hold p (1) { }", ("Hold", (("Take", "p", 1, None),), None, (), ("Block", ()), None, None)),
        (
            "hold p[i] (1) reserve (2), q (3) reuse (4) at admission (x = 5, y = x) { turn; } cache (6) lease q (7);",
            (
                "Hold",
                (("Take", ("Ref", "p", "i", (), None), 1, 2), ("Take", "q", 3, None)),
                4,
                (("Binding", "x", 5), ("Binding", "y", "x")),
                ("Block", (("Turn",),)),
                6,
                ("Lease", "q", 7),
            ),
        ),
        ("grow p (1);", ("Grow", "p", 1)),
        ("drop p;", ("Drop", "p")),
        ("release p;", ("Release", "p")),
        ("load p (n);", ("Load", "p", "n")),
        ("run s (1);", ("Run", ("s",), None, 1, None)),
        ("run E prefill (n) growing kv;", ("Run", ("E",), "prefill", "n", "kv")),
        ("run E decode (n);", ("Run", ("E",), "decode", "n", None)),
        ("run a[0], b (1);", ("Run", (("Ref", "a", 0, (), None), "b"), None, 1, None)),
        ("run (1);", ("Run", (), None, 1, None)),
        ("prefill (n) growing kv;", ("EngineRun", "prefill", "n", "kv")),
        ("decode (n);", ("EngineRun", "decode", "n", None)),
        ("branch (1) { }", ("Branch", 1, False, ("Block", ()), None)),
        (
            "branch with (0.5) { } else { join; }",
            ("Branch", 0.5, True, ("Block", ()), ("Block", (("Join",),))),
        ),
        ("while (a) { }", ("While", "a", ("Block", ()))),
        ("loop { end; }", ("Loop", ("Block", (("End",),)))),
        ("fork { }", ("Fork", ("Block", ()))),
        (
            "choose j in n + 1 by (a, -j);",
            ("Choose", "j", ("Binary", "+", "n", 1), ("a", ("Unary", "-", "j"))),
        ),
        ("gw.route();", ("EntryCall", "gw", "route", (), None, None)),
        (
            "D[j].decode (n) from P[i];",
            ("EntryCall", ("Ref", "D", "j", (), None), "decode", ("n",), ("Ref", "P", "i", (), None), None),
        ),
        (
            "L.transfer (n) from A to B (m);",
            ("EntryCall", "L", "transfer", ("n",), "A", ("Delivery", "B", "m")),
        ),
        ("llm (a, b);", ("CallStatement", "llm", ("a", "b"))),
        ("mark m;", ("Mark", "m")),
        ("transfer (x) from P to Q (n);", ("Transfer", None, (), "x", "P", "Q", "n")),
        ("transfer[j] x + 1 from P to Q (n);", ("Transfer", "j", (), ("Binary", "+", "x", 1), "P", "Q", "n")),
        (
            "transfer on a[i], b (x) from P to Q (n);",
            ("Transfer", None, (("Ref", "a", "i", (), None), "b"), "x", "P", "Q", "n"),
        ),
        ("tool z;", ("Tool", None, (), "z")),
        ("tool[j] 1;", ("Tool", "j", (), 1)),
        ("tool on s n + 1;", ("Tool", None, ("s",), ("Binary", "+", "n", 1))),
    ],
)
def test_statements(text: str, expected: object) -> None:
    assert statement(text) == expected


# Declarations


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let a = 1;", ("Let", "a", 1)),
        ('let a = args.number("x", 1);', ("Let", "a", ("Input", ("Text", "x"), 1))),
        ("def f(a, b) { a + b }", ("ExprDef", "f", ("a", "b"), ("Binary", "+", "a", "b"))),
        ("def f() { }", ("BlockDef", "f", (), ("Block", ()))),
        ("def f() { g (1); }", ("BlockDef", "f", (), ("Block", (("CallStatement", "g", (1,)),)))),
        ("def f() { g (1) }", ("ExprDef", "f", (), ("Call", "g", (1,)))),
        ("def f() { set + 1 }", ("ExprDef", "f", (), ("Binary", "+", "set", 1))),
        ("def f() { run }", ("ExprDef", "f", (), "run")),
        ("pool p { }", ("Pool", "p", None, None, ())),
        ("pool p[N] { cap 1; block 2; }", ("Pool", "p", "N", None, (("Cap", 1), ("BlockSize", 2)))),
        ("pool p on E.gpu { }", ("Pool", "p", None, ("Owner", "E", "gpu"), ())),
        (
            "pool p { evict lru; evict by (a, b); }",
            ("Pool", "p", None, None, (("Evict", None), ("Evict", ("a", "b")))),
        ),
        (
            "pool p { preempt none; preempt by (a) requeue tail; }",
            ("Pool", "p", None, None, (("Preempt", "none", (), None), ("Preempt", "by", ("a",), "tail"))),
        ),
        (
            "pool p { queue fifo; queue by (a); reserve held; spill q via s (1) when (b); }",
            (
                "Pool",
                "p",
                None,
                None,
                (("QueueOrder", None), ("QueueOrder", ("a",)), ("ReserveHeld",), ("Spill", "q", "s", 1, "b")),
            ),
        ),
        ("stage s : fifo;", ("Stage", "s", None, ("Fifo", None))),
        ("stage s[2] : fifo(3);", ("Stage", "s", 2, ("Fifo", 3))),
        ("stage s : ps(present);", ("Stage", "s", None, ("Ps", "present"))),
        ("stage s : delay;", ("Stage", "s", None, ("Delay",))),
        (
            "device d[2] { f (x, y) = x; kv cap 9; }",
            ("Device", "d", 2, (("TimeResource", "f", ("x", "y"), "x"), ("Capacity", "kv", None, 9))),
        ),
        ("share maxmin;", ("Share", "maxmin")),
        ("D pull P share maxmin;", ("Relation", "pull", "D", "P", None, "maxmin")),
        ("P push D latency 1 share bottleneck;", ("Relation", "push", "D", "P", 1, "bottleneck")),
        ("gauge g = 1;", ("Gauge", "g", 1)),
        ("claim c: at end (1);", ("Claim", "c", None, "end", None, 1)),
        (
            "claim c given (a): every iteration of E[0] (1);",
            ("Claim", "c", "a", "every", ("Ref", "E", 0, (), None), 1),
        ),
        ("claim c : some iteration of E (1);", ("Claim", "c", None, "some", "E", 1)),
        (
            'workload { arrive poisson(2); arrive none; trace "t" ordered; trace "u"; hidden a, b; }',
            (
                "Workload",
                (
                    ("Arrive", "poisson", 2),
                    ("Arrive", "none", None),
                    ("Trace", ("Text", "t"), True),
                    ("Trace", ("Text", "u"), False),
                    ("Hidden", ("a", "b")),
                ),
            ),
        ),
        (
            "workload { init { } turn { set n = 1; } session { turn; } }",
            (
                "Workload",
                (
                    ("InitBlock", ("Block", ())),
                    ("TurnBlock", ("Block", (("Set", "n", 1),))),
                    ("Session", ("Block", (("Turn",),))),
                ),
            ),
        ),
        (
            "queue Q[2] : prefill, decode { serve fifo latency 1; nic ps(2); route { } decode (p) from P { } }",
            (
                "Queue",
                "Q",
                2,
                ("prefill", "decode"),
                (
                    ("Serve", ("Fifo", None), 1),
                    ("Nic", ("Ps", 2)),
                    ("Entry", "route", (), None, ("Block", ())),
                    ("Entry", "decode", ("p",), "P", ("Block", ())),
                ),
            ),
        ),
        ("run { horizon 1; seed 2; }", ("Settings", (("Setting", "horizon", 1), ("Setting", "seed", 2)))),
    ],
)
def test_declarations(text: str, expected: object) -> None:
    assert item(text) == expected


def test_an_engine() -> None:
    engine = item(
        """engine E[2] on gpu {
          reqs[3] cap 4; tokens cap 8; granule 2; state r = 0; execute (1);
          request (p) { set a = 1; at admission { x = 2; } prefill (p); cache (3); }
          schedule {
            let t = 5;
            advance running only (a) by (b, c) each at most (t);
            admit waiting only (a) while (b) each at most (t) taking reqs (1), kv (2) reserve (3) reuse (4);
            exclusive prefill each at most (t);
            branch (d) { advance running decode first; } else { advance running admission; set r = 1; }
          }
        }"""
    )
    assert engine == (
        "Engine",
        "E",
        2,
        "gpu",
        (
            ("Capacity", "reqs", 3, 4),
            ("Tokens", 8),
            ("Granule", 2),
            ("State", "r", 0),
            ("Execute", 1),
            (
                "Request",
                ("p",),
                (("Set", "a", 1),),
                ("Admission", (("Binding", "x", 2),)),
                (("EngineRun", "prefill", "p", None),),
                ("RequestCache", 3),
            ),
            (
                "Schedule",
                (("Let", "t", 5),),
                (
                    ("Advance", "a", ("Order", "by", ("b", "c")), "t"),
                    (
                        "Admit",
                        "a",
                        "b",
                        "t",
                        ("Taking", (("Take", "reqs", 1, None), ("Take", "kv", 2, 3)), 4),
                    ),
                    ("ExclusivePrefill", "t"),
                    (
                        "ScheduleBranch",
                        "d",
                        ("ScheduleBlock", (("Advance", None, ("Order", "decode first", ()), None),)),
                        (
                            "ScheduleBlock",
                            (("Advance", None, ("Order", "admission", ()), None), ("Set", "r", 1)),
                        ),
                    ),
                ),
            ),
        ),
    )


def test_a_request_without_admission() -> None:
    request = item("engine E on d { request () { set a = 1; } }")[4][0]
    assert request == ("Request", (), (), None, (("Set", "a", 1),), None)


def test_a_queues_engine_has_no_name() -> None:
    assert item("queue Q { engine on gpu { } }")[4] == (("Engine", None, None, "gpu", ()),)


# Programs, libraries, instances


def test_a_program_is_what_precedes_main_main_and_what_follows() -> None:
    program = parse("let a = 1; fn main() { let b = 2; } let c = 3;", "p.sq")
    assert program.file == "p.sq"
    assert bare(program.prelude) == (("Let", "a", 1),)
    assert program.main is not None
    assert bare(program.main.items) == (("Let", "b", 2),)
    assert bare(program.rest) == (("Let", "c", 3),)


def test_a_library_has_no_main() -> None:
    library = parse('use "other.sq"; def f(x) { x }')
    assert library.main is None
    assert len(library.prelude) == 2


def test_an_instance() -> None:
    instance = parse_instance(
        "// how to run it\nlet rate = 2 * 3;\nrun { horizon 10; warmup 1; seed 2; arrivals 3; }", "i.sq"
    )
    assert instance.file == "i.sq"
    assert bare(instance.bindings) == (("Let", "rate", ("Binary", "*", 2, 3)),)
    assert instance.settings is not None
    assert [(s.name.text, s.value.value) for s in instance.settings.settings] == [
        ("horizon", 10),
        ("warmup", 1),
        ("seed", 2),
        ("arrivals", 3),
    ]
    assert parse_instance("").settings is None


# Names and spans


def test_names_carry_their_own_spans() -> None:
    pool, _ = items("pool\n  kv[3] { } stage s : fifo;")
    assert isinstance(pool, t.Pool)
    assert pool.name.span == Span(2, 3, 2, 5)
    assert pool.span == Span(1, 13, 2, 12)
    assert pool.size is not None
    assert pool.size.span == Span(2, 5, 2, 8)


def test_the_span_of_an_expression_takes_its_parentheses_in() -> None:
    total = parse_expression("(a + b) * c")
    assert isinstance(total, t.Binary)
    assert total.span == Span(1, 1, 1, 12)
    assert total.left.span == Span(1, 1, 1, 8)


def test_a_reference_spans_all_it_names() -> None:
    call = parse_expression("used(Q[i].kv)")
    assert isinstance(call, t.Call)
    reference = call.arguments[0]
    assert isinstance(reference, t.Ref)
    assert reference.span == Span(1, 6, 1, 13)
    assert reference.members[0].span == Span(1, 11, 1, 13)


# Keywords are contextual


@pytest.mark.parametrize(
    "word", sorted(automaton().words | {"min", "max", "sum", "exp", "cost", "args", "self"})
)
def test_every_word_of_the_language_is_a_name_where_a_name_is_expected(word: str) -> None:
    text = f"""
    let {word} = 1; gauge {word} = {word} + 1; pool {word}[{word}] {{ cap {word}; }} stage {word} : fifo({word});
    device {word} {{ {word} ({word}) = {word}; {word} cap {word} + 1; }}
    queue {word} {{ pool {word} {{ }} }}
    def f({word}) {{ {word} * 2 }}
    workload {{ hidden {word}; turn {{ Size {word} = {word} ? {word} : -{word}; }} }}
    server {{
      set {word} = {word}; observe {word} = min({word}, {word});
      hold {word} (cost({word}, {word})) at admission ({word} = {word}) {{ grow {word}[{word}] ({word}); }}
      run {word}[{word}], {word} ({word}); choose {word} in {word} by ({word}, {word});
    }}
    """
    assert len(items(text)) == 9
