"""Inputs left open: closed forms, the same program as a compilation at any value, shapes, and attacks on proofs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from pydantic import BaseModel

from serq.check import Finding, Verdict, run_checks
from serq.check.parameters import Answered, check_for, symbols
from serq.diagnostics import SerqError
from serq.ir import expressions as ex
from serq.ir.edit import with_trace_beside
from serq.ir.encode import dumps
from serq.ir.program import Program
from serq.ir.symbolic import Input, Log, Symbolic
from serq.ir.validate.constants import constant
from serq.lang.compile import compile_file, compile_text
from serq.lang.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "examples"
LENGTHS = EXAMPLES / "incidents" / "lengths.sq"
SETTINGS = Settings(horizon=10.0)
Values = Mapping[str, float]
Compile = Callable[[Values], Program]


def from_file(path: Path, **fixed: float) -> Compile:
    def at(inputs: Values) -> Program:
        program = compile_file(path, settings=SETTINGS, inputs={**fixed, **inputs}).program
        return with_trace_beside(program, path.parent)

    return at


def from_text(text: str) -> Compile:
    return lambda inputs: compile_text(text, settings=SETTINGS, inputs=dict(inputs)).program


def refuted(answered: Answered) -> list[Finding]:
    return [f for f in answered.report.findings if f.verdict is Verdict.REFUTED]


def edges(found: Finding) -> dict[str, tuple[float, float]]:
    return {s.name: (s.low, s.high) for s in found.safe if s.tight}


# Closed forms


def test_the_least_number_of_blocks_of_a_public_report() -> None:
    """vllm#35541: prompts of 1 002 tokens need 63 usable blocks of 16, and one block is never used."""
    answered = check_for(
        from_file(LENGTHS, max_len=1009.0),
        {"num_blocks": (1.0, 10_000.0)},
        rules=("hold-never-fits",),
        ranges={"prompt": (1.0, 1002.0), "out": (1.0, 7.0)},
    )
    (found,) = refuted(answered)
    assert edges(found) == {"num_blocks": (64.0, 10_000.0)}
    assert dict(found.witness)["num_blocks"] == 1.0 and dict(found.witness)["prompt"] == 1.0


def test_the_longest_model_length_of_a_public_report() -> None:
    """With 50 blocks, 784 tokens fit; a prompt is below the model's length."""
    answered = check_for(
        from_file(LENGTHS, num_blocks=50.0),
        {"max_len": (1.0, 131_072.0)},
        rules=("hold-never-fits", "outgrows-pool"),
        ranges={"prompt": (1.0, 1002.0), "out": (1.0, 2048.0)},
    )
    assert {frozenset(edges(f).items()) for f in refuted(answered)} == {
        frozenset({("max_len", (1.0, 785.0))})
    }
    assert dict(refuted(answered)[0].witness)["max_len"] == 786.0


@pytest.mark.parametrize("longest", [17, 100, 2048, 4097])
def test_one_block_more_than_the_longest_request_needs(longest: int) -> None:
    """vllm#41069: N = ceil((L - 1) / 16) + 1 blocks for every length up to L at once."""
    answered = check_for(
        from_file(LENGTHS),
        {"num_blocks": (1.0, 10_000.0), "max_len": (1.0, float(longest))},
        rules=("hold-never-fits",),
        ranges={"prompt": (1.0, 1e6), "out": (1.0, 1e6)},
    )
    (found,) = refuted(answered)
    least = math.ceil((longest - 1) / 16) + 1
    assert edges(found)["num_blocks"] == (least, 10_000.0)
    assert edges(found)["max_len"] == (1.0, 1.0)
    shown = dict(found.witness)
    assert (shown["num_blocks"], shown["max_len"]) == (1.0, 2.0)


BUDGET = """use "std/args";
fn main() {
  let blocks = args.number("blocks", 10);
  let budget = args.number("budget", 64);
  let spare = args.number("spare", 0);
  pool kv { cap blocks * 16 - spare; block 16; }
  stage desk : fifo;
  workload { arrive batch(3); turn { Size n = floor(~uniform(1, 41)); } }
  server { hold kv (cost(kv, min(n, budget))) { run desk (cost(desk, n)); } }
}
"""


