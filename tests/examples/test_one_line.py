"""Moving one line of `multi-turn/vllm.sq`: the prefix is looked up on arrival instead of at the admission.

A value read before a request queues is stale by its admission: while it waits others evict its prefix, and a
preempted request forgets what its first attempt left. With memory for everything nobody can tell.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from serq.cli.load import load
from serq.cli.options import Choices
from serq.diagnostics import SerqError
from serq.sim import run
from tools.examples import EXAMPLES

VLLM = EXAMPLES / "multi-turn" / "vllm.sq"
LINE = "        reused = min(cachedin(kv), reusable(known, blocksize(kv)));\n"
ON_ARRIVAL = "      set reused = min(found, reusable(prompt, blocksize(kv)));\n"
Means = dict[str, float]


@pytest.fixture(scope="module")
def on_arrival(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = VLLM.read_text(encoding="utf-8").splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if line.startswith("      set most = prompt;")]
    assert len(at) == 1 and lines.count(LINE) == 1
    lines.insert(at[0] + 1, f"      set found = cachedin(kv);\n{ON_ARRIVAL}")
    lines.remove(LINE)
    path = tmp_path_factory.mktemp("moved") / "vllm.sq"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def _means(path: Path, instance: str) -> Means:
    file = VLLM.parent / "instances" / "vllm" / f"{instance}.sq"
    data = run(load(path, Choices((("instance", file),))).program).data
    means = {name: row["mean"] for name, row in (data["observes"] | data["client"]).items()}
    return means | {name: sum(p[name] for p in data["pools"]) for name in ("evicted_units", "preemptions")}


def test_under_pressure_the_look_up_on_arrival_loses(on_arrival: Path) -> None:
    at_admission, before = _means(VLLM, "default"), _means(on_arrival, "default")
    assert at_admission["resumed_share"] == pytest.approx(0.494, abs=5e-4)
    assert before["resumed_share"] == pytest.approx(0.069, abs=5e-4)
    assert before["hit_share"] < at_admission["hit_share"]
    assert before["evicted_units"] > at_admission["evicted_units"]
    assert before["ttft"] > at_admission["ttft"]


def test_with_room_for_everything_nothing_changes(on_arrival: Path) -> None:
    at_admission, before = _means(VLLM, "roomy"), _means(on_arrival, "roomy")
    assert before == at_admission and before["preemptions"] == 0


def test_the_line_may_not_just_be_copied_above_the_admission(on_arrival: Path) -> None:
    text = on_arrival.read_text(encoding="utf-8")
    direct = text.replace(ON_ARRIVAL, "").replace("set found = cachedin(kv);", "set reused = cachedin(kv);")
    path = on_arrival.with_name("direct.sq")
    path.write_text(direct, encoding="utf-8")
    with pytest.raises(SerqError) as caught:
        load(path, Choices((("horizon", 10.0),)))
    assert "SQ670" in {d.code for d in caught.value.diagnostics}
