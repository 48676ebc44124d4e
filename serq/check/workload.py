"""What sessions bring: presets of explicit sessions, rows of a trace, and ranges given from outside."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from serq.check.flags import Flag, as_z3
from serq.check.places import State
from serq.check.solver import TRUE
from serq.check.terms import Term, Values, constant, equal, ite
from serq.check.variables import Variables
from serq.ir import program as pr
from serq.ir.corpus import Corpus
from serq.ir.validate.names import Names

# So many sessions or rows are told apart; of more, only the extremes are.
_MOST = 32
Row = dict[int, float]


@dataclass(frozen=True)
class Case:
    """A session: what is preset, and its turns (None when only the turn block makes them)."""

    preset: Row
    turns: tuple[Row, ...] | None


@dataclass(eq=False)
class Workload:
    """The sessions a program may see; `ranges` put any value of a range in place of presets."""

    program: pr.Program
    names: Names
    variables: Variables
    enclosing: bool
    corpus: Corpus | None = None
    ranges: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    unread: bool = False
    _cases: tuple[Case, ...] = ()
    _pick: Term | None = None

    def __post_init__(self) -> None:
        cases = _cases_of(self.program, self.corpus)
        if not self.enclosing:
            cases = _extremes(cases)
        self._cases = tuple(cases)

    @property
    def turn_slots(self) -> set[int]:
        """The slots a turn may assign besides what the turn block does."""
        p = self.program
        slots = {s for case in self._cases for row in case.turns or () for s in row}
        if self.program.trace is not None or any(c.turns is not None for c in self._cases):
            slots |= {p.slot_more}
        if self.unread:
            slots |= {p.slot_new, p.slot_out, p.slot_think, p.slot_forced, p.slot_more}
        return slots

    def serial(self) -> Term:
        """The serial number of a session."""
        match self.program.arrival:
            case pr.Batch(size=n):
                most = n - 1.0
            case pr.Sessions(sessions=sessions):
                most = max(0.0, len(sessions) - 1.0)
            case _:
                most = math.inf if self.enclosing else 9.0
        exact = not self.enclosing and not isinstance(self.program.arrival, pr.Sessions)
        ordered = self.program.trace is not None and self.program.trace_ordered
        return self.variables.term("serial", 0.0, most, exact=exact and not ordered, whole=True, assumed=True)

    # Presets

    def preset(self, state: State) -> State:
        """The state of a new session after `init`."""
        cases = self._cases
        slots = sorted({s for case in cases for s in case.preset} | set(self.ranges))
        if not self.enclosing and len(cases) > 1:
            self._pick = self._index(f"the session (of {len(cases)})", len(cases), exact=True)
        for slot in slots:
            term = self._preset(slot, state.attrs[slot])
            everywhere = all(slot in case.preset for case in cases) or slot in self.ranges
            assigned = {**state.assigned, slot: TRUE} if everywhere or self.enclosing else state.assigned
            state = replace(state, attrs={**state.attrs, slot: term}, assigned=assigned)
        return state

    def _preset(self, slot: int, before: Term) -> Term:
        if slot in self.ranges:
            low, high = self.ranges[slot]
            whole = low == math.floor(low) and high == math.floor(high)
            return self.variables.term(self.names.attr(slot), low, high, exact=True, whole=whole, asked=True)
        values = [case.preset.get(slot) for case in self._cases]
        terms = [before if v is None else constant(v) for v in values]
        if self._pick is not None:
            return _chain(self._pick, terms)
        return self._any(self.names.attr(slot), values, before)

    def _any(self, what: str, values: Sequence[float | None], before: Term | None) -> Term:
        """One of several values, told apart while they are few, else held between the extremes."""
        distinct = sorted({v for v in values if v is not None and v == v})
        if any(v is not None and v != v for v in values):
            distinct.append(math.nan)
        terms = [constant(v) for v in distinct]
        if before is not None and any(v is None for v in values):
            terms.append(before)
        if len(terms) == 1:
            return terms[0]
        if len(terms) <= _MOST or not all(math.isfinite(v) for v in distinct):
            return _chain(self._index(f"which {what}", len(terms), exact=False), terms)
        whole = all(v == math.floor(v) for v in distinct)
        term = self.variables.term(what, distinct[0], distinct[-1], exact=False, whole=whole)
        if before is not None and any(v is None for v in values):
            return _chain(self._index(f"which {what}", 2, exact=False), [term, before])
        return term

    def _index(self, what: str, count: int, *, exact: bool) -> Term:
        return self.variables.term(what, 0.0, count - 1.0, exact=exact, whole=True)

    # Turns

    def next_turn(self, state: State) -> State:
        """The state after the next turn's values are loaded, before the turn block."""
        if self.unread:
            return self._unknown_turn(state)
        if all(case.turns is None for case in self._cases):
            return state
        return self._any_turn(state) if self.enclosing else self._own_turn(state)

    def _unknown_turn(self, state: State) -> State:
        """A trace that could not be read: any values."""
        attrs = dict(state.attrs)
        p = self.program
        for slot in (p.slot_new, p.slot_out, p.slot_think, p.slot_forced):
            term = self.variables.term(self.names.attr(slot), -math.inf, math.inf, exact=False, assumed=True)
            attrs[slot] = self.variables.flagged(self.names.attr(slot), term)
        attrs[p.slot_more] = self.variables.term("more", 0.0, 1.0, exact=False, whole=True)
        return replace(state, attrs=attrs)

    def _own_turn(self, state: State) -> State:
        """The turn of the session picked, in its order."""
        at = state.turns
        attrs = dict(state.attrs)
        for slot in sorted(self.turn_slots):
            terms = [
                _loaded(case, at, slot, self.program.slot_more, state.attrs[slot]) for case in self._cases
            ]
            attrs[slot] = terms[0] if self._pick is None else _chain(self._pick, terms)
        return replace(state, attrs=attrs)

    def _any_turn(self, state: State) -> State:
        """Any row, or none."""
        more = self.program.slot_more
        rows = [row for case in self._cases for row in case.turns or ()]
        attrs = dict(state.attrs)
        past: Flag = as_z3(self.variables.rounding.fresh_flag("past"))
        for slot in sorted(self.turn_slots - {more}):
            term = self._any(self.names.attr(slot), [row.get(slot) for row in rows], state.attrs[slot])
            attrs[slot] = ite(past, lambda v: False, state.attrs[slot], term)
        attrs[more] = self.variables.term("more", 0.0, 1.0, exact=False, whole=True)
        return replace(state, attrs=attrs)