@pytest.mark.parametrize(("budget", "least"), [(8, 1), (16, 1), (17, 2), (40, 3), (64, 3)])
def test_an_input_inside_an_expression_and_one_in_a_cap(budget: int, least: int) -> None:
    answered = check_for(
        from_text(BUDGET), {"blocks": (0.0, 50.0), "budget": (1.0, float(budget))}, rules=("hold-never-fits",)
    )
    (found,) = refuted(answered)
    assert edges(found)["blocks"] == (least, 50.0)


def test_proved_for_every_value() -> None:
    answered = check_for(from_text(BUDGET), {"blocks": (3.0, 1e4), "budget": (1.0, 1e6)})
    assert {f.verdict for f in answered.report.of("hold-never-fits")} == {Verdict.PROVED}
    assert not answered.shaping


# Shapes

SHAPED = """use "std/args";
fn main() {
  let n = args.number("n", 2);
  let m = args.number("m", 1);
  pool slots { cap 4; }
  stage desk : fifo(n);
  workload { arrive batch(3); turn { Size job = ~uniform(1, 2); } }
  server { hold slots (cost(slots, m > 2 ? 5 : 1)) { run desk (cost(desk, job * m)); } }
}
"""


def test_an_input_that_shapes_the_program_is_unknown() -> None:
    answered = check_for(from_text(SHAPED), {"n": (1.0, 100.0)}, rules=("amount-negative",))
    assert answered.shaping == ("n",)
    assert {f.verdict for f in answered.report.findings} == {Verdict.UNKNOWN}
    assert all("shapes the program" in f.why for f in answered.report.findings)


def test_few_shapes_are_all_asked() -> None:
    answered = check_for(from_text(SHAPED), {"n": (1.0, 4.0)}, rules=("amount-negative",))
    assert answered.shapes == 4 and not answered.shaping
    assert {f.verdict for f in answered.report.findings} == {Verdict.PROVED}


def test_inputs_that_give_no_program_are_told() -> None:
    answered = check_for(from_text(SHAPED), {"n": (0.0, 2.0)}, rules=("amount-negative",))
    assert [dict(one.inputs) for one in answered.invalid] == [{"n": 0.0}]
    with pytest.raises(SerqError):
        check_for(from_text(SHAPED), {"n": (-2.0, 0.0)})


def test_a_constant_demand_above_the_cap_in_a_part_of_the_range() -> None:
    answered = check_for(from_text(SHAPED), {"m": (1.0, 5.0)}, rules=("hold-never-fits",))
    wrong = [*refuted(answered), *answered.invalid]
    assert wrong
    for found in refuted(answered):
        assert dict(found.witness)["m"] == 3.0


# The program with open inputs is the program at any value


def at(node: object, inputs: Values) -> object:
    """A program with its symbolic numbers computed for inputs."""
    if isinstance(node, Symbolic):
        return value_at(node.expr, inputs)
    if isinstance(node, BaseModel):
        return node.model_copy(update={k: at(getattr(node, k), inputs) for k in type(node).model_fields})
    if isinstance(node, tuple):
        return tuple(at(x, inputs) for x in node)
    return node


def value_at(e: ex.Expr, inputs: Values) -> float:
    def put(node: object) -> object:
        if isinstance(node, Input):
            return ex.Num(value=inputs[node.name])
        if isinstance(node, BaseModel):
            return node.model_copy(update={k: put(getattr(node, k)) for k in type(node).model_fields})
        return tuple(put(x) for x in node) if isinstance(node, tuple) else node

    given = put(e)
    assert isinstance(given, ex.Expr)
    value = constant(given)
    assert value is not None
    return value


def right(log: Log, inputs: Values) -> bool:
    """Whether inputs give the answers of a log."""
    return all((value_at(q, inputs) != 0.0) is answer for q, answer in log.answers.items())


OPEN: dict[str, dict[str, tuple[float, float]]] = {
    "multi-turn/vllm.sq": {"blocks": (50, 4000), "chunk_cap": (0, 600), "rate": (0.1, 2)},
    "engines/sglang.sq": {"memory": (1000, 60_000), "output": (5, 500)},
    "engines/tensorrt_llm.sq": {"blocks": (10, 900), "max_new": (1, 4096)},
    "multi-turn/routing.sq": {"policy": (0, 5), "blocks": (10, 3000)},
    "oracle/vllm_prefix.sq": {"num_blocks": (2, 90), "block_size": (1, 32), "budget": (1, 300)},
    "incidents/lengths.sq": {"num_blocks": (0, 300), "max_len": (1, 5000), "full": (0, 1)},
    "pd-disaggregation/llmd_nixl_pull.sq": {"blocks_p": (10, 3000), "local_below": (0, 900)},
}


