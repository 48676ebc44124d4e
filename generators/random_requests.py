"""Random programs that serve requests: one body with switches, in which preemption is frequent (generators.md §10).

A case is a small record of numbers and switches, so that it can be shrunk; `program_of_requests` makes
the program. Every request fits alone, amounts are never negative, loops pass a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Literal

from serq.generators.random_bodies import Cost
from serq.generators.random_programs import ENGINE, HORIZON, WAIT, iteration_cost, serving_only
from serq.generators.random_terms import quantity
from serq.ir.build import (
    DELAY,
    LIFO,
    Body,
    Builder,
    Draft,
    PoolRef,
    assign,
    branch,
    hold,
    observe,
    run,
    turn,
    while_,
)
from serq.ir.edit import with_sessions
from serq.ir.program import Admit, Program, Serve
from serq.ir.quantity import NOW, Quantity, Value, call, context, greatest, least, when

Aux = Literal["none", "outside", "inside"]


@dataclass(frozen=True)
class Request:
    """One turn: tokens, what it waits before, what its decodes pause for, its rank in a keyed queue."""

    prompt: int
    out: int
    think: int = 0
    pause: int = 0
    rank: int = 0


@dataclass(frozen=True)
class Case:
    """A random program: sizes, switches, and the turns of each session."""

    sessions: tuple[tuple[Request, ...], ...]
    budget: int
    block: int
    spare: int
    slots: int
    chunk: int = 0
    lifted: bool = False
    cost: Cost = (1, 0, 0, 0, 0, 0)
    caching: bool = False
    bounded: bool = False
    by_position: bool = False
    reserve: bool = False
    aux: Aux = "none"
    keyed: bool = False
    only: bool = False
    detour: int = 0

    @property
    def capacity(self) -> int:
        """Memory units: the largest request alone, and `spare` blocks."""
        most = max(r.prompt + r.out for s in self.sessions for r in s)
        return (-(-most // self.block) + self.spare) * self.block


def random_requests(d: random.Random) -> Case:
    """A random case."""
    sessions = tuple(_turns(d) for _ in range(d.choice((2, 2, 3))))
    caching = d.random() < 0.5
    return Case(
        sessions=sessions,
        budget=d.choice((2, 4, 6, 8, 12)),
        block=d.choice((1, 2, 2, 4, 4)),
        spare=d.choice((0, 0, 0, 1, 1, 2, 4)),
        slots=d.randint(1, 4),
        chunk=d.choice((0, 0, 2, 3, 5)),
        lifted=d.random() < 0.5,
        cost=random_cost(d),
        caching=caching,
        bounded=caching and d.random() < 0.6,
        by_position=d.random() < 0.3,
        reserve=d.random() < 0.4,
        aux=d.choice(("none", "outside", "inside")),
        keyed=d.random() < 0.5,
        only=d.random() < 0.15,
        detour=d.choice((0, 0, 0, 1, 2)),
    )


def _turns(d: random.Random) -> tuple[Request, ...]:
    count = d.choice((1, 1, 2))
    found: list[Request] = []
    length = 0
    for _ in range(count):
        length += d.randint(1, 7)
        out = d.randint(1, 6)
        pause = d.choice((0, 0, 0, 1, 3))
        found.append(Request(length, out, d.randint(0, 5), pause, d.randint(0, 3)))
        length += out
    return tuple(found)


def random_cost(d: random.Random) -> Cost:
    """What an iteration takes: `random_programs.iteration_cost`."""
    if d.random() < 0.5:
        return (1, 0, 0, 0, 0, 0)
    return (
        d.randint(1, 4),
        d.randint(0, 2),
        d.randint(0, 2),
        d.randint(0, 2),
        d.randint(0, 2),
        d.randint(0, 1),
    )


class _Writer:
    """Writes a case as a program."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.b = Builder()
        names = ("prompt", "answer", "wait", "pause", "rank")
        self.prompt, self.answer, self.wait, self.pause, self.rank = (self.b.attr(n) for n in names)
        self.b.size(self.prompt, self.answer, self.wait, self.pause, self.rank)
        self.kept, self.step = self.b.attr("kept"), self.b.attr("step")
        self.reqs, self.kv = PoolRef(0), PoolRef(1)
        self.aux = PoolRef(2) if case.aux != "none" else None

    def program(self) -> Program:
        """The whole program."""
        self._declare()
        self.b.server(self._server())
        self.b.session([turn(), while_(self.b.attr("more"), [turn()])])
        program = self.b.build(horizon=HORIZON)
        turns = [[self._values(r) for r in s] for s in self.case.sessions]
        return with_sessions(program, [{}] * len(turns), turns)

    def _values(self, r: Request) -> dict[str, float]:
        return {"prompt": r.prompt, "answer": r.out, "wait": r.think, "pause": r.pause, "rank": r.rank}

    def _declare(self) -> None:
        c, b = self.case, self.b
        b.engine(
            "engine",
            budget=c.budget,
            cost=iteration_cost(c.cost),
            chunk=self._chunk(),
            memory=self.kv,
            iteration=self._body() if c.only else None,
        )
        b.stage("wait", DELAY)
        # The key goes to one queue: that of the auxiliary pool where there is one.
        key: list[Value] = [self.rank] if c.keyed else []
        b.pool("reqs", cap=c.slots, admit_via=ENGINE, queue=key if self.aux is None and key else None)
        b.pool("kv", cap=c.capacity, block=c.block, preempt=LIFO)
        if self.aux is not None:
            b.pool("aux", cap=max(1, c.slots - 1), queue=key or None)

    def _chunk(self) -> Value:
        c = self.case
        if not c.chunk or not c.lifted:
            return c.chunk
        return when(context("Nres") + self.reqs.query("Queued") > 1, c.chunk, 0)

    def _body(self) -> list[Serve | Admit]:
        # Decodes always, and prefills unless there are several decodes.
        return serving_only(context("Decoding").or_(context("Ndec") <= 1))

    def _server(self) -> list[Draft]:
        inner: Body = [self._request()]
        if self.case.aux == "outside" and self.aux is not None:
            inner = [hold([(self.aux, 1)], inner), observe("free", NOW)]
        return [
            observe("turn", self.b.attr("turn_no") * 100 + self.b.attr("serial")),
            run(WAIT, self.wait),
            assign(self.kept, self.prompt),
            *inner,
            observe("done", NOW),
            observe("computed", self.b.attr("computed")),
            *self._detour(),
        ]

    def _detour(self) -> list[Draft]:
        """A bounded loop of delays, and a branch."""
        n = self.case.detour
        if not n:
            return []
        go = while_(self.step < n, [assign(self.step, self.step + 1), run(WAIT, self.step)])
        odd = branch(self.answer > self.prompt, [observe("longer", self.answer)], [run(WAIT, 1)])
        return [assign(self.step, 0), go, odd]

    def _request(self) -> Draft:
        c, kept = self.case, self.kept
        known = greatest(kept, self.b.attr("computed") + 1)
        full = call("Floor", greatest(known - 1, 0) / c.block) * c.block
        reused: Value = least(self.kv.query("CachedIn"), full) if c.caching else 0
        offered = ENGINE.query("BudgetLeft")
        chunk: Value = least(c.chunk, offered) if c.chunk else offered
        units = least(known, reused + quantity(chunk))
        reserve = known if c.reserve else None
        reuse: Value | None = None
        cache: Value | None = None
        if c.caching:
            wanted = self.b.attr("computed") + self.prompt if c.by_position else self.prompt + self.answer - 1
            reuse, cache = least(reused, c.block) if c.bounded else reused, wanted
        return hold(
            [(self.reqs, 1), (self.kv, units, reserve)], self._inside(known), reuse=reuse, cache=cache
        )

    def _inside(self, known: Quantity) -> list[Draft]:
        cached = self.b.attr("cached")
        decode = run(ENGINE, self.answer - 1 - (self.kept - self.prompt), mode="Decode", growing=self.kv)
        last: Body = [decode]
        if self.case.aux == "inside" and self.aux is not None:
            last = [hold([(self.aux, 1)], [decode, observe("free", NOW)])]
        return [
            assign(self.kept, known),
            observe("hit", cached),
            run(ENGINE, self.kept - cached, mode="Prefill", growing=self.kv),
            observe("first", NOW),
            run(WAIT, self.pause),
            *last,
        ]


