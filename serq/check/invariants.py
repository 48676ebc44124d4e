"""Bounds of what a loop changes: guessed from the entry, kept when one more pass keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from serq.check.flags import land
from serq.check.places import State
from serq.check.solver import Fact, Oracle
from serq.check.terms import INF, Term, constant, less
from serq.diagnostics import IrPath
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir.symbolic import sampled
from serq.ir.traverse import expressions_of

if TYPE_CHECKING:
    from serq.check.walk import Walk

_ROUNDS = 12


@dataclass(frozen=True)
class Guess:
    """What is taken to hold of a slot at the head of every pass."""

    low: float
    high: float
    whole: bool
    ordinary: bool


def inductive(
    walk: Walk, path: IrPath, entry: State, slots: Sequence[int], body: Callable[[State], list[State]]
) -> State:
    """The head state with slots as variables under bounds that the entry meets and every pass keeps.

    Infinite bounds that remain are noted as assumptions of moderate size. A loop met again,
    inside an outer one, starts from what held of it before.
    """
    ladder = walk.ladder
    guesses = {slot: _first(entry.attrs[slot]) for slot in slots}
    if path in walk.found:
        guesses = {slot: _joined(guess, walk.found[path][slot]) for slot, guess in guesses.items()}
    oracle = walk.prober
    for turn in range(_ROUNDS):
        head = _head(walk, entry, guesses)
        weaker: dict[int, Guess] = {}
        for end in body(head):
            for slot, guess in guesses.items():
                now = weaker.get(slot, guess)
                weaker[slot] = _kept(oracle, end, end.attrs[slot], now, ladder, last=turn > _ROUNDS - 5)
        if all(weaker.get(slot, guess) == guess for slot, guess in guesses.items()):
            walk.found[path] = guesses
            return head
        guesses.update(weaker)
    loose = {slot: Guess(-INF, INF, False, False) for slot in slots}
    return _head(walk, entry, loose)


def _joined(a: Guess, b: Guess) -> Guess:
    return Guess(min(a.low, b.low), max(a.high, b.high), a.whole and b.whole, a.ordinary and b.ordinary)


def _first(t: Term) -> Guess:
    return Guess(t.low, t.high, t.whole, t.ordinary)


def _head(walk: Walk, entry: State, guesses: dict[int, Guess]) -> State:
    attrs = dict(entry.attrs)
    for slot, g in guesses.items():
        if g.ordinary and g.low == g.high:
            attrs[slot] = constant(g.low)
            continue
        what = f"{walk.names.attr(slot)} in a later pass"
        term = walk.variables.term(what, g.low, g.high, exact=False, whole=g.whole, assumed=True)
        attrs[slot] = term if g.ordinary else walk.variables.flagged(what, term)
    return replace(entry, attrs=attrs)


def _kept(oracle: Oracle, end: State, after: Term, g: Guess, ladder: list[float], *, last: bool) -> Guess:
    """The guess, weakened where a pass may break it."""
    if end.live.flag is False:
        return g
    if g.ordinary and not after.ordinary and not _holds(oracle, end, Fact(after.finite, lambda v: True)):
        g = replace(g, ordinary=False)
    if g.whole and not after.whole:
        g = replace(g, whole=False)
    if g.low != -INF and not after.low >= g.low:
        g = replace(g, low=_lower(oracle, end, after, g.low, [-INF] if last else [g.low, 1.0, 0.0, -INF]))
    if g.high != INF and not after.high <= g.high:
        steps = [x for x in ladder if x > g.high][:3]
        g = replace(g, high=_upper(oracle, end, after, g.high, [INF] if last else [g.high, *steps, INF]))
    return g


def _lower(oracle: Oracle, end: State, after: Term, now: float, ladder: Sequence[float]) -> float:
    for bound in ladder:
        if bound > now:
            continue
        if bound == -INF or after.low >= bound or _holds(oracle, end, _at_least(after, bound)):
            return bound
    return -INF


def _upper(oracle: Oracle, end: State, after: Term, now: float, ladder: Sequence[float]) -> float:
    for bound in ladder:
        if bound == INF or after.high <= bound or _holds(oracle, end, _at_most(after, bound)):
            return bound
    return INF


def _at_least(t: Term, bound: float) -> Fact:
    return Fact(
        less(constant(bound), replace(t, nan=False, pos=False, neg=False), or_equal=True), lambda v: True
    )


def _at_most(t: Term, bound: float) -> Fact:
    return Fact(
        less(replace(t, nan=False, pos=False, neg=False), constant(bound), or_equal=True), lambda v: True
    )


def _holds(oracle: Oracle, end: State, fact: Fact) -> bool:
    from serq.check.solver import negation

    wrong = negation(fact)
    return oracle.never(Fact(land(end.live.flag, wrong.flag), lambda v: True))


def constants_of(program: pr.Program) -> list[float]:
    """The numbers written in a program, as bounds worth trying."""
    numbers = {
        sampled(x.value)
        for _, _, e in expressions_of(program)
        for x in ex.walk(e)
        if isinstance(x, ex.Num) and abs(sampled(x.value)) < INF
    }
    caps = {sampled(p.cap) for p in program.pools if sampled(p.cap) < INF}
    return sorted(numbers | {n + 1 for n in numbers} | caps)