def drawn(dice: random.Random, low: float, high: float) -> float:
    return float(dice.randint(int(low), int(high))) if low == int(low) else dice.uniform(low, high)


@pytest.mark.parametrize("name", sorted(OPEN))
def test_a_compilation_with_open_inputs_holds_where_it_says(name: str) -> None:
    dice = random.Random(name)
    compile_at = from_file(EXAMPLES / name)
    agreed = 0
    for _ in range(3):
        log = Log()
        sample = {n: drawn(dice, *bounds) for n, bounds in OPEN[name].items()}
        program = compile_at(symbols(sample, log))
        assert right(log, sample)
        for _ in range(8):
            other = {n: drawn(dice, *bounds) for n, bounds in OPEN[name].items()}
            if right(log, other):
                made = at(program, other)
                assert isinstance(made, Program)
                assert dumps(made) == dumps(compile_at(other))
                agreed += 1
    assert agreed >= 3


def test_the_comparison_notices_a_number_that_lost_its_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Symbolic, "__mul__", lambda self, other: self.sample * other)
    with pytest.raises(AssertionError):
        test_a_compilation_with_open_inputs_holds_where_it_says("incidents/lengths.sq")


def test_reading_a_number_as_a_float_pins_it() -> None:
    log = Log()
    x = symbols({"x": 3.0}, log)["x"]
    assert math.sqrt(float(x)) == math.sqrt(3.0)
    assert right(log, {"x": 3.0}) and not right(log, {"x": 4.0})


# Attacks


ATTACKED: dict[str, dict[str, tuple[float, float]]] = {
    "incidents/lengths.sq": {"num_blocks": (1, 40), "max_len": (1, 600)},
    "oracle/vllm_first_chunk.sq": {"num_blocks": (2, 20), "prompt": (1, 200), "out": (1, 90)},
    "engines/tensorrt_llm.sq": {"blocks": (10, 400), "max_new": (1, 2048)},
}


@pytest.mark.parametrize("name", sorted(ATTACKED))
def test_what_is_said_of_all_values_is_said_of_each(name: str) -> None:
    """No value refutes what was proved for all, or for a part of a range it lies in."""
    dice = random.Random(name)
    compile_at, inputs = from_file(EXAMPLES / name), ATTACKED[name]
    bounds = {n: (float(a), float(b)) for n, (a, b) in inputs.items()}
    answered = check_for(compile_at, bounds, overall=2.0)
    places = {(f.rule, f.path): f for f in answered.report.findings}
    assert any(f.verdict is Verdict.PROVED for f in places.values())
    for _ in range(6):
        given = {n: drawn(dice, *b) for n, b in inputs.items()}
        for f in run_checks(compile_at(given)).findings:
            if f.verdict is Verdict.REFUTED and (f.rule, f.path) in places:
                said = places[f.rule, f.path]
                assert said.verdict is not Verdict.PROVED, (given, f.sentence())
                assert not any(s.low <= given[s.name] <= s.high for s in said.safe), (given, f.sentence())


def test_a_witness_of_open_inputs_is_one_at_these_values() -> None:
    compile_at = from_file(LENGTHS)
    ranges = {"prompt": (1.0, 500.0), "out": (1.0, 500.0)}
    inputs = {"num_blocks": (1.0, 30.0), "max_len": (1.0, 400.0)}
    answered = check_for(compile_at, inputs, ranges=ranges, overall=2.0)
    assert refuted(answered)
    for found in refuted(answered):
        shown = dict(found.witness)
        given = {n: shown.get(n, 30.0 if n == "num_blocks" else 400.0) for n in ("num_blocks", "max_len")}
        report = run_checks(compile_at(given), rules=[found.rule], ranges=ranges)
        assert any(f.path == found.path and f.verdict is Verdict.REFUTED for f in report.findings)
