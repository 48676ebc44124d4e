"""Engines and devices (api.md §10.9): every trigger with its code and its place."""

from __future__ import annotations

import pytest

from tests.lang.refused import Case, check, engine, main

CASES: list[Case] = [
    (main(engine(tokens="")), "SQ750", "E"),
    (main(engine(schedule="")), "SQ750", "E"),
    (main(engine(execute="")), "SQ750", "E"),
    (main(engine(tokens="tokens cap 4; tokens cap 5;")), "SQ751", "tokens cap 5;"),
    (main(engine(tokens="tokens cap 0;")), "SQ760", "0"),
    (main(engine(tokens="tokens cap 2 - 3;")), "SQ760", "2 - 3"),
    (main(engine(schedule="schedule { }")), "SQ214", "schedule { }"),
    (main(engine(on="cpu")), "SQ306", "cpu"),
    (
        main(engine(more="engine F on gpu { tokens cap 1; schedule { advance running; } execute (1); }")),
        "SQ752",
        "gpu",
    ),
    (main(engine(devices="[2]")), "SQ753", "gpu"),
    (main(engine(size="[2]", devices="[3]")), "SQ753", "[2]"),
    (main(engine(size="[2]")), "SQ753", "[2]"),
    (main(engine(pools="pool kv on gpu { }")), "SQ755", "r"),
    (main(engine(pools="pool r on E { }")), "SQ755", "kv"),
    (main(engine(pools="pool kv on gpu { } pool r on E { } pool x on E { }")), "SQ756", "x"),
    (main(engine(pools="pool kv on gpu { } pool r on E { } pool x on F { }")), "SQ306", "F"),
    (main(engine(pools="pool kv on gpu { cap 3; } pool r on E { }")), "SQ215", "cap 3;"),
    (main(engine(pools="pool kv[2] on gpu { } pool r on E { }")), "SQ215", "[2]"),
    (main(engine(pools="pool kv on gpu { } pool r on gpu.E { }")), "SQ755", "r", "SQ306", "gpu"),
    (
        main(
            engine(device="kv cap 9; h cap 3;", pools="pool kv on gpu { } pool h on gpu { } pool r on E { }")
        ),
        "SQ754",
        "pool h on gpu { }",
    ),
    (main(engine(schedule="schedule { branch (running.count > 1) { advance running; } }")), "SQ707", "E"),
    (main(engine(schedule="schedule { exclusive prefill; }")), "SQ762", "exclusive prefill;"),
    (main(engine(schedule="schedule { exclusive prefill; admit waiting; }")), "SQ762", "exclusive prefill;"),
    (
        main(engine(schedule="schedule { advance running each at most (2); admit waiting; }")),
        "SQ764",
        "admit waiting;",
    ),
    (
        main(engine(schedule="schedule { advance running each at most (running.count); }")),
        "SQ765",
        "(running.count)",
    ),
    (
        main(engine(schedule="schedule { advance running each at most (min(2, running.count)); }")),
        "SQ765",
        "(min(2, running.count))",
    ),
    (
        main(engine(schedule="schedule { advance running each at most (max(0, running.count)); }")),
        "SQ765",
        "(max(0, running.count))",
    ),
    (main(engine(schedule="schedule { advance running each at most (0); }")), "SQ765", "(0)"),
    (
        main(engine(schedule="schedule { advance running each at most (running.count > 1 ? 0 : 2); }")),
        "SQ765",
        "0",
    ),
    (main(engine(schedule="schedule { set y = 1; advance running; }")), "SQ763", "y"),
    (
        main(engine(items="state y = 1 / 0;", schedule="schedule { set y = 1; advance running; }")),
        "SQ766",
        "1 / 0",
    ),
    (
        main(engine(items="state kv = 1;", schedule="schedule { set kv = 1; advance running; }")),
        "SQ311",
        "kv",
    ),
    (
        main(
            engine(
                size="[2]",
                devices="[2]",
                items="state y = 1;",
                schedule="schedule { set y = 1; advance running; }",
            )
        ),
        "SQ708",
        "y",
        "SQ709",
        "set y = 1;",
    ),
    (main(engine(items="state y = 1;")), "SQ708", "y"),
    (main(engine(items="granule 0;")), "SQ705", "0"),
    (
        main(engine(items="granule 4;", schedule="schedule { advance running each at most (3); }")),
        "SQ705",
        "4",
    ),
    (
        main(
            engine(
                items="granule 4;",
                schedule="schedule { exclusive prefill; admit waiting while (running.preempted == 0); }",
            )
        ),
        "SQ706",
        "4",
    ),
    (main(engine(device="kv cap 9; mm (t) = t;", tokens="tokens cap mm(1);")), "SQ767", "mm"),
    (main(engine(device="kv cap 9; kv cap 8;")), "SQ757", "kv"),
    (main(engine(device="kv cap 9; mm (t) = t; mm (t) = t;")), "SQ757", "mm"),
    (main(engine(device="kv cap 9; mm (t) = mm(t);", execute="execute (mm(1));")), "SQ759", "mm"),
    (main(engine(device="kv cap 9; mm (t, t) = t;")), "SQ237", "t"),
    (main(engine(device="kv cap 9; mm (t) = t;", execute="execute (mm(1, 2));")), "SQ319", "(mm(1, 2))"),
    (main(engine(size="[2]", devices="[2]", caps="r[2] cap 3;")), "SQ758", "r"),
    (main(engine(size="[2]", devices="[2]", tokens="tokens cap waiting.count;")), "SQ452", "waiting.count"),
    (
        main(engine(schedule="schedule { let a = 2; let a = 3; advance running each at most (a); }")),
        "SQ310",
        "a",
    ),
    (main(engine(schedule="schedule { let a = 2; advance running only (a); }")), "SQ761", "(a)"),
    (main(engine(more="let a = 1;", schedule="schedule { let a = 2; advance running; }")), "SQ311", "a"),
    (main(engine(items="state n = 1;", schedule="schedule { set n = 2; advance running; }")), "SQ311", "n"),
    (main(engine(size="[2]", devices="[2]", more="claim c : every iteration of E (1);")), "SQ316", "E"),
    (main(engine(size="[2]", devices="[2]", more="claim c : every iteration of E[n] (1);")), "SQ768", "E[n]"),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_is_refused_with_its_code_at_its_place(case: Case) -> None:
    check(case)
