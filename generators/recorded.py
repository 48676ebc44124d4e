"""Recorded runs, as theorems state them: step by step, in windows that the kernel can evaluate (generators.md §5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

# A theorem has at most so many steps, and so much for the kernel to do: what it needs of memory grows with both.
WINDOW = 250
WORK = 300.0
# So many sessions double what there is to do for one; to begin with, each comes after all before it.
_FAR = 30
_MANY = 12


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
    """A recorded run: its name, what it was recorded from, how many sessions and steps it has, the steps that
    did something.
    """

    name: str
    source: str
    sessions: int
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
    def steps_run(self) -> str:
        """The steps of the run as a term."""
        return f"within {self.first} {self.end}"

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


def windows(recording: Recording, most: float = WORK, size: int = WINDOW) -> list[Window]:
    """The recorded steps in windows of about equal work: at most `most`, and at most `size` steps each."""
    acting = {s.start: s for s in recording.steps}
    weights = [_work(acting.get(step), recording.sessions) for step in range(recording.length)]
    weights[0] += recording.sessions**2 / _MANY
    share = sum(weights) / max(1, ceil(sum(weights) / most), ceil(recording.length / size))
    ends: list[int] = []
    first, done = 0, 0.0
    for step, weight in enumerate(weights):
        done += weight
        if step + 1 - first == size or done > share * (len(ends) + 1):
            ends.append(step + 1)
            first = step + 1
    if not ends or ends[-1] < recording.length:
        ends.append(recording.length)
    return [
        Window(first, end, tuple(acting[step] for step in range(first, end) if step in acting))
        for first, end in pairwise((0, *ends))
    ]


def _work(step: RunStep | None, sessions: int) -> float:
    """What the kernel has to do for a step: for every resident, and each reaches into the list of sessions."""
    if step is None:
        return 0.2
    return (1 + len(step.tokens)) * (1 + sessions / _FAR)


def module_name(name: str) -> str:
    """The last part of the module of a recording: `01_published` is `Trace01Published`."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    return "Trace" + "".join(w[:1].upper() + w[1:] for w in words)


def published_values(recording: Recording) -> list[tuple[int, str, str, int]]:
    """What was published of a run as Lean text: its length, first and last tokens, preemptions; none where
    nothing was.
    """
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
