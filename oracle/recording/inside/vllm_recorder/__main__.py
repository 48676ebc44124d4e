"""Answers a host's questions: one JSON object a line on standard input, one a line on standard output.

A question has `op` and its arguments; an answer is `{"ok": ...}` or `{"error": {"kind", "text", "trace"}}`.
The first line, before any question, is the answer to `hello`. Whatever vLLM prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from typing import Any, TextIO

PROTOCOL = 1
# No hub, no usage reports, and no log lines but errors.
_QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "PYTHONHASHSEED": "0",
}


def _private_output() -> TextIO:
    """Standard output for the answers alone: everybody else's is turned to standard error."""
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return private


def _hello() -> dict[str, Any]:
    start = time.perf_counter()
    from .build import VERSION, model_config
    from .drive import TRACE_VERSION

    model_config(8192)
    return {
        "protocol": PROTOCOL,
        "trace": TRACE_VERSION,
        "vllm": VERSION,
        "python": sys.version.split()[0],
        "start_s": round(time.perf_counter() - start, 2),
    }


def _record(question: dict[str, Any]) -> dict[str, Any]:
    from .drive import Drive

    return Drive(question["scenario"], question.get("blocks", True), question.get("max_steps")).trace()


def _bench(question: dict[str, Any]) -> dict[str, Any]:
    from .bench import bench

    return bench(question["running"], question["steps"], question["prefix_caching"])


def _relied(question: dict[str, Any]) -> dict[str, Any]:
    from .relied import relied

    return relied()


def _checks(question: dict[str, Any]) -> dict[str, Any]:
    from .checks import checks

    return checks(question["requests"], question["memories"])


_OPS = {"checks": _checks, "record": _record, "bench": _bench, "relied": _relied}


def _answer(work: Any, *arguments: Any) -> dict[str, Any]:
    try:
        return {"ok": work(*arguments)}
    except Exception as error:
        return {
            "error": {
                "kind": type(error).__name__,
                "text": str(error),
                "trace": traceback.format_exc(limit=-4),
            }
        }


def _ask(line: str) -> dict[str, Any]:
    question = json.loads(line)
    return dict(_OPS[question["op"]](question))


def main() -> None:
    """Say hello, then answer line by line until the input ends."""
    os.environ.update({k: v for k, v in _QUIET.items() if k not in os.environ})
    out = _private_output()
    lines = sys.stdin
    first = {"ok": {"protocol": PROTOCOL}} if "--relied" in sys.argv else _answer(_hello)
    print(json.dumps(first), file=out, flush=True)
    for line in lines:
        print(json.dumps(_answer(_ask, line), separators=(",", ":")), file=out, flush=True)


main()
