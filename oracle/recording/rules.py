"""The rules of a scenario, checked before vLLM is started.

`check_scenario` looks at parsed JSON and gives every finding; the shape is checked first, and the
rules that compare values only look at values of the right kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from serq.diagnostics import Diagnostic, IrPath, Place, Severity, suggestion

FORMAT_VERSION = 1
DEFAULT_BLOCK_SIZE = 16
DEFAULT_MAX_MODEL_LEN = 8192
POLICIES = ("fcfs", "priority")
# A request's own tokens are numbered below this (see the recorder's `tokens`).
LONGEST = 499_999
# The context length the recorder's tiny model is described with.
LONGEST_MODEL = 1 << 20

Found = Iterator[Diagnostic]
Scenario = Mapping[str, Any]


@dataclass(frozen=True)
class Key:
    """One key of a scenario or a request: what its value must be, and whether it must be there."""

    kind: str
    least: float = 0
    most: float = float("inf")
    required: bool = False
    nullable: bool = False


SCENARIO_KEYS: dict[str, Key] = {
    "version": Key("version"),
    "class": Key("text"),
    "about": Key("text"),
    "budget": Key("integer", 1, LONGEST_MODEL, required=True),
    "max_seqs": Key("integer", 1, LONGEST_MODEL, required=True),
    "block_size": Key("integer", 1, LONGEST),
    "num_blocks": Key("integer", 1, 10_000_000, required=True),
    "chunk": Key("integer", 0, LONGEST_MODEL),
    "chunk_adaptive": Key("flag"),
    "prefix_caching": Key("flag"),
    "policy": Key("policy"),
    "serve": Key("text"),
    "in_flight": Key("integer", 1, 2),
    "max_model_len": Key("integer", 1, LONGEST_MODEL),
    "reserve_full_isl": Key("flag", nullable=True),
    "watermark": Key("fraction", nullable=True),
    "max_steps": Key("integer", 1, 1_000_000),
    "requests": Key("rows", required=True),
}
REQUEST_KEYS: dict[str, Key] = {
    "id": Key("text"),
    "prompt": Key("integer", 1, LONGEST, required=True),
    "out": Key("integer", 1, LONGEST, required=True),
    "arrive": Key("integer", 0, 1_000_000),
    "after": Key("pair"),
    "priority": Key("integer", -(2**31), 2**31),
    "share": Key("pair"),
    "load": Key("pair"),
    "abort": Key("integer", 0, 1_000_000),
}
_WORDS = {
    "text": "a text",
    "integer": "a whole number",
    "flag": "true or false",
    "fraction": "a number",
    "pair": "a pair of whole numbers",
    "rows": "a list of requests",
    "version": f"the number {FORMAT_VERSION}",
    "policy": " or ".join(f'"{p}"' for p in POLICIES),
}


def check_scenario(data: object, file: str | None = None) -> list[Diagnostic]:
    """Every finding in a parsed scenario; a warning does not stop a recording, an error does."""
    if not isinstance(data, dict):
        return [Diagnostic("SQ920", "a scenario is a JSON object", Place(file))]
    found = [*_keys(data, SCENARIO_KEYS, (), "a scenario")]
    rows = data.get("requests")
    if isinstance(rows, list):
        for index, row in enumerate(rows):
            found += _row(row, ("requests", index))
    for rule in _RULES:
        found += rule(data)
    return [d.at(Place(file, None, d.place.path)) for d in found]


def _at(*path: str | int) -> Place:
    return Place(None, None, path)


def _row(row: object, path: IrPath) -> Found:
    if not isinstance(row, dict):
        yield Diagnostic("SQ920", "a request is a JSON object", _at(*path))
        return
    yield from _keys(row, REQUEST_KEYS, path, f"request {path[-1]}")


def _keys(data: dict[str, Any], keys: Mapping[str, Key], path: IrPath, what: str) -> Found:
    """Missing and unknown keys, and values of the wrong kind or out of range."""
    for name, key in keys.items():
        if key.required and name not in data:
            yield Diagnostic(
                "SQ921", f"{what} has no `{name}`", _at(*path), hint=f"add `{name}`: {_WORDS[key.kind]}"
            )
    for name, value in data.items():
        here = _at(*path, name)
        if name not in keys:
            yield Diagnostic("SQ922", f"{what} has no key `{name}`", here, hint=suggestion(name, keys))
        elif not (value is None and keys[name].nullable):
            yield from _value(name, value, keys[name], here)


def _value(name: str, value: object, key: Key, here: Place) -> Found:
    if not _is(key.kind, value):
        code = "SQ931" if key.kind in ("policy", "version") and _is("text", str(value)) else "SQ920"
        yield Diagnostic(code, f"`{name}` must be {_WORDS[key.kind]}", here)
    elif key.kind == "integer" and not key.least <= value <= key.most:  # type: ignore[operator]
        yield Diagnostic("SQ923", f"`{name}` is {value}; it must be from {key.least} to {key.most}", here)
    elif key.kind == "fraction" and not 0 <= value < 1:  # type: ignore[operator]
        yield Diagnostic("SQ923", f"`{name}` is {value}; it must be at least 0 and below 1", here)
    elif key.kind == "rows" and not value:
        yield Diagnostic("SQ923", "a scenario has at least one request", here)


def _is(kind: str, value: object) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return {
        "text": isinstance(value, str),
        "integer": whole,
        "flag": isinstance(value, bool),
        "fraction": whole or isinstance(value, float),
        "pair": isinstance(value, list) and len(value) == 2 and all(_is("integer", v) for v in value),
        "rows": isinstance(value, list),
        "version": whole and value == FORMAT_VERSION,
        "policy": value in POLICIES if isinstance(value, str) else False,
    }[kind]


def _number(data: object, name: str, default: int | None = None) -> int | None:
    """A whole number of a scenario or a request, or None when another rule has refused it."""
    value = data.get(name, default) if isinstance(data, dict) else None
    key = SCENARIO_KEYS.get(name) or REQUEST_KEYS[name]
    if isinstance(value, bool) or not isinstance(value, int) or not key.least <= value <= key.most:
        return None
    return value


def _rows(data: Scenario) -> list[Any]:
    rows = data.get("requests")
    return rows if isinstance(rows, list) else []


def _pairs(data: Scenario, name: str) -> Iterator[tuple[int, dict[str, Any], int, int]]:
    """Each request with a well-formed pair under a key: its index, itself, and the two numbers."""
    for index, row in enumerate(_rows(data)):
        if isinstance(row, dict) and _is("pair", row.get(name)):
            yield index, row, *row[name]


def _more_sequences_than_budget(data: Scenario) -> Found:
    seqs, budget = _number(data, "max_seqs"), _number(data, "budget")
    if seqs is not None and budget is not None and seqs > budget:
        yield Diagnostic(
            "SQ924",
            f"`max_seqs` is {seqs} and `budget` is {budget}: a step cannot give each sequence a token",
            _at("max_seqs"),
            hint=f"at most {budget} sequences, or a budget of at least {seqs}",
        )


def _adaptive_alone(data: Scenario) -> Found:
    if data.get("chunk_adaptive") is True and _number(data, "chunk", 0) == 0:
        yield Diagnostic(
            "SQ919",
            "`chunk_adaptive` without `chunk`: vLLM makes a threshold adaptive only where there is one",
            _at("chunk_adaptive"),
            hint="give `chunk` a number above 0, or leave `chunk_adaptive` out",
        )


def _duplicate_request(data: Scenario) -> Found:
    seen: dict[str, int] = {}
    for index, row in enumerate(_rows(data)):
        name = row.get("id") if isinstance(row, dict) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            yield Diagnostic(
                "SQ925", f"requests {seen[name]} and {index} are both `{name}`", _at("requests", index, "id")
            )
        seen.setdefault(name, index)


def _share(data: Scenario) -> Found:
    rows = _rows(data)
    for index, row, other, count in _pairs(data, "share"):
        here = _at("requests", index, "share")
        if not 0 <= other < index:
            yield Diagnostic(
                "SQ927",
                f"request {index} shares the prefix of request {other}, which is not an earlier one",
                here,
                hint="a request shares with one written before it",
            )
            continue
        if count < 1:
            yield Diagnostic(
                "SQ923", f"request {index} shares {count} tokens; it must share at least 1", here
            )
        yield from _share_length(index, row, other, count, rows[other], here)


def _share_length(index: int, row: object, other: int, count: int, shared: object, here: Place) -> Found:
    prompt = _number(row, "prompt")
    if prompt is not None and count > prompt:
        yield Diagnostic("SQ928", f"request {index} shares {count} tokens of a prompt of {prompt}", here)
    asked, given = _number(shared, "prompt"), _number(shared, "out")
    if asked is not None and given is not None and count > asked + given:
        message = f"request {index} shares {count} tokens of request {other}, which has {asked + given}"
        yield Diagnostic("SQ928", message, here, note="a request has its prompt and its answer")


def _after(data: Scenario) -> Found:
    for index, row, other, pause in _pairs(data, "after"):
        here = _at("requests", index, "after")
        if not 0 <= other < index:
            message = f"request {index} comes after request {other}, which is not an earlier one"
            yield Diagnostic("SQ929", message, here)
        if pause < 0:
            yield Diagnostic(
                "SQ923", f"request {index} comes {pause} steps after; it must be at least 0", here
            )
        if "arrive" in row:
            message = f"request {index} has both `arrive` and `after`"
            yield Diagnostic("SQ929", message, here, hint="keep one of the two")


def _load(data: Scenario) -> Found:
    for index, row, tokens, steps in _pairs(data, "load"):
        here = _at("requests", index, "load")
        prompt = _number(row, "prompt")
        if prompt is not None and not 1 <= tokens <= prompt:
            yield Diagnostic("SQ918", f"request {index} loads {tokens} tokens of a prompt of {prompt}", here)
        if steps < 1:
            yield Diagnostic(
                "SQ918", f"request {index} loads in {steps} steps; a load takes at least 1", here
            )


def _abort(data: Scenario) -> Found:
    for index, row in enumerate(_rows(data)):
        comes, goes = _number(row, "arrive", 0), _number(row, "abort")
        if comes is not None and goes is not None and goes <= comes:
            message = f"request {index} comes in step {comes} and is aborted before step {goes}"
            yield Diagnostic("SQ917", message, _at("requests", index, "abort"))


def _too_long(data: Scenario) -> Found:
    longest = _number(data, "max_model_len", DEFAULT_MAX_MODEL_LEN)
    for index, row in enumerate(_rows(data)):
        prompt, out = _number(row, "prompt"), _number(row, "out")
        if longest is None or prompt is None or out is None or prompt + out <= longest:
            continue
        yield Diagnostic(
            "SQ930",
            f"request {index} has {prompt + out} tokens; `max_model_len` is {longest}",
            _at("requests", index),
            note="`out` is what a request answers: the front end refuses one that is longer, or cuts it (since 0.33)",
        )


def _oversize(data: Scenario) -> Found:
    size, blocks = _number(data, "block_size", DEFAULT_BLOCK_SIZE), _number(data, "num_blocks")
    if size is None or blocks is None:
        return
    for index, row in enumerate(_rows(data)):
        prompt, out = _number(row, "prompt"), _number(row, "out")
        if prompt is None or out is None:
            continue
        needed = -(-(prompt + out - 1) // size)
        if needed > blocks - 1:
            yield Diagnostic(
                "SQ932",
                f"request {index} needs {needed} blocks and {blocks - 1} are usable: it will never finish",
                _at("requests", index),
                note="one block of `num_blocks` is the null block",
                severity=Severity.WARNING,
            )


_RULES: tuple[Callable[[Scenario], Found], ...] = (
    _more_sequences_than_budget,
    _adaptive_alone,
    _duplicate_request,
    _share,
    _after,
    _load,
    _abort,
    _too_long,
    _oversize,
)
