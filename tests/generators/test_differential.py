"""Differential testing: random programs are members, and planted faults are noticed by Lean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from serq.generators.membership import membership
from serq.generators.outcomes import Outcome, Statement, batch_module, outcome_theorems
from serq.generators.random_cases import Case, Request, program_of_case, random_case, smaller
from serq.generators.toolchain import set_up
from serq.generators.translate import translate
from serq.ir.validate import validate
from serq.oracle import differential
from serq.oracle.differential import (
    CLASSES,
    Findings,
    Ran,
    differential_test,
    interpreted,
    outcome_of,
    random_runs,
    shrunk,
)
from serq.oracle.lean_bench import Answer, LeanBench
from serq.oracle.lean_regressions import Regression
from tests.generators.faults import FAULTS, Fault


def test_random_programs_are_valid_members_of_the_fragment() -> None:
    for seed in range(60):
        program = program_of_case(random_case(seed))
        assert validate(program) == () and membership(program) == (), seed


def test_a_seed_gives_the_same_program() -> None:
    assert program_of_case(random_case(7)) == program_of_case(random_case(7))
    assert random_case(7) != random_case(8)


def test_every_class_is_met_in_the_default_number_of_programs() -> None:
    seen: Counter[str] = Counter()
    for ran in islice(random_runs(), 60):
        seen.update(k for k, n in ran.seen.items() if n)
    assert [c for c in CLASSES if not seen[c]] == []


def test_an_empty_class_fails() -> None:
    found = Findings(agreeing=5, seen=Counter(dict.fromkeys(CLASSES[1:], 1)))
    assert found.empty_classes == [CLASSES[0]] and not found.ok


def test_simpler_cases_are_valid_and_come_to_an_end() -> None:
    case = random_case(3)
    steps = 0
    while found := next(smaller(case), None):
        assert validate(program_of_case(found)) == ()
        case, steps = found, steps + 1
    assert steps < 100 and len(case.sessions) == 1
    assert case.sessions[0][0] == Request(1, 1)


class _Refusing:
    """Stands for a Lean that refuses what a predicate says."""

    def __init__(self, refuses: object) -> None:
        self.refuses = refuses

    def ask(self, modules: dict[str, str]) -> dict[str, Answer]:
        assert callable(self.refuses)
        parts = modules["Batch"].split("namespace Serq.Generated.Batch.")[1:]
        names = [p.split()[0] for p in parts if self.refuses(p)]
        return {"Batch": Answer(tuple(f"Serq.Generated.Batch.{n}.outcome_agrees" for n in names))}


def test_a_refused_case_is_found_and_shrunk() -> None:
    bench = _Refusing(lambda text: "byEngine := true" in text and "block := " in text)
    found = differential_test(bench, 5)  # type: ignore[arg-type]
    assert found.differing and found.agreeing + len(found.differing) == 5
    least = shrunk(bench, found.differing[0])  # type: ignore[arg-type]
    assert least.case.block == 2 and len(least.case.sessions) == 1 and least.case.budget == 1
    assert "theorem outcome_agrees" in Regression("x", "y", least.program, least.outcome).text


def _faulty(fault: Fault) -> Statement:
    """A short random program on which the fault shows, with what the faulty interpreter makes of it."""
    for ran in islice(_short_runs(), 400):
        faulty = fault(ran.program)
        wrong = outcome_of(faulty, len(ran.case.sessions))
        if wrong is not None and wrong[0] != ran.outcome:
            return Statement("x", translate(ran.program), wrong[0])
    raise AssertionError("the fault shows in no program")


def _short_runs() -> Iterator[Ran]:
    if not _SHORT:
        _SHORT.extend(r for r in islice(random_runs(), 400) if len(r.outcome.iterations) <= 14)
    return iter(_SHORT)


_SHORT: list[Ran] = []


def _spoiled(outcome: Outcome) -> dict[str, Outcome]:
    """An outcome with one number changed, in each of its parts."""
    first, *more = outcome.iterations
    (pool, *pools) = outcome.pools
    observed = (
        (tuple(x + 1 for x in outcome.observed[0][0]), *outcome.observed[0][1:]),
        *outcome.observed[1:],
    )
    return {
        "tokens": replace(outcome, iterations=(replace(first, tokens=((9, 9),)), *more)),
        "residents": replace(outcome, iterations=(replace(first, residents=first.residents + 1), *more)),
        "preemptions": replace(outcome, preemptions=outcome.preemptions + 1),
        "cached": replace(outcome, pools=((pool[0], pool[1] + 1), *pools)),
        "observed": replace(outcome, observed=observed),
        "steps": replace(outcome, iterations=outcome.iterations[:-1]),
    }


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> LeanBench:
    """A bench of the tests' own."""
    set_up("auto", tmp_path_factory.getbasetemp(), lambda text: None)
    return LeanBench()


def test_every_planted_fault_is_noticed_by_lean(bench: LeanBench) -> None:
    planted = [replace(_faulty(fault), name=f"Fault{k}") for k, fault in enumerate(FAULTS.values())]
    small = interpreted("Right", Case(((Request(3, 2), Request(6, 1)), (Request(4, 2),)), 4, 2, 1, 2))
    assert small is not None
    right = small.statement
    spoiled = [replace(right, name=f"Spoiled{k}", outcome=o) for k, o in _spoiled(right.outcome).items()]
    text = batch_module("Batch", "planted faults", [right, *planted, *spoiled])
    answer = bench.ask({"Batch": text})["Batch"]
    assert answer.problems == ()
    expected = [n for n in outcome_theorems("Batch", [*planted, *spoiled]) if n.endswith("agrees")]
    assert list(answer.refused) == expected
    assert len(FAULTS) >= 10


def test_a_batch_is_as_large_as_it_says() -> None:
    assert differential.BATCH >= 10
