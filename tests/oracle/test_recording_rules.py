"""Bad scenarios get their diagnostic, each its own; good ones get none."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from serq.diagnostics import Severity, format_path, lookup
from serq.oracle.recording.files import parse_scenario, read_scenario
from serq.oracle.recording.rules import check_scenario

GOOD: dict[str, Any] = {
    "version": 1,
    "class": "any",
    "about": "A good one.",
    "budget": 16,
    "max_seqs": 4,
    "block_size": 8,
    "num_blocks": 20,
    "chunk": 0,
    "prefix_caching": True,
    "policy": "priority",
    "max_model_len": 100,
    "reserve_full_isl": None,
    "watermark": 0.25,
    "max_steps": 500,
    "requests": [
        {"id": "first", "prompt": 10, "out": 5, "arrive": 3, "priority": -2},
        {"id": "second", "prompt": 30, "out": 70, "after": [0, 4], "share": [0, 15]},
        {"prompt": 10, "out": 5},
    ],
}
Spoil = Callable[[dict[str, Any]], object]


def row(index: int, **changes: Any) -> Spoil:
    return lambda s: s["requests"][index].update(changes)


def key(**changes: Any) -> Spoil:
    return lambda s: s.update(changes)


# What is spoiled, the code, the path, and words of the message.
BAD: list[tuple[Spoil, str, str, str]] = [
    (lambda s: s.pop("budget"), "SQ921", "", "no `budget`"),
    (lambda s: s.pop("requests"), "SQ921", "", "no `requests`"),
    (lambda s: s["requests"][2].pop("out"), "SQ921", "requests[2]", "request 2 has no `out`"),
    (key(max_seqs=17), "SQ924", "max_seqs", "a step cannot give each sequence a token"),
    (key(budget=-16), "SQ923", "budget", "`budget` is -16"),
    (key(chunk=-1), "SQ923", "chunk", "`chunk` is -1"),
    (key(chunk_adaptive=True), "SQ919", "chunk_adaptive", "without `chunk`"),
    (key(chunk=4, chunk_adaptive=1), "SQ920", "chunk_adaptive", "true or false"),
    (row(0, load=[11, 2]), "SQ918", "requests[0].load", "11 tokens of a prompt of 10"),
    (row(0, load=[0, 2]), "SQ918", "requests[0].load", "0 tokens of a prompt"),
    (row(0, load=[4, 0]), "SQ918", "requests[0].load", "at least 1"),
    (row(0, load=4), "SQ920", "requests[0].load", "a pair of whole numbers"),
    (row(0, abort=3), "SQ917", "requests[0].abort", "comes in step 3 and is aborted before step 3"),
    (row(2, abort=-1), "SQ923", "requests[2].abort", "`abort` is -1"),
    (key(in_flight=3), "SQ923", "in_flight", "from 1 to 2"),
    (key(in_flight=0), "SQ923", "in_flight", "from 1 to 2"),
    (key(num_blocks=0), "SQ923", "num_blocks", "from 1"),
    (key(watermark=-0.1), "SQ923", "watermark", "at least 0 and below 1"),
    (key(watermark=1), "SQ923", "watermark", "at least 0 and below 1"),
    (key(watermark=float("nan")), "SQ923", "watermark", "at least 0 and below 1"),
    (row(0, prompt=-10), "SQ923", "requests[0].prompt", "`prompt` is -10"),
    (row(2, out=0), "SQ923", "requests[2].out", "`out` is 0"),
    (row(2, arrive=-1), "SQ923", "requests[2].arrive", "`arrive` is -1"),
    (key(requests=[]), "SQ923", "requests", "at least one request"),
    (row(2, id="first"), "SQ925", "requests[2].id", "requests 0 and 2 are both `first`"),
    (row(0, share=[1, 5]), "SQ927", "requests[0].share", "not an earlier one"),
    (row(1, share=[1, 5]), "SQ927", "requests[1].share", "not an earlier one"),
    (row(1, share=[7, 5]), "SQ927", "requests[1].share", "not an earlier one"),
    (row(1, share=[-1, 5]), "SQ927", "requests[1].share", "not an earlier one"),
    (row(2, share=[1, 11]), "SQ928", "requests[2].share", "11 tokens of a prompt of 10"),
    (row(1, share=[0, 16]), "SQ928", "requests[1].share", "16 tokens of request 0, which has 15"),
    (row(1, share=[0, 0]), "SQ923", "requests[1].share", "must share at least 1"),
    (row(1, after=[2, 0]), "SQ929", "requests[1].after", "not an earlier one"),
    (row(1, arrive=5), "SQ929", "requests[1].after", "both `arrive` and `after`"),
    (row(1, after=[0, -1]), "SQ923", "requests[1].after", "at least 0"),
    (row(1, out=71), "SQ930", "requests[1]", "101 tokens; `max_model_len` is 100"),
    (key(max_sequences=4), "SQ922", "max_sequences", "no key `max_sequences`"),
    (row(0, prompts=4), "SQ922", "requests[0].prompts", "request 0 has no key `prompts`"),
    (key(policy="lifo"), "SQ931", "policy", '"fcfs" or "priority"'),
    (key(version=2), "SQ931", "version", "the number 1"),
    (key(budget="16"), "SQ920", "budget", "a whole number"),
    (key(budget=True), "SQ920", "budget", "a whole number"),
    (key(budget=16.0), "SQ920", "budget", "a whole number"),
    (key(prefix_caching=1), "SQ920", "prefix_caching", "true or false"),
    (key(block_size=None), "SQ920", "block_size", "a whole number"),
    (key(requests={}), "SQ920", "requests", "a list of requests"),
    (row(1, share=5), "SQ920", "requests[1].share", "a pair of whole numbers"),
    (row(1, share=[0, 1, 2]), "SQ920", "requests[1].share", "a pair of whole numbers"),
    (lambda s: s["requests"].append(5), "SQ920", "requests[3]", "a request is a JSON object"),
]


def test_a_good_scenario_has_no_findings() -> None:
    assert check_scenario(GOOD, "good.json") == []


@pytest.mark.parametrize(("spoil", "code", "path", "words"), BAD, ids=[f"{b[1]}-{b[3]}" for b in BAD])
def test_a_bad_scenario_has_its_finding(spoil: Spoil, code: str, path: str, words: str) -> None:
    data = copy.deepcopy(GOOD)
    spoil(data)
    (finding,) = check_scenario(data, "bad.json")
    assert (finding.code, finding.severity) == (code, Severity.ERROR)
    assert finding.place.file == "bad.json"
    assert format_path(finding.place.path) == path
    assert words in finding.message


def test_every_finding_of_a_scenario_is_told() -> None:
    rows = [{"prompt": 0, "out": 5}, {"prompt": 4, "out": 5, "share": [2, 9]}, {"out": "x", "kind": 1}]
    data = {"budget": 4, "max_seqs": 8, "requests": rows}
    codes = [d.code for d in check_scenario(data)]
    assert sorted(codes) == ["SQ920", "SQ921", "SQ921", "SQ922", "SQ923", "SQ924", "SQ927"]


@pytest.mark.parametrize("data", [None, [], "text", 5])
def test_what_is_no_object_is_no_scenario(data: object) -> None:
    assert [d.code for d in check_scenario(data)] == ["SQ920"]


def test_an_unknown_key_close_to_a_known_one_is_guessed() -> None:
    (finding,) = check_scenario({**GOOD, "bugdet": 4})
    assert finding.hint == "did you mean `budget`?"


@pytest.mark.parametrize(
    ("prompt", "out", "fits"), [(70, 11, True), (70, 12, False), (80, 1, True), (81, 1, False)]
)
def test_a_request_that_never_fits_is_a_warning(prompt: int, out: int, fits: bool) -> None:
    """The last token is never computed: prompt and answer less one must fit into 10 blocks of 8."""
    data = {**GOOD, "num_blocks": 11, "requests": [{"prompt": prompt, "out": out}]}
    found = check_scenario(data)
    assert [(d.code, d.severity) for d in found] == ([] if fits else [("SQ932", Severity.WARNING)])


def test_a_key_written_twice_is_found() -> None:
    text = json.dumps(GOOD).replace('"budget": 16', '"budget": 16, "budget": 64')
    _, found = parse_scenario(text, "twice.json")
    assert [d.code for d in found] == ["SQ926"]


def test_what_is_not_json_has_its_place() -> None:
    _, (finding,) = parse_scenario('{\n "budget": }', "x.json")
    assert finding.code == "SQ002"
    assert finding.place.span is not None and finding.place.span.line == 2


def test_nested_beyond_reading_is_not_json() -> None:
    _, found = parse_scenario("[" * 200_000, "x.json")
    assert [d.code for d in found] == ["SQ002"]


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "x.scenario.json"
    path.write_bytes(b"\xff\xfe\x00")
    assert [d.code for d in read_scenario(path)[1]] == ["SQ001"]
    assert [d.code for d in read_scenario(tmp_path)[1]] == ["SQ001"]


def test_every_code_is_documented() -> None:
    for number in range(920, 940):
        assert lookup(f"SQ{number}") is not None
