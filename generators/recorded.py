"""Theorems that a program's run in the model gives a recorded trace at every step (generators.md §5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from serq.generators.lean_text import LeanText
from serq.generators.model import Translated
from serq.generators.render import render

WINDOW = 250


@dataclass(frozen=True)
class RunStep:
    """One iteration as the model states it; sessions by their numbers.

    `admitted` are all sessions admitted, in order; `resumed` those of them that had been preempted.
    """

    start: int
    tokens: tuple[tuple[int, int], ...]
    admitted: tuple[int, ...]
    resumed: tuple[int, ...]
    preempted: tuple[int, ...]
    finished: tuple[int, ...]
    allocated: int


@dataclass(frozen=True)
class Published:
    """What was published of a run: per session the steps of its first and last token; preemptions of all."""

    first: tuple[tuple[int, ...], ...]
    last: tuple[tuple[int, ...], ...]
    preemptions: int


@dataclass(frozen=True)
class Recording:
    """A recorded run: its name, what it was recorded from, how many steps it has, those that did something."""

    name: str
    source: str
    length: int
    steps: tuple[RunStep, ...]
    published: Published | None = None


@dataclass(frozen=True)
class Window:
    """The steps of a theorem: those that start within [first, end)."""

    first: int
    end: int
    steps: tuple[RunStep, ...]

    @property
    def last(self) -> int:
        """The number of the last step."""
        return self.end - 1

    @property
    def name(self) -> str:
        """The name of the recorded steps."""
        return f"steps_{self.first}_to_{self.last}"

    @property
    def theorem(self) -> str:
        """The theorem's name."""
        return f"{self.name}_agree"

    @property
    def lines(self) -> list[str]:
        """The steps as Lean text, one a line, up to the end of their list."""
        texts = [step_text(s) for s in self.steps]
        return [*(f"{t}," for t in texts[:-1]), f"{''.join(texts[-1:])}]"]


def step_text(s: RunStep) -> str:
    """A step as a structure of the model; empty lists are left to their defaults."""
    fields = [f"start := {s.start}", f"tokens := {_pairs(s.tokens)}", f"allocated := {s.allocated}"]
    for name in ("admitted", "resumed", "preempted", "finished"):
        found: tuple[int, ...] = getattr(s, name)
        if found:
            fields.append(f"{name} := {_numbers(found)}")
    return "{ " + ", ".join(fields) + " }"


def windows(recording: Recording, size: int = WINDOW) -> list[Window]:
    """The recorded steps in windows of at most `size` steps of about equal length."""
    count = max(1, -(-recording.length // size))
    width = -(-recording.length // count)
    found = []
    for first in range(0, recording.length, width):
        end = min(first + width, recording.length)
        found.append(Window(first, end, tuple(s for s in recording.steps if first <= s.start < end)))
    return found


def module_name(name: str) -> str:
    """The last part of the module of a recording: `01_published` is `Trace01Published`."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    return "Trace" + "".join(w[:1].upper() + w[1:] for w in words)


def recorded_module(t: Translated, recording: Recording, size: int = WINDOW) -> str:
    """The Lean text of one recording: program, deployment, workload, membership, and its theorems."""
    return render(
        "recorded.lean",
        name=recording.name,
        module=module_name(recording.name),
        source=recording.source,
        digest=t.digest,
        text=LeanText(t),
        windows=windows(recording, size),
        published=_published(recording),
    )


def theorem_names(recording: Recording, size: int = WINDOW) -> list[str]:
    """The full names of the theorems of a recording's module, which have to be there."""
    space = f"Serq.Generated.{module_name(recording.name)}"
    names = ["belongs_to_the_fragment", *(w.theorem for w in windows(recording, size))]
    if recording.published is not None:
        names.append("first_and_last_tokens_agree")
    return [f"{space}.{name}" for name in names]


def _published(recording: Recording) -> list[tuple[int, str, str, int]]:
    """The values of the published answer, none where nothing was published."""
    p = recording.published
    if p is None:
        return []
    firsts = "[" + ", ".join(_numbers(x) for x in p.first) + "]"
    lasts = "[" + ", ".join(_numbers(x) for x in p.last) + "]"
    return [(recording.length, firsts, lasts, p.preemptions)]


def _numbers(xs: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, xs)) + "]"


def _pairs(xs: Sequence[tuple[int, int]]) -> str:
    return "[" + ", ".join(f"({a}, {b})" for a, b in xs) + "]"
