"""`serq check`: what the solver finds, with places in the source, and the options around it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Done

Serq = Callable[..., Done]

MODEL = """fn main() {
  pool kv { cap 2032; }
  stage d : delay;
  workload { arrive batch(1); turn { Size prompt = 1 + floor(~uniform(0, LIMIT)); } }
  server { hold kv (cost(kv, prompt)) { run d (cost(d, prompt - LESS)); } }
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Callable[..., Path]:
    def write(limit: int = 2032, less: int = 1) -> Path:
        path = tmp_path / f"m{limit}-{less}.sq"
        path.write_text(MODEL.replace("LIMIT", str(limit)).replace("LESS", str(less)))
        return path

    return write


def test_a_safe_program_is_proved(serq: Serq, model: Callable[..., Path]) -> None:
    done = serq("check", model(), "--horizon", 10)
    assert done.status == 0 and done.err == ""
    assert "amount-negative" in done.out and "valid" in done.out


def test_a_refutation_has_a_place_and_values(serq: Serq, model: Callable[..., Path]) -> None:
    done = serq("check", model(less=4), "--horizon", 10)
    assert done.status == 1
    assert "error[SQ860]" in done.err and ":5:" in done.err and "prompt = 1" in done.err
    assert "1 error" in done.out


def test_a_warning_does_not_change_the_status(serq: Serq, model: Callable[..., Path]) -> None:
    done = serq("check", model(limit=2048), "--horizon", 10)
    assert done.status == 0 and "warning[SQ864]" in done.err and "1 warning" in done.out


def test_one_rule_and_machine_formats(serq: Serq, model: Callable[..., Path]) -> None:
    path = model(limit=2048, less=4)
    assert "SQ864" not in serq("check", path, "--horizon", 10, "--rule", "amount-negative").err
    found = json.loads(serq("check", path, "--horizon", 10, "--format", "json").out)
    assert {d["code"] for d in found} == {"SQ860", "SQ864"}
    assert all(d["span"]["line"] == 5 for d in found)
    assert serq("check", path, "--rule", "nonsense").status == 2


def test_explain_says_what_was_looked_for_and_every_verdict(serq: Serq, model: Callable[..., Path]) -> None:
    out = serq("check", model(), "--horizon", 10, "--explain", "--rule", "amount-negative").out
    assert "amount-negative at blocks" in out and ": proved" in out


def test_a_range_is_of_an_attribute(serq: Serq, model: Callable[..., Path]) -> None:
    assert serq("check", model(), "--horizon", 10, "--for", "nonsense").status == 2
    assert serq("check", model(), "--horizon", 10, "--for", "nobody in 1..5").status == 2
    assert serq("check", model(), "--horizon", 10, "--for", "prompt in 1..5").status in (0, 1)


def test_two_programs_proved_the_same_or_separated(serq: Serq, tmp_path: Path) -> None:
    def write(name: str, guard: str) -> Path:
        path = tmp_path / name
        body = f"branch ({guard}) {{ run d (cost(d, 1)); }}"
        path.write_text(
            "fn main() { stage d : delay; workload { arrive batch(1); turn { Size w = ~exp(1); } } "
            f"server {{ {body} }} }}\n"
        )
        return path

    one, same, other = write("a.sq", "w > 2"), write("b.sq", "2 < w"), write("c.sq", "w >= 2")
    assert serq("check", one, "--horizon", 9, "--equivalent", same).status == 0
    done = serq("check", one, "--horizon", 9, "--equivalent", other)
    assert done.status == 1 and "different when w = 2" in done.out
    shape = write("d.sq", "w > 2")
    shape.write_text(shape.read_text().replace("run d (cost(d, 1));", "run d (cost(d, 1)); observe x = w;"))
    assert "SQ879" in serq("check", one, "--horizon", 9, "--equivalent", shape).err
