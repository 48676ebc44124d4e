"""Programs that claim something, with changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from serq.ir import program as pr
from serq.ir.build import LIFO, Body, Builder, PoolRef, StageRef, assign, hold, observe, run, turn
from serq.ir.expressions import Agg
from serq.ir.quantity import NOW, Quantity, Value, call, context, draw, lift

ENGINE, KV = StageRef(0), PoolRef(0)
TOKENS, DEMAND = context("Ntok"), context("Demand")
OBSERVED = ("early", "late")


def every(name: str, says: Value, given: Value | None = None) -> pr.Claim:
    """A claim of every iteration."""
    return _claim(name, pr.EveryIteration(stage=0), says, given)


def some(name: str, says: Value) -> pr.Claim:
    """A claim of some iteration."""
    return _claim(name, pr.SomeIteration(stage=0), says, None)


def at_end(name: str, says: Value, given: Value | None = None) -> pr.Claim:
    """A claim at the end."""
    return _claim(name, None, says, given)


def _claim(name: str, kind: Any, says: Value, given: Value | None) -> pr.Claim:
    return pr.Claim(name=name, kind=kind, expr=lift(says), given=None if given is None else lift(given))


def total(name: str, fun: str = "Total") -> Quantity:
    """An aggregate of what is observed under a name."""
    return Quantity(Agg(fun=fun, observe=OBSERVED.index(name)))


class Slots:
    """The attributes of the program below."""

    def __init__(self, b: Builder) -> None:
        self.prompt, self.answer, self.both = b.attr("prompt"), b.attr("answer"), b.attr("both")
        self.turn_no = b.attr("turn_no")
        self.cached = b.attr("cached")


def slots() -> Slots:
    """The attributes, to claim something of them."""
    return Slots(Builder())


def _init(s: Slots) -> Body:
    drawn = call("Floor", draw("Uniform", 1, 9))
    return [assign(s.prompt, 4 * drawn), assign(s.answer, drawn + 1), assign(s.both, s.prompt + s.answer)]


def claiming(
    claims: Sequence[pr.Claim] = (),
    *,
    init: Callable[[Slots], Body] | None = None,
    arrival: Any = None,
    body: Callable[[Slots], Body] | None = None,
    turn_block: Callable[[Slots], Body] | None = None,
    growing: PoolRef | None = None,
    **engine: Any,
) -> pr.Program:
    """A program whose sessions draw what they ask for."""
    b = Builder()
    s = Slots(b)
    settings: dict[str, Any] = {"budget": 8, "cost": 1, "memory": KV, **engine}
    b.engine("engine", **settings)
    b.pool("kv", cap=64, block=4, preempt=LIFO)
    b.init((init or _init)(s))
    if turn_block:
        b.turn(turn_block(s))
    work = [
        run(ENGINE, s.prompt, mode="Prefill", growing=growing),
        run(ENGINE, s.answer, mode="Decode", growing=growing),
    ]
    b.server([observe("early", NOW), hold([(KV, s.both)], work), observe("late", NOW)])
    b.session([turn(), *(body(s) if body else ())])
    for claim in claims:
        b.claim(claim)
    return b.build(horizon=100, arrival=arrival or pr.Poisson(rate=0.1))


CLAIMS = (
    every("budget", TOKENS <= 8),
    every(
        "tiles",
        (DEMAND < 8).or_(TOKENS.equals(8)),
        slots().prompt.equals(4 * call("Floor", slots().prompt / 4)),
    ),
    every("room", KV.query("Used") + KV.query("Holders") <= 128 - KV.query("Queued")),
)
