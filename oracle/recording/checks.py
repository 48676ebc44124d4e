"""What a server checks before its scheduler sees anything, recorded: the length of requests, the memory at start."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from serq.oracle.recorded import RECORDED
from serq.oracle.recording.files import write_bytes
from serq.oracle.recording.host import Recorder

FILE = "checks.json"
# Prompt, max_tokens and max_model_len.
REQUESTS: tuple[tuple[int, int, int], ...] = (
    (4000, 512, 4096),
    (4000, 96, 4096),
    (4000, 97, 4096),
    (4095, 1, 4096),
    (4095, 2, 4096),
    (4096, 1, 4096),
    (4097, 1, 4096),
    (10, 4086, 4096),
    (10, 4096, 4096),
    (10, 4097, 4096),
    (1, 1, 4096),
)
# Blocks, the null block included, block size and max_model_len.
MEMORIES: tuple[tuple[int, int, int], ...] = (
    (128, 16, 2048),
    (129, 16, 2048),
    (128, 16, 2032),
    (128, 16, 2033),
    (50, 16, 784),
    (50, 16, 785),
    (4790, 16, 76_640),
    (4790, 16, 76_624),
    (4790, 16, 262_144),
    (2, 16, 16),
    (1, 16, 16),
    (9, 64, 512),
    (9, 64, 513),
)


@dataclass(frozen=True)
class Checks:
    """What a version answered: the tokens of an answer (None: refused), and whether a server starts."""

    vllm: str
    requests: dict[tuple[int, int, int], int | None]
    memories: dict[tuple[int, int, int], bool]


def ask_checks(recorder: Recorder) -> str:
    """The answers of the vLLM of an environment as the text of their file."""
    answered = recorder.ask("checks", requests=REQUESTS, memories=MEMORIES)
    lines = [f' "{part}": [\n{_rows(answered[part])}\n ]' for part in ("requests", "memories")]
    return "{\n" + ",\n".join([f' "vllm": {json.dumps(answered["vllm"])}', *lines]) + "\n}\n"


def _rows(rows: Sequence[object]) -> str:
    return ",\n".join("  " + json.dumps(row) for row in rows)


def record_checks(env: Path, out: Path = RECORDED) -> Path:
    """Write the answers of an environment's vLLM to `out/VERSION/checks.json`; raises `SerqError`."""
    with Recorder(env) as recorder:
        path = out / recorder.version / FILE
        write_bytes(path, ask_checks(recorder).encode())
    return path


def read_checks(version: str, folder: Path = RECORDED) -> Checks:
    """The recorded answers of a version."""
    data = json.loads((folder / version / FILE).read_text(encoding="utf-8"))
    return Checks(
        data["vllm"],
        {(a, b, c): answer for a, b, c, answer in data["requests"]},
        {(a, b, c): answer for a, b, c, answer in data["memories"]},
    )
