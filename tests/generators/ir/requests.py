"""What engines do with a request, after vLLM and its relatives, every clause varied; prefill/decode pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.moments import Moment
from tests.generators.ir import expressions as gen
from tests.generators.ir import nests
from tests.generators.ir import terms as t
from tests.generators.ir.draft import (
    CACHED,
    COMPUTED,
    ROUTE,
    Draft,
    Node,
    PoolFamily,
    StageFamily,
    assign,
    joint,
    record,
    run,
)
from tests.generators.ir.resources import registers_of
from tests.generators.ir.where import Held, Where, flow, priced, route

_ONE = t.num(1)


@dataclass(frozen=True)
class Request:
    """One request to an engine: the members it uses and the attributes it reads."""

    engine: StageFamily
    stage: ex.CRef
    prompt: int
    out: int
    kept: int
    known: int
    reused: int
    resumes: bool
    caches: bool

    def needs(self) -> ex.Expr:
        """The tokens to compute or find cached: the prompt, or what a preempted attempt had."""
        if not self.resumes:
            return t.attr(self.prompt)
        return t.most(t.attr(self.kept), t.add(t.attr(COMPUTED), _ONE))


def member(draft: Draft, family: PoolFamily | StageFamily, index: ex.Expr) -> ex.CRef:
    """The member of a family beside an engine's: the same index where it has as many."""
    if not family.array:
        return family.ref()
    return family.ref(index if family.count > 1 else t.num(0))


def request(draft: Draft, where: Where, engine: StageFamily) -> list[Node]:
    """A whole request: choose a member, hold what it needs, prefill, decode, leave a prefix cached."""
    dice = draft.dice
    nodes = _choose(draft, where, engine) if engine.count > 1 else []
    index = draft.index(engine.count, where.routes)
    kept, known, reused = draft.value("kept"), draft.value("known"), draft.value("reused")
    ask = Request(
        engine=engine,
        stage=member(draft, engine, index),
        prompt=draft.value("prompt"),
        out=draft.size("o"),
        kept=kept,
        known=known,
        reused=reused,
        resumes=dice.chance(0.7),
        caches=draft.prefixes or dice.chance(0.7),
    )
    nodes.append(assign(ask.prompt, t.attr(draft.size("p"))))
    if "K" in draft.attrs:
        nodes[-1] = assign(ask.prompt, t.add(t.attr(draft.size("K")), t.attr(draft.size("p"))))
    nodes.append(assign(kept, t.attr(ask.prompt)))
    return nodes + _held(draft, where, ask, index)


def _choose(draft: Draft, where: Where, engine: StageFamily) -> list[Node]:
    if draft.dice.chance(0.4):
        return route(draft, where, engine.count)
    slot = draft.value(f"{ROUTE}{engine.count}")
    load = t.of_stage("Queue", engine.ref(t.attr(slot)))
    if engine.queue is not None and engine.queue.count == engine.count:
        load = t.add(load, t.of_pool("Queued", engine.queue.ref(t.attr(slot))))
    return route(draft, where, engine.count, (load,))


def _held(draft: Draft, where: Where, ask: Request, index: ex.Expr) -> list[Node]:
    """The hold, or the two nested ones, around the body."""
    dice = draft.dice
    slots, memory = ask.engine.queue, ask.engine.memory
    parts: list[tuple[PoolFamily, ex.CRef]] = []
    if slots is not None:
        at = index if slots.count == ask.engine.count else t.num(dice.randrange(slots.count))
        parts.append((slots, member(draft, slots, at)))
    if memory is not None and memory is not slots:
        parts.append((memory, member(draft, memory, index)))
    if len(parts) == 2 and dice.chance(0.2):
        parts.reverse()
    if not parts:
        return _work(draft, where, ask, None)
    if len(parts) == 2 and dice.chance(0.12):
        first = _header(draft, where, ask, parts[:1])
        around = where.inside(_holding(first))
        inner = _hold(draft, around, ask, parts[1:], _header(draft, around, ask, parts[1:]))
        return _wrap(draft, ask, parts[:1], first, inner, caches=False)
    return _hold(draft, where, ask, parts, _header(draft, where, ask, parts))


