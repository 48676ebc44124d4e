"""A program under checks: its two walks, and the judgement of a place from both."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from serq.check.encoder import Encoder
from serq.check.places import Growth, Passing, Reading, State
from serq.check.solver import COMMON, Answer, Fact, Meter, Oracle, Safe, Verdict, both
from serq.check.states import at_most, is_value
from serq.check.terms import Term, constant
from serq.check.variables import Variables
from serq.check.walk import Walk
from serq.check.workload import Workload
from serq.diagnostics import IrPath, SerqError
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.corpus import Corpus, read_corpus
from serq.ir.symbolic import Log
from serq.ir.traverse import expressions_of
from serq.ir.validate.names import Names


def _plain(stmt: st.Stmt) -> bool:
    """A run whose work is time, not tokens."""
    return isinstance(stmt, st.Run) and stmt.mode == "Plain"


def _no_attribute(slot: int) -> Term:
    raise TypeError("a number is made of inputs alone")


def _edge(holds: Callable[[float], bool], low: float, high: float) -> float | None:
    """The least whole number from which on something holds, which it does from there to `high`; None for none."""
    if not holds(high):
        return None
    while low < high:
        middle = float((low + high) // 2)
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high


Spot = TypeVar("Spot", Reading, Growth, Passing)
Ranges = Mapping[str, tuple[float, float]]
# So many occurrences of one place are tried for a witness.
_TRIES = 4
# The share of a question's limit for one about a part of an input's range.
_EDGE = 0.2


@dataclass(eq=False)
class Model:
    """What rules look at. `ranges` let named attributes be any value of a range, whatever presets say."""

    program: pr.Program
    timeout: float
    ranges: Ranges = field(default_factory=dict)
    meter: Meter = field(default_factory=Meter)
    inputs: Ranges = field(default_factory=dict)
    log: Log = field(default_factory=Log)

    @cached_property
    def names(self) -> Names:
        """The program's words."""
        return Names(self.program)

    @cached_property
    def corpus(self) -> Corpus | None:
        """The program's trace where it can be read."""
        if self.program.trace is None:
            return None
        try:
            return read_corpus(Path(self.program.trace))
        except SerqError:
            return None

    @cached_property
    def enclosing(self) -> Walk:
        """The walk that covers every run.

        Positions and cached prefixes are whole as long as all amounts are: that is supposed
        at first, and kept when every amount then is whole.
        """
        if self._integral(self._walk(False, integral=True)):
            walk = self._walk(True, integral=True)
            if self._integral(walk):
                return walk
        return self._walk(True, integral=False)

    @cached_property
    def exact(self) -> Walk:
        """The walk of what can happen."""
        return self._walk(False, integral=self.enclosing.variables.integral)

    def _integral(self, walk: Walk) -> bool:
        """Whether all amounts, blocks, budgets and chunks are whole."""
        program = self.program
        roles = ("work", "units", "reserve", "growth", "load", "cache", "reuse")
        if not all(r.term.whole for r in walk.readings if r.role in roles and not _plain(r.stmt)):
            return False
        if any(x != math.floor(x) for p in program.pools for x in (p.cap, p.block or 1.0) if x < math.inf):
            return False
        steps = [s.kind for s in program.stages if isinstance(s.kind, pr.Step)]
        encoder = Encoder(program, self.names, walk.variables, lambda slot: constant(0.0))
        parts = [e for s in steps for e in (s.budget, s.chunk, s.granule) if e is not None]
        return all(encoder.encode(e).whole for e in parts)

    def _walk(self, enclosing: bool, *, integral: bool) -> Walk:
        program = self.program
        variables = Variables(integral)
        variables.log = self.log
        variables.encode = Encoder(program, self.names, variables, _no_attribute).encode
        for name, (low, high) in self.inputs.items():
            variables.open(name, low, high)
        unread = program.trace is not None and self.corpus is None
        slots = {program.attrs.index(name): bounds for name, bounds in self.ranges.items()}
        workload = Workload(program, self.names, variables, enclosing, self.corpus, slots, unread)
        oracle = Oracle(variables, self.timeout, self.meter)
        walk = Walk(program, self.names, variables, oracle, enclosing, workload)
        walk.run()
        return walk

    # Judging a place

    def judge(
        self,
        proofs: Iterable[tuple[State, Fact]],
        witnesses: Iterable[tuple[Spot, State, Fact]],
    ) -> tuple[Answer, Spot | None]:
        """Proved when nothing wrong is met in the enclosing walk; refuted by a witness of the exact one."""
        enclosed = [both(state.live, wrong) for state, wrong in proofs]
        spots = [(spot, both(s.live, wrong)) for spot, s, wrong in itertools.islice(witnesses, _TRIES)]
        answer, at = self._judged(enclosed, spots)
        if answer.verdict is Verdict.REFUTED and (self.inputs or self.ranges):
            wrong = next(wrong for spot, wrong in spots if spot is at)
            answer = self.exact.oracle.smallest(wrong, answer)
        if answer.verdict is not Verdict.PROVED and self.inputs:
            shown = [wrong for _, wrong in spots] if answer.verdict is Verdict.REFUTED else []
            answer = replace(answer, safe=tuple(self._safe(enclosed, shown)))
        return answer, at

    def _judged(self, enclosed: list[Fact], spots: list[tuple[Spot, Fact]]) -> tuple[Answer, Spot | None]:
        for spot, wrong in spots:
            quick = self.exact.oracle.sample(wrong)
            if quick is not None and quick.chance >= COMMON:
                return self.exact.oracle.ask(wrong, proof=False, known=quick), spot
        why = ""
        for wrong in enclosed:
            answer = self.enclosing.oracle.ask(wrong, witness=False)
            if answer.verdict is not Verdict.PROVED:
                why = answer.why
                break
        else:
            return Answer(Verdict.PROVED), None
        rare: tuple[Answer, Spot, Fact] | None = None
        for tried, (spot, wrong) in enumerate(spots):
            answer = self.exact.oracle.ask(wrong, proof=False)
            if answer.verdict is Verdict.REFUTED and answer.chance >= COMMON:
                return answer, spot
            if answer.verdict is Verdict.REFUTED and (rare is None or answer.chance > rare[0].chance):
                rare = answer, spot, wrong
            if answer.why and tried == 0:
                why = answer.why
            if tried and rare is None and answer.why.startswith("it depends"):
                break
        if rare is None:
            return Answer(Verdict.UNKNOWN, why=why), None
        return self.exact.oracle.likelier(rare[2], rare[0]), rare[1]

    def _safe(self, enclosed: list[Fact], shown: list[Fact]) -> Iterator[Safe]:
        """The ends of each open input's range in which nothing wrong is proved to be left."""
        for name, (low, high) in self.inputs.items():
            term = self.enclosing.variables.inputs[name]
            if not term.whole:
                continue

            def never(at_least: float, at_most_: float, term: Term = term) -> bool:
                inside = both(at_most(constant(at_least), term), at_most(term, constant(at_most_)))
                return all(self.enclosing.oracle.never(both(inside, wrong), _EDGE) for wrong in enclosed)

            least = _edge(lambda x: never(x, high), low, high)  # noqa: B023
            if least is not None:
                yield Safe(name, least, high, self._shown(name, least - 1, shown))
            most = _edge(lambda x: never(low, -x), -high, -low)  # noqa: B023
            if most is not None:
                yield Safe(name, low, -most, self._shown(name, -most + 1, shown))

    def _shown(self, name: str, value: float, shown: list[Fact]) -> bool:
        """Whether something wrong is shown for a value of an input."""
        walk = self.exact
        here = is_value(walk.variables.inputs[name], value)
        return any(
            walk.oracle.ask(both(here, wrong), proof=False).verdict is Verdict.REFUTED for wrong in shown
        )

    def judge_readings(
        self,
        path: IrPath,
        wrong: Callable[[Reading], Fact],
        wrong_again: Callable[[Reading], Fact] | None = None,
    ) -> tuple[Answer, Reading | None]:
        """The verdict about every reading of a path; `wrong_again` is what a witness shows, if it is less."""
        return self.judge(
            ((r.state, wrong(r)) for r in self.enclosing.readings if r.path == path),
            ((r, r.state, (wrong_again or wrong)(r)) for r in self.exact.readings if r.path == path),
        )

    def readings(self, *roles: str) -> Iterator[Reading]:
        """One reading of each path with these roles, in the program's order."""
        seen: set[IrPath] = set()
        for reading in self.enclosing.readings:
            if reading.role in roles and reading.path not in seen:
                seen.add(reading.path)
                yield reading

    # Expressions outside the session

    @cached_property
    def spans(self) -> dict[int, Term]:
        """For each slot, a term that encloses every value the session ever gives it."""
        walk = self.enclosing
        result = {}
        states = [r.state for r in walk.readings] + walk.ends
        for slot in range(len(self.program.attrs)):
            terms = [constant(0.0), *{id(t): t for s in states for t in (s.attrs[slot],)}.values()]
            low, high = min(t.low for t in terms), max(t.high for t in terms)
            name = self.names.attr(slot)
            whole = all(t.whole for t in terms)
            term = walk.variables.term(name, low, high, exact=False, whole=whole, assumed=True)
            result[slot] = term if all(t.ordinary for t in terms) else walk.variables.flagged(name, term)
        return result

    def any_moment(self, given: dict[str, Term] | None = None) -> Encoder:
        """An encoder of declarations' expressions: attributes as at any moment of any session."""
        return Encoder(
            self.program, self.names, self.enclosing.variables, self.spans.__getitem__, dict(given or {})
        )

    @cached_property
    def declared(self) -> tuple[tuple[IrPath, ex.Expr], ...]:
        """The expressions of pools, stages, gauges and claims with their paths."""
        return tuple((path, e) for path, _, e in expressions_of(self.program) if path[0] != "blocks")

    def statement(self, path: IrPath) -> st.Stmt:
        """The statement a path of a block leads to."""
        block, position = path[1], path[2]
        assert isinstance(block, int) and isinstance(position, int)
        return self.program.blocks[block][position]
