"""Tokens and what the client sees (interp.md §17)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serq.sim.records import Job, Session
from serq.sim.statistics import Samples

if TYPE_CHECKING:
    from serq.sim.machine import Machine
    from serq.sim.stages import StageState


class ClientTurn:
    """One turn as its client sees it; legs report to their session's turn."""

    __slots__ = ("candidate", "first", "later", "start")

    def __init__(self, start: float) -> None:
        self.start = start
        self.first: float | None = None
        self.candidate: float | None = None
        self.later = 0


class LastToken:
    """The latest token of a session or leg, to measure the gap to the next."""

    __slots__ = ("decoded", "preempted", "stage", "time", "turn")

    def __init__(self, turn: int, time: float, stage: StageState, decoded: bool) -> None:
        self.turn = turn
        self.time = time
        self.stage = stage
        self.decoded = decoded
        self.preempted = False


class Clients:
    """Records time to first token, time per output token and response of every turn."""

    def __init__(self, machine: Machine, detailed: bool) -> None:
        self.m = machine
        self.ttft = Samples(detailed)
        self.tpot = Samples(detailed)
        self.response = Samples(detailed)

    def _record(self, samples: Samples, value: float, s: Session) -> None:
        if self.m.warm:
            samples.add(value, self.m.now, s.serial, s.attrs[self.m.slot_turn])

    def _first(self, s: Session, client: ClientTurn, at: float) -> None:
        client.first = at
        self._record(self.ttft, at - client.start, s)

    def decode_reached(self, s: Session) -> None:
        """A decode run statement is executed: a prefill that ended just now sampled the first token."""
        root = s.root
        client = root.client
        if client is not None and client.first is None and client.candidate == self.m.now:
            self._first(root, client, client.candidate)

    def answer(self, s: Session) -> None:
        """The server's statements of the turn are done."""
        client = s.client
        if client is None:
            return
        s.client = None
        if client.first is None and client.candidate is not None:
            self._first(s, client, client.candidate)
        if client.first is not None and client.later > 0:
            self._record(self.tpot, (self.m.now - client.first) / client.later, s)
        self._record(self.response, self.m.now - client.start, s)

    def commit(self, job: Job, stage: StageState) -> None:
        """An engine commits a token: of a decode, or of a prefill that is done."""
        s = job.session
        assert s is not None
        self._gap(s, job.decode, stage)
        root = s.root
        client = root.client
        if client is None:
            return
        if client.first is not None:
            client.later += 1
        elif not job.decode:
            client.candidate = self.m.now
        elif client.candidate is not None:
            client.later += 1
            self._first(root, client, client.candidate)
        else:
            self._first(root, client, self.m.now)

    def _gap(self, s: Session, decode: bool, stage: StageState) -> None:
        now = self.m.now
        last = s.token
        if last is None or last.turn != s.turns:
            s.token = LastToken(s.turns, now, stage, decode)
            return
        if (decode or last.decoded or (last.preempted and last.stage is stage)) and self.m.warm:
            stage.gaps.add(now - last.time)
        last.time = now
        last.stage = stage
        last.decoded = last.decoded or decode
        last.preempted = False