def _holding(header: Sequence[tuple[st.HoldPool, PoolFamily]]) -> tuple[Held, ...]:
    return tuple(Held(p.pool, family, p.units) for p, family in header)


def _hold(
    draft: Draft,
    where: Where,
    ask: Request,
    parts: list[tuple[PoolFamily, ex.CRef]],
    header: list[tuple[st.HoldPool, PoolFamily]],
) -> list[Node]:
    memory = next((ref for family, ref in parts if family is ask.engine.memory), None)
    body = _body(draft, where.inside(_holding(header)), ask, memory)
    return _wrap(draft, ask, parts, header, body, caches=ask.caches)


def _wrap(
    draft: Draft,
    ask: Request,
    parts: list[tuple[PoolFamily, ex.CRef]],
    header: list[tuple[st.HoldPool, PoolFamily]],
    body: list[Node],
    caches: bool,
) -> list[Node]:
    dice = draft.dice
    target = joint([family for family, _ in parts])
    reuse = _reuse(draft, ask, parts) if caches and dice.chance(0.75) else None
    before: list[Node] = []
    cache = None
    if caches:
        before, cache = priced(draft, target, _leave(draft, ask))
    remainder = _remainder(draft, parts, reuse)
    hold = st.Hold(
        pools=tuple(p for p, _ in header),
        reuse=None if reuse is None else ex.Cost(target=target, arg=reuse),
        body=0,
        cache=cache,
    )
    return [*before, *remainder, Node(hold, bodies=(tuple(body),))]


def _remainder(draft: Draft, parts: list[tuple[PoolFamily, ex.CRef]], reuse: ex.Expr | None) -> list[Node]:
    """Observe a cached prefix longer than what will be reused: without evictions it leaves a dead entry."""
    if not isinstance(reuse, ex.Num | ex.Attr):
        return []
    cached = t.of_pool("CachedIn", parts[-1][1])
    return [record(draft, "remainder", t.binary("Gt", cached, t.add(reuse, t.num(4))))]


def _leave(draft: Draft, ask: Request) -> ex.Expr:
    dice = draft.dice
    whole = t.add(t.attr(ask.prompt), t.attr(ask.out))
    match dice.weighted({"whole": 5.0, "prompt": 2.0, "none": 0.7, "any": 1.0}):
        case "whole":
            return whole
        case "prompt":
            return t.attr(ask.prompt)
        case "none":
            return t.num(0)
        case _:
            return gen.amount(draft, gen.Scope(Moment.SESSION), 0.0, 30.0, 1)


def _reuse(draft: Draft, ask: Request, parts: list[tuple[PoolFamily, ex.CRef]]) -> ex.Expr:
    dice = draft.dice
    family, ref = parts[-1]
    block = family.block or 1.0
    usable = t.mul(t.floor(t.div(t.sub(ask.needs(), _ONE), t.num(block))), t.num(block))
    if draft.prefixes:
        return t.num(dice.choice((0.0, block, 3.0)))
    match dice.weighted({"usable": 4.0, "own": 1.0, "constant": 2.5, "any": 1.0, "zero": 0.5}):
        case "usable":
            return t.least(t.of_pool("CachedIn", ref), usable)
        case "own":
            return usable
        case "constant":
            return t.num(dice.choice((block, 2 * block, 3.0)))
        case "zero":
            return t.num(0)
        case _:
            return gen.amount(draft, gen.Scope(Moment.ADMIT, budget_left=True), 0.0, 24.0, 1)


def _header(
    draft: Draft, where: Where, ask: Request, parts: list[tuple[PoolFamily, ex.CRef]]
) -> list[tuple[st.HoldPool, PoolFamily]]:
    header = []
    via = parts[0][0].via
    registers = registers_of(draft, via)
    for family, ref in parts:
        units, reserve = (_ONE, None)
        if family is ask.engine.memory:
            units, reserve = _memory_units(draft, where, ask, family, ref, registers)
        cost = ex.Cost(target=family.target, arg=units)
        gate = None if reserve is None else ex.Cost(target=family.target, arg=reserve)
        header.append((st.HoldPool(pool=ref, units=cost, reserve=gate), family))
    return header


