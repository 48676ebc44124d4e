"""The program of a random body: valid and a member of the fragment, whatever the body is (generators.md §10).

Amounts are bounded by the pools' capacities, a growing run by the room its hold has alone; a hold leaves
out what there is no pool for or what is held already; loops count and pass a run; nothing follows an end.
Attributes of the program count what a growing run may still take (`room`) and the passes of loops.
A pool in which something may be cached has blocks of 1: without blocks a cached prefix is evicted as a whole
(interp.md §8.7), and such programs are no members. No `only` reads the admission number: that of a session
never admitted is so large (interp.md §2) that adding to it is not exact in the interpreter.
Observed are, besides what the body says: the work of runs, the arms of branches, the passes of loops,
ends, what a hold consumed, and after each turn the clock and every attribute.
"""

from __future__ import annotations

from collections.abc import Sequence

from serq.generators.random_bodies import (
    ATTRIBUTES,
    MEMORY,
    PLAIN,
    SCRATCH,
    SLOTS,
    Block,
    BodyCase,
    Compute,
    Cost,
    If,
    Let,
    Part,
    Repeat,
    See,
    Step,
    Stop,
    Take,
    Turn,
    Wait,
    cached_pools,
)
from serq.generators.random_terms import Term, quantity, written
from serq.ir.build import (
    DELAY,
    LIFO,
    Builder,
    Draft,
    PoolRef,
    StageRef,
    assign,
    branch,
    end,
    hold,
    loop,
    observe,
    run,
    turn,
    while_,
)
from serq.ir.edit import with_sessions
from serq.ir.program import Admit, Program, Serve
from serq.ir.quantity import NOW, Quantity, Value, context, least, lift, when

ENGINE, WAIT = StageRef(0), StageRef(1)
HORIZON = 4000
# The most of: a scratch attribute, the work of a delay, that of a run that grows nothing.
MOST_KEPT, MOST_WAIT, MOST_WORK = 12, 4, 5
_CONTEXT = {
    "now": "Now",
    "remaining": "Remaining",
    "residents": "Nres",
    "decoders": "Ndec",
    "decoding": "Decoding",
}
Held = frozenset[str]


def iteration_cost(cost: Cost) -> Quantity:
    """An iteration's time: a constant part, then so much a token, prefilled token, decode, unit of memory
    in decodes; at last whether the attention work counts."""
    total = quantity(cost[0])
    for name, factor in zip(("Ntok", "Npre", "Ndec", "Kvb"), cost[1:5], strict=True):
        total = total + factor * context(name)
    return total + 2 * cost[5] * context("Attn")


def serving_only(only: Quantity) -> list[Serve | Admit]:
    """An iteration that serves and admits only some residents, and admits nobody once it has preempted."""
    served = lift(only)
    return [Serve(only=served), Admit(only=served, gate=lift(context("Preempted").not_()))]


def program_of_body(case: BodyCase) -> Program:
    """The program of a case."""
    return _Writer(case).program()


