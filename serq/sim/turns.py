"""Where a session's turns come from: explicit sessions, a trace corpus, or the turn block alone (api.md §8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serq.ir.corpus import Corpus, TraceTurn
from serq.ir.program import Preset, Program, Sessions
from serq.sim.records import Session

if TYPE_CHECKING:
    from serq.sim.machine import Machine

Turns = tuple[TraceTurn, ...] | tuple[Preset, ...]


class TurnSource:
    """Picks a session's turns when it arrives and loads the next one at each `Turn`."""

    def __init__(self, machine: Machine, program: Program, corpus: Corpus | None) -> None:
        self.m = machine
        self.program = program
        self.corpus = corpus
        arrival = program.arrival
        self._explicit = arrival.sessions if isinstance(arrival, Sessions) else ()
        self.given = bool(self._explicit) or corpus is not None

    def pick(self, serial: int) -> Turns | None:
        """The turns of the session with this serial, None when only the turn block makes them."""
        if serial < len(self._explicit):
            turns = self._explicit[serial].turns
            if turns is not None:
                return turns
        if self.corpus is None:
            return None
        sessions = self.corpus.sessions
        if self.program.trace_ordered:
            return sessions[serial % len(sessions)]
        return sessions[self.m.trace_rng.below(len(sessions))]

    def preset(self, s: Session) -> None:
        """An explicit session's values overwrite what `init` set."""
        if s.serial < len(self._explicit):
            for slot, value in self._explicit[s.serial].attrs:
                s.attrs[slot] = value

    def load(self, s: Session) -> None:
        """The next turn's values; past the last only `more` becomes 0."""
        turns: Turns | None = s.trace_session
        if turns is None:
            return
        p = self.program
        at = s.turns - 1
        if at >= len(turns):
            s.attrs[p.slot_more] = 0.0
            return
        turn = turns[at]
        if isinstance(turn, TraceTurn):
            s.attrs[p.slot_new] = turn.new
            s.attrs[p.slot_out] = turn.out
            s.attrs[p.slot_think] = turn.think
            s.attrs[p.slot_forced] = turn.forced
        else:
            for slot, value in turn:
                s.attrs[slot] = value
        s.attrs[p.slot_more] = 1.0 if at + 1 < len(turns) else 0.0
