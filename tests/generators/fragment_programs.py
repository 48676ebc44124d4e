"""A member of the Lean fragment, and what takes it out: one change a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from serq.generators.refusals import Rule
from serq.ir import program as pr
from serq.ir.build import (
    DELAY,
    LIFO,
    Body,
    Builder,
    PoolRef,
    StageRef,
    assign,
    branch,
    drop,
    end,
    fork,
    grow,
    hold,
    join,
    load,
    loop,
    observe,
    release,
    run,
    turn,
    while_,
)
from serq.ir.edit import with_sessions
from serq.ir.expressions import Call, CRef, Ctx, PoolArg, Unary
from serq.ir.quantity import NOW, Quantity, Value, call, context, draw, lift, when

ENGINE, WAIT = StageRef(0), StageRef(1)
REQS, KV, AUX = PoolRef(0), PoolRef(1), PoolRef(2)
ONE = Quantity(lift(1))
UNPREEMPTED = Quantity(Unary(op="Not", arg=Ctx(var="Preempted")))
Pools = dict[str, dict[str, Any]]


class Attributes:
    """The attributes of the program below."""

    def __init__(self, b: Builder) -> None:
        self.prompt, self.answer, self.left = b.attr("prompt"), b.attr("answer"), b.attr("left")
        self.more, self.cached, self.serial = b.attr("more"), b.attr("cached"), b.attr("serial")
        self.computed = b.attr("computed")


def member(
    statements: Callable[[Attributes], Sequence[Any]] | None = None,
    *,
    engine: dict[str, Any] | None = None,
    pools: Pools | None = None,
    header: dict[str, Any] | None = None,
    init: Callable[[Attributes], Body] | None = None,
    turn_block: Callable[[Attributes], Body] | None = None,
    second: pr.Fifo | pr.Ps = DELAY,
    third: pr.Fifo | pr.Ps | None = None,
    server: Callable[[Attributes], Sequence[Any]] | None = None,
    sessions: Sequence[dict[str, float]] = ({"prompt": 5, "answer": 3}, {"prompt": 7, "answer": 2}),
    turns: Sequence[Sequence[dict[str, float]] | None] | None = None,
    update: dict[str, Any] | None = None,
) -> pr.Program:
    """A program of the fragment, with changes. `statements` are added to the end of the session."""
    b = Builder()
    a = Attributes(b)
    b.size(a.prompt, a.answer)
    settings: dict[str, Any] = {"budget": 8, "cost": 1, "memory": KV, **(engine or {})}
    b.engine("engine", **settings)
    b.stage("wait", second)
    if third is not None:
        b.stage("third", third)
    given = pools or {}
    b.pool("reqs", **{"cap": 4, "admit_via": ENGINE, **given.get("reqs", {})})
    b.pool("kv", **{"cap": 64, "block": 4, "preempt": LIFO, **given.get("kv", {})})
    b.pool("aux", **{"cap": 2, **given.get("aux", {})})
    if init:
        b.init(init(a))
    if turn_block:
        b.turn(turn_block(a))
    body = [
        run(ENGINE, a.prompt - a.cached, mode="Prefill", growing=KV),
        run(ENGINE, a.answer, mode="Decode", growing=KV),
    ]
    request = hold([(REQS, 1), (KV, a.prompt, a.prompt)], body, **(header or {}))
    b.server([request, observe("done", NOW), *(server(a) if server else ())])
    b.session([turn(), *(statements(a) if statements else ())])
    program = with_sessions(b.build(horizon=100), sessions, turns)
    return program.model_copy(update=update or {})


def _step(program: pr.Program, **changes: Any) -> pr.Program:
    kind = program.stages[0].kind
    assert isinstance(kind, pr.Step)
    stage = program.stages[0].model_copy(update={"kind": kind.model_copy(update=changes)})
    return program.model_copy(update={"stages": (stage, *program.stages[1:])})


@dataclass(frozen=True)
class Refused:
    """A program that a rule refuses, with words of the refusal."""

    name: str
    rule: Rule
    words: str
    make: Callable[[], pr.Program]


def _said(
    name: str, rule: Rule, words: str, statements: Callable[[Attributes], Sequence[Any]], **more: Any
) -> Refused:
    return Refused(name, rule, words, lambda: member(statements, **more))


def _value(name: str, words: str, value: Callable[[Attributes], Value]) -> Refused:
    return _said(name, Rule.EXPRESSIONS, words, lambda a: [observe("x", value(a))])


def _engine(name: str, rule: Rule, words: str, **settings: Any) -> Refused:
    return Refused(name, rule, words, lambda: member(engine=settings))


def _pool(name: str, rule: Rule, words: str, pool: str, **settings: Any) -> Refused:
    return Refused(name, rule, words, lambda: member(pools={pool: settings}))


def _updated(name: str, rule: Rule, words: str, **update: Any) -> Refused:
    return Refused(name, rule, words, lambda: member(update=update))


def only_body(only: Quantity, gate: Quantity = UNPREEMPTED, other: Quantity | None = None) -> list[Any]:
    return [pr.Serve(only=lift(only)), pr.Admit(only=lift(other or only), gate=lift(gate))]


DECODES = context("Decoding").equals(1)
_CLAIM = pr.Claim(name="short", kind=pr.EveryIteration(stage=0), expr=lift(context("Ntok") <= 8))
_LATEST = pr.EvictBy(keys=(lift(-context("Last")),))
_SPILL = pr.Spill(to=2, via=1, work=lift(1), when=lift(1))
_LINE = pr.Ps(capacity=lift(2))
_REGISTER = pr.Register(name="r", stage=0, init=0.0)

REFUSED: tuple[Refused, ...] = (
    Refused(
        "share",
        Rule.SETTINGS,
        "shared capacities",
        lambda: member(
            second=_LINE,
            third=_LINE,
            server=lambda a: [run(WAIT, 1, also=[StageRef(2)])],
            update={"share": "MaxMin"},
        ),
    ),
    Refused(
        "registers",
        Rule.SETTINGS,
        "registers",
        lambda: member(
            engine={"iteration": [pr.Serve(), pr.IterSet(reg=0, value=lift(1))]},
            update={"registers": (_REGISTER,)},
        ),
    ),
    Refused(
        "several stages",
        Rule.STATEMENTS,
        "several stages",
        lambda: member(
            second=_LINE,
            third=_LINE,
            server=lambda a: [run(WAIT, 1, also=[StageRef(2)])],
            update={"share": "MaxMin"},
        ),
    ),
    _updated("poisson", Rule.WORKLOAD, "`Poisson`", arrival=pr.Poisson(rate=1.0)),
    _updated("batch", Rule.WORKLOAD, "`Batch`", arrival=pr.Batch(size=2)),
    _updated("closed", Rule.WORKLOAD, "`Closed`", arrival=pr.Closed(population=2)),
    _updated("no arrivals", Rule.WORKLOAD, "no arrivals", arrival=None),
    Refused(
        "init of a free slot",
        Rule.WORKLOAD,
        "which some session does not preset",
        lambda: member(init=lambda a: [assign(a.left, 3)]),
    ),
    Refused(
        "turn block", Rule.WORKLOAD, "turn block", lambda: member(turn_block=lambda a: [assign(a.left, 3)])
    ),
    Refused(
        "fifo stage", Rule.STAGES, "neither the engine nor a delay", lambda: member(second=pr.Fifo(servers=1))
    ),
    Refused(
        "shared stage",
        Rule.STAGES,
        "neither the engine nor a delay",
        lambda: member(second=pr.Ps(capacity=lift(2))),
    ),
    _engine("granule", Rule.SERVING, "granule", granule=4.0),
    _engine("serving key", Rule.SERVING, "admission order", serve=(-context("Admission"),)),
    _engine("exclusive prefill", Rule.SERVING, "admission order", serve=None),
    _engine("one serve", Rule.ITERATION, "iteration body", iteration=[pr.Serve()]),
    _engine(
        "admission after preemption",
        Rule.ITERATION,
        "iteration body",
        iteration=only_body(DECODES, ONE),
    ),
    _engine("two predicates", Rule.ITERATION, "iteration body", iteration=only_body(DECODES, other=ONE)),
    _engine(
        "predicate with a difference",
        Rule.ITERATION,
        "a difference",
        iteration=only_body((context("Nres") - 1) < 2),
    ),
    _engine("budget", Rule.BUDGET, "not a constant", budget=context("Nres") + 1),
    _engine("fractional budget", Rule.BUDGET, "not a natural number", budget=2.5),
    _engine("endless budget", Rule.BUDGET, "not a natural number", budget=float("inf")),
    _engine("chunk of decoders", Rule.CHUNK, "`Ndec`", chunk=context("Ndec") + 1),
    _engine("chunk with a difference", Rule.CHUNK, "a difference", chunk=when(context("Nres") - 1 > 2, 4, 0)),
    _engine("fractional chunk", Rule.CHUNK, "not a natural number", chunk=1.5),
    _engine("fractional cost", Rule.COST, "prefilled", cost=1 + 0.5 * context("Npre")),
    _engine("negative cost", Rule.COST, "tokens", cost=9 - context("Ntok")),
    _engine("cost without a constant", Rule.COST, "not at least 1", cost=context("Ntok")),
    _engine("odd attention", Rule.COST, "even", cost=1 + context("Attn")),
    _engine("cost of residents", Rule.COST, "`Nres`", cost=1 + context("Nres")),
    _engine("cost of prefills' memory", Rule.COST, "`Kvp`", cost=1 + context("Kvp")),
    _engine("cost by the clock", Rule.COST, "`Now`", cost=1 + NOW),
    _engine("cost with a product", Rule.COST, "multiplies", cost=1 + context("Ntok") * context("Ndec")),
    _pool("eviction", Rule.POOLS, "LRU", "kv", evict=_LATEST),
    _pool("reservation", Rule.POOLS, "reserves", "kv", reserve_held=True),
    _pool("endless pool", Rule.POOLS, "not a natural number", "aux", cap=float("inf")),
    _pool("fractional pool", Rule.POOLS, "not a natural number", "aux", cap=2.5),
    _said(
        "prefix without blocks",
        Rule.POOLS,
        "has no blocks",
        lambda a: [hold([(AUX, 2)], [run(WAIT, 1)], cache=2)],
    ),
    Refused(
        "prefix in a memory without blocks",
        Rule.POOLS,
        "has no blocks",
        lambda: member(pools={"kv": {"block": None}}, header={"cache": 8}),
    ),
    _pool("two keys", Rule.QUEUES, "2 keys", "aux", queue=[NOW, NOW]),
    _pool("key of the memory", Rule.QUEUES, "memory", "kv", queue=[NOW]),
    _pool("key with a difference", Rule.QUEUES, "a difference", "aux", queue=[100 - NOW]),
    _pool("preempting pool", Rule.QUEUES, "not the engine's memory", "reqs", preempt=LIFO),
    _pool("preempting none", Rule.QUEUES, "does not preempt", "kv", preempt=None),
    _pool("tail", Rule.QUEUES, "put back in front", "kv", preempt=pr.PreemptBy(keys=LIFO.keys, tail=True)),
    _pool(
        "oldest first", Rule.QUEUES, "the newest", "kv", preempt=pr.PreemptBy(keys=(Ctx(var="Admission"),))
    ),
    Refused(
        "two keyed queues",
        Rule.QUEUES,
        "more than one queue",
        lambda: member(pools={"reqs": {"queue": [NOW]}, "aux": {"queue": [NOW]}}),
    ),
    _said("fork", Rule.STATEMENTS, "`Fork`", lambda a: [fork([run(WAIT, 1)]), join()]),
    _said("drop", Rule.STATEMENTS, "`Drop`", lambda a: [drop(KV)]),
    _said("grow", Rule.STATEMENTS, "`Grow`", lambda a: [hold([(AUX, 1)], [grow(AUX, 1)])]),
    _said("load", Rule.STATEMENTS, "`Load`", lambda a: [hold([(AUX, 1)], [load(AUX, 1)])]),
    _said("release", Rule.STATEMENTS, "`Release`", lambda a: [hold([(AUX, 1)], [release(AUX)])]),
    _said("lease", Rule.STATEMENTS, "lease", lambda a: [hold([(AUX, 1)], [run(WAIT, 1)], lease=(AUX, 3))]),
    Refused(
        "set cached",
        Rule.STATEMENTS,
        "only the machine",
        lambda: member(server=lambda a: [assign(a.cached, 1)]),
    ),
    Refused(
        "growth of another pool",
        Rule.STATEMENTS,
        "another pool",
        lambda: member(server=lambda a: [hold([(AUX, 1)], [run(ENGINE, 1, mode="Decode", growing=AUX)])]),
    ),
    _value("draw", "a draw of `Exp`", lambda a: draw("Exp", 2)),
    _value("negation", "`Neg`", lambda a: -a.prompt),
    _value("power", "`Pow`", lambda a: a.prompt**2),
    _value("quotient", "`Div`", lambda a: a.prompt / 2),
    _value("floor of a sum", "something else than a quotient", lambda a: call("Floor", a.prompt + 1)),
    _value("ceil by a variable", "not a constant", lambda a: call("Ceil", a.prompt / a.answer)),
    _value("fraction", "not a natural number", lambda a: a.prompt + 0.5),
    _value("negative constant", "not a natural number", lambda a: a.prompt + (ONE - 3)),
    _value("square root", "`Sqrt`", lambda a: call("Sqrt", a.prompt)),
    _value("free units", "`Free`", lambda a: KV.query("Free")),
    _value("queue of the engine", "`Queue`", lambda a: ENGINE.query("Queue")),
    _said(
        "bare guard",
        Rule.GUARDS,
        "not certainly 0 or 1",
        lambda a: [while_(a.answer, [run(WAIT, 1), assign(a.answer, 0)])],
    ),
    _said(
        "more set",
        Rule.GUARDS,
        "not certainly 0 or 1",
        lambda a: [while_(a.more, [run(WAIT, 1), assign(a.more, 0)])],
    ),
    _said(
        "guard with a difference",
        Rule.GUARDS,
        "a difference in the guard",
        lambda a: [while_(a.answer - 1 > 0, [run(WAIT, 1), assign(a.answer, 0)])],
    ),
    _said(
        "guard fed by a difference",
        Rule.GUARDS,
        "a difference in a value of `answer`",
        lambda a: [while_(a.answer > 0, [run(WAIT, 1), assign(a.answer, a.answer - 1)])],
    ),
    _said(
        "guard fed through another attribute",
        Rule.GUARDS,
        "a difference in a value of `left`",
        lambda a: [
            assign(a.left, 9 - a.answer),
            while_(a.answer < 3, [run(WAIT, 1), assign(a.answer, a.left)]),
        ],
    ),
    _said(
        "guard with a dynamic divisor",
        Rule.GUARDS,
        "not a positive constant",
        lambda a: [while_(call("Floor", a.prompt / a.answer) > 9, [run(WAIT, 1)])],
    ),
    _updated("claim", Rule.CLAIMS, "`short`", claims=(_CLAIM,)),
    _said(
        "nested holds of a pool",
        Rule.STRUCTURE,
        "held twice",
        lambda a: [hold([(AUX, 1)], [hold([(AUX, 1)], [run(WAIT, 1)])])],
    ),
    _said(
        "statement after an end",
        Rule.STRUCTURE,
        "never reached",
        lambda a: [branch(a.prompt > 2, [end(), observe("x", 1)])],
    ),
    _said(
        "statement after a loop",
        Rule.STRUCTURE,
        "never reached",
        lambda a: [loop([run(WAIT, 1)]), observe("x", 1)],
    ),
    Refused(
        "fractional preset",
        Rule.NUMBERS,
        "`prompt` is 1.5",
        lambda: member(sessions=[{"prompt": 1.5, "answer": 1}]),
    ),
    Refused(
        "fractional turn",
        Rule.NUMBERS,
        "`answer` is 0.5",
        lambda: member(sessions=[{}], turns=[[{"prompt": 1, "answer": 0.5}]]),
    ),
    Refused(
        "preset of serial",
        Rule.WORKLOAD,
        "only the machine",
        lambda: member(sessions=[{"prompt": 1, "answer": 1, "serial": 1}]),
    ),
    Refused(
        "family",
        Rule.FAMILIES,
        "family of pools",
        lambda: member(lambda a: [observe("x", _family_query(a))], pools={"aux": {}}),
    ),
)


def _family_query(a: Attributes) -> Quantity:
    ref = CRef(base=1, count=2, index=lift(a.answer))
    return Quantity(Call(fun="CachedIn", args=(PoolArg(ref=ref),)))
