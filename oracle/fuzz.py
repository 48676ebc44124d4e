"""Random scenarios through the real scheduler and our program, and the smallest one that shows a difference."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from serq.diagnostics import SerqError
from serq.oracle.compare import Outcome, compare
from serq.oracle.recorded import Trace, trace_from
from serq.oracle.recording.host import Recorder
from serq.oracle.recording.random_scenarios import CLASSES, draw, shows
from serq.oracle.scenario import Scenario, scenario_from

Data = dict[str, Any]
Record = Callable[[Mapping[str, Any]], Mapping[str, Any]]

# How much smaller a number is tried, from the boldest to the most timid.
_TRIES = (0.0, 0.25, 0.5, 0.75)
_ROUNDS = 200


@dataclass
class Fuzzed:
    """What a fuzzing run came to: outcomes by class and status, what each class showed, the differences."""

    version: str
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)
    steps: int = 0
    differing: list[tuple[str, int, Data, Outcome]] = field(default_factory=list)

    def total(self, status: str) -> int:
        """Scenarios of one status over all classes."""
        return sum(n for (_, s), n in self.counts.items() if s == status)


def fuzz(
    recorder: Recorder,
    count: int,
    classes: Sequence[str] = tuple(CLASSES),
    first_seed: int = 0,
    told: Callable[[int], None] | None = None,
    kept: Callable[[Scenario, Trace], None] | None = None,
) -> Fuzzed:
    """Run `count` random scenarios, the classes in turn; KeyError for an unknown class.

    `told` hears how many are done, `kept` of each scenario on which both sides agree.
    """
    result = Fuzzed(recorder.version)
    record = recording(recorder)
    for i in range(count):
        kind, seed = classes[i % len(classes)], first_seed + i // len(classes)
        data = draw(kind, seed)
        trace = record(data)
        name = f"fuzz_{kind}_{seed}"
        outcome = outcome_of(trace, name)
        result.counts[kind, outcome.status] += 1
        result.shown[kind] += shows(kind, trace)
        result.steps += outcome.steps
        if outcome.status == "agrees" and kept is not None:
            kept(scenario_from(dict(trace["scenario"]), name), trace_from(trace))
        if outcome.status == "differs":
            result.differing.append((kind, seed, data, outcome))
        if told is not None:
            told(i + 1)
    return result


def recording(recorder: Recorder) -> Record:
    """What asks a recorder for a trace."""
    return lambda data: recorder.record(data, blocks=False)


def outcome_of(trace: Mapping[str, Any], name: str) -> Outcome:
    """Compare a trace with the program of the scenario it was recorded of."""
    return compare(scenario_from(dict(trace["scenario"]), name), trace_from(trace))


def shrink(data: Data, differs: Callable[[Data], bool], rounds: int = _ROUNDS) -> Data:
    """The smallest scenario found that still differs: fewer requests, then smaller numbers."""
    best = data
    tried = 0
    progress = True
    while progress and tried < rounds:
        progress = False
        for candidate in _smaller(best):
            tried += 1
            if tried > rounds:
                break
            if differs(candidate):
                best, progress = candidate, True
                break
    return best


def _smaller(data: Data) -> Iterator[Data]:
    requests = data["requests"]
    for i in reversed(range(len(requests))):
        if len(requests) > 1 and not any(_refers(r, i) for r in requests):
            yield {**data, "requests": [_renumbered(r, i) for k, r in enumerate(requests) if k != i]}
    for key in ("chunk_adaptive", "chunk", "watermark", "priority", "prefix_caching"):
        if data.get(key):
            yield {k: v for k, v in data.items() if k != key}
    for i, r in enumerate(requests):
        for key, least in (("arrive", 0), ("out", 1), ("prompt", 1), ("priority", 0)):
            shared = r.get("share") or any(_refers(x, i) for x in requests)
            if (key == "prompt" and shared) or (key == "arrive" and "after" in r):
                continue
            for value in _lesser(r.get(key, least), least):
                yield {**data, "requests": [*requests[:i], {**r, key: value}, *requests[i + 1 :]]}
    for key, least in (("budget", max(1, data["max_seqs"])), ("max_seqs", 1), ("num_blocks", 2)):
        for value in _lesser(data[key], least):
            yield {**data, key: value}


def _lesser(value: Any, least: int) -> Iterator[int]:
    if isinstance(value, int) and value > least:
        yield from dict.fromkeys(least + int((value - least) * part) for part in _TRIES)
        yield value - 1


def _refers(request: Mapping[str, Any], index: int) -> bool:
    return any(pair is not None and pair[0] == index for pair in (request.get("share"), request.get("after")))


def _renumbered(request: Data, gone: int) -> Data:
    made = dict(request)
    for key in ("share", "after"):
        pair = made.get(key)
        if pair is not None and pair[0] > gone:
            made[key] = [pair[0] - 1, pair[1]]
    return made


def still_differs(record: Record) -> Callable[[Data], bool]:
    """Whether a scenario can be recorded and differs; one vLLM refuses does not."""

    def differs(data: Data) -> bool:
        try:
            return outcome_of(record(data), "shrunk").status == "differs"
        except (SerqError, KeyError, ValueError, TypeError):
            return False

    return differs


def write_case(data: Data, trace: Mapping[str, Any], folder: Path, name: str) -> Path:
    """Write a scenario and its trace as a case that `serq oracle` compares; returns the scenario's path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.scenario.json"
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    trace_path = folder / f"{name}.trace.json"
    trace_path.write_text(json.dumps(trace, separators=(",", ":")) + "\n", encoding="utf-8")
    return path