def program_of_requests(case: Case) -> Program:
    """The program of a case."""
    return _Writer(case).program()


def smaller_requests(case: Case) -> Iterator[Case]:
    """Simpler cases, the boldest first: fewer sessions, fewer turns, no switch, smaller numbers."""
    yield from _fewer(case)
    plain = Case(case.sessions, case.budget, case.block, case.spare, case.slots)
    halved = replace(case, sessions=tuple(tuple(_halved(r) for r in s) for s in case.sessions))
    yield from (bold for bold in (replace(plain, sessions=halved.sessions), plain, halved) if bold != case)
    for f in fields(Case)[5:]:
        if getattr(case, f.name) != getattr(plain, f.name):
            yield replace(case, **{f.name: getattr(plain, f.name)})
    for name in ("budget", "block", "spare", "slots", "chunk"):
        value = getattr(case, name)
        low = 0 if name in ("spare", "chunk") else 1
        if value > low:
            yield replace(case, **{name: max(low, value // 2)})
    yield from _shorter(case)


def _halved(r: Request) -> Request:
    prompt, out = max(1, r.prompt // 2), max(1, r.out // 2)
    return Request(prompt, out, r.think // 2, r.pause // 2, r.rank // 2)


def _fewer(case: Case) -> Iterator[Case]:
    for i in range(len(case.sessions)):
        if len(case.sessions) > 1:
            yield replace(case, sessions=case.sessions[:i] + case.sessions[i + 1 :])
    for i, turns in enumerate(case.sessions):
        if len(turns) > 1:
            yield _with(case, i, turns[:-1])


def _shorter(case: Case) -> Iterator[Case]:
    for i, turns in enumerate(case.sessions):
        for k, r in enumerate(turns):
            for name in ("prompt", "out", "think", "pause", "rank"):
                value = getattr(r, name)
                low = 1 if name in ("prompt", "out") else 0
                if value > low:
                    made = replace(r, **{name: max(low, value // 2)})
                    yield _with(case, i, (*turns[:k], made, *turns[k + 1 :]))


def _with(case: Case, i: int, turns: tuple[Request, ...]) -> Case:
    return replace(case, sessions=(*case.sessions[:i], turns, *case.sessions[i + 1 :]))
