"""The generated parts of docs/vllm-versions.md: diffs of programs, and the recorded steps that show each rule.

`python -m tests.oracle.version_diffs` writes them into the page again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path

from serq.oracle.compare import Difference, first_difference
from serq.oracle.observer import observe_steps
from serq.oracle.recorded import Step, read_trace, recorded_scenarios, traces_of
from serq.oracle.request import program_of, sessions_of
from serq.oracle.scenario import read_scenario

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "vllm-versions.md"
SOURCES = ROOT / "examples" / "oracle"
# The program of the older rule and of the newer, and the versions whose recordings are set side by side:
# those without loads, which no program covers.
PAIRS = {
    "threshold": ("vllm_threshold_0_30", "vllm_request", "0.30.0", "0.31.0"),
    "priority": ("vllm_priority_0_31", "vllm_priority", "0.31.0", "0.33.0"),
}
DIFFS = {
    **{name: pair[:2] for name, pair in PAIRS.items()},
    "adaptive": ("vllm_request", "vllm_threshold_adaptive"),
}
_PART = "<!-- {0} -->\n(.*?)<!-- end of {0} -->"


def code_of(name: str) -> list[str]:
    """The lines of a program after its header."""
    text = (SOURCES / f"{name}.sq").read_text(encoding="utf-8")
    return text[text.index("fn main()") :].splitlines()


def diff_block(before: str, after: str) -> str:
    """The fenced diff of two programs, headers left out."""
    lines = unified_diff(code_of(before), code_of(after), f"{before}.sq", f"{after}.sq", n=1, lineterm="")
    return "\n".join(["```diff", *lines, "```", ""])


def shown_by(older: str, newer: str) -> Iterator[tuple[str, Difference]]:
    """The scenarios recorded in both versions that differ, and the first step at which they do."""
    for path in recorded_scenarios():
        traces = {t.parent.name: t for t in traces_of(path)}
        if not {older, newer} <= traces.keys() or any(r.load for r in read_scenario(path).requests):
            continue
        difference = first_difference(_steps(traces[older]), _steps(traces[newer]))
        if difference is not None:
            yield path.name.removesuffix(".scenario.json"), difference


def _steps(path: Path) -> list[Step]:
    return list(read_trace(path).steps)


def adaptive_table() -> str:
    """What was recorded under the adaptive threshold where our program of the plain one first differs."""
    rows = ["| scenario | step | recorded | a plain threshold |", "| --- | --- | --- | --- |"]
    for path in recorded_scenarios():
        scenario = read_scenario(path)
        if not scenario.chunk_adaptive:
            continue
        steps = _steps(traces_of(path)[0])
        plain = program_of(replace(scenario, chunk_adaptive=False), len(steps) + 1.0)
        difference = first_difference(steps, observe_steps(plain, sessions_of(scenario))[0])
        assert difference is not None, f"{scenario.name} shows nothing of the adaptive threshold"
        rows.append(
            f"| `{scenario.name}` | {difference.step} | {_did(difference, True)} | {_did(difference, False)} |"
        )
    return "\n".join([*rows, ""])


def evidence_table(older: str, newer: str) -> str:
    """What two versions did in the first step at which they differ, by scenario."""
    rows = [f"| scenario | step | {older} | {newer} |", "| --- | --- | --- | --- |"]
    for name, d in shown_by(older, newer):
        rows.append(f"| `{name}` | {d.step} | {_did(d, True)} | {_did(d, False)} |")
    return "\n".join([*rows, ""])


def _did(d: Difference, older: bool) -> str:
    step = d.recorded_step if older else d.program_step
    if step is None:
        return "nothing"
    tokens = ", ".join(f"{r}: {n}" for r, n in step.scheduled) or "nothing"
    victims = "".join(f"; preempts {r}" for r in step.preempted)
    return tokens + victims


def parts() -> dict[str, str]:
    """Every generated part of the page by its name."""
    found = {f"diff {name}": diff_block(*pair) for name, pair in DIFFS.items()}
    found["evidence adaptive"] = adaptive_table()
    return found | {f"evidence {name}": evidence_table(*pair[2:]) for name, pair in PAIRS.items()}


def written(name: str) -> str:
    """What the page has for a part."""
    found = re.search(_PART.format(re.escape(name)), PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, f"the page has no part {name}"
    return found.group(1)


def write() -> None:
    """Write every part into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts().items():
        whole = f"<!-- {name} -->\n{part}<!-- end of {name} -->"
        text = re.sub(_PART.format(re.escape(name)), lambda _, w=whole: w, text, flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
