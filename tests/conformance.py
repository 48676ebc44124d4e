"""The conformance cases: programs with the IR and the report they must give."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from serq.ir.corpus import Corpus, parse_corpus
from serq.ir.decode import from_data
from serq.ir.program import Program

DATA = Path(__file__).parent / "data" / "conformance"
REPOSITORY = Path(__file__).parent.parent


@cache
def cases() -> dict[str, dict[str, Any]]:
    """Every case by name."""
    lines = (DATA / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["name"]: case for case in map(json.loads, lines)}


@cache
def rejects() -> dict[str, dict[str, Any]]:
    """Every program that must be refused, by name."""
    lines = (DATA / "rejects.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["name"]: case for case in map(json.loads, lines)}


def program(name: str) -> Program:
    """The program of a case."""
    return from_data(cases()[name]["ir"])


def corpus(name: str) -> Corpus | None:
    """The trace a case replays, if any."""
    text = cases()[name].get("trace")
    return parse_corpus(text) if text else None
