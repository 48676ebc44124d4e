"""Scenarios: what a scheduler is given. Requests with lengths and arrival steps, and its settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError, Severity
from serq.oracle.recording.rules import check_scenario

SUFFIX = ".scenario.json"


@dataclass(frozen=True)
class Request:
    """One request: prompt and output tokens, the step it arrives at, what its prompt shares."""

    prompt: int
    out: int
    arrive: int = 0
    priority: int = 0
    share: tuple[int, int] | None = None
    load: tuple[int, int] | None = None
    abort: int | None = None


@dataclass(frozen=True)
class Scenario:
    """Settings in vLLM's terms. `num_blocks` includes the null block: one fewer is usable."""

    name: str
    budget: int
    max_seqs: int
    block_size: int
    num_blocks: int
    requests: tuple[Request, ...]
    chunk: int = 0
    chunk_adaptive: bool = False
    prefix_caching: bool = False
    policy: str = "fcfs"
    serve: str = "admission"
    reserve_full_isl: bool = True
    watermark: float = 0.0
    in_flight: int = 1

    @property
    def usable_blocks(self) -> int:
        """Blocks that requests can have: one is the null block."""
        return self.num_blocks - 1


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file; raises `SerqError` SQ901 when it is not one, SQ92x for what its rules refuse."""
    data = _read_json(path)
    errors = [d for d in check_scenario(data, str(path)) if d.severity is Severity.ERROR]
    if errors:
        raise SerqError(errors)
    try:
        return scenario_from(data, path.name.removesuffix(SUFFIX).removesuffix(".json"))
    except (KeyError, TypeError, ValueError) as error:
        reason = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise SerqError(_bad(path, reason)) from None


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SerqError(
            Diagnostic("SQ001", f"cannot read {path}: {error.strerror}", Place(str(path)))
        ) from None
    except (ValueError, RecursionError):
        raise SerqError(_bad(path, "it is not JSON")) from None


def _bad(path: Path, reason: str) -> Diagnostic:
    hint = (
        "a scenario has budget, max_seqs, num_blocks, requests [{prompt, out, arrive}] and optional settings"
    )
    return Diagnostic("SQ901", f"{path.name} is not a scenario: {reason}", Place(str(path)), hint=hint)


def scenario_from(data: dict[str, Any], name: str) -> Scenario:
    """A scenario from parsed JSON; raises KeyError, TypeError or ValueError."""
    if not isinstance(data, dict):
        raise TypeError("it is not a JSON object")
    full = data.get("reserve_full_isl")
    return Scenario(
        name=name,
        budget=_positive(data, "budget"),
        max_seqs=_positive(data, "max_seqs"),
        block_size=_positive(data, "block_size", 16),
        num_blocks=_positive(data, "num_blocks"),
        requests=tuple(_request(r, i) for i, r in enumerate(data["requests"])),
        chunk=_natural(data, "chunk", 0),
        chunk_adaptive=bool(data.get("chunk_adaptive", False)),
        prefix_caching=bool(data.get("prefix_caching", False)),
        policy=str(data.get("policy", "fcfs")),
        serve=str(data.get("serve", "admission")),
        reserve_full_isl=True if full is None else bool(full),
        watermark=float(data.get("watermark") or 0.0),
        in_flight=_positive(data, "in_flight", 1),
    )


def _natural(data: dict[str, Any], key: str, default: int | None = None) -> int:
    value = data[key] if default is None else data.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{key} is {value!r}, not a whole number from 0")
    return value


def _positive(data: dict[str, Any], key: str, default: int | None = None) -> int:
    value = _natural(data, key, default)
    if value == 0:
        raise ValueError(f"{key} is 0")
    return value


def _request(data: dict[str, Any], index: int) -> Request:
    if not isinstance(data, dict):
        raise TypeError(f"request {index} is not an object")
    share, load = data.get("share"), data.get("load")
    return Request(
        prompt=_positive(data, "prompt"),
        out=_positive(data, "out"),
        arrive=_natural(data, "arrive", 0),
        priority=int(data.get("priority", 0)),
        share=None if share is None else (int(share[0]), int(share[1])),
        load=None if load is None else (int(load[0]), int(load[1])),
        abort=None if "abort" not in data else _natural(data, "abort"),
    )


def chains(scenario: Scenario) -> list[list[int]] | None:
    """The scenario's requests as conversations: each session's turns, by request number.

    A later turn's prompt begins with everything of the turn before, prompt and answer.
    None when some prompt shares in another way.
    """
    found: list[list[int]] = []
    tail: dict[int, list[int]] = {}
    for i, r in enumerate(scenario.requests):
        if r.share is None:
            chain = [i]
            found.append(chain)
        else:
            earlier, shared = r.share
            before = scenario.requests[earlier]
            if earlier not in tail or shared != before.prompt + before.out:
                return None
            chain = tail.pop(earlier)
            chain.append(i)
        tail[i] = chain
    return found
