"""Stands in for the process in a vLLM environment: answers in the recorder's protocol, or misbehaves as told."""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def say(answer: Any) -> None:
    print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)


def trace(scenario: dict[str, Any]) -> dict[str, Any]:
    """A trace in name only: as long as the first prompt."""
    steps = [{"step": k, "sched": [[0, 1]]} for k in range(scenario["requests"][0]["prompt"])]
    summary = {"steps": len(steps), "preemptions": 0, "ended": "done"}
    return {"version": 1, "vllm": "9.9.9", "scenario": scenario, "summary": summary, "steps": steps}


def answer(question: dict[str, Any]) -> dict[str, Any]:
    if question["op"] == "bench":
        times = {"median_us": 10.0 * question["running"], "p95_us": 20.0}
        return {"ok": {"vllm": "9.9.9", "schedule": times, "update": times, "step": times}}
    if question["scenario"].get("watermark"):
        return {"error": {"kind": "UnknownSetting", "text": "no watermark here", "trace": "in build"}}
    return {"ok": trace(question["scenario"])}


def main(mode: str) -> None:
    """Modes: well, unable, old, garbage, silent, dying."""
    if mode == "unable":
        say({"error": {"kind": "ImportError", "text": "cannot import name 'Scheduler'"}})
    elif mode == "old":
        say({"ok": {"protocol": 0}})
    elif mode == "none":
        print("Traceback: no module named vllm_recorder", file=sys.stderr)
        return
    else:
        say({"ok": {"protocol": 1, "vllm": "9.9.9"}})
    for line in sys.stdin:
        if mode == "dying":
            print("Killed by the memory", file=sys.stderr, flush=True)
            sys.exit(3)
        if mode == "silent":
            time.sleep(60)
        say("what was that" if mode == "garbage" else answer(json.loads(line)))


main(sys.argv[1])
