"""What has changed in an installed vLLM of what the recorder relies on and of what it records.

`relied/VERSION.json` holds the facts of a version that was recorded; an installed version is compared
with its own facts, or with the nearest version's when it is another.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serq.oracle.recording.host import Recorder, python_of

RELIED = Path(__file__).resolve().parent / "relied"


@dataclass(frozen=True)
class Drift:
    """One change: its kind, the name, and what it was and is (empty: was not, or is not, there)."""

    kind: str
    name: str
    was: str
    now: str

    @property
    def text(self) -> str:
        """The change as one sentence."""
        if self.kind == "version":
            return f"vLLM {self.now} is not a recorded version; compared with {self.was}"
        if self.kind == "missing":
            return f"{self.name} is not there: {self.now}"
        if self.kind == "body":
            return f"{self.name} has another text: what it decides may differ"
        if not self.was:
            return f"{self.name} is new ({self.now})"
        if not self.now:
            return f"{self.name} is gone (it was {self.was})"
        return f"{self.name} was {self.was} and is {self.now}"


def drift(env: Path) -> list[Drift]:
    """Compare the vLLM of an environment with the facts recorded; empty when nothing has changed.

    Raises `SerqError` when the environment has no Python or no vLLM.
    """
    return changes(read_facts(env))


def read_facts(env: Path) -> dict[str, Any]:
    """The facts of the vLLM of an environment, also where the recorder itself does not start in it."""
    with Recorder(command=[str(python_of(env)), "-m", "vllm_recorder", "--relied"]) as asked:
        return asked.ask("relied")


def changes(now: Mapping[str, Any], relied: Path = RELIED) -> list[Drift]:
    """Facts of an installed version against the recorded facts of it, or of the nearest version."""
    version = str(now["vllm"])
    known = {path.stem: path for path in relied.glob("*.json")}
    nearest = version if version in known else _nearest(version, sorted(known, key=_order))
    was = json.loads(known[nearest].read_text(encoding="utf-8"))
    found = [] if nearest == version else [Drift("version", "vllm", nearest, version)]
    return [*found, *compare_facts(was, now)]


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _nearest(version: str, known: list[str]) -> str:
    """The newest known version that is not newer, else the oldest."""
    return next((k for k in reversed(known) if _order(k) <= _order(version)), known[0])


def compare_facts(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Drift]:
    """Every change between two versions' facts: what is called, the settings, the bodies that decide."""
    for part, kind in (("parameters", "parameter"), ("settings", "setting")):
        for name, old, new in _pairs(was[part], now[part]):
            if isinstance(new, dict) and "missing" in new:
                yield Drift("missing", name, "", new["missing"])
                continue
            for field, before, after in _pairs(old or {}, new or {}):
                if before != after:
                    yield Drift(kind, f"{name}.{field}", before, after)
    for name, old, new in _pairs(was["bodies"], now["bodies"]):
        if isinstance(new, dict):
            yield Drift("missing", name, "", new["missing"])
        elif old != new:
            yield Drift("body", name, str(old), str(new))


def _pairs(was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted(was.keys() | now.keys()):
        yield name, was.get(name, ""), now.get(name, "")
