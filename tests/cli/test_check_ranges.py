"""`serq check --for`: inputs left open on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Done

Serq = Callable[..., Done]
LENGTHS = Path(__file__).parents[2] / "examples" / "incidents" / "lengths.sq"

SHAPED = """use "std/args";
fn main() {
  let n = args.number("n", 2);
  let cap_of_b = args.number("b", 4);
  pool b { cap cap_of_b; }
  stage desk : fifo(n);
  workload { arrive batch(3); turn { Size job = floor(~uniform(1, 4)); } }
  server { hold b (cost(b, job)) { run desk (cost(desk, job)); } }
}
"""


@pytest.fixture
def shaped(tmp_path: Path) -> Path:
    path = tmp_path / "shaped.sq"
    path.write_text(SHAPED)
    return path


def test_several_ranges_in_one_option(serq: Serq) -> None:
    done = serq(
        *("check", LENGTHS, "--horizon", 10, "--rule", "hold-never-fits"),
        *("--for", "num_blocks in 1..10_000, max_len in 1..2048", "--for", "prompt in 1..1e6, out in 1..1e6"),
    )
    assert done.status == 1
    assert "num_blocks >= 129, not for 128" in done.err
    assert "num_blocks = 1, max_len = 2" in done.err


def test_the_region_is_part_of_every_format(serq: Serq) -> None:
    options = ("--horizon", 10, "--for", "num_blocks in 1..500", "--set", "max_len=1009")
    done = serq("check", LENGTHS, *options, "--for", "prompt in 1..1002", "--format", "json")
    assert done.status == 1
    found = [d for d in json.loads(done.out) if d["code"] == "SQ864"]
    assert found and "num_blocks >= 64, not for 63" in found[0]["note"]


def test_a_range_proved_whole(serq: Serq) -> None:
    done = serq(
        *("check", LENGTHS, "--horizon", 10, "--rule", "hold-never-fits", "--set", "max_len=1009"),
        *("--for", "num_blocks in 64..500, prompt in 1..1e6, out in 1..1e6"),
    )
    assert done.status == 0 and "refuted" in done.out


def test_an_input_that_shapes_the_program_is_said_to(serq: Serq, shaped: Path) -> None:
    done = serq("check", shaped, "--horizon", 10, "--for", "n in 1..50", "--explain")
    assert "SQ895" in done.err and "`n` shapes the program" in done.err
    assert "unknown (`n` shapes the program" in done.out
    few = serq("check", shaped, "--horizon", 10, "--for", "n in 1..3", "--explain")
    assert few.status == 0 and "SQ895" not in few.err and "shapes the" not in few.out


def test_values_for_which_the_program_is_not_valid(serq: Serq, shaped: Path) -> None:
    done = serq("check", shaped, "--horizon", 10, "--for", "n in 0..2")
    assert "the program is not valid with n = 0" in done.err
    assert serq("check", shaped, "--horizon", 10, "--for", "n in -3..0").status == 1


@pytest.mark.parametrize(
    "text", ["b", "b in 5..1", "b in 1..5..7", "b in x..2", "b in 1..2,", "nobody in 1..2"]
)
def test_ranges_that_are_none(serq: Serq, shaped: Path, text: str) -> None:
    assert serq("check", shaped, "--horizon", 10, "--for", text).status == 2
