"""Machines and what they are made of, field by field as in `lean/Serq/Model/State.lean`.

Nothing here changes once it is made, so a machine kept from one time stays as it was. Lists have the
order that the Lean lists have. Times, units and tokens are natural numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from serq.generators.machine.code import FINISH, Code
from serq.generators.machine.lists import Naturals, nth, put
from serq.generators.model import Need, Term


class Fault(Exception):
    """The run left the semantics: the Lean state would be at fault."""


@dataclass(frozen=True)
class Header:
    """A hold's clauses."""

    needs: tuple[Need, ...]
    reuse: Term | None = None
    cache: Term | None = None


@dataclass(frozen=True)
class Entry:
    """A cached prefix: of a session, or dead."""

    owner: int | None
    size: int
    time: int
    number: int


@dataclass(frozen=True)
class Pool:
    """A pool. Entries are in the order of their release, holders in the order of their admission."""

    allocated: int = 0
    entries: tuple[Entry, ...] = ()
    holders: Naturals = ()
    queue: Naturals = ()

    @property
    def cached(self) -> int:
        """The units it keeps cached."""
        return sum(e.size for e in self.entries)


@dataclass(frozen=True)
class Share:
    """What an open hold has of one pool: its units, and the position of its computed prefix."""

    pool: int
    units: int
    position: int


@dataclass(frozen=True)
class Open:
    """An open hold; `advanced` once some run has moved a position."""

    header: Header
    body: Code
    shares: tuple[Share, ...]
    advanced: bool = False


@dataclass(frozen=True)
class Rest:
    """After a block: go on here."""

    next: Code


@dataclass(frozen=True)
class Loop:
    """After a block: the same block again."""

    body: Code


@dataclass(frozen=True)
class Again:
    """After a block: test, and perhaps the same block again."""

    test: Term
    body: Code
    next: Code


@dataclass(frozen=True)
class HoldFrame:
    """After a block: release, then go on here."""

    open: Open
    next: Code


Frame = Rest | Loop | Again | HoldFrame
Frames = tuple[Frame, ...]


@dataclass(frozen=True)
class Ready:
    """Ready to run."""


@dataclass(frozen=True)
class Queued:
    """In the queue of a pool; `resumed` when a preemption put it there."""

    pool: int
    resumed: bool


@dataclass(frozen=True)
class AtEngine:
    """A resident of the engine."""


@dataclass(frozen=True)
class InDelay:
    """In a delay: until when, and the number of the event that ends it."""

    until: int
    number: int


@dataclass(frozen=True)
class Ended:
    """At its end."""


Status = Ready | Queued | AtEngine | InDelay | Ended


@dataclass(frozen=True)
class Session:
    """A session; its number is its place in the list of sessions. Frames: the innermost first."""

    attrs: Naturals = ()
    cached: int = 0
    code: Code = FINISH
    frames: Frames = ()
    status: Status = Ended()
    admission: int | None = None
    turn: int = 0

    def before(self, admission: int | None) -> bool:
        """Whether its job stands before a new one of a session last admitted as this number."""
        if admission is None:
            return True
        return self.admission is not None and self.admission <= admission


@dataclass(frozen=True)
class Job:
    """A resident of the engine."""

    owner: int
    decode: bool
    work: int
    grows: bool


@dataclass(frozen=True)
class Delay:
    """A session in a delay."""

    time: int
    number: int
    owner: int


@dataclass(frozen=True)
class Observation:
    """A value observed under a name."""

    name: int
    session: int
    time: int
    value: int


@dataclass(frozen=True)
class State:
    """What the statements of sessions act on. `fault` is never true here: `Fault` is raised instead."""

    sessions: tuple[Session, ...]
    pools: tuple[Pool, ...]
    jobs: tuple[Job, ...] = ()
    ready: Naturals = ()
    delays: tuple[Delay, ...] = ()
    observations: tuple[Observation, ...] = ()
    preemptions: int = 0
    admissions: int = 0
    releases: int = 0
    events: int = 0
    admitted: Naturals = ()
    resumed: Naturals = ()
    preempted: Naturals = ()
    finished: Naturals = ()
    fault: bool = False

    def session(self, i: int) -> Session:
        """A session."""
        return nth(_NOBODY, i, self.sessions)

    def pool(self, p: int) -> Pool:
        """A pool."""
        return nth(_NO_POOL, p, self.pools)

    def set_session(self, i: int, session: Session) -> State:
        """The state with one session replaced."""
        return replace(self, sessions=put(session, i, self.sessions))

    def set_pool(self, p: int, pool: Pool) -> State:
        """The state with one pool replaced."""
        return replace(self, pools=put(pool, p, self.pools))

    def wake(self, i: int) -> State:
        """The state in which a session is ready, at the back of the ready list."""
        woken = replace(self.session(i), status=Ready())
        return replace(self.set_session(i, woken), ready=(*self.ready, i))


_NOBODY = Session()
_NO_POOL = Pool()


@dataclass(frozen=True)
class Grant:
    """Tokens given to a resident. `attention` is twice the attention work."""

    owner: int
    tokens: int
    decode: bool
    attention: int


@dataclass(frozen=True)
class Iteration:
    """What an iteration leaves on record; `queued` to `cached` have a number for each pool."""

    start: int
    served: int
    batch: tuple[Grant, ...]
    tokens: int
    prefilled: int
    decoders: int
    kv_decode: int
    attention: int
    residents: int
    demand: int
    arrived: int
    queued: Naturals
    holders: Naturals
    allocated: Naturals
    cached: Naturals
    admitted: Naturals
    resumed: Naturals
    preempted: Naturals
    finished: Naturals = ()


@dataclass(frozen=True)
class Running:
    """The running iteration: when it ends, and the number of that event."""

    until: int
    number: int
    batch: tuple[Grant, ...]


@dataclass(frozen=True)
class Machine:
    """A whole machine. The log has the newest iteration first."""

    state: State
    now: int = 0
    running: Running | None = None
    served: int = 0
    log: tuple[Iteration, ...] = ()


def own_size(i: int, entries: tuple[Entry, ...]) -> int:
    """The own cached units of a session among the entries of a pool."""
    return next((e.size for e in entries if e.owner == i), 0)
