"""The comparison as an HTML page: for each recording a grid of requests and steps, both sides in every cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from serq.oracle.compare import Outcome
from serq.oracle.recorded import Step

# A grid wider than this is cut around its first difference, or at its beginning.
MOST_STEPS = 400
_LEAD = 20


@dataclass(frozen=True)
class Cell:
    """One request in one step: what to show, how to colour it, and the other side where it differs."""

    text: str
    kind: str  # prefill | decode | preempted | waiting | none
    shade: float
    entered: bool
    other: str | None = None
    title: str = ""

    @property
    def css(self) -> str:
        """The classes of the cell."""
        kind = "" if self.kind == "none" else self.kind
        words = (kind, "entered" if self.entered else "", "other" if self.other is not None else "")
        return " ".join(w for w in words if w)


def render(outcomes: Sequence[Outcome]) -> str:
    """The page, self-contained."""
    env = Environment(
        loader=PackageLoader("serq.oracle", "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    groups = _alike(outcomes)
    sections = [_section(group) for group in groups]
    anchors = {id(o): s["anchor"] for s, group in zip(sections, groups, strict=True) for o in group}
    index = [{"outcome": o, "anchor": anchors[id(o)]} for o in outcomes]
    template = env.get_template("oracle.html.j2")
    return template.render(sections=sections, index=index, totals=_totals(outcomes))


def _alike(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """Outcomes that would have the same grid, together: those of versions that did the same."""
    groups: list[list[Outcome]] = []
    for o in outcomes:
        same = (g for g in groups if _grid_of(g[0]) == _grid_of(o))
        group = next(same, None)
        if group is None:
            groups.append([o])
        else:
            group.append(o)
    return groups


def _grid_of(o: Outcome) -> tuple[object, ...]:
    return o.name, o.status, o.recorded, o.program


def _totals(outcomes: Sequence[Outcome]) -> dict[str, int]:
    counts = dict.fromkeys(("agrees", "differs", "not covered"), 0)
    for o in outcomes:
        counts[o.status] += 1
    return {**counts, "steps": sum(o.steps for o in outcomes), "tokens": sum(o.tokens for o in outcomes)}


def _section(group: Sequence[Outcome]) -> dict[str, Any]:
    o = group[0]
    steps = _shown(o)
    recorded = {s.step: s for s in o.recorded}
    program = {s.step: s for s in o.program}
    requests = sorted({r for s in o.recorded for r in (*s.running, *s.waiting)})
    most = max((n for s in o.recorded for _, n in s.scheduled), default=1)
    rows = [
        {"request": r, "cells": [_cell(r, recorded.get(n), program.get(n), most) for n in steps]}
        for r in requests
    ]
    largest = max((s.free for s in o.recorded), default=1) or 1
    free = [_free(recorded.get(n), program.get(n), largest) for n in steps]
    at = o.difference
    return {
        "anchor": f"{o.name}-{o.version}",
        "name": o.name,
        "versions": ", ".join(x.version for x in group),
        "status": o.status,
        "reason": o.reason,
        "steps": o.steps,
        "tokens": o.tokens,
        "preemptions": o.preemptions,
        "difference": None if at is None else f"step {at.step}: {at.mode}",
        "numbers": steps,
        "cut": len(steps) < o.steps,
        "rows": rows,
        "free": free,
    }


def _shown(o: Outcome) -> list[int]:
    numbers = [s.step for s in o.recorded]
    start = 0 if o.difference is None else max(0, o.difference.step - _LEAD)
    return numbers[start : start + MOST_STEPS] if len(numbers) > MOST_STEPS else numbers


def _cell(request: int, recorded: Step | None, program: Step | None, most: int) -> Cell:
    text, kind, shade, entered = _side(request, recorded, most)
    other: str | None = None
    if program is not None:
        theirs = _side(request, program, most)
        if (theirs[0], theirs[1], theirs[3]) != (text, kind, entered):
            other = theirs[0] or "·"
    return Cell(text, kind, shade, entered, other, _title(request, recorded))


def _side(request: int, step: Step | None, most: int) -> tuple[str, str, float, bool]:
    if step is None:
        return "", "none", 0.0, False
    if request in step.preempted:
        return "✕", "preempted", 1.0, False
    tokens = dict(step.scheduled).get(request)
    if tokens is None:
        return ("·", "waiting", 0.0, False) if request in step.waiting else ("", "none", 0.0, False)
    entered = request in (*step.admitted, *step.resumed)
    kind = "decode" if tokens == 1 and not entered else "prefill"
    return str(tokens), kind, round(0.25 + 0.75 * tokens / most, 2), entered


def _title(request: int, step: Step | None) -> str:
    if step is None:
        return ""
    parts = []
    for word, listed in (("admitted", step.admitted), ("resumed", step.resumed), ("finished", step.finished)):
        if request in listed:
            parts.append(word)
    hit = dict(step.hits).get(request)
    if hit:
        parts.append(f"{hit} tokens from the prefix cache")
    if request in step.preempted:
        parts.append(f"preempted for request {step.preempted_for[step.preempted.index(request)]}")
    return ", ".join([f"request {request}, step {step.step}", *parts]) if parts else ""


def _free(recorded: Step | None, program: Step | None, largest: int) -> dict[str, Any]:
    blocks = None if recorded is None else recorded.free
    differs = recorded is not None and program is not None and recorded.free != program.free
    other = program.free if differs and program is not None else None
    return {"blocks": blocks, "part": 0 if blocks is None else round(100 * blocks / largest), "other": other}
