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
    A lease of a finite duration draws no arrow, nor does growth in a pool that preempts its growers.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.model import Model
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.rules.growth_deadlock import alone
from serq.check.solver import Answer, Verdict
from serq.diagnostics import IrPath, Severity
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.validate.constants import constant

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


Leases = frozenset[int]


class _Drawing:
    """Draws the arrows of a program, each with a statement that draws it."""

    def __init__(self, program: pr.Program) -> None:
        self.program = program
        self.arrows: Arrows = {}
        self._blocks = reached(program)
        self._waits = self._queues()
        self._leg_wants = self._wanted_by_legs()
        self._piling: set[int] = set()
        self._block(program.session, (), frozenset())

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

    def _wanted_by_legs(self) -> set[int]:
        """What any leg may wait for: a join waits for it too."""
        wanted: set[int] = set()
        stack = [s.body for b in self._blocks for s in self.program.blocks[b] if isinstance(s, st.Fork)]
        while stack:
            for stmt in self.program.blocks[stack.pop()]:
                if isinstance(stmt, st.Hold):
                    wanted |= self._queue_of(stmt)
                if isinstance(stmt, st.Grow):
                    wanted |= self._finite(stmt.pool)
                if isinstance(stmt, st.Run) and stmt.growing is not None:
                    wanted |= self._finite(stmt.growing)
                stack.extend(st.bodies(stmt))
        return wanted

    def _queue_of(self, stmt: st.Hold) -> set[int]:
        return {w for p in _members(stmt.pools[0].pool) for w in self._waits.get(p, ())}

    def _finite(self, ref: ex.CRef) -> set[int]:
        return {p for p in _members(ref) if self.program.pools[p].cap < float("inf")}

    def _block(self, block: int, holds: tuple[ex.CRef, ...], leased: Leases) -> Leases:
        for position, stmt in enumerate(self.program.blocks[block]):
            leased = self._statement(stmt, ("blocks", block, position), holds, leased)
        return leased

    def _statement(self, stmt: st.Stmt, path: IrPath, holds: tuple[ex.CRef, ...], leased: Leases) -> Leases:
        held = leased.union(*(self._finite(ref) for ref in holds))
        match stmt:
            case st.Hold():
                self._draw(held, self._queue_of(stmt), path)
                after = self._block(stmt.body, (*holds, *(p.pool for p in stmt.pools)), leased)
                return after | self._leases(stmt)
            case st.Grow(pool=ref):
                self._growth(ref, holds, leased, path)
            case st.Run(growing=ex.CRef() as ref):
                if any(self.program.pools[p].preempt is None for p in _members(ref)):
                    self._growth(ref, holds, leased, path)
            case st.Release(pool=ref):
                return self._released(ref, holds, leased)
            case st.Branch():
                return frozenset[int]().union(*(self._block(arm, holds, leased) for arm in arms(stmt)))
            case st.Loop(body=body) | st.While(body=body):
                return self._repeated(body, holds, leased)
            case st.Fork(body=body):
                return leased | self._block(body, (), frozenset())
            case st.Join():
                self._draw(held, self._leg_wants, path)
            case _:
                pass
        return leased

    def _leases(self, stmt: st.Hold) -> Leases:
        """What a hold leaves leased, unless for a finite time."""
        if stmt.lease is None or constant(stmt.lease.duration) not in (None, float("inf")):
            return frozenset()
        return frozenset(self._finite(stmt.lease.pool))

    def _repeated(self, body: int, holds: tuple[ex.CRef, ...], leased: Leases) -> Leases:
        """A loop: leases its passes leave pile up, and a release ends only one of them."""
        left = self._block(body, holds, leased) - leased
        self._piling |= left
        return leased | left | self._block(body, holds, leased | left)

    def _released(self, ref: ex.CRef, holds: tuple[ex.CRef, ...], leased: Leases) -> Leases:
        """A release ends a lease where no hold of the pool stands around it and no second lease may."""
        family = set(_members(ref))
        if ref.count > 1 or family & self._piling or any(family & set(_members(h)) for h in holds):
            return leased
        several = [
            s for b in self.program.blocks for s in b if isinstance(s, st.Hold) and s.lease is not None
        ]
        owners = [s for s in several if s.lease is not None and family & set(_members(s.lease.pool))]
        return leased - family if len(owners) == 1 else leased

    def _growth(self, ref: ex.CRef, holds: tuple[ex.CRef, ...], leased: Leases, path: IrPath) -> None:
        """Growth waits for its pool: arrows from what else is held."""
        own = set(_members(ref))
        others = [h for h in holds if not own & set(_members(h))]
        once = len(holds) - len(others) == 1
        held = leased.union(*(self._finite(h) for h in (others if once else holds)))
        wanted = self._finite(ref)
        for a in sorted(held):
            for b in sorted(wanted):
                self.arrows.setdefault(a, {}).setdefault(b, path)

    def _draw(self, held: Leases, wanted: set[int], path: IrPath) -> None:
        for a in sorted(held):
            for b in sorted(wanted):
                self.arrows.setdefault(a, {}).setdefault(b, path)


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