def _memory_units(
    draft: Draft, where: Where, ask: Request, family: PoolFamily, ref: ex.CRef, registers: tuple[int, ...]
) -> tuple[ex.Expr, ex.Expr | None]:
    dice = draft.dice
    needs = ask.needs()
    left = t.of_stage("BudgetLeft", ask.stage)
    match dice.weighted({"budget": 3.0, "all": 3.0, "some": 2.5, "reused": 1.0, "any": 0.6}):
        case "budget":
            units: ex.Expr = t.least(needs, left)
        case "all":
            units = needs
        case "some":
            units = t.num(min(dice.choice((1.0, 2.0, 4.0)), family.cap))
        case "reused":
            units = t.least(needs, t.add(t.of_pool("CachedIn", ref), left))
        case _:
            units = gen.amount(draft, where.scope(Moment.ADMIT, registers), 0.0, family.cap * 0.7)
    match dice.weighted({"none": 4.0, "known": 3.0, "whole": 0.7, "any": 0.6}):
        case "none":
            return units, None
        case "known":
            return units, needs
        case "whole":
            return units, t.add(t.attr(ask.prompt), t.num(dice.choice((2, 6))))
        case _:
            return units, gen.amount(draft, where.scope(Moment.ADMIT, registers), 0.0, family.cap * 0.8)


def _body(draft: Draft, where: Where, ask: Request, memory: ex.CRef | None) -> list[Node]:
    nodes = [assign(ask.known, ask.needs())]
    if ask.resumes:
        nodes.append(assign(ask.kept, t.attr(ask.known)))
    nodes.append(record(draft, "resumed", t.attr(COMPUTED)))
    if ask.caches:
        limit = t.most(t.sub(t.attr(ask.known), _ONE), t.num(0))
        nodes.append(assign(ask.reused, t.least(t.attr(CACHED), limit)))
        nodes.append(record(draft, "hit", t.binary("Gt", t.attr(CACHED), t.num(0))))
    else:
        nodes.append(assign(ask.reused, t.num(0)))
    return nodes + _work(draft, where, ask, memory)


def _work(draft: Draft, where: Where, ask: Request, memory: ex.CRef | None) -> list[Node]:
    """Prefill, perhaps a pause away from the engine, decode."""
    dice = draft.dice
    growing = memory if dice.chance(0.85) else None
    known = t.attr(ask.known) if memory is not None or ask.engine.queue else t.attr(ask.prompt)
    prefill = t.most(t.num(0), t.sub(known, t.attr(ask.reused)))
    rest = t.sub(t.sub(t.attr(ask.out), _ONE), t.sub(known, t.attr(ask.prompt)))
    decode = t.most(t.num(0), rest)
    nodes = [run(ask.engine, ask.stage, prefill, "Prefill", growing)]
    lags = draft.stages_of("lag", "desk")
    if lags and dice.chance(0.15):
        lag = dice.choice(lags)
        nodes.append(run(lag, draft.member(lag, where.routes), t.num(dice.choice((0.0, 0.25, 1.0)))))
    if dice.chance(0.1):
        nodes.append(run(ask.engine, ask.stage, t.num(dice.choice((1, 2))), "Prefill", growing))
    if dice.chance(0.12):
        nodes += nests.sequence(draft, where, 1)
        growing = None if any(h.gone for h in where.held) else growing
    if dice.chance(0.92):
        nodes.append(run(ask.engine, ask.stage, decode, "Decode", growing))
    if dice.chance(0.15):
        nodes.append(run(ask.engine, ask.stage, t.num(dice.choice((0, 1, 3))), "Decode", growing))
    nodes.append(record(draft, "served", t.NOW))
    return nodes


def handover(draft: Draft, where: Where, source: StageFamily, reader: StageFamily) -> list[Node]:
    """Prefill on one engine, lease its memory, read it over the shared links, decode on another."""
    dice = draft.dice
    nodes = [assign(draft.value("prompt"), t.attr(draft.size("p")))]
    for engine in (source, reader):
        if engine.count > 1:
            nodes += _choose(draft, where, engine)
    at, to = (draft.index(e.count, where.routes) for e in (source, reader))
    kv_source = member(draft, source.memory, at)
    kv_reader = member(draft, reader.memory, to)
    first = _source(draft, source, at, kv_source)
    second = _reader(draft, where, (source, at, kv_source), (reader, to, kv_reader))
    if dice.chance(0.3):
        draft.forks = True
        leg = Node(st.Fork(body=0), bodies=(tuple(first),))
        return [*nodes, leg, *second, Node(st.Join())]
    return nodes + first + second


