"""Mutants of the examples: on a sample they come out as the page reports, and they are what they say."""

from __future__ import annotations

from collections import Counter

import pytest

from serq.ir import statements as st
from serq.ir.validate import validate
from serq.lang.compile import compile_text
from serq.lang.settings import Settings
from tools.examples import examples
from tools.mutants import MUTATIONS, mutants
from tools.mutation import Subject, made_of
from tools.outcomes import Outcome, records

EXAMPLES = {e.name: e for e in examples()}
SAMPLE = (
    "oracle/vllm_request",
    "papers/bari_rad",
    "pd-disaggregation/pd_batching",
    "single-turn/ascend_aging",
)
RECORDS = records()


def subject(name: str) -> Subject:
    return Subject(EXAMPLES[name], RECORDS[name].first)


def test_the_result_is_of_these_programs_and_mutations() -> None:
    assert list(RECORDS) == list(EXAMPLES)
    changed = [n for n, e in EXAMPLES.items() if RECORDS[n].program != made_of(e)]
    assert not changed, "run tools/mutation.py"
    assert {o.mutation for r in RECORDS.values() for o in r.outcomes} == {m.name for m in MUTATIONS}


@pytest.mark.parametrize("name", SAMPLE)
def test_the_sample_comes_out_as_recorded(name: str) -> None:
    one = subject(name)
    found = [one.outcome(m) for m in one.mutants()]
    known = RECORDS[name].outcomes
    assert [(o.mutation, o.place, o.refused, o.run) for o in found] == [
        (o.mutation, o.place, o.refused, o.run) for o in known
    ]
    for ours, theirs in zip(found, known, strict=True):
        assert set(ours.caught) >= set(theirs.caught), ours
    assert any(o.caught for o in found)


def test_a_checker_that_finds_nothing_misses_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.mutation.refuted", lambda program: Counter())
    one = subject("papers/bari_rad")
    found = [one.outcome(m) for m in one.mutants()]
    assert not any(o.caught for o in found)
    missed = {o.rule for o in found if o.missed}
    assert {"amount-negative", "iteration-cost", "budget-zero", "vacuous-claim"} <= missed


def test_what_counts_as_missed() -> None:
    assert Outcome("e", "negate an amount", "p", run="SQ802").missed
    assert Outcome("e", "zero a budget", "p").rule == "budget-zero"
    assert Outcome("e", "zero a budget", "p").missed
    assert not Outcome("e", "half a cap", "p").missed
    assert not Outcome("e", "zero a budget", "p", caught=("budget-zero",), run="deadlock").missed
    assert not Outcome("e", "negate an amount", "p", refused="SQ505").missed
    assert Outcome("e", "half a cap", "p", run="SQ809").rule == "other"


PROGRAM = """fn main() {
  device gpu { kv cap 640; }
  engine llm on gpu {
    reqs cap 16;
    tokens cap 64;
    schedule { advance running each at most (32); admit waiting each at most (32); }
    execute (0.01 + 0.001 * batch.tokens);
  }
  pool kv on gpu { block 16; preempt lifo; }
  pool reqs on llm { queue fifo; }
  pool desk { cap 32; queue by (n - waited); }
  stage wait : delay;
  workload { arrive poisson(1); hidden o; turn { Size n = 1 + floor(~exp(30)); Size o = 2; } }
  server {
    set most = n;
    branch (n > 9) { set most = max(9, n * n / (n + 1)); }
    hold desk (cost(desk, 1)) { while (most > 20) { run wait (cost(wait, most)); set most = most - 20; } }
    hold reqs (cost(reqs, 1)), kv (cost(kv, min(n, budget_left(llm)))) reserve (cost(kv, n)) {
      run llm prefill (cost(llm, n)) growing kv;
      run llm decode (cost(llm, o - 1)) growing kv;
    }
  }
}
"""
# The kinds that this program has a place for.
KINDS = {
    "drop a reserve",
    "swap a guard",
    "a guard that always holds",
    "negate an amount",
    "drop a clamp",
    "drop a constant summand",
    "remove a set",
    "no work in a loop",
    "a divisor that is 0",
    "pools taken one by one",
    "a sixteenth of a cap",
    "half a cap",
    "drop preemption",
    "keys that are constant",
    "drop ageing",
    "shortest first",
    "zero a budget",
    "drop `each at most`",
    "negate a cost",
    "drop a part of a cost",
    "leak a hidden attribute",
}


def test_every_mutant_is_another_program_with_one_change() -> None:
    program = compile_text(PROGRAM, settings=Settings(horizon=20.0)).program
    found = list(mutants(program, 99))
    assert {m.mutation.name for m in found} >= KINDS
    assert all(m.program != program for m in found)
    valid = [m for m in found if not validate(m.program)]
    assert len(valid) > 0.9 * len(found)
    assert len(list(mutants(program, 1))) == len({m.mutation.name for m in found})


def test_a_removed_statement_takes_its_side_along() -> None:
    program = compile_text(PROGRAM, settings=Settings(horizon=20.0)).program
    removed = [m.program for m in mutants(program, 9) if m.mutation.name == "remove a set"]
    assert removed
    for mutant in removed:
        assert [len(b) for b in mutant.blocks] == [len(s) for s in mutant.sides]
        assert sum(map(len, mutant.blocks)) == sum(map(len, program.blocks)) - 1


def test_pools_taken_one_by_one_take_the_same() -> None:
    program = compile_text(PROGRAM, settings=Settings(horizon=20.0)).program
    (mutant,) = (m.program for m in mutants(program, 9) if m.mutation.name == "pools taken one by one")
    assert validate(mutant) == () and len(mutant.blocks) == len(program.blocks) + 1
    (inner,) = mutant.blocks[-1]
    assert isinstance(inner, st.Hold) and len(inner.pools) == 1


def test_nothing_that_goes_wrong_is_proved() -> None:
    missed = [o for r in RECORDS.values() for o in r.outcomes if o.missed]
    assert missed and all(o.answer for o in missed)
    assert not [o for o in missed if o.answer == "proved"]
