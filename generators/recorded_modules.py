"""Modules that state recorded runs: the program, and for every window of steps that the model's run is the
recorded one there (generators.md §5).

A run of several windows is evaluated piece by piece. Each piece starts from the machine that the one before
has left, which is written out and proved; that the pieces are the run is a theorem of the model. A run of
many pieces has a module for every few of them, since a module's memory grows with its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from serq.generators.dense_slots import with_dense_slots
from serq.generators.lean_text import LeanText
from serq.generators.machine import Machine, run_until, start
from serq.generators.machine_text import MachineText
from serq.generators.model import Translated
from serq.generators.recorded import Recording, Window, module_name, published_values, windows
from serq.generators.render import render

# More events than a piece has; all pieces together have to stay below the model's `fuel`.
EVENTS = 2000
_FUEL = 100_000
# The most characters of a module; elaborating more takes more memory than a module should.
MOST_TEXT = 80_000


@dataclass(frozen=True)
class Piece:
    """A window of a run of several, evaluated from the machine before it; none is there before the first."""

    window: Window
    number: int
    machine: tuple[str, ...]
    """The machine at its end, as the lines of its fields; none after the last piece."""

    @property
    def theorem(self) -> str:
        """The name of what the kernel evaluates."""
        return f"piece_{self.window.first}_to_{self.window.last}"

    @property
    def run(self) -> str:
        """The piece as a term."""
        first, end = self.window.first, self.window.end
        if self.number == 0:
            return f"recordedFirst deployment workload program {end} {EVENTS}"
        return f"recordedPiece deployment workload {first} {end} {EVENTS} at_{first}"

    @property
    def steps_run(self) -> str:
        """The piece's steps as a term."""
        return f"({self.run}).map Prod.snd"

    @property
    def events(self) -> int:
        """A bound of the events up to its end."""
        return EVENTS * (self.number + 1)

    @property
    def passes(self) -> str:
        """The proof that the run passes the machine at its end."""
        if self.number == 0:
            return f"passes_of_first {self.theorem}"
        return f"passes_of_piece (by decide) passes_{self.window.first} {self.theorem}"

    @property
    def agrees(self) -> str:
        """The proof that the steps of the run are the recorded ones."""
        if self.number == 0:
            return f"within_of_first (by decide) {self.theorem}"
        kind = "piece" if self.machine else "last"
        return f"within_of_{kind} (by decide) (by decide) passes_{self.window.first} {self.theorem}"

    @property
    def theorems(self) -> list[str]:
        """The names of its theorems, in order."""
        passes = [f"passes_{self.window.end}"] if self.machine else []
        return [self.theorem, *passes, self.window.theorem]

    @property
    def size(self) -> int:
        """About how many characters it takes."""
        return sum(map(len, (*self.machine, *self.window.lines)))


@dataclass
class Part:
    """What a module says of one recording: all of it, or a few pieces of its run."""

    name: str
    module: str
    source: str
    digest: str
    head: list[LeanText] = field(default_factory=list)
    """The program's text, in the first part."""
    whole: Sequence[Window] = ()
    constants: Sequence[str] = ()
    pieces: list[Piece] = field(default_factory=list)
    last: list[Piece] = field(default_factory=list)
    published: Sequence[tuple[int, str, str, int]] = ()

    @property
    def theorems(self) -> list[str]:
        """The full names of all theorems, in order."""
        names = ["belongs_to_the_fragment" for _ in self.head] + [w.theorem for w in self.whole]
        names += [name for piece in (*self.pieces, *self.last) for name in piece.theorems]
        names += ["first_and_last_tokens_agree" for _ in self.published]
        return [f"Serq.Generated.{self.module}.{name}" for name in names]


def recorded_parts(t: Translated, recording: Recording, found: Sequence[Window] | None = None) -> list[Part]:
    """What is said of a recording, in its windows or in other ones, part by part."""
    chosen = windows(recording) if found is None else found
    t = with_dense_slots(t)
    text = LeanText(t)
    head = _part(t, recording)
    head.head, head.published = [text], published_values(recording)
    if len(chosen) == 1:
        head.whole = chosen
        return [head]
    if len(chosen) * EVENTS > _FUEL:
        raise ValueError(f"{recording.name} has more windows than a run has events")
    machines = MachineText(text, _machines(t, [w.end for w in chosen[:-1]]))
    head.constants = machines.constants
    lines = [*map(tuple, machines.machines), ()]
    parts = [head]
    for number, (window, machine) in enumerate(zip(chosen, lines, strict=True)):
        piece = Piece(window, number, machine)
        if sum(p.size for p in parts[-1].pieces) + piece.size > MOST_TEXT:
            parts.append(_part(t, recording))
        (parts[-1].pieces if machine else parts[-1].last).append(piece)
    return parts


def _part(t: Translated, recording: Recording) -> Part:
    return Part(recording.name, module_name(recording.name), recording.source, t.digest)


def _machines(t: Translated, times: Sequence[int]) -> Iterator[Machine]:
    """The machines of a run at times, each with only its newest iteration on record."""
    machine = start(t)
    for time in times:
        machine = run_until(t, machine, time)
        machine = replace(machine, log=machine.log[:1])
        yield machine


def recorded_module(parts: Sequence[Part], before: Sequence[str] = ()) -> str:
    """The Lean text of a module; `before` are modules of the same run's earlier parts."""
    imports = [f"Serq.Generated.{name}" for name in ("Statements", *before)]
    return render("recorded.lean", parts=parts, imports=imports)


def recorded_modules(recordings: Mapping[str, Sequence[Sequence[Part]]]) -> dict[str, str]:
    """The modules of recordings in groups, each recording by its parts; by name. A run of several parts has
    modules of its own; a group that gets too long is continued in another module.
    """
    modules: dict[str, str] = {}
    for group, members in recordings.items():
        short: list[Part] = []
        for parts in members:
            if len(parts) == 1:
                short += parts
            else:
                modules |= _modules_of_a_run(parts)
        modules |= _modules_of_a_group(group, short)
    return modules


def _modules_of_a_run(parts: Sequence[Part]) -> dict[str, str]:
    names = [f"{p.module}Part{i}" for i, p in enumerate(parts, start=1)]
    return {
        name: recorded_module([part], names[max(0, i - 1) : i])
        for i, (name, part) in enumerate(zip(names, parts, strict=True))
    }


def _modules_of_a_group(group: str, parts: Sequence[Part]) -> dict[str, str]:
    packed: list[list[Part]] = []
    room = 0
    for part in parts:
        size = len(recorded_module([part]))
        if size > room:
            packed.append([])
            room = MOST_TEXT
        packed[-1].append(part)
        room -= size
    names = [group] if len(packed) == 1 else [f"{group}{chr(ord('a') + i)}" for i in range(len(packed))]
    return {name: recorded_module(found) for name, found in zip(names, packed, strict=True)}