def _source(draft: Draft, engine: StageFamily, at: ex.Expr, kv: ex.CRef) -> list[Node]:
    dice = draft.dice
    prompt = t.attr(draft.value("prompt"))
    stage = member(draft, engine, at)
    units = dice.choice((prompt, t.least(prompt, t.of_stage("BudgetLeft", stage))))
    header = [(engine.memory, kv, units, prompt)]
    if engine.queue is not None and engine.queue is not engine.memory:
        header.insert(0, (engine.queue, member(draft, engine.queue, at), _ONE, None))
    target = joint([family for family, *_ in header])
    duration = dice.choice((float("inf"), float("inf"), 0.5, 1.5, 4.0, 20.0))
    hold = st.Hold(
        pools=tuple(_taking(*part) for part in header),
        body=0,
        cache=ex.Cost(target=target, arg=prompt) if dice.chance(0.8) else None,
        lease=st.Lease(pool=kv, duration=t.num(duration)),
    )
    prefill = run(engine, stage, prompt, "Prefill", kv)
    return [Node(hold, bodies=((prefill,),)), assign(draft.value("leased_at"), t.NOW)]


def _taking(family: PoolFamily, ref: ex.CRef, units: ex.Expr, reserve: ex.Expr | None) -> st.HoldPool:
    cost = ex.Cost(target=family.target, arg=units)
    gate = None if reserve is None else ex.Cost(target=family.target, arg=reserve)
    return st.HoldPool(pool=ref, units=cost, reserve=gate)


Side = tuple[StageFamily, ex.Expr, ex.CRef]


def _reader(draft: Draft, where: Where, source: Side, reader: Side) -> list[Node]:
    dice = draft.dice
    engine, to, kv = reader
    prompt = t.attr(draft.value("prompt"))
    seen = draft.value("seen")
    rest = t.most(t.num(0), t.sub(t.sub(prompt, _ONE), t.attr(seen)))
    body = [assign(seen, t.least(t.attr(CACHED), t.most(t.num(0), t.sub(prompt, _ONE))))]
    body.append(_read(draft, where, source, reader, rest))
    cost = ex.Cost(target=engine.memory.target, arg=rest)
    body.append(Node(st.Load(pool=kv, amount=cost)))
    body.append(Node(st.Release(pool=source[2])))
    body.append(record(draft, "read", t.sub(t.NOW, t.attr(draft.value("leased_at")))))
    stage = member(draft, engine, to)
    steps = [
        run(engine, stage, t.num(1), "Prefill", kv),
        run(engine, stage, t.most(t.num(0), t.sub(t.attr(draft.size("o")), _ONE)), "Decode", kv),
    ]
    slots = engine.queue
    if slots is not None and slots is not engine.memory:
        taking = _taking(slots, member(draft, slots, to), _ONE, None)
        steps = [Node(st.Hold(pools=(taking,), body=0), bodies=(tuple(steps),))]
    cache = ex.Cost(target=engine.memory.target, arg=t.add(prompt, t.attr(draft.size("o"))))
    hold = st.Hold(
        pools=(_taking(engine.memory, kv, prompt, prompt if dice.chance(0.7) else None),),
        reuse=ex.Cost(target=engine.memory.target, arg=prompt),
        body=0,
        cache=cache,
    )
    return [Node(hold, bodies=(tuple(body + steps),))]


def _read(draft: Draft, where: Where, source: Side, reader: Side, work: ex.Expr) -> Node:
    """The copy: a flow over both links, or a plain wait."""
    nets = draft.stages_of("net")
    if len(nets) < 2 or draft.share is None:
        lag = draft.stages_of("lag")[0]
        return run(lag, draft.member(lag, where.routes), t.mul(t.num(0.1), work))
    pair = draft.dice.sample(nets, 2)
    refs = [draft.member(f, where.routes) for f in pair]
    return flow(pair, refs, work)
