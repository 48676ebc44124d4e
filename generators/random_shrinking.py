"""Simpler cases of a random body: fewer sessions and turns, fewer statements, plainer clauses, smaller numbers.

A compound statement gives way to what is inside it. Every candidate is simpler in itself, so that
shrinking ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

from serq.generators.random_bodies import (
    Block,
    BodyCase,
    Compute,
    If,
    Let,
    Part,
    Repeat,
    See,
    Step,
    Take,
    Turn,
    Wait,
)
from serq.generators.random_terms import Term, number, simpler_amounts, simpler_tests


def smaller_bodies(case: BodyCase) -> Iterator[BodyCase]:
    """Simpler cases, the boldest first."""
    yield from _fewer(case)
    yield from (replace(case, body=body) for body in _fewer_steps(case.body))
    yield from _plainer(case)
    yield from (replace(case, body=body) for body in _simpler_steps(case.body))
    yield from _less(case)


# Sessions and settings


def _fewer(case: BodyCase) -> Iterator[BodyCase]:
    s = case.sessions
    if len(s) > 1:
        yield from (replace(case, sessions=s[:i] + s[i + 1 :]) for i in range(len(s)))
    for i, turns in enumerate(s):
        if len(turns) > 1:
            yield _with(case, i, turns[:-1])


def _plainer(case: BodyCase) -> Iterator[BodyCase]:
    """Without a pool, with a setting as it is if nothing is said."""
    for pool in case.pools:
        yield replace(case, pools=tuple(p for p in case.pools if p != pool))
    plain = BodyCase(case.sessions, case.body)
    for name in ("lifted", "cost", "keyed", "only", "preset", "twice", "chunk"):
        if getattr(case, name) != getattr(plain, name):
            yield replace(case, **{name: getattr(plain, name)})
    if case.only is not None:
        yield from (replace(case, only=t) for t in simpler_tests(case.only))
    yield from (replace(case, key=t) for t in simpler_amounts(case.key))
    for name in ("budget", "block", "blocks", "slots", "plain", "chunk"):
        value, low = getattr(case, name), 0 if name == "chunk" else 1
        if value > low:
            yield from (replace(case, **{name: n}) for n in {max(low, value // 2), value - 1})


def _less(case: BodyCase) -> Iterator[BodyCase]:
    for i, turns in enumerate(case.sessions):
        for k, t in enumerate(turns):
            for f in fields(Turn):
                if value := getattr(t, f.name):
                    less = replace(t, **{f.name: value // 2})
                    yield _with(case, i, (*turns[:k], less, *turns[k + 1 :]))


def _with(case: BodyCase, i: int, turns: tuple[Turn, ...]) -> BodyCase:
    return replace(case, sessions=(*case.sessions[:i], turns, *case.sessions[i + 1 :]))


# Bodies


def _fewer_steps(block: Block) -> Iterator[Block]:
    """Without some statement, or with what is inside one in its place."""
    if len(block) > 2:
        yield from (block[: len(block) // 2], block[len(block) // 2 :])
    for i, step in enumerate(block):
        yield _put(block, i, ())
        yield from (_put(block, i, inner) for inner in _bodies(step))
    for i, step in enumerate(block):
        yield from (_put(block, i, (less,)) for less in _inside(step))


def _put(block: Block, i: int, steps: Block) -> Block:
    return (*block[:i], *steps, *block[i + 1 :])


def _bodies(step: Step) -> Iterator[Block]:
    match step:
        case Take(body=body) | Repeat(body=body):
            yield body
        case If(then=then, other=other):
            yield then
            yield other


def _inside(step: Step) -> Iterator[Step]:
    match step:
        case Take(body=body) | Repeat(body=body):
            yield from (replace(step, body=b) for b in _fewer_steps(body))
        case If(then=then, other=other):
            yield from (replace(step, then=b) for b in _fewer_steps(then))
            yield from (replace(step, other=b) for b in _fewer_steps(other))


def _simpler_steps(block: Block) -> Iterator[Block]:
    for i, step in enumerate(block):
        yield from (_put(block, i, (less,)) for less in _simpler(step))


def _simpler(step: Step) -> Iterator[Step]:
    """With plainer clauses and terms, here and inside."""
    match step:
        case See(value=value) | Let(value=value):
            yield from (replace(step, value=t) for t in simpler_amounts(value))
        case Wait(work=work):
            yield from (replace(step, work=t) for t in simpler_amounts(work))
        case Compute(work=work):
            if step.decode:
                yield replace(step, decode=False)
            if step.grows:
                yield replace(step, grows=False)
            yield from (replace(step, work=t) for t in simpler_amounts(work))
        case If(test=test, then=then, other=other):
            yield from (replace(step, test=t) for t in simpler_tests(test))
            yield from (replace(step, then=b) for b in _simpler_steps(then))
            yield from (replace(step, other=b) for b in _simpler_steps(other))
        case Repeat(times=times, body=body):
            if step.ending:
                yield replace(step, ending=False)
            yield from (replace(step, times=t) for t in simpler_amounts(times))
            yield from (replace(step, body=b) for b in _simpler_steps(body))
        case Take():
            yield from _simpler_hold(step)


def _simpler_hold(step: Take) -> Iterator[Take]:
    yield from (replace(step, reuse=t) for t in _simpler_clauses(step.reuse))
    yield from (replace(step, cache=t) for t in _simpler_clauses(step.cache))
    for i, part in enumerate(step.parts):
        before, after = step.parts[:i], step.parts[i + 1 :]
        if before or after:
            yield replace(step, parts=(*before, *after))
        yield from (replace(step, parts=(*before, less, *after)) for less in _simpler_parts(part))
    yield from (replace(step, body=b) for b in _simpler_steps(step.body))


def _simpler_parts(part: Part) -> Iterator[Part]:
    yield from (replace(part, reserve=t) for t in _simpler_clauses(part.reserve))
    if part.over:
        yield replace(part, over=False)
    if part.units != number(1):
        yield from (replace(part, units=t) for t in simpler_amounts(part.units))


def _simpler_clauses(clause: Term | None) -> Iterator[Term | None]:
    if clause is not None:
        yield None
        yield from simpler_amounts(clause)
