"""Runs the program of a deployment on a few requests, and notes when each ran, ended and was preempted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from serq.oracle.questions.closed import Fate
from serq.oracle.questions.settings import Settings
from serq.oracle.request import program_of
from serq.oracle.scenario import Request
from serq.sim import run
from serq.sim.engine import Engine
from serq.sim.hooks import TraceHook
from serq.sim.machine import Machine
from serq.sim.pools import PoolState
from serq.sim.records import Job, Session

# A worst case of more steps is not run.
MOST_STEPS = 20_000


@dataclass
class Seen(TraceHook):
    """What a run showed, by request: its first step, its last, the steps that preempted it."""

    first: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    ended: dict[int, int] = field(default_factory=dict)
    preempted: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_itself: int = 0
    tokens: int = 0
    together: int = 0

    def preemption(
        self, m: Machine, victim: Session, grower: Session, pool: PoolState, position: float
    ) -> None:
        self.preempted[victim.serial].append(int(m.now))
        self.by_itself += victim is grower

    def iteration(
        self, m: Machine, engine: Engine, assigned: list[tuple[Job, float]], duration: float
    ) -> None:
        now = int(m.now)
        self.together = max(self.together, len(engine.residents))
        for job, tokens in assigned:
            assert job.session is not None
            self.first.setdefault(job.session.serial, now)
            self.last[job.session.serial] = now
            self.tokens += int(tokens)

    def session_end(self, m: Machine, s: Session) -> None:
        # The last token comes with the end of the step that computed the one before.
        self.ended[s.serial] = int(m.now) - 1

    @property
    def preemptions(self) -> int:
        """Preemptions of anybody."""
        return sum(len(steps) for steps in self.preempted.values())


def simulate(s: Settings, requests: Sequence[Request], horizon: int) -> Seen:
    """Run requests until a step, or to their end."""
    seen = Seen()
    run(program_of(s.scenario(tuple(requests)), float(horizon), s.vllm), hook=seen)
    return seen


def recomputed(seen: Seen, requests: Sequence[Request]) -> int:
    """Tokens that were computed more than once, in a run in which all ended."""
    return seen.tokens - sum(r.prompt + r.out - 1 for r in requests)


def patience(s: Settings) -> int:
    """Steps in which a request that repeats itself has done so, and one that moves has moved."""
    return s.capacity // s.chunk_alone + 3


def horizon_of(s: Settings, r: Request) -> int:
    """Steps after which it is plain what becomes of a request alone, or of one with a short one behind it."""
    prefill = -(-r.prompt // s.chunk)
    # An answer cannot outgrow the memory.
    decode = min(r.out, max(1, s.capacity + 2 - r.prompt))
    return prefill + decode + 4 * (patience(s) + s.block_size)


@lru_cache(maxsize=256)
def seen_fate(s: Settings, r: Request) -> Fate | None:
    """What becomes of a request alone, by a run; None when that would take too many steps."""
    horizon = horizon_of(s, r)
    if horizon > MOST_STEPS:
        return None
    seen = simulate(s, [r], horizon)
    if 0 in seen.ended:
        return Fate("ends", seen.ended[0])
    steps = seen.preempted[0]
    if seen.last.get(0, 0) < horizon - patience(s) and (not steps or steps[-1] < horizon - patience(s)):
        return Fate("deadlock", steps[-1] if steps else 0)
    return Fate("livelock", steps[0], steps[-1] - steps[-2])