class _Writer:
    """Writes a case as a program."""

    def __init__(self, case: BodyCase) -> None:
        self.case = case
        self.b = Builder()
        self.b.size(*(self.b.attr(n) for n in ("wait", *ATTRIBUTES)))
        self.room, self.work = self.b.attr("room"), self.b.attr("work")
        self.pools = {name: PoolRef(i) for i, name in enumerate(case.pools)}

    def program(self) -> Program:
        """The whole program."""
        self._declare()
        first = run(WAIT, self.b.attr("wait"))
        self.b.server([first, *self._block(self.case.body, frozenset(), 0, outermost=True), *self._state()])
        again = [turn()] if self.case.twice else [while_(self.b.attr("more"), [turn()])]
        self.b.session([turn(), *again])
        program = self.b.build(horizon=HORIZON)
        turns = [[self._values(t) for t in s] for s in self.case.sessions]
        alone = [self.case.preset and len(s) == 1 for s in turns]
        return with_sessions(
            program,
            [s[0] if own else {} for s, own in zip(turns, alone, strict=True)],
            [None if own else s for s, own in zip(turns, alone, strict=True)],
        )

    def _values(self, t: Turn) -> dict[str, float]:
        return {"wait": t.wait, "x": t.x, "y": t.y, "z": t.z}

    # What it runs on

    def _declare(self) -> None:
        c, b = self.case, self.b
        b.engine(
            "engine",
            budget=c.budget,
            cost=iteration_cost(c.cost),
            chunk=self._chunk(),
            memory=self.pools.get(MEMORY),
            iteration=None if c.only is None else serving_only(self._written(c.only)),
        )
        b.stage("wait", DELAY)
        for name in c.pools:
            self._pool(name)

    def _pool(self, name: str) -> None:
        c = self.case
        queue: list[Value] | None = [self._written(c.key)] if c.keyed == name != MEMORY else None
        if name == MEMORY:
            self.b.pool(name, cap=c.capacity(name), block=c.block, preempt=LIFO)
        else:
            via = ENGINE if name == SLOTS else None
            block = 1 if name in cached_pools(c.body) else None
            self.b.pool(name, cap=c.capacity(name), block=block, admit_via=via, queue=queue)

    def _chunk(self) -> Value:
        c = self.case
        if not c.chunk or not c.lifted:
            return c.chunk
        queued = sum((self.pools[p].query("Queued") for p in c.pools), quantity(0))
        return when(context("Nres") + queued > 1, c.chunk, 0)

    # Expressions

    def _written(self, term: Term) -> Quantity:
        return written(term, self._read)

    def _read(self, name: str) -> Quantity:
        if name in _CONTEXT:
            return context(_CONTEXT[name])
        if name == "left":
            return ENGINE.query("BudgetLeft")
        if name.startswith("cached in "):
            pool = self.pools.get(name.removeprefix("cached in "))
            return quantity(0) if pool is None else pool.query("CachedIn")
        return self.b.attr(name)

    # Statements

    def _block(self, block: Block, held: Held, loops: int, outermost: bool = False) -> list[Draft]:
        """Statements up to one that nothing may follow; at the outermost level such a one is left out."""
        found: list[Draft] = []
        for step in block:
            found += self._step(step, held, loops, outermost)
            if _ends(found):
                break
        return found

    def _step(self, step: Step, held: Held, loops: int, outermost: bool = False) -> list[Draft]:
        if outermost and (isinstance(step, Stop) or (isinstance(step, Repeat) and step.ending)):
            return []
        match step:
            case See(value):
                return [observe("seen", self._written(value))]
            case Let(name, value):
                return [assign(self.b.attr(name), least(self._written(value), MOST_KEPT))]
            case Wait(work):
                amount = least(self._written(work), MOST_WAIT)
                return [assign(self.work, amount), observe("work", self.work), run(WAIT, self.work)]
            case Compute():
                return self._compute(step, MEMORY in held)
            case Take():
                return self._take(step, held, loops, outermost)
            case If(test, then, other):
                yes = [observe("arm", 1), *self._block(then, held, loops)]
                no = [observe("arm", 0), *self._block(other, held, loops)]
                return [branch(self._written(test), yes, no)]
            case Repeat():
                return self._repeat(step, held, loops)
            case Stop():
                return [observe("ended", 1 if held else 0), end()]

    def _compute(self, step: Compute, possible: bool) -> list[Draft]:
        grows = step.grows and possible
        most: Value = self.room if grows else MOST_WORK
        return [
            assign(self.work, least(self._written(step.work), most)),
            observe("work", self.work),
            run(
                ENGINE,
                self.work,
                mode="Decode" if step.decode else "Prefill",
                growing=self.pools[MEMORY] if grows else None,
            ),
            *([assign(self.room, self.room - self.work)] if grows else []),
        ]

    def _take(self, step: Take, held: Held, loops: int, outermost: bool) -> list[Draft]:
        parts = [p for p in step.parts if p.pool in self.pools and p.pool not in held]
        if not parts:
            return self._block(step.body, held, loops, outermost)
        names = [p.pool for p in parts]
        body = self._block(step.body, held.union(names), loops)
        cached = self.b.attr("cached")
        opening = [observe("hit", cached)]
        if MEMORY in names:
            # What its position may still grow by when it has the memory alone.
            capacity = self.case.capacity(MEMORY)
            opening.append(assign(self.room, capacity - least(cached, capacity)))
        return [
            hold(
                [self._part(p) for p in parts],
                [*opening, *body],
                reuse=None if step.reuse is None else self._written(step.reuse),
                cache=None if step.cache is None else self._written(step.cache),
            )
        ]

    def _part(self, part: Part) -> tuple[PoolRef, Value, Value | None]:
        capacity = self.case.capacity(part.pool)
        units, most = self._written(part.units), capacity
        if part.over:
            units, most = units + self.b.attr("x"), capacity + 2
        reserve = None if part.reserve is None else least(self._written(part.reserve), capacity)
        return self.pools[part.pool], least(units, most), reserve

    def _repeat(self, step: Repeat, held: Held, loops: int) -> list[Draft]:
        """A loop of its own counter, each pass of which waits at its end."""
        counter = self.b.attr(f"pass{loops}")
        times = self._written(step.times)
        inner = [assign(counter, counter + 1), observe("again" if step.ending else "pass", counter)]
        inner += self._block(step.body, held, loops + 1)
        if not _ends(inner):
            inner.append(run(WAIT, 1))
            if step.ending:
                inner.append(branch(counter >= times, self._step(Stop(), held, loops)))
        made = loop(inner) if step.ending else while_(counter < times, inner)
        return [assign(counter, 0), made]

    def _state(self) -> Sequence[Draft]:
        """The clock and every attribute, in a few numbers."""
        u, v = (self.b.attr(n) for n in SCRATCH)
        computed, cached = self.b.attr("computed"), self.b.attr("cached")
        own = self._read(f"cached in {MEMORY}") + 64 * self._read(f"cached in {PLAIN}")
        mine = self.b.attr("turn_no") * 2 + self.b.attr("more")
        return [
            observe("clock", NOW),
            observe("state", u + 64 * (v + 64 * (self.room + 64 * self.work))),
            observe("holds", computed + 64 * (cached + 64 * own)),
            observe("turn", mine * 16 + self.b.attr("serial")),
            observe("left", ENGINE.query("BudgetLeft")),
        ]


def _ends(body: Sequence[Draft]) -> bool:
    """Whether nothing may follow a body."""
    return bool(body) and body[-1].kind in ("End", "Loop")
