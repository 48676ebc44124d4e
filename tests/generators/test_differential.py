"""Differential testing: random programs are members, and planted faults are noticed by Lean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from serq.generators import machine
from serq.generators.membership import membership
from serq.generators.outcomes import Outcome, Statement, batch_module, outcome_theorems
from serq.generators.random_bodies import Block, Compute, Part, Repeat, Step, Stop, Take, Turn
from serq.generators.random_cases import (
    AnyCase,
    BodyCase,
    Case,
    Request,
    program_of_case,
    random_case,
    smaller,
)
from serq.generators.random_terms import number
from serq.generators.toolchain import set_up
from serq.generators.translate import translate
from serq.oracle import differential
from serq.oracle.differential import (
    CLASSES,
    MOST_ITERATIONS,
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

# Seeds that are run with the interpreter and the model in Python; Lean judges fewer.
MANY = 240


def test_random_programs_are_members_and_both_sides_agree() -> None:
    """`translate` refuses what is not valid or not a member."""
    compared = 0
    for seed in range(MANY):
        case = random_case(seed)
        translated = translate(program_of_case(case))
        ran = interpreted("x", case)
        if ran is not None:
            m = machine.run(translated, translated.horizon or 0)
            assert machine.outcome(translated, m) == ran.outcome, seed
            compared += 1
    assert compared > MANY / 2


def test_a_seed_gives_the_same_program() -> None:
    for seed in (6, 7):
        assert program_of_case(random_case(seed)) == program_of_case(random_case(seed))
    assert random_case(7) != random_case(8)


def test_most_programs_have_a_body_of_their_own() -> None:
    families = Counter(type(random_case(seed)) for seed in range(60))
    assert families == {BodyCase: 40, Case: 20}
    bodies = {c.body for c in map(random_case, range(60)) if isinstance(c, BodyCase)}
    assert len(bodies) == 40


def test_every_class_is_met_in_the_default_number_of_programs() -> None:
    seen: Counter[str] = Counter()
    for ran in islice(random_runs(), 60):
        seen.update(k for k, n in ran.seen.items() if n)
    assert [c for c in CLASSES if not seen[c]] == []


def test_an_empty_class_fails() -> None:
    found = Findings(agreeing=5, seen=Counter(dict.fromkeys(CLASSES[1:], 1)))
    assert found.empty_classes == [CLASSES[0]] and not found.ok


@pytest.mark.parametrize("seed", [3, 4, 8])
def test_simpler_cases_are_valid_and_come_to_an_end(seed: int) -> None:
    case = random_case(seed)
    steps = 0
    while found := next(smaller(case), None):
        assert membership(program_of_case(found)) == ()
        case, steps = found, steps + 1
    assert steps < 200 and len(case.sessions) == 1
    least: dict[type[AnyCase], object] = {Case: Request(1, 1), BodyCase: Turn(0, 0, 0, 0)}
    assert case.sessions[0][0] == least[type(case)]
    assert isinstance(case, Case) or case.body == ()


@pytest.mark.parametrize("seed", [10, 11])
def test_every_simpler_case_is_a_member(seed: int) -> None:
    found = list(smaller(random_case(seed)))
    assert len(found) > 20
    assert [c for c in found[:80] if membership(program_of_case(c))] == []


def test_what_a_body_may_not_do_is_left_out() -> None:
    """A pool held already, one that is not there, growth without a hold, an end before other statements."""
    inner = Take((Part("kv", number(1)), Part("aux", number(1))), (Compute(number(2)), Stop()))
    body = (Stop(), Take((Part("kv", number(1)),), (inner, Compute(number(1)))), Compute(number(1)))
    case = BodyCase(((Turn(),),), body, pools=("kv",))
    assert membership(program_of_case(case)) == ()
    ran = interpreted("x", case)
    assert ran is not None and ran.seen["end inside a hold"] and not ran.seen["several holds"]


class _Refusing:
    """Stands for a Lean that refuses what a predicate says."""

    def __init__(self, refuses: object) -> None:
        self.refuses = refuses

    def ask(self, modules: dict[str, str]) -> dict[str, Answer]:
        assert callable(self.refuses)
        parts = modules["Batch"].split("namespace Serq.Generated.Batch.")[1:]
        names = [p.split()[0] for p in parts if self.refuses(p)]
        return {"Batch": Answer(tuple(f"Serq.Generated.Batch.{n}.outcome_agrees" for n in names))}

    def refuses_run(self, ran: Ran) -> bool:
        """Whether it refuses the statement of a run."""
        assert callable(self.refuses)
        return bool(self.refuses(batch_module("Batch", "", [ran.statement])))


def test_a_refused_case_is_found_and_shrunk() -> None:
    bench = _Refusing(lambda text: "byEngine := true" in text and "block := " in text)
    found = differential_test(bench, 5)  # type: ignore[arg-type]
    assert found.agreeing + len(found.differing) == 5
    served = next(r for r in found.differing if isinstance(r.case, Case))
    least = shrunk(bench, served)  # type: ignore[arg-type]
    assert isinstance(least.case, Case)
    assert least.case.block == 2 and len(least.case.sessions) == 1 and least.case.budget == 1
    assert "theorem outcome_agrees" in Regression("x", "y", least.program, least.outcome).text


def test_a_refused_body_is_shrunk_to_what_it_is_refused_for() -> None:
    """A hold of something, and a loop that counts."""
    bench = _Refusing(lambda text: "needs :=" in text and "observe Seen.pass" in text)
    refused = next(r for r in random_runs() if isinstance(r.case, BodyCase) and bench.refuses_run(r))
    least = shrunk(bench, refused).case  # type: ignore[arg-type]
    assert isinstance(least, BodyCase)
    assert least.sessions == ((Turn(0, 0, 0, 0),),) and least.budget == 1 and len(least.pools) == 1
    assert Repeat(number(0), ()) in _flat(least.body)
    assert sorted(type(s).__name__ for s in _flat(least.body)) == ["Repeat", "Take"]


def _flat(block: Block) -> list[Step]:
    """Every statement of a body."""
    found: list[Step] = []
    for step in block:
        found.append(step)
        for inner in (getattr(step, name, ()) for name in ("body", "then", "other")):
            found += _flat(inner)
    return found


def _faulty(fault: Fault, family: type[AnyCase]) -> Statement | None:
    """A short random program of a family on which the fault shows, with what the faulty interpreter makes of it."""
    for ran in _short_runs():
        if isinstance(ran.case, family):
            wrong = outcome_of(fault(ran.program), len(ran.case.sessions), MOST_ITERATIONS)
            if wrong is not None and wrong[0] != ran.outcome:
                return Statement("x", translate(ran.program), wrong[0])
    return None


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
    found = [_faulty(fault, BodyCase) or _faulty(fault, Case) for fault in FAULTS.values()]
    planted = [replace(s, name=f"Fault{k}") for k, s in enumerate(found) if s is not None]
    assert len(planted) == len(FAULTS)
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
