"""Queues, entries, calls and relations (api.md §7.10, §10.9): every trigger with its code and its place."""

from __future__ import annotations

import pytest

from tests.lang.refused import HIDDEN, READS, SOURCE, Case, check, entry, pod, queue, reader, server, session

CASES: list[Case] = [
    (server("L.decode (n);", queue(members="serve fifo; pool kv { cap 5; }")), "SQ780", "pool kv { cap 5; }"),
    (server("L.decode (n);", queue(members="serve fifo; device d { }")), "SQ780", "device d { }"),
    (
        server("L.decode (n);", queue(members="pool kv { cap 5; } serve fifo; serve delay;")),
        "SQ785",
        "serve delay;",
    ),
    (
        server("L.decode (n);", queue(members="pool kv { cap 5; } serve fifo; nic fifo; nic fifo;")),
        "SQ785",
        "nic fifo;",
    ),
    (server("", queue(entry="route { }", roles="gateway", size="[2]")), "SQ781", "[2]"),
    (server("", queue(entry="")), "SQ788", "decode"),
    (server("L.decode (n);", queue(roles="decode, decode")), "SQ781", "decode"),
    (server("L.decode (n);", queue(roles="decode, prefill")), "SQ788", "prefill"),
    (server("L.decode (n);", queue(entry="decode (k, m) { run (cost(L, k)); }")), "SQ787", "decode"),
    (
        server("L.decode (n);", queue(entry="prefill (k) { } decode (k) { run (cost(L, k)); }")),
        "SQ786",
        "prefill",
    ),
    (
        server(
            "L.decode (n);", queue(entry="decode (k) { run (cost(L, k)); } decode (k) { run (cost(L, k)); }")
        ),
        "SQ787",
        "decode",
    ),
    (server("L.decode (n);", queue(entry="foo (k) { } decode (k) { run (cost(L, k)); }")), "SQ786", "foo"),
    (server("L.decode (n);", queue(members="pool kv { cap 5; } serve fifo latency 2;")), "SQ784", "2"),
    (server("", queue(roles="link", entry="", members="")), "SQ788", "L"),
    (
        server(
            "",
            queue(roles="link", entry="transfer (k) { run (cost(L, k)); }", members="serve fifo latency 2;"),
        ),
        "SQ788",
        "L",
    ),
    (server("L.decode (n);", entry("set k = 1;")), "SQ778", "k"),
    (server("L.decode (n);", entry("observe x = n;")), "SQ772", "n"),
    (server("L.decode (n);", entry("observe x = serial;")), "SQ772", "serial"),
    (server("L.decode (n);", entry("observe x = o;")), "SQ772", "o"),
    (server("L.decode (n);", entry("hold kv (cost(kv, o)) { }"), HIDDEN), "SQ772", "o"),
    (server("L.decode (n);", entry("hold kv (cost(kv, now)) { }")), "SQ772", "now"),
    (server("L.decode (n);", entry("hold kv (cost(kv, x)) { set x = 1; }")), "SQ777", "x"),
    (server("L.decode (n);", entry("hold kv (cost(kv, x)) { } set x = 1;")), "SQ777", "x"),
    (server("L.decode (n);", entry("branch (k) { set x = 1; } hold kv (cost(kv, x)) { }")), "SQ777", "x"),
    (server("L.decode (n);", entry("fork { set x = 1; } join; hold kv (cost(kv, x)) { }")), "SQ777", "x"),
    (server("L.decode (n);", entry("hold p (cost(p, 1)) { }")), "SQ776", "p"),
    (server("L.decode (n);", entry("release p;")), "SQ776", "p"),
    (server("L.decode (n);", entry("observe x = used(p);")), "SQ779", "p"),
    (server("L.decode (n);", entry("observe x = queue(s);")), "SQ779", "s"),
    (server("L.decode (n);", entry("observe x = used(kv[0]);")), "SQ775", "kv[0]"),
    (server("L.decode (n);", entry("observe x = L.y;")), "SQ779", "L.y"),
    (server("L.decode (n);", entry("observe x = self;")), "SQ794", "self"),
    (server("L.decode (n);", entry("end;")), "SQ650", "end;"),
    (server("L.decode (n);", entry("observe x = nope;")), "SQ301", "nope"),
    (server("L.decode (n);", entry("mark y; observe x = y;")), "SQ301", "y"),
    (server("L.decode (n);", entry("hold kv (cost(kv, x)) at admission (x = o) { }")), "SQ772", "o"),
    (
        server(
            "L.decode (n);", queue(entry="decode (k) { run (cost(kv, k)); }", members="pool kv { cap 5; }")
        ),
        "SQ777",
        "run (cost(kv, k));",
    ),
    (server("L.decode (n);", pod("llm")), "SQ783", "llm"),
    (server("L.decode (n);", pod("", "request (x) { }")), "SQ770", "request (x) { }"),
    (server("L.decode (n);", queue(size="[2]")), "SQ316", "L"),
    (server("L[0].decode (n);", queue()), "SQ317", "L[0]"),
    (server("L.prefill (n);", queue()), "SQ797", "prefill"),
    (server("X.decode (n);", queue()), "SQ306", "X"),
    (server("L.decode ();", queue()), "SQ799", "L.decode ();"),
    (server("L.decode (~exp(1));", queue()), "SQ799", "~exp(1)"),
    (server("", queue(), session("turn; L.decode (1);")), "SQ795", "L.decode (1);"),
    (server("L.decode (n) from P;", SOURCE + " " + queue()), "SQ797", "decode"),
    (server("L.decode (n) to p (1);", queue()), "SQ798", "to p (1)"),
    (server("L.decode (n);", queue(entry="decode (k) { L.decode (k); }")), "SQ796", "L.decode (k);"),
    (server("g.route ();", "queue g : gateway { route { g.route (); } }"), "SQ796", "g.route ();"),
    (server("hold L.kv (cost(L.kv, 1)) { }", queue()), "SQ776", "L.kv"),
    (server("release L.kv;", queue()), "SQ776", "L.kv"),
    (server("set x = L.zz;", queue()), "SQ301", "L.zz"),
    (server("set x = L[0].zz;", queue()), "SQ317", "L[0].zz"),
    (server("mark x;", queue()), "SQ211", "mark x;"),
    (server("prefill (1);", queue()), "SQ211", "prefill (1);"),
    (server("run (1);", queue()), "SQ211", "run (1);"),
    (server(READS, SOURCE + reader()), "SQ793", "transfer (k) from P to kv (1);"),
    (
        server("D.decode (n) from P;", SOURCE + reader() + " D pull P share maxmin;"),
        "SQ603",
        "transfer (k) from P to kv (1);",
    ),
    (
        server("P.prefill (n); D.decode (n);", SOURCE + reader() + " D pull P share maxmin;"),
        "SQ797",
        "decode",
    ),
    (server(READS, SOURCE + reader("observe x = P;") + " D pull P share maxmin;"), "SQ772", "P"),
    (server(READS, SOURCE + reader("release P[0];") + " D pull P share maxmin;"), "SQ775", "P[0]"),
    (server(READS, reader() + SOURCE + " D pull P share maxmin;"), "SQ773", "P"),
    (
        server(READS, SOURCE.replace(" lease kv (inf)", "") + reader() + " D pull P share maxmin;"),
        "SQ774",
        "P",
    ),
    (server(READS, SOURCE + reader() + " D pull P share maxmin; D pull P share maxmin;"), "SQ792", "D"),
    (server(READS, SOURCE + reader() + " D pull D share maxmin;"), "SQ792", "D"),
    (
        server(READS, SOURCE + reader() + " X pull P share maxmin;"),
        "SQ793",
        "transfer (k) from P to kv (1);",
        "SQ790",
        "X",
    ),
    (server(READS, SOURCE.replace("nic ps(2); ", "") + reader() + " D pull P share maxmin;"), "SQ791", "P"),
    (server(READS, SOURCE + reader() + " D pull P share maxmin; share maxmin;"), "SQ663", "share maxmin;"),
    (server(READS, SOURCE + reader() + " D pull P latency 0 - 1 share maxmin;"), "SQ789", "0 - 1"),
    (server(READS, SOURCE + reader() + " D pull P latency ~exp(1) share maxmin;"), "SQ321", "~exp(1)"),
    (
        server(
            READS,
            SOURCE
            + SOURCE.replace("queue P", "queue Z").replace("cost(P", "cost(Z")
            + reader()
            + " D pull Z share maxmin;",
        ),
        "SQ792",
        "P",
    ),
    (
        server(READS, SOURCE.replace("ps(2)", "fifo") + reader() + " D pull P share maxmin;"),
        "SQ616",
        "transfer (k) from P to kv (1);",
    ),
    (
        server(
            "hold p (cost(p, 1)) { hold q (cost(q, 1)) { transfer (1) from p to q (1); } }",
            "stage link : fifo; stage transfer : fifo;",
        ),
        "SQ660",
        "transfer (1) from p to q (1);",
    ),
    (
        server("hold p (cost(p, 1)) { hold q (cost(q, 1)) { transfer (1) from p to q (1); } }", ""),
        "SQ660",
        "transfer (1) from p to q (1);",
    ),
    (server("tool (1);", ""), "SQ660", "tool (1);"),
    (
        server(
            "hold p (cost(p, 1)) { hold q (cost(q, 1)) { L.transfer (n) from p to q (1); } }",
            "queue L : link { serve ps(2); }",
        ),
        "SQ797",
        "transfer",
    ),
    (
        server("L.transfer (n);", "queue L : link { serve ps(2); transfer (k) { run (cost(L, k)); } }"),
        "SQ798",
        "L.transfer (n);",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_is_refused_with_its_code_at_its_place(case: Case) -> None:
    check(case)
