"""Instructions to functions: each takes the session and returns where it goes on, or -1 when it blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from serq.ir import statements as st
from serq.ir.expressions import CRef
from serq.ir.moments import Moment
from serq.sim.codegen import Codegen, Writer, is_boolean, static_member
from serq.sim.errors import Stop, amount
from serq.sim.flows import SharedState
from serq.sim.growth import innermost_hold
from serq.sim.layout import Answer, Instruction, Layout
from serq.sim.numeric import EPS
from serq.sim.pools import end_hold, join_queue, release
from serq.sim.records import Job, Session
from serq.sim.scopes import HoldSite

if TYPE_CHECKING:
    from serq.sim.machine import Machine

Op = Callable[[Session], int]
Get = Callable[[str], Callable[..., Any]]
Build = Callable[[Get], Op]
BLOCKED = -1
S = Moment.SESSION


class OpBuilder:
    """Defines every instruction's code first; builds the functions once the code is linked."""

    def __init__(self, machine: Machine, codegen: Codegen, layout: Layout, sites: list[HoldSite]) -> None:
        self.m = machine
        self.codegen = codegen
        self.layout = layout
        self.sites = sites

    def prepare(self) -> list[Build]:
        """What builds each instruction."""
        return [self._prepare(i, at + 1) for at, i in enumerate(self.layout.code)]

    def _next(self, at: int) -> Instruction | None:
        return self.layout.code[at] if at < len(self.layout.code) else None

    def _prepare(self, i: Instruction, following: int) -> Build:
        match i.kind:
            case "Straight":
                return self._straight(i, following)
            case "Branch":
                return self._branch(i, following)
            case "Jump":
                target = i.target
                return lambda get: lambda s: target
            case "Open":
                return self._open(i)
            case "Close":
                return self._close(following)
            case "Run":
                return self._run(i.stmt, following)
            case "Choose":
                return self._choose(i.stmt, following)
            case "Grow" | "Load":
                return self._grow_or_load(i.stmt, following)
            case "Drop" | "Release":
                return self._drop_or_release(i.stmt, following)
            case _:
                return self._control(i, following)

    # Generated outright

    def _straight(self, i: Instruction, following: int) -> Build:
        stmts = [stmt for stmt, _ in i.straight]
        lines = straight_lines(self.codegen, stmts, None)
        paths = [path for _, path in i.straight]
        after = self._next(following)
        ending = self._ending(after, following)
        lines += ending
        if after is not None:
            paths += [after.path] * len(ending)
        name = self.codegen.lines(lines, S, paths)
        return lambda get: get(name)

    def _ending(self, after: Instruction | None, following: int) -> list[str]:
        """How straight code goes on: into what follows it where that is short, else by returning there."""
        if after is None:
            return [f"return {following}"]
        match after.kind:
            case "Jump":
                return [f"return {after.target}"]
            case "End" | "Finish":
                return ["end_session(s)", "return -1"]
            case "Branch":
                return self._branch_lines(after, following + 1)
            case "Run" if self._is_plain(after.stmt):
                return self._run_lines(after.stmt, following + 1)
            case _:
                return [f"return {following}"]

    def _branch(self, i: Instruction, following: int) -> Build:
        lines = self._branch_lines(i, following)
        name = self.codegen.lines(lines, S, [i.path] * len(lines))
        return lambda get: get(name)

    def _branch_lines(self, i: Instruction, following: int) -> list[str]:
        stmt = i.stmt
        assert isinstance(stmt, st.Branch | st.While)
        writer = self.codegen.writer(S)
        if is_boolean(stmt.guard):
            return [f"return {following} if {writer.truth(stmt.guard)} else {i.target}"]
        return [
            f"g = {writer.value(stmt.guard)}",
            f"if g == 1.0: return {following}",
            f"if g == 0.0: return {i.target}",
            "bad_guard(g)",
        ]

    def _is_plain(self, stmt: st.Stmt | None) -> bool:
        return isinstance(stmt, st.Run) and stmt.mode == "Plain" and not stmt.also

    def _run_lines(self, stmt: st.Stmt | None, following: int) -> list[str]:
        assert isinstance(stmt, st.Run)
        writer = self.codegen.writer(S)
        work, stage = writer.value(stmt.work), writer.reference(stmt.stage, "stages")
        return [f"w = {work}", f"s.pc = {following}", f"{stage}.run(s, w)", "return -1"]

    def reference(self, ref: CRef, table: str) -> Callable[[Get], Callable[[Session], Any]]:
        """A function from a session to the pool or stage a reference names now."""
        static = static_member(ref)
        if static is not None:
            found = (self.m.pools if table == "pools" else self.m.stages)[static]
            return lambda get: lambda s: found
        name = self.codegen.lines([f"return {self.codegen.writer(S).reference(ref, table)}"], S)
        return lambda get: get(name)

    # Holds

    def _open(self, i: Instruction) -> Build:
        m = self.m
        assert i.scope is not None
        site = self.sites[i.scope.number]

        def build(get: Get) -> Op:
            def op(s: Session) -> int:
                s.pc = site.body
                join_queue(m, s, site, at_front=False, resumed=False)
                return BLOCKED

            return op

        return build

    def _close(self, following: int) -> Build:
        m = self.m

        def op(s: Session) -> int:
            hold = s.holds.pop()
            end_hold(m, s, hold)
            if s.preempted_at:
                for member in hold.members:
                    s.preempted_at.pop(member.pool.index, None)
            s.attrs[m.slot_computed] = 0.0
            m.retry_pools()
            return following

        return lambda get: op

    def _drop_or_release(self, stmt: st.Stmt | None, following: int) -> Build:
        m = self.m
        assert isinstance(stmt, st.Drop | st.Release)
        reference = self.reference(stmt.pool, "pools")
        dropping = isinstance(stmt, st.Drop)

        def build(get: Get) -> Op:
            pool = reference(get)

            def drop(s: Session) -> int:
                pool(s).cache.drop(s.serial)
                return following

            def give(s: Session) -> int:
                release(m, s, pool(s))
                m.retry_pools()
                return following

            return drop if dropping else give

        return build

    def _grow_or_load(self, stmt: st.Stmt | None, following: int) -> Build:
        m = self.m
        assert isinstance(stmt, st.Grow | st.Load)
        reference = self.reference(stmt.pool, "pools")
        name = self.codegen.function(stmt.amount, S)
        growing = isinstance(stmt, st.Grow)

        def build(get: Get) -> Op:
            pool, read = reference(get), get(name)

            def grow(s: Session) -> int:
                by = amount(read(s), "the amount of a grow")
                target = pool(s)
                _, member = innermost_hold(s, target)
                s.pc = following
                return following if m.growth.grow(s, target, member, by) else BLOCKED

            def load(s: Session) -> int:
                by = amount(read(s), "the amount of a load")
                hold, member = innermost_hold(s, pool(s))
                if member.position + by > member.alloc + EPS:
                    raise Stop(
                        "SQ814",
                        f"a load of {by:g} tokens at position {member.position:g} exceeds the allocation "
                        f"of {member.alloc:g}",
                        hint="hold or grow what the load needs first",
                    )
                member.position += by
                hold.grown = True
                return following

            return grow if growing else load

        return build

    # Work

    def _run(self, stmt: st.Stmt | None, following: int) -> Build:
        assert isinstance(stmt, st.Run)
        if self._is_plain(stmt):
            name = self.codegen.lines(self._run_lines(stmt, following), S)
            return lambda get: get(name)
        work = self.codegen.function(stmt.work, S)
        stages = [self.reference(r, "stages") for r in (stmt.stage, *stmt.also)]
        if len(stages) > 1:
            return self._flow(stages, work, following)
        pool = None if stmt.growing is None else self.reference(stmt.growing, "pools")
        return self._engine_run(stages[0], work, pool, stmt.mode == "Decode", following)

    def _engine_run(
        self,
        stage: Callable[[Get], Callable[[Session], Any]],
        work: str,
        growing: Callable[[Get], Callable[[Session], Any]] | None,
        decode: bool,
        following: int,
    ) -> Build:
        m = self.m

        def build(get: Get) -> Op:
            read, at = get(work), stage(get)
            pool = None if growing is None else growing(get)

            def op(s: Session) -> int:
                w = amount(read(s), "the work of a run")
                if decode:
                    m.clients.decode_reached(s)
                job = Job(m.next_job(), s, w, m.now)
                job.decode = decode
                if pool is not None:
                    job.hold, job.member = innermost_hold(s, pool(s))
                    job.start_position = job.member.position
                s.pc = following
                at(s).start(job)
                return BLOCKED

            return op

        return build

    def _flow(
        self, stages: list[Callable[[Get], Callable[[Session], Any]]], work: str, following: int
    ) -> Build:
        m = self.m

        def build(get: Get) -> Op:
            read, at = get(work), [stage(get) for stage in stages]

            def op(s: Session) -> int:
                w = amount(read(s), "the work of a run")
                found: list[SharedState] = [stage(s) for stage in at]
                s.pc = following
                m.flows.start(found, Job(m.next_job(), s, w, m.now))
                return BLOCKED

            return op

        return build

    def _choose(self, stmt: st.Stmt | None, following: int) -> Build:
        assert isinstance(stmt, st.Choose)
        count = self.codegen.function(stmt.count, S)
        writer = self.codegen.writer(S)
        keys = self.codegen.lines([f"return [{', '.join(writer.value(k) for k in stmt.key)}]"], S)
        var = stmt.var

        def build(get: Get) -> Op:
            read, read_keys = get(count), get(keys)

            def op(s: Session) -> int:
                n = read(s)
                if not 0.0 <= n < 2**53 or n != int(n):
                    raise Stop(
                        "SQ815", f"choose ranges over {n:g}; a count is a whole number", hint="round it down"
                    )
                best, best_key = 0, None
                for j in range(int(n)):
                    s.attrs[var] = float(j)
                    key = read_keys(s)
                    if best_key is None or _less(key, best_key):
                        best, best_key = j, key
                s.attrs[var] = float(best)
                return following

            return op

        return build

    # Control

    def _control(self, i: Instruction, following: int) -> Build:
        m = self.m
        target = i.target

        def fork(s: Session) -> int:
            m.legs.fork(s, following)
            return target

        def join(s: Session) -> int:
            s.pc = following
            return following if m.legs.join(s) else BLOCKED

        def end(s: Session) -> int:
            m.legs.end_session(s)
            return BLOCKED

        def end_leg(s: Session) -> int:
            m.legs.end_leg(s)
            return BLOCKED

        ops: dict[str, Op] = {
            "Fork": fork,
            "Join": join,
            "End": end,
            "Finish": end,
            "LegEnd": end_leg,
        }
        op = ops[i.kind]
        return lambda get: op


def straight_lines(codegen: Codegen, stmts: Sequence[st.Stmt | Answer], stream: str | None) -> list[str]:
    """Source of assignments, observations, turns and answers, one line each."""
    writer = codegen.writer(S, stream)
    return [_straight_line(writer, stmt) for stmt in stmts]


def _straight_line(writer: Writer, stmt: st.Stmt | Answer) -> str:
    match stmt:
        case st.Set(slot=slot, value=value):
            return f"s.attrs[{slot}] = {writer.value(value)}"
        case st.Observe(observe=k, value=value):
            return f"observe_{k}(s, {writer.value(value)})"
        case st.Turn():
            return "take_turn(s)"
        case _:
            return "answer(s)"


def _less(a: list[float], b: list[float]) -> bool:
    """Ordinary comparison of key lists: a NaN makes them incomparable."""
    for x, y in zip(a, b, strict=True):
        if x < y:
            return True
        if x != y:
            return False
    return False
