"""The programs of `examples/oracle` against the recorded scheduler, step by step."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from serq.cli.load import load
from serq.cli.options import Choices
from serq.ir.edit import with_sessions
from serq.ir.program import Program
from serq.ir.validate import check
from serq.lang.compile import compile_file
from serq.lang.settings import Settings
from serq.oracle.compare import first_difference
from serq.oracle.observer import observe_steps
from serq.oracle.recorded import RECORDED, SCENARIOS, Step, read_trace
from serq.oracle.request import LATEST, program_of, sessions_of
from serq.oracle.scenario import SUFFIX, Request, Scenario, read_scenario
from serq.sim import run
from tests.oracle.version_diffs import SOURCES, parts, shown_by, written

_PLAIN = """01_published 02_self_preempt_prefill 03_preempt_decode 04_head_of_line 05_request_cap
    07_threshold_alone_or_not 08_staggered 16_mixed_60 19_mixed_40_block_4 40_incident_low_override
    41_incident_null_block
    42_incident_null_block_repaired 43_incident_over_memory 45_incident_one_block 49_incident_two_long_full_isl
    54_incident_oldest_progresses 74_threshold_one 99_many_at_once random_block_sizes_1 random_tight_1"""
_TURNS = """20_conversation_c00 21_conversation_c02 22_conversation_c09 84_conversation_five_turns
    85_conversation_two_sessions 86_conversation_exact_blocks 87_conversation_preempted 88_conversation_threshold
    random_conversation_1 random_conversation_2"""
_FIRST_CHUNK = """14_no_full_isl 44_incident_over_memory_no_full_isl 46_incident_thrash_no_full_isl
    48_incident_two_long_no_full_isl 97_no_full_isl_ample random_no_full_isl_1 random_no_full_isl_2"""
_WATERMARK = """15_watermark 94_watermark_first_is_exempt 95_watermark_resume random_watermark_1
    random_watermark_3"""
_ALWAYS = """01_published 02_self_preempt_prefill 07_threshold_alone_or_not 08_staggered 19_mixed_40_block_4
    32_published_longchunk 53_incident_short_behind_long_threshold 56_self_preempt_again 74_threshold_one
    76_threshold_waiting_counts random_threshold_1"""
_PRIORITY = """12_priority 13_priority_self_preempt 18_mixed_60_priority 50_incident_priority_inversion
    51_incident_priority_no_pressure 90_priority_ties 91_priority_negative 92_priority_self_preempt_others_after
    random_priority_1 random_priority_2"""
_ADAPTIVE = """23_adaptive_alone 24_adaptive_two_long 25_adaptive_many 26_adaptive_decodes 27_adaptive_resume
    random_adaptive_1 random_adaptive_6"""
# Program, version, scenarios.
COVERED = [
    ("vllm_request", "0.31.0", _PLAIN),
    ("vllm_request", "0.33.0", _PLAIN),
    ("vllm_prefix", "0.31.0", _TURNS),
    ("vllm_prefix", "0.33.0", _TURNS),
    ("vllm_first_chunk", "0.33.0", _FIRST_CHUNK),
    ("vllm_watermark", "0.33.0", _WATERMARK),
    ("vllm_threshold_0_30", "0.30.0", _ALWAYS),
    ("vllm_threshold_adaptive", "0.31.0", _ADAPTIVE),
    ("vllm_threshold_adaptive", "0.33.0", _ADAPTIVE),
    ("vllm_priority_0_31", "0.31.0", _PRIORITY),
    ("vllm_priority", "0.33.0", _PRIORITY),
]
CASES = [(program, version, name) for program, version, names in COVERED for name in names.split()]


def inputs_of(scenario: Scenario) -> dict[str, str | float]:
    """A scenario's numbers by the names of the programs' inputs."""
    given: dict[str, str | float] = {
        "budget": scenario.budget,
        "max_seqs": scenario.max_seqs,
        "num_blocks": scenario.num_blocks,
        "block_size": scenario.block_size,
    }
    optional = {"chunk": scenario.chunk, "watermark": scenario.watermark}
    return given | {name: value for name, value in optional.items() if value}


def program_from(source: str, scenario: Scenario, horizon: float) -> Program:
    """A program compiled with a scenario's numbers, its requests as sessions; turns where it serves turns."""
    path = SOURCES / f"{source}.sq"
    program = compile_file(path, Settings(horizon=horizon), inputs_of(scenario)).program
    turns = [[_values(program, scenario, i) for i in chain] for chain in sessions_of(scenario)]
    if source == "vllm_prefix":
        return with_sessions(program, [{}] * len(turns), turns)
    return with_sessions(program, [chain[0] for chain in turns])


def _values(program: Program, scenario: Scenario, index: int) -> dict[str, float]:
    r: Request = scenario.requests[index]
    values = {"prompt": r.prompt, "out": r.out, "arrive": r.arrive, "priority": r.priority, "request": index}
    return {name: float(value) for name, value in values.items() if name in program.attrs}


def steps_of(program: Program, scenario: Scenario, count: int) -> list[Step]:
    """The first steps of a run; a scheduler that hangs was recorded for a few empty ones only."""
    check(program)
    steps, _ = observe_steps(program, sessions_of(scenario))
    return [s for s in steps if s.step < count]


@cache
def recorded(name: str, version: str) -> tuple[Step, ...]:
    """What a version did in a scenario."""
    return read_trace(RECORDED / version / f"{name}.trace.json.gz").steps


def scenario_of(name: str) -> Scenario:
    """A scenario that ships with serq."""
    return read_scenario(SCENARIOS / f"{name}{SUFFIX}")


