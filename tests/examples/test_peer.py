"""Every example with every instance: the peer compiles it to the same IR and gives the same report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyserq
import pytest

from serq.ir.edit import with_settings
from serq.ir.encode import program_data
from serq.ir.program import Program
from serq.lang.parser import parse_instance
from serq.lang.write_expressions import expression
from tests.peer.compare import compare
from tools.examples import Example, examples

CASES = [(e, name) for e in examples() for name in e.instances]
IDS = [f"{e.name}-{name}" for e, name in CASES]
# A tenth of a run meets every construct; claims are about all of it.
SHORT = 0.1


ASKED = {
    "single-turn": "mg1 ps vllm_single_turn fastertransformer separate_phases arguments ascend_aging",
    "multi-turn": "closed replica routing vllm vllm_chat",
    "subagent": "vllm_subagents",
    "oracle": "vllm_request",
    "replay": "vllm_replay",
    "pd-disaggregation": "llmd_nixl_pull vllm_nixl_push pd_open pd_tandem pd_ps pd_batching",
    "papers": "dai_sarathi dai_fastertransformer bari_rad kong_svf",
    "engines": "sglang tensorrt_llm tgi",
    "vendors": "ascend rbln",
}


def _program(example: Example, instance: str) -> Program:
    return example.load(instance).program


def _of_the_peer(example: Example, instance: str, program: Program) -> dict[str, Any]:
    """The IR the peer compiles, with the inputs the instance gives."""
    bindings = parse_instance(example.instances[instance].read_text(encoding="utf-8")).bindings
    compiled = pyserq.compile(
        example.path,
        sets={b.name.text: expression(b.value) for b in bindings},
        horizon=program.horizon,
        warmup=program.warmup,
        seed=program.seed,
        **({} if program.arrivals is None else {"arrivals": program.arrivals}),
    )
    data: dict[str, Any] = json.loads(compiled.to_json())
    return data


@pytest.mark.parametrize(("example", "instance"), CASES, ids=IDS)
def test_compiles_to_the_same_ir(example: Example, instance: str) -> None:
    program = _program(example, instance)
    ours, theirs = program_data(program), _of_the_peer(example, instance, program)
    if theirs["trace"] is not None:
        # Ours is named from the working directory, theirs as the program names it.
        ours["trace"] = Path(ours["trace"]).resolve()
        theirs["trace"] = (example.path.parent / theirs["trace"]).resolve()
    assert ours == theirs


@pytest.mark.parametrize(("example", "instance"), CASES, ids=IDS)
def test_gives_the_same_report_and_samples(example: Example, instance: str) -> None:
    program = _program(example, instance)
    if not program.claims and program.trace is None:
        horizon = program.warmup + SHORT * (program.horizon - program.warmup)
        program = with_settings(program, horizon=horizon)
    difference = compare(program)
    assert difference is None, str(difference)


def test_there_are_the_programs_that_users_learn_from() -> None:
    names = {e.name for e in examples()}
    assert not {f"{folder}/{name}" for folder, named in ASKED.items() for name in named.split()} - names
    assert all("default" in e.instances for e in examples())
