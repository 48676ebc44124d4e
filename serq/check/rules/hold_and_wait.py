"""A cycle of hold and wait between pools.

What it does
    Draws an arrow from a pool to another when a session that holds the first can wait for
    the second: a hold inside a hold, a growth of one pool while another is held, a hold
    while a lease lasts. A session waits in the queue of its hold's first pool, so it also
    waits for what the head of that queue waits for.
Why it matters
    Around a cycle of arrows each session can hold what the next one needs.
Example
    `hold a (…) { hold b (…) { … } }` in one request and `hold b (…) { hold a (…) { … } }` in another
Use instead
    Take the pools in one order everywhere, or all at once: `hold a (…), b (…) { … }`.
Soundness
    Proved: there is no cycle of arrows between pools of finite capacity, so that no set of
    sessions waits for each other across pools (growth within one pool is `growth-deadlock`'s).
    Arrows come from the text alone, so a cycle that values rule out is still reported.
    A lease of a finite duration draws no arrow, nor does growth in a pool that preempts its growers;
    a lease ends at a release that names the same member, by an index not assigned in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from serq.check.model import Model
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.rules.growth_deadlock import alone
from serq.check.solver import Answer, Verdict
from serq.diagnostics import IrPath, Severity
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.validate.constants import constant, moves, reads
from serq.ir.validate.paths import same_ref

Arrows = dict[int, dict[int, IrPath]]


def check(model: Model) -> Iterator[Finding]:
    """One verdict for the program, when some session holds one pool and waits for another."""
    arrows = _Drawing(model.program).arrows
    if not arrows:
        return
    first = min(path for found in arrows.values() for path in found.values())
    if alone(model.program):
        # One session waits for itself at most.
        arrows = {a: {a: found[a]} for a, found in arrows.items() if a in found}
    cycle = _cycle(arrows)
    if cycle is None:
        yield RULE.finding(first, Answer(Verdict.PROVED), "")
        return
    names = [model.program.pools[p].label for p in cycle]
    around = " → ".join(f"`{n}`" for n in [*names, names[0]])
    yield RULE.finding(
        arrows[cycle[0]][cycle[1 % len(cycle)]],
        Answer(Verdict.REFUTED),
        f"sessions can hold and wait around {around}",
        hint="take the pools in one order everywhere, or all of them in one hold",
    )


@dataclass(frozen=True)
class _Lease:
    """A lease a session may have: the hold that leaves it, what it names, and its pools of finite capacity.

    `lost` says that what its index reads was assigned since: no release is known to name it.
    """

    path: IrPath
    ref: ex.CRef
    pools: frozenset[int]
    lost: bool = False


Leases = frozenset[_Lease]
_NONE: Leases = frozenset()


@dataclass
class _Attempts:
    """A hold that may be executed again: what is leased before it, and where it may be preempted."""

    before: Leases
    again: Leases = _NONE
    met: Leases = _NONE


class _Drawing:
    """Draws the arrows of a program, each with a statement that draws it."""

    def __init__(self, program: pr.Program) -> None:
        self.program = program
        self.arrows: Arrows = {}
        self._blocks = reached(program)
        self._waits = self._queues()
        # The legs that may run, by their fork: what each wants, what it leases, whether there may be several.
        self._legs: dict[IrPath, tuple[frozenset[int], Leases, bool]] = {}
        self._piling: set[IrPath] = set()
        self._attempts: _Attempts | None = None
        self._block(program.session, (), _NONE)

    def _queues(self) -> dict[int, set[int]]:
        """For each pool, the pools that heads of its queue may wait for."""
        waits: dict[int, set[int]] = {}
        for block in self._blocks:
            for stmt in self.program.blocks[block]:
                if isinstance(stmt, st.Hold):
                    wanted = {p for part in stmt.pools for p in self._finite(part.pool)}
                    for p in _members(stmt.pools[0].pool):
                        waits.setdefault(p, set()).update(wanted)
        return waits

    def _wanted(self, body: int) -> frozenset[int]:
        """What a leg may wait for."""
        wanted: set[int] = set()
        stack = [body]
        while stack:
            for stmt in self.program.blocks[stack.pop()]:
                if isinstance(stmt, st.Hold):
                    wanted |= self._queue_of(stmt)
                if isinstance(stmt, st.Grow):
                    wanted |= self._finite(stmt.pool)
                if isinstance(stmt, st.Run) and stmt.growing is not None:
                    wanted |= self._finite(stmt.growing)
                stack.extend(st.bodies(stmt))
        return frozenset(wanted)

    def _queue_of(self, stmt: st.Hold) -> set[int]:
        return {w for p in _members(stmt.pools[0].pool) for w in self._waits.get(p, ())}

    def _finite(self, ref: ex.CRef) -> set[int]:
        return {p for p in _members(ref) if self.program.pools[p].cap < float("inf")}

    def _block(self, block: int, holds: tuple[ex.CRef, ...], leased: Leases) -> Leases:
        for position, stmt in enumerate(self.program.blocks[block]):
            leased = self._statement(stmt, ("blocks", block, position), holds, leased)
        return leased

    def _statement(self, stmt: st.Stmt, path: IrPath, holds: tuple[ex.CRef, ...], leased: Leases) -> Leases:
        leased = _assigned(self.program, stmt, leased)
        match stmt:
            case st.Hold():
                return self._hold(stmt, path, holds, leased)
            case st.Grow(pool=ref):
                self._growth(ref, holds, leased, path)
            case st.Run():
                self._run(stmt, holds, leased, path)
            case st.Release(pool=ref):
                return self._released(ref, holds, leased)
            case st.Branch():
                return self._branch(stmt, holds, leased)
            case st.Loop(body=body) | st.While(body=body):
                return self._repeated(body, holds, leased)
            case st.Fork(body=body):
                return self._forked(body, path, leased)
            case st.Join():
                self._joined(holds, leased, path)
            case _:
                pass
        return leased

    def _hold(self, stmt: st.Hold, path: IrPath, holds: tuple[ex.CRef, ...], leased: Leases) -> Leases:
        inside = (*holds, *(p.pool for p in stmt.pools))
        outer = self._attempts
        if outer is not None or self._preemptible(holds) or not self._preempted_at_engines(stmt):
            self._draw(self._held(holds, leased), self._queue_of(stmt), path)
            after = self._block(stmt.body, inside, leased)
        else:
            attempts = _Attempts(leased)
            while True:
                self._attempts, attempts.met = attempts, _NONE
                self._draw(self._held(holds, leased | attempts.again), self._queue_of(stmt), path)
                after = self._block(stmt.body, inside, leased | attempts.again)
                if attempts.met <= attempts.again:
                    break
                attempts.again |= attempts.met
            self._attempts = None
        return after | self._leases(stmt, path)

    def _preemptible(self, holds: tuple[ex.CRef, ...]) -> bool:
        return any(self.program.pools[p].preempt is not None for ref in holds for p in _members(ref))

    def _preempted_at_engines(self, stmt: st.Hold) -> bool:
        """Whether a hold is only preempted while it runs at an engine (interp.md §8.8)."""
        memories = {s.kind.memory for s in self.program.stages if isinstance(s.kind, pr.Step)}
        preempting = [
            i for p in stmt.pools for i in _members(p.pool) if self.program.pools[i].preempt is not None
        ]
        return bool(preempting) and all(i in memories for i in preempting)

    def _run(self, stmt: st.Run, holds: tuple[ex.CRef, ...], leased: Leases, path: IrPath) -> None:
        if self._attempts is not None and isinstance(self.program.stages[stmt.stage.base].kind, pr.Step):
            self._attempts.met |= leased
        ref = stmt.growing
        if ref is not None and any(self.program.pools[p].preempt is None for p in _members(ref)):
            self._growth(ref, holds, leased, path)

    def _branch(self, stmt: st.Branch, holds: tuple[ex.CRef, ...], leased: Leases) -> Leases:
        legs, result, after = self._legs, _NONE, dict(self._legs)
        for arm in arms(stmt):
            self._legs = dict(legs)
            result |= self._block(arm, holds, self._resumed(stmt, leased) if arm == stmt.other else leased)
            after |= self._legs
        self._legs = after
        return result

    def _resumed(self, stmt: st.Branch, leased: Leases) -> Leases:
        """What the other arm of `computed == 0` may find leased: a first attempt takes the one arm."""
        first = ex.Binary(op="Eq", left=ex.Attr(slot=self.program.slot_computed), right=ex.Num(value=0.0))
        attempts = self._attempts
        if attempts is None or stmt.guard != first:
            return leased
        return leased - (attempts.before - attempts.again)

    def _leases(self, stmt: st.Hold, path: IrPath) -> Leases:
        """What a hold leaves leased, unless for a finite time."""
        if stmt.lease is None or constant(stmt.lease.duration) not in (None, float("inf")):
            return _NONE
        ref = stmt.lease.pool
        return frozenset([_Lease(path, ref, frozenset(self._finite(ref)))])

    def _repeated(self, body: int, holds: tuple[ex.CRef, ...], leased: Leases) -> Leases:
        """A loop: leases its passes leave pile up, and a release ends only one of them."""
        left = self._block(body, holds, leased) - leased
        self._piling |= {lease.path for lease in left}
        return leased | left | self._block(body, holds, leased | left)

    def _released(self, ref: ex.CRef, holds: tuple[ex.CRef, ...], leased: Leases) -> Leases:
        """A release ends the only lease it may speak of, where no hold of the pool stands around it."""
        family = set(_members(ref))
        if any(family & set(_members(h)) for h in holds):
            return leased
        meant = [lease for lease in leased if family & set(_members(lease.ref))]
        if len(meant) != 1 or meant[0].path in self._piling or meant[0].lost:
            return leased
        return leased - set(meant) if same_ref(meant[0].ref, ref) and _settled(ref) else leased

    # Legs

    def _forked(self, body: int, path: IrPath, leased: Leases) -> Leases:
        """A leg: what it leases counts for the session from now on; it does not wait for that itself."""
        several = path in self._legs
        own = self._block(body, (), _NONE)
        self._legs = {**self._legs, path: (self._wanted(body), own, several)}
        return leased | own

    def _joined(self, holds: tuple[ex.CRef, ...], leased: Leases, path: IrPath) -> None:
        """A join waits for what its legs want, and legs for each other's leases."""
        legs = list(self._legs.items())
        by_legs = frozenset(lease for _, (_, own, _) in legs for lease in own)
        for at, (wants, _, several) in legs:
            others = [own for there, (_, own, _) in legs if there != at or several]
            self._draw(self._held(holds, (leased - by_legs).union(*others)), set(wants), path)
        self._legs = {}

    # Arrows

    def _held(self, holds: tuple[ex.CRef, ...], leased: Leases) -> set[int]:
        held = {p for ref in holds for p in self._finite(ref)}
        return held.union(*(lease.pools for lease in leased))

    def _growth(self, ref: ex.CRef, holds: tuple[ex.CRef, ...], leased: Leases, path: IrPath) -> None:
        """Growth waits for its pool: arrows from what else is held."""
        own = set(_members(ref))
        others = tuple(h for h in holds if not own & set(_members(h)))
        once = len(holds) - len(others) == 1
        self._draw(self._held(others if once else holds, leased), self._finite(ref), path)

    def _draw(self, held: set[int], wanted: set[int], path: IrPath) -> None:
        for a in sorted(held):
            for b in sorted(wanted):
                self.arrows.setdefault(a, {}).setdefault(b, path)


