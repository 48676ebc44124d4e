"""What a run keeps of sessions, their holds, leases and jobs (interp.md §2)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from serq.sim.clients import ClientTurn, LastToken
    from serq.sim.pools import PoolState
    from serq.sim.rng import Unit
    from serq.sim.scopes import HoldSite
    from serq.sim.stages import StageState

NOT_ADMITTED = 2**62


class Status(IntEnum):
    """What a session is doing."""

    READY = 0
    QUEUED = 1
    AT_STAGE = 2
    GROWING = 3
    JOINING = 4
    ENDED = 5


READY, QUEUED, AT_STAGE = Status.READY, Status.QUEUED, Status.AT_STAGE
GROWING, JOINING, ENDED = Status.GROWING, Status.JOINING, Status.ENDED


class Session:
    """A session or a leg: a program counter, attributes, open holds, leases.

    Most sessions use few of these fields, so their first values stand on the class.
    """

    status: Status = READY
    waiting: Waiting | None = None
    job: Job | None = None
    grow_pool: PoolState | None = None
    grow_by = 0.0
    admission = NOT_ADMITTED
    preempted_at: dict[int, float] | None = None
    stuck = False
    turns = 0
    forks = 0
    legs: Sequence[Session] = ()
    leases: Sequence[LeaseRecord] = ()
    orphan = False
    stream: Unit | None = None
    workload: Unit | None = None
    trace_session: Any = None
    client: ClientTurn | None = None
    token: LastToken | None = None
    ready_at = -1.0
    ready_count = 0

    def __init__(self, number: int, serial: int, attrs: list[float], parent: Session | None = None) -> None:
        self.number = number
        self.serial = serial
        self.attrs = attrs
        self.pc = 0
        self.holds: list[Hold] = []
        self.parent = parent

    @property
    def root(self) -> Session:
        """The session itself, or the session of a leg."""
        return self if self.parent is None else self.parent.root

    @property
    def name(self) -> str:
        """How messages name it."""
        return f"session {self.serial}" if self.parent is None else f"a leg of session {self.serial}"


class Member:
    """One pool of an open hold: allocation, computed position, reservation, prefix consumed."""

    __slots__ = ("alloc", "own", "pool", "position", "reserved", "slot")

    def __init__(self, pool: PoolState, alloc: float, own: float, reserved: float, slot: int) -> None:
        self.pool = pool
        self.alloc = alloc
        self.position = own
        self.own = own
        self.reserved = reserved
        self.slot = slot


class Hold:
    """An open hold of a session."""

    __slots__ = ("grown", "lease_pool", "members", "site")

    def __init__(self, site: HoldSite, members: list[Member], lease_pool: PoolState | None) -> None:
        self.site = site
        self.members = members
        self.lease_pool = lease_pool
        self.grown = False

    def member(self, pool: PoolState) -> Member | None:
        """The part of the hold on a pool, if it still has one."""
        for m in self.members:
            if m.pool is pool:
                return m
        return None


class LeaseRecord:
    """An allocation kept past its scope; `reader` is who its cache clause is read for."""

    __slots__ = ("alive", "computed", "finite", "member", "owner", "reader", "site")

    def __init__(self, site: HoldSite, member: Member, computed: float, owner: Session, finite: bool) -> None:
        self.site = site
        self.member = member
        self.computed = computed
        self.owner = owner
        self.reader = owner
        self.finite = finite
        self.alive = True


class Waiting:
    """A hold waiting to be admitted."""

    __slots__ = ("fixed", "lease_pool", "needs", "pools", "resumed", "since", "site", "units")

    def __init__(self, site: HoldSite, pools: list[PoolState], since: float, resumed: bool) -> None:
        self.site = site
        self.pools = pools
        self.since = since
        self.resumed = resumed
        self.units: list[float] = []
        self.needs: list[float] = []
        self.fixed = False
        self.lease_pool: PoolState | None = None


class Job:
    """Work of a session at a stage; `number` orders jobs of the whole run."""

    alive = True
    decode = False
    hold: Hold | None = None
    member: Member | None = None
    start_position = 0.0
    served = -1
    tag = 0.0
    stage: StageState

    def __init__(self, number: int, session: Session | None, work: float, joined: float) -> None:
        self.number = number
        self.session = session
        self.work = work
        self.total = work
        self.joined = joined
        self.begun = joined


class Context:
    """Values a moment supplies to expressions, under the IR's names of the context variables."""

    Admission = 0.0
    Admitted = 0.0
    Age = 0.0
    Arrived = 0.0
    Attn = 0.0
    Decoding = 0.0
    Demand = 0.0
    Kvb = 0.0
    Kvp = 0.0
    Last = 0.0
    N = 0.0
    Ndec = 0.0
    Npre = 0.0
    Nres = 0.0
    Ntok = 0.0
    Position = 0.0
    Preempted = 0.0
    Queued = 0.0
    Remaining = 0.0
    Served = 0.0
    Size = 0.0
    Waited = 0.0
