"""What an expression may read where it stands (api.md §10.5): every trigger with its code and its place."""

from __future__ import annotations

import pytest

from tests.lang.refused import Case, check, engine, main, server

CASES: list[Case] = [
    (server("set v = size;"), "SQ401", "size"),
    (server("set v = waited;"), "SQ401", "waited"),
    (server("set v = residents;"), "SQ401", "residents"),
    (server("hold p (cost(p, ~exp(1))) { }"), "SQ403", "~exp(1)"),
    (server("hold p (cost(p, 1)) reserve (cost(p, ~exp(1))) { }"), "SQ403", "~exp(1)"),
    (server("hold p (cost(p, 1)) at admission (x = ~exp(1)) { }"), "SQ656", "~exp(1)"),
    (server("observe n2 = 1; observe x = count(n2);"), "SQ405", "count(n2)"),
    (main("gauge g = n;"), "SQ402", "n"),
    (main("gauge g = ~exp(1);"), "SQ403", "~exp(1)"),
    (main("gauge g = now;"), "SQ406", "now"),
    (main("gauge g = work(s);"), "SQ404", "work(s)"),
    (main("gauge g = cachedin(p);"), "SQ404", "cachedin(p)"),
    (main("gauge g = used(a[n]);"), "SQ402", "[n]", "SQ412", "[n]"),
    (main("claim c given (now > 1) : at end (1);"), "SQ406", "now"),
    (main("claim c given (used(p)) : at end (1);"), "SQ404", "(used(p))"),
    (main("claim c given (~exp(1)) : at end (1);"), "SQ403", "(~exp(1))"),
    (main("claim c : at end (n);"), "SQ402", "(n)"),
    (main("claim c : at end (used(p));"), "SQ404", "(used(p))"),
    (main("claim c : every iteration of s (1);"), "SQ710", "c"),
    (main("pool x { queue by (~exp(1)); }"), "SQ403", "~exp(1)"),
    (main("pool x { preempt by (~exp(1)); }"), "SQ403", "~exp(1)"),
    (main("pool x { preempt by (computed); }"), "SQ411", "computed"),
    (main("stage x : ps(n);"), "SQ402", "(n)"),
    (main(engine(more="gauge g = budget_left(E);")), "SQ404", "budget_left(E)"),
    (main(engine(more="claim c : every iteration of E (n > 1);")), "SQ402", "n"),
    (main(engine(more="claim c : every iteration of E (work(s) > 1);")), "SQ404", "work(s)"),
    (main(engine(more="claim c : every iteration of E (est_wait(s) > 1);")), "SQ404", "est_wait(s)"),
    (main(engine(more="claim c : every iteration of E (running.count > 1);")), "SQ450", "running.count"),
    (main(engine(schedule="schedule { advance running only (now > 3); admit waiting; }")), "SQ406", "now"),
    (
        main(engine(schedule="schedule { advance running only (work(s)); admit waiting; }")),
        "SQ404",
        "(work(s))",
    ),
    (main(engine(schedule="schedule { advance running; admit waiting while (now > 3); }")), "SQ406", "now"),
    (
        main(engine(schedule="schedule { advance running; admit waiting while (work(s)); }")),
        "SQ404",
        "(work(s))",
    ),
    (
        main(engine(schedule="schedule { advance running; admit waiting while (budget_left(E)); }")),
        "SQ407",
        "E",
    ),
    (main(engine(schedule="schedule { advance running by (~exp(1)); admit waiting; }")), "SQ403", "~exp(1)"),
    (
        main(engine(schedule="schedule { advance running only (~bernoulli(1)); admit waiting; }")),
        "SQ403",
        "(~bernoulli(1))",
    ),
    (
        main(
            engine(
                schedule="schedule { branch (~bernoulli(1)) { advance running; } else { admit waiting; } }"
            )
        ),
        "SQ403",
        "(~bernoulli(1))",
    ),
    (main(engine(execute="execute (running.decoding);")), "SQ450", "(running.decoding)"),
    (main(engine(execute="execute (tokens);")), "SQ451", "(tokens)"),
    (main(engine(execute="execute (n);")), "SQ402", "(n)"),
    (main(engine(tokens="tokens cap batch.tokens;")), "SQ450", "batch.tokens"),
    (main(engine(tokens="tokens cap budget_left(E);")), "SQ404", "budget_left(E)"),
    (
        main(engine(schedule="schedule { advance running; admit waiting while (batch.decoding); }")),
        "SQ450",
        "(batch.decoding)",
    ),
    (main(engine(schedule="schedule { advance running; admit waiting while (n); }")), "SQ402", "(n)"),
    (
        main(engine(schedule="schedule { advance running by (running.preempted); admit waiting; }")),
        "SQ450",
        "running.preempted",
    ),
    (
        main(
            engine(
                items="state x = 0;",
                schedule="schedule { set x = 1; advance running; }",
                more="stage y : ps(x);",
            )
        ),
        "SQ409",
        "(x)",
    ),
    (
        server(
            "set z = x;", engine(items="state x = 0;", schedule="schedule { set x = 1; advance running; }")
        ),
        "SQ409",
        "x",
    ),
    (
        server(
            "hold p (cost(p, x)) { }",
            engine(items="state x = 0;", schedule="schedule { set x = 1; advance running; }"),
        ),
        "SQ409",
        "x",
    ),
    (server("", workload="workload { arrive renewal(n); turn { set n = 1; } }"), "SQ413", "(n)"),
    (server("", workload="workload { arrive renewal(now); turn { set n = 1; } }"), "SQ413", "(now)"),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_is_refused_with_its_code_at_its_place(case: Case) -> None:
    check(case)