def _settled(ref: ex.CRef) -> bool:
    """Whether an index reads attributes alone, so that it names the same member until one is assigned."""
    return ref.index is None or not moves(ref.index)


def _assigned(program: pr.Program, stmt: st.Stmt, leased: Leases) -> Leases:
    """The leases after a statement that assigns: those whose index reads what it assigns are lost."""
    slots: set[int] = set()
    if isinstance(stmt, st.Turn):
        slots = set(range(len(program.attrs)))
    elif (slot := st.assigned(stmt)) is not None:
        slots = {slot}
    elif isinstance(stmt, st.Hold):
        slots = {program.slot_cached, program.slot_computed}
    if not slots:
        return leased
    return frozenset(
        replace(x, lost=True) if x.ref.index is not None and reads(x.ref.index) & slots else x for x in leased
    )


def arms(stmt: st.Branch) -> tuple[int, ...]:
    """The arms a branch may take: one when its guard is constant."""
    value = constant(stmt.guard)
    return (stmt.then, stmt.other) if value is None else (stmt.then if value else stmt.other,)


def reached(program: pr.Program) -> list[int]:
    """The blocks of the session that no constant guard cuts off."""
    found: list[int] = []
    stack = [program.session]
    while stack:
        block = stack.pop()
        found.append(block)
        for stmt in program.blocks[block]:
            stack.extend(arms(stmt) if isinstance(stmt, st.Branch) else st.bodies(stmt))
    return sorted(found)


