"""Growth and preemption, as `lean/Serq/Model/Growth.lean` has them.

A resident that computes tokens grows its hold of the engine's memory; when there is no room, the
resident admitted last is preempted, until the growth fits or the grower is its own victim.
"""

from __future__ import annotations

from dataclasses import replace

from serq.generators.machine.cache import make_room
from serq.generators.machine.expressions import less, round_up
from serq.generators.machine.holds import Setting, header_of, hold_of, join, release, set_attr, set_frames
from serq.generators.machine.lists import Naturals
from serq.generators.machine.state import AtEngine, Fault, Frames, HoldFrame, Share, State
from serq.generators.model import Hold


def share_in(p: int, shares: tuple[Share, ...]) -> Share | None:
    """The share of a pool in a hold."""
    return next((s for s in shares if s.pool == p), None)


def innermost(p: int, frames: Frames) -> Share | None:
    """The share of a pool in the innermost hold of a stack that has one."""
    for frame in frames:
        if isinstance(frame, HoldFrame) and (share := share_in(p, frame.open.shares)):
            return share
    return None


def reshare(p: int, units: int, position: int, shares: tuple[Share, ...]) -> tuple[Share, ...]:
    """The shares of a hold with the first one of a pool at other units and another position."""
    for k, s in enumerate(shares):
        if s.pool == p:
            return (*shares[:k], Share(p, units, position), *shares[k + 1 :])
    return shares


def advance(p: int, units: int, position: int, frames: Frames) -> Frames:
    """A stack whose innermost share of a pool has other units and another position."""
    for k, frame in enumerate(frames):
        if isinstance(frame, HoldFrame) and share_in(p, frame.open.shares):
            shares = reshare(p, units, position, frame.open.shares)
            moved = replace(frame, open=replace(frame.open, shares=shares, advanced=True))
            return (*frames[:k], moved, *frames[k + 1 :])
    return frames


def victim(state: State, holders: Naturals) -> int | None:
    """The holder at the engine that was admitted last."""
    found: int | None = None
    for i in reversed(holders):
        s = state.session(i)
        if isinstance(s.status, AtEngine) and (found is None or state.session(found).before(s.admission)):
            found = i
    return found


def unwind(x: Setting, i: int, p: int, frames: Frames, state: State) -> State:
    """Unwinds a stack through its innermost hold of a pool; the session is at that hold's statement again."""
    for k, frame in enumerate(frames):
        state = set_frames(i, frames[k + 1 :], state)
        if isinstance(frame, HoldFrame):
            code = frame.next.preceded(hold_of(frame.open))
            state = state.set_session(i, replace(state.session(i), code=code))
            state = release(x, i, frame.open, True, state)
            if share_in(p, frame.open.shares):
                return state
    raise Fault("a stack without a hold of the memory")


def rejoin(x: Setting, i: int, state: State) -> State:
    """The session joins, in front, the queue of the hold it is at."""
    statements = state.session(i).code.statements
    hold = statements[0] if statements else None
    if not isinstance(hold, Hold):
        raise Fault("a session that is at no hold")
    return join(x, i, header_of(hold), True, state)


def preempt(x: Setting, v: int, p: int, state: State) -> State:
    """Preempts a session of a pool: its job leaves, its stack is unwound, it is in front of the queue again."""
    share = innermost(p, state.session(v).frames)
    if share is None:
        raise Fault("a victim without a hold of the memory")
    state = set_attr(state, v, x.program.slots.computed, share.position)
    state = replace(
        state,
        jobs=tuple(j for j in state.jobs if j.owner != v),
        preemptions=state.preemptions + 1,
        preempted=(*state.preempted, v),
    )
    return rejoin(x, v, unwind(x, v, p, state.session(v).frames, state))


def grow(x: Setting, i: int, p: int, tokens: int, fuel: int, state: State) -> tuple[State, bool]:
    """Grows a session's hold of a pool to cover more tokens; false when the session preempted itself."""
    for _ in range(fuel):
        grown = _grown(x, i, p, tokens, state)
        if grown is not None:
            return grown, True
        v = victim(state, state.pool(p).holders)
        if v is None:
            raise Fault("no room, and nobody to preempt")
        state = preempt(x, v, p, state)
        if v == i:
            return state, False
    raise Fault("a growth without end")


def _grown(x: Setting, i: int, p: int, tokens: int, state: State) -> State | None:
    s = state.session(i)
    share = innermost(p, s.frames)
    if share is None:
        raise Fault("a growing run without a hold of the memory")
    position = share.position + tokens
    if position <= share.units:
        return set_frames(i, advance(p, share.units, position, s.frames), state)
    pool, cap, block = state.pool(p), x.pool(p).cap, x.block(p)
    need = less(round_up(block, position), share.units)
    if pool.allocated + need > cap:
        return None
    room = make_room(pool, cap, block, need)
    state = set_frames(i, advance(p, share.units + need, position, s.frames), state)
    return state.set_pool(p, replace(room, allocated=room.allocated + need))