def _loaded(case: Case, at: int, slot: int, more: int, before: Term) -> Term:
    if case.turns is None:
        return before
    if slot == more:
        return constant(1.0 if at + 1 < len(case.turns) else 0.0)
    if at >= len(case.turns):
        return before
    value = case.turns[at].get(slot)
    return before if value is None else constant(value)


def _chain(pick: Term, terms: Sequence[Term]) -> Term:
    """The term at a position."""
    result = terms[-1]
    for i in range(len(terms) - 2, -1, -1):
        at = constant(float(i))
        result = ite(equal(pick, at), _reads(pick, i), terms[i], result)
    return result


def _reads(pick: Term, i: int) -> Callable[[Values], bool]:
    return lambda v: v.of(pick) == float(i)


def _cases_of(program: pr.Program, corpus: Corpus | None) -> list[Case]:
    replayed: list[tuple[Row, ...] | None] = [None]
    if corpus is not None:
        replayed = [tuple(_row(program, t) for t in turns) for turns in corpus.sessions]
    if not isinstance(program.arrival, pr.Sessions):
        return [Case({}, turns) for turns in replayed]
    cases = []
    for i, session in enumerate(program.arrival.sessions):
        own = session.turns
        turns = replayed[i % len(replayed)] if own is None else tuple(dict(t) for t in own)
        cases.append(Case(dict(session.attrs), turns))
    return cases


def _row(program: pr.Program, turn: object) -> Row:
    names = {
        program.slot_new: "new",
        program.slot_out: "out",
        program.slot_think: "think",
        program.slot_forced: "forced",
    }
    return {slot: float(getattr(turn, name)) for slot, name in names.items()}


def _extremes(cases: list[Case]) -> list[Case]:
    """A few cases: those with the least and the greatest value of each slot, then the first ones."""
    if len(cases) <= _MOST:
        return cases
    chosen: dict[int, None] = {}
    rows = [{**(case.turns[0] if case.turns else {}), **case.preset} for case in cases]
    for slot in sorted({s for row in rows for s in row}):
        having = [i for i, row in enumerate(rows) if slot in row]
        chosen[min(having, key=lambda i: rows[i][slot])] = None
        chosen[max(having, key=lambda i: rows[i][slot])] = None
    for i in range(len(cases)):
        if len(chosen) >= _MOST:
            break
        chosen[i] = None
    return [cases[i] for i in sorted(chosen)]
