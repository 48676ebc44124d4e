"""Settings from the lines that `vllm serve` writes as it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.oracle.questions.reading import ALIASES, read_text, value_of
from serq.oracle.questions.settings import KINDS, VERSIONS, Given, Settings
from serq.oracle.recorded import version_key

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# Lines that say one thing, best known last: what the server found wins over what it was asked for.
_SAYINGS: tuple[tuple[str, str, int], ...] = (
    ("num_gpu_blocks", r"# (?:GPU|cuda|CPU) blocks: ([\d,]+)", 2),
    ("num_gpu_blocks", r"num_gpu_blocks is: ([\d,]+)", 2),
    ("num_gpu_blocks", r"Overriding num_gpu_blocks=\d+ with num_gpu_blocks_override=([\d,]+)", 3),
    ("max_num_batched_tokens", r"Chunked prefill is enabled with max_num_batched_tokens=([\d,]+)", 2),
    ("max_model_len", r"Maximum concurrency for ([\d,]+) tokens per request", 3),
    ("max_model_len", r"\bmax_seq_len=(\d+)", 2),
)
_SIZE = re.compile(r"\b\w+(?: \+ host)? KV cache size: ([\d,]+) tokens(, Maximum concurrency)?")
_NAMES = "|".join(sorted({*KINDS, *ALIASES} - {"vllm"}, key=len, reverse=True))
_VERSION = re.compile(r"LLM engine \(v(\d+\.\d+)|vLLM (?:API )?server version (\d+\.\d+)")
_WRITTEN = re.compile(rf"['\"]?\b({_NAMES})['\"]?\s*[=:]\s*(['\"]?)([\w.-]+)\2")


@dataclass(frozen=True)
class _Found:
    name: str
    value: Any
    line: int
    rank: int


@dataclass(frozen=True)
class _Size:
    """The memory in tokens, as the log has it; newer versions say it in one line with the concurrency."""

    tokens: int
    line: int
    of_concurrency: bool


def settings_from_log(path: Path, over: Mapping[str, Given]) -> tuple[dict[str, Given], list[str]]:
    """The settings a log tells of, those given over it kept, and remarks about them.

    Raises `SerqError` SQ001, SQ002 and SQ947.
    """
    lines = [_COLOURS.sub("", line) for line in read_text(path).splitlines()]
    best: dict[str, _Found] = {}
    size: _Size | None = None
    for number, line in enumerate(lines, start=1):
        for found in _in_line(line, number):
            if found.name not in best or found.rank >= best[found.name].rank:
                best[found.name] = found
        size = _size_in(line, number) or size
    given = dict(over)
    remarks = list(_version(given, lines, path))
    if not best and size is None and "vllm" not in given.keys() - over.keys():
        hint = "capture what the server prints from its start"
        message = f"{path.name} has no line about the settings of a server"
        raise SerqError(Diagnostic("SQ947", message, Place(str(path)), hint=hint))
    given = {f.name: Given(f.value, f"{path.name} line {f.line}") for f in best.values()} | given
    return given, [*remarks, *_memory(given, size, path)]


def _version(given: dict[str, Given], lines: list[str], path: Path) -> Iterator[str]:
    """The version a server says it is of, and a remark where its rules are another's."""
    for number, line in enumerate(lines, start=1):
        match = _VERSION.search(line)
        if match is None or "vllm" in given:
            continue
        said, source = match.group(1) or match.group(2), f"{path.name} line {number}"
        older = [v for v in VERSIONS if version_key(v) <= version_key(said)]
        rules = older[-1] if older else VERSIONS[0]
        given["vllm"] = Given(rules, source)
        if rules != said:
            yield f"{source}: the rules of {said} are not known; those of {rules} are used"


def _in_line(line: str, number: int) -> Iterator[_Found]:
    said = set()
    for name, pattern, rank in _SAYINGS:
        match = re.search(pattern, line)
        if match is not None:
            said.add(name)
            yield _Found(name, int(match.group(1).replace(",", "")), number, rank)
    for match in _WRITTEN.finditer(line):
        name = ALIASES.get(match.group(1), match.group(1))
        value = _read(name, match.group(3))
        if name not in said and value is not None:
            yield _Found(name, value, number, 1)


def _read(name: str, text: str) -> Any:
    """A value as a log writes it; None for one that says nothing, such as None, auto or -1."""
    try:
        value = value_of(name, text)
    except SerqError:
        return None
    unset = KINDS[name] is int and value < 0
    return None if unset else value


def _size_in(line: str, number: int) -> _Size | None:
    match = _SIZE.search(line)
    if match is None:
        return None
    return _Size(int(match.group(1).replace(",", "")), number, match.group(2) is not None)


def _memory(given: dict[str, Given], size: _Size | None, path: Path) -> Iterator[str]:
    """The number of blocks from the size in tokens, where the log does not name it; remarks on the way."""
    if size is None:
        return
    block_size = given["block_size"].value if "block_size" in given else Settings.block_size
    length = given["max_model_len"].value if "max_model_len" in given else None
    blocks = _blocks(size, block_size, length)
    source = f"{path.name} line {size.line}"
    if "num_gpu_blocks" not in given:
        given["num_gpu_blocks"] = Given(blocks, source)
        yield f"{source}: {size.tokens:,} tokens are {blocks:,} blocks of {block_size}, the null block included"
    elif given["num_gpu_blocks"].value != blocks:
        named = given["num_gpu_blocks"]
        yield (
            f"{source}: {size.tokens:,} tokens would be {blocks:,} blocks of {block_size}; "
            f"{named.source} says {named.value:,}, which is used"
        )


def _blocks(size: _Size, block_size: int, length: int | None) -> int:
    """vLLM counts the null block in the size it prints.

    Older versions print blocks times block size; newer ones the concurrency times the context, rounded down.
    """
    if not size.of_concurrency or length is None:
        return size.tokens // block_size
    per_request = -(-length // block_size)
    return -(-size.tokens * per_request // length)
