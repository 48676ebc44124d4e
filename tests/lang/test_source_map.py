"""From the IR back to the text: the place of a path, in the program's file and in a library's."""

from __future__ import annotations

from pathlib import Path

import pytest

from serq.diagnostics import IrPath
from serq.ir.traverse import expressions_of
from serq.lang.compile import compile_file, compile_text
from serq.lang.settings import Settings
from tests.conformance import cases
from tests.lang.refused import pointed_at

PROGRAM = """fn main() {
  share maxmin;
  pool p { cap 9; queue by (waited + n); evict by (size); }
  stage s[2] : fifo;
  stage u : ps(1);
  stage v : ps(2);
  device gpu { kv cap 9; }
  engine E on gpu {
    tokens cap 4;
    state r = 1;
    schedule { branch (running.count > 2) { set r = r + 1; advance running by (remaining); } else { admit waiting; } }
    execute (1 + batch.tokens);
  }
  pool kv on gpu { preempt by (position); }
  gauge busy_now = busy(E) + used(kv);
  claim c given (n > 1): every iteration of E (tokens <= 4);
  workload { arrive renewal(~exp(2)); turn { Size n = ~uniform(1, 3); } }
  server {
    hold p (cost(p, n + 1)) reserve (cost(p, 3)) { run s[n - 1] (cost(s, n)); } cache (cost(p, n)) lease p (7)
    run u, v (cost(u, v, n));
    choose k in 2 by (queue(s[k]));
  }
}
"""
SETTINGS = Settings(horizon=10.0)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("blocks", 1, 0, "Set", 1), "~uniform(1, 3)"),
        (("blocks", 2, 1, "Hold", "pools", 0, 1, "Cost", 1, "Binary", 1), "n"),
        (("blocks", 2, 1, "Hold", "pools", 0, 2), "(cost(p, 3))"),
        (("blocks", 2, 1, "Hold", "cache"), "(cost(p, n))"),
        (("blocks", 2, 1, "Hold", "lease", 1), "(7)"),
        (("blocks", 3, 0, "Run", "stage", "index"), "[n - 1]"),
        (("blocks", 3, 0), "run s[n - 1] (cost(s, n));"),
        (("blocks", 2, 2, "Run", "also", 0), "v"),
        (("blocks", 2, 3, "Choose", "key", 0, "Call", 1, 0, "Stage", "index"), "[k]"),
        (("pools", 0, "queue", 0), "waited + n"),
        (("pools", 0, "evict", "By", 0), "size"),
        (("pools", 1, "preempt", "By", "keys", 0), "position"),
        (("pools", 0), "p"),
        (("stages", 1), "s"),
        (("stages", 3, "kind", "Ps"), "(2)"),
        (("stages", 4, "kind", "Step", "budget"), "4"),
        (("stages", 4, "kind", "Step", "cost", "Binary", 2), "batch.tokens"),
        (("stages", 4, "kind", "Step", "iteration", 0, "Branch", 0), "(running.count > 2)"),
        (("stages", 4, "kind", "Step", "iteration", 0, "Branch", 1, 0, "Set", 1), "r + 1"),
        (("stages", 4, "kind", "Step", "iteration", 0, "Branch", 1, 1, "Serve", "by", 0), "remaining"),
        (("gauges", 0, "expr", "Binary", 2), "used(kv)"),
        (("claims", 0, "given"), "(n > 1)"),
        (("claims", 0), "c"),
        (("registers", 0), "r"),
        (("arrival", "Renewal"), "(~exp(2))"),
        (("share",), "share maxmin;"),
    ],
)
def test_a_path_leads_to_its_text(path: IrPath, text: str) -> None:
    made = compile_text(PROGRAM, settings=SETTINGS)
    place = made.source_map.place(path)
    assert pointed_at(PROGRAM, place.span) == text
    assert place.path == path


def test_a_path_that_leads_nowhere_keeps_what_is_known() -> None:
    made = compile_text(PROGRAM, settings=SETTINGS)
    assert made.source_map.place(("blocks", 99, 0)).span is None
    assert made.source_map.place(("blocks", 2, 1, "Hold", "nothing")).span is not None
    assert made.source_map.place(()).span is None


@pytest.mark.parametrize("name", [n for n, c in cases().items() if c["source"]][::5])
def test_every_expression_has_a_place(name: str) -> None:
    case = cases()[name]
    settings = Settings(
        horizon=case["horizon"], warmup=case.get("warmup", 0.0), arrivals=case.get("arrivals")
    )
    made = compile_text(case["source"], file="program.sq", settings=settings)
    for path, _, _ in expressions_of(made.program):
        place = made.source_map.place(path)
        assert place.span is not None, path
        assert place.file == "program.sq"


def test_a_part_of_a_library_is_placed_in_it(tmp_path: Path) -> None:
    library = tmp_path / "lib.sq"
    library.write_text("def chore(x) { run s (cost(s, x + 1)); }\n", encoding="utf-8")
    program = tmp_path / "main.sq"
    program.write_text(
        'use "lib.sq";\nfn main() { stage s : fifo; workload { arrive batch(1); turn { Size n = 1; } } '
        "server { chore(n); } }\n",
        encoding="utf-8",
    )
    made = compile_file(program, SETTINGS)
    place = made.source_map.place(("blocks", 2, 1, "Run", "work", "Cost", 1))
    assert place.file == str(library)
    assert pointed_at(library.read_text(), place.span) == "x + 1"
