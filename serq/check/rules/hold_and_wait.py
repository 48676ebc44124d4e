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
    Leases with a finite duration and pools held only by one session at a time draw no arrow.
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
    arrows = Arrows_of(model.program).arrows
    if not arrows:
        return
    first = min(path for found in arrows.values() for path in found.values())
    cycle = None if alone(model.program) and not _forks(model.program) else _cycle(arrows)
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


def _forks(program: pr.Program) -> bool:
    return any(isinstance(s, st.Fork) for block in program.blocks for s in block)


class Arrows_of:
    """The arrows of a program, each with a statement that draws it."""

    def __init__(self, program: pr.Program) -> None:
        self.program = program
        self.arrows: Arrows = {}
        self._waits = self._queues()
        self._leased: set[int] = set()
        # Twice, so that a lease taken late in a loop is seen by the holds before it.
        for _ in range(2):
            self._block(program.session, frozenset())

    def _queues(self) -> dict[int, set[int]]:
        """For each pool, the pools that heads of its queue may wait for."""
        waits: dict[int, set[int]] = {}
        for block in self.program.blocks:
            for stmt in block:
                if isinstance(stmt, st.Hold):
                    wanted = {p for part in stmt.pools for p in self._finite(part.pool)}
                    for p in _members(stmt.pools[0].pool):
                        waits.setdefault(p, set()).update(wanted)
        return waits

    def _finite(self, ref: ex.CRef) -> set[int]:
        return {p for p in _members(ref) if self.program.pools[p].cap < float("inf")}

    def _block(self, block: int, holding: frozenset[int]) -> None:
        for position, stmt in enumerate(self.program.blocks[block]):
            path = ("blocks", block, position)
            match stmt:
                case st.Hold():
                    wanted = {w for p in _members(stmt.pools[0].pool) for w in self._waits.get(p, ())}
                    self._draw(holding | self._leased, wanted, path, frozenset())
                    inside = {p for part in stmt.pools for p in self._finite(part.pool)}
                    self._block(stmt.body, holding | inside)
                    if stmt.lease is not None and constant(stmt.lease.duration) in (None, float("inf")):
                        self._leased |= self._finite(stmt.lease.pool)
                case st.Grow(pool=ref) | st.Run(growing=ex.CRef() as ref):
                    own = frozenset(_members(ref))
                    self._draw(holding | self._leased, self._finite(ref), path, own)
                case st.Release(pool=ref) if ref.count == 1:
                    self._leased -= self._finite(ref)
                case _:
                    pass
            if not isinstance(stmt, st.Hold):
                for body in st.bodies(stmt):
                    self._block(body, frozenset() if isinstance(stmt, st.Fork) else holding)

    def _draw(self, held: frozenset[int] | set[int], wanted: set[int], path: IrPath, own: frozenset[int]) -> None:
        for a in held:
            for b in wanted:
                if not (a == b and a in own):
                    self.arrows.setdefault(a, {}).setdefault(b, path)


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