def _members(ref: ex.CRef) -> range:
    return range(ref.base, ref.base + ref.count)


def _cycle(arrows: Arrows) -> list[int] | None:
    """The pools around a shortest cycle, or None."""
    best: list[int] | None = None
    for start in sorted(arrows):
        found = _around(arrows, start)
        if found is not None and (best is None or len(found) < len(best)):
            best = found
    return best


def _around(arrows: Arrows, start: int) -> list[int] | None:
    ways = [[start]]
    seen: set[int] = set()
    while ways:
        way = ways.pop(0)
        for after in sorted(arrows.get(way[-1], {})):
            if after == start:
                return way
            if after not in seen:
                seen.add(after)
                ways.append([*way, after])
    return None


RULE = Rule(
    code="SQ867",
    name="hold-and-wait",
    severity=Severity.WARNING,
    check=check,
    bad="""fn main() {
  pool a { cap 1; }
  pool b { cap 1; }
  stage desk : delay;
  workload { arrive batch(2); turn { Size kind = serial; } }
  server {
    branch (kind == 0) {
      hold a (cost(a, 1)) { run desk (cost(desk, 1)); hold b (cost(b, 1)) { run desk (cost(desk, 1)); } }
    } else {
      hold b (cost(b, 1)) { run desk (cost(desk, 1)); hold a (cost(a, 1)) { run desk (cost(desk, 1)); } }
    }
  }
}
""",
    good="""fn main() {
  pool a { cap 1; }
  pool b { cap 1; }
  stage desk : delay;
  workload { arrive batch(2); turn { Size kind = serial; } }
  server {
    branch (kind == 0) {
      hold a (cost(a, 1)) { run desk (cost(desk, 1)); hold b (cost(b, 1)) { run desk (cost(desk, 1)); } }
    } else {
      hold a (cost(a, 1)), b (cost(b, 1)) { run desk (cost(desk, 1)); }
    }
  }
}
""",
)