@pytest.mark.parametrize(("source", "version", "name"), CASES)
def test_a_program_does_what_was_recorded(source: str, version: str, name: str) -> None:
    scenario, steps = scenario_of(name), recorded(name, version)
    program = program_from(source, scenario, len(steps) + 1.0)
    assert first_difference(list(steps), steps_of(program, scenario, len(steps))) is None


@pytest.mark.parametrize(("source", "version", "names"), COVERED)
def test_a_program_is_shown_by_five_scenarios_or_more(source: str, version: str, names: str) -> None:
    assert len(set(names.split())) >= 5


def test_every_program_is_covered() -> None:
    sources = {p.stem for p in SOURCES.glob("*.sq")}
    assert {source for source, _, _ in COVERED} == sources


@pytest.mark.parametrize(
    ("source", "version", "name", "step"),
    [
        ("vllm_threshold_0_30", "0.31.0", "07_threshold_alone_or_not", 0),
        ("vllm_request", "0.30.0", "07_threshold_alone_or_not", 0),
        ("vllm_request", "0.33.0", "24_adaptive_two_long", 0),
        ("vllm_request", "0.33.0", "25_adaptive_many", 2),
        ("vllm_threshold_adaptive", "0.33.0", "07_threshold_alone_or_not", 20),
        ("vllm_priority_0_31", "0.33.0", "12_priority", 10),
        ("vllm_priority", "0.31.0", "12_priority", 10),
        ("vllm_priority_0_31", "0.33.0", "92_priority_self_preempt_others_after", 9),
        ("vllm_request", "0.33.0", "14_no_full_isl", 10),
        ("vllm_first_chunk", "0.33.0", "02_self_preempt_prefill", 6),
    ],
)
def test_a_program_of_another_rule_is_told_apart(source: str, version: str, name: str, step: int) -> None:
    scenario, steps = scenario_of(name), recorded(name, version)
    mine = steps_of(program_from(source, scenario, len(steps) + 1.0), scenario, len(steps))
    difference = first_difference(list(steps), mine)
    assert difference is not None and difference.step == step


def _long_prompts(*prompts: int) -> Scenario:
    requests = tuple(Request(prompt, 1) for prompt in prompts)
    return Scenario("long", budget=64, max_seqs=8, block_size=16, num_blocks=200, requests=requests, chunk=16)


def test_the_adaptive_threshold_gives_a_fair_share() -> None:
    adaptive = program_from("vllm_threshold_adaptive", _long_prompts(200, 200), 100.0)
    assert steps_of(adaptive, _long_prompts(200, 200), 100)[0].scheduled == ((0, 32), (1, 32))
    plain = program_from("vllm_request", _long_prompts(200, 200), 100.0)
    assert steps_of(plain, _long_prompts(200, 200), 100)[0].scheduled == ((0, 16), (1, 16))


@pytest.mark.parametrize(
    ("prompts", "first"),
    [
        ((200,), ((0, 64),)),
        ((200, 200, 200), ((0, 21), (1, 21), (2, 21))),
        # The threshold is more than a sixth of the budget.
        ((200,) * 6, ((0, 16), (1, 16), (2, 16), (3, 16))),
    ],
)
def test_the_adaptive_threshold_by_requests(
    prompts: tuple[int, ...], first: tuple[tuple[int, int], ...]
) -> None:
    scenario = _long_prompts(*prompts)
    program = program_from("vllm_threshold_adaptive", scenario, 100.0)
    assert steps_of(program, scenario, 100)[0].scheduled == first


@pytest.mark.parametrize(
    "source",
    ["vllm_request", "vllm_first_chunk", "vllm_watermark", "vllm_priority", "vllm_threshold_adaptive"],
)
def test_text_and_host_api_say_the_same(source: str) -> None:
    """The program as text and the one built in Python, on a scenario nobody recorded."""
    settings = {
        "vllm_first_chunk": {"reserve_full_isl": False},
        "vllm_watermark": {"watermark": 0.2},
        "vllm_priority": {"policy": "priority"},
        "vllm_threshold_adaptive": {"chunk_adaptive": True},
    }
    requests = tuple(Request(30 + 7 * k, 20 + 5 * k, 2 * k, k % 3) for k in range(8))
    scenario = Scenario("mine", 48, 6, 16, 13, requests, chunk=24, **settings.get(source, {}))  # type: ignore[arg-type]
    text = steps_of(program_from(source, scenario, 2000.0), scenario, 2000)
    host = steps_of(program_of(scenario, 2000.0, LATEST), scenario, 2000)
    assert first_difference(host, text) is None
    assert sum(len(s.preempted) for s in text) > 0


@pytest.mark.parametrize("source", sorted(SOURCES.glob("*.sq")), ids=lambda p: p.stem)
def test_a_program_runs_alone_with_its_instance(source: Path) -> None:
    instance = SOURCES / "instances" / source.stem / "default.sq"
    program = load(source, Choices((("instance", instance),))).program
    report = run(program)
    assert report.data["turns"] == (4 if source.stem == "vllm_prefix" else 2)
    assert [p["stuck"] for p in report.data["pools"]] == [0, 0]


@pytest.mark.parametrize("name", parts())
def test_the_page_of_versions_is_as_generated(name: str) -> None:
    assert written(name) == parts()[name], "write it again: python -m tests.oracle.version_diffs"


def test_versions_differ_where_their_rules_do() -> None:
    assert {name for name, _ in shown_by("0.31.0", "0.33.0")} == {
        "12_priority",
        "92_priority_self_preempt_others_after",
    }
