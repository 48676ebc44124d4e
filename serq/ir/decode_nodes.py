"""The parts of a program from JSON: expressions, statements, pools, stages, arrivals, claims."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir import tables
from serq.ir.cursor import Cursor

ZERO = ex.Num(value=0.0)
NO_REF = ex.CRef(base=0, count=1)
NO_TARGET = ex.PoolTarget(base=0, count=1)

_EXPR_TAGS = ("Num", "Attr", "Ctx", "Sample", "Reg", "Call", "Unary", "Binary", "Cond", "Agg", "Cost")


def expr(c: Cursor) -> ex.Expr:
    """An expression; a placeholder after a mistake."""
    found = c.variant(_EXPR_TAGS, "an expression")
    if found is None:
        return ZERO
    tag, inner = found
    return _EXPR[tag](inner)


def _num(c: Cursor) -> ex.Expr:
    return ex.Num(value=c.constant())


def _attr(c: Cursor) -> ex.Expr:
    return ex.Attr(slot=c.natural())


def _ctx(c: Cursor) -> ex.Expr:
    return ex.Ctx(var=_row(c, tables.CONTEXT, "a context variable"))


def _reg(c: Cursor) -> ex.Expr:
    return ex.Reg(index=c.natural())


def _row(c: Cursor, rows: dict[str, Any], what: str) -> str:
    name = c.string()
    if isinstance(c.value, str) and name not in rows:
        from serq.diagnostics import suggestion

        c.issue("SQ007", f"`{name}` is not {what}", hint=suggestion(name, rows))
    return name


def _sample(c: Cursor) -> ex.Expr:
    parts = c.items(2, "a draw: its distribution and arguments")
    if parts is None:
        return ZERO
    dist = _row(parts[0], tables.DISTRIBUTION, "a distribution")
    return ex.Sample(dist=dist, args=parts[1].each(expr))


def _call(c: Cursor) -> ex.Expr:
    parts = c.items(2, "a call: a function and its arguments")
    if parts is None:
        return ZERO
    fun = _row(parts[0], tables.FUNCTION, "a function")
    return ex.Call(fun=fun, args=parts[1].each(_argument))


def _argument(c: Cursor) -> ex.Expr | ex.PoolArg | ex.StageArg:
    found = c.variant(("Expr", "Pool", "Stage"), "an argument")
    if found is None:
        return ZERO
    tag, inner = found
    if tag == "Expr":
        return expr(inner)
    return ex.PoolArg(ref=ref(inner)) if tag == "Pool" else ex.StageArg(ref=ref(inner))


def _unary(c: Cursor) -> ex.Expr:
    parts = c.items(2, "a unary operator and its operand")
    if parts is None:
        return ZERO
    return ex.Unary(op=_row(parts[0], tables.UNARY, "a unary operator"), arg=expr(parts[1]))


def _binary(c: Cursor) -> ex.Expr:
    parts = c.items(3, "a binary operator and its operands")
    if parts is None:
        return ZERO
    op = _row(parts[0], tables.BINARY, "a binary operator")
    return ex.Binary(op=op, left=expr(parts[1]), right=expr(parts[2]))


def _cond(c: Cursor) -> ex.Expr:
    parts = c.items(3, "a condition and its two arms")
    if parts is None:
        return ZERO
    return ex.Cond(test=expr(parts[0]), then=expr(parts[1]), other=expr(parts[2]))


def _agg(c: Cursor) -> ex.Expr:
    parts = c.items(2, "an aggregate and its observation")
    if parts is None:
        return ZERO
    return ex.Agg(fun=_row(parts[0], tables.AGGREGATE, "an aggregate"), observe=parts[1].natural())


def _cost(c: Cursor) -> ex.Expr:
    parts = c.items(2, "a cost: its resource and quantity")
    if parts is None:
        return ZERO
    return ex.Cost(target=target(parts[0]), arg=expr(parts[1]))


_EXPR: dict[str, Callable[[Cursor], ex.Expr]] = {
    "Num": _num,
    "Attr": _attr,
    "Ctx": _ctx,
    "Sample": _sample,
    "Reg": _reg,
    "Call": _call,
    "Unary": _unary,
    "Binary": _binary,
    "Cond": _cond,
    "Agg": _agg,
    "Cost": _cost,
}


def ref(c: Cursor) -> ex.CRef:
    """A pool or stage reference."""
    f = c.fields(("base", "count"), ("index",))
    if f is None:
        return NO_REF
    return ex.CRef(base=f["base"].natural(), count=f["count"].natural(), index=f["index"].maybe(expr))


def _family(c: Cursor) -> tuple[int, int]:
    f = c.fields(("base", "count"))
    return (0, 1) if f is None else (f["base"].natural(), f["count"].natural())


def target(c: Cursor) -> ex.CostTarget:
    """The resources of a cost."""
    found = c.variant(("Pool", "Stage", "Joint"), "a cost target")
    if found is None:
        return NO_TARGET
    tag, inner = found
    if tag == "Joint":
        return ex.JointTarget(targets=inner.each(_single_target))
    return _single_target(c)


def _single_target(c: Cursor) -> ex.PoolTarget | ex.StageTarget:
    found = c.variant(("Pool", "Stage"), "a single cost target")
    if found is None:
        return NO_TARGET
    tag, inner = found
    base, count = _family(inner)
    return ex.PoolTarget(base=base, count=count) if tag == "Pool" else ex.StageTarget(base=base, count=count)


def attr_type(c: Cursor) -> pr.AttrType:
    """The type of an attribute slot."""
    found = c.variant(("Size", "Value", "Cost"), "an attribute type")
    if found is None:
        return "Value"
    tag, inner = found
    if tag == "Cost":
        return target(inner)
    return "Size" if tag == "Size" else "Value"


_STMT_TAGS = [
    "Turn",
    "Set",
    "Observe",
    "Hold",
    "Grow",
    "Drop",
    "Release",
    "Load",
    "Run",
    "Branch",
    "Loop",
    "While",
    "Choose",
    "End",
    "Fork",
    "Join",
]


def statement(c: Cursor) -> st.Stmt:
    """A statement; a placeholder after a mistake."""
    found = c.variant(_STMT_TAGS, "a statement")
    if found is None:
        return st.End()
    tag, inner = found
    return _STMT[tag](inner)


def _unit(node: st.Stmt) -> Callable[[Cursor], st.Stmt]:
    def read(c: Cursor) -> st.Stmt:
        if c.value is not None:
            c.wrong("expected no payload")
        return node

    return read


def _set(c: Cursor) -> st.Stmt:
    parts = c.items(2, "a slot and a value")
    return st.End() if parts is None else st.Set(slot=parts[0].natural(), value=expr(parts[1]))


def _observe(c: Cursor) -> st.Stmt:
    parts = c.items(2, "an observation and a value")
    return st.End() if parts is None else st.Observe(observe=parts[0].natural(), value=expr(parts[1]))


def _hold(c: Cursor) -> st.Stmt:
    f = c.fields(("pools", "body"), ("reuse", "cache", "lease"))
    if f is None:
        return st.End()
    return st.Hold(
        pools=f["pools"].each(_hold_pool),
        reuse=f["reuse"].maybe(expr),
        body=f["body"].natural(),
        cache=f["cache"].maybe(expr),
        lease=f["lease"].maybe(_lease),
    )


def _hold_pool(c: Cursor) -> st.HoldPool:
    parts = c.items(3, "a pool, its units and its reserve")
    if parts is None:
        return st.HoldPool(pool=NO_REF, units=ZERO)
    return st.HoldPool(pool=ref(parts[0]), units=expr(parts[1]), reserve=parts[2].maybe(expr))


def _lease(c: Cursor) -> st.Lease:
    parts = c.items(2, "a pool and a duration")
    if parts is None:
        return st.Lease(pool=NO_REF, duration=ZERO)
    return st.Lease(pool=ref(parts[0]), duration=expr(parts[1]))


def _grow(c: Cursor) -> st.Stmt:
    parts = c.items(2, "a pool and an amount")
    return st.End() if parts is None else st.Grow(pool=ref(parts[0]), amount=expr(parts[1]))


def _load(c: Cursor) -> st.Stmt:
    parts = c.items(2, "a pool and an amount")
    return st.End() if parts is None else st.Load(pool=ref(parts[0]), amount=expr(parts[1]))


def _run(c: Cursor) -> st.Stmt:
    f = c.fields(("stage", "mode", "work"), ("growing", "also"))
    if f is None:
        return st.End()
    data = {
        "stage": ref(f["stage"]),
        "mode": f["mode"].one_of(("Plain", "Prefill", "Decode")),
        "work": expr(f["work"]),
        "growing": f["growing"].maybe(ref),
        "also": () if f["also"].value is None else f["also"].each(ref),
    }
    return st.Run.model_validate(data)


def _branch(c: Cursor) -> st.Stmt:
    parts = c.items(3, "a guard and two blocks")
    if parts is None:
        return st.End()
    return st.Branch(guard=expr(parts[0]), then=parts[1].natural(), other=parts[2].natural())


def _while(c: Cursor) -> st.Stmt:
    parts = c.items(2, "a guard and a block")
    return st.End() if parts is None else st.While(guard=expr(parts[0]), body=parts[1].natural())


def _choose(c: Cursor) -> st.Stmt:
    f = c.fields(("var", "count", "key"))
    if f is None:
        return st.End()
    return st.Choose(var=f["var"].natural(), count=expr(f["count"]), key=f["key"].each(expr))


_STMT: dict[str, Callable[[Cursor], st.Stmt]] = {
    "Turn": _unit(st.Turn()),
    "End": _unit(st.End()),
    "Join": _unit(st.Join()),
    "Set": _set,
    "Observe": _observe,
    "Hold": _hold,
    "Grow": _grow,
    "Drop": lambda c: st.Drop(pool=ref(c)),
    "Release": lambda c: st.Release(pool=ref(c)),
    "Load": _load,
    "Run": _run,
    "Branch": _branch,
    "Loop": lambda c: st.Loop(body=c.natural()),
    "While": _while,
    "Choose": _choose,
    "Fork": lambda c: st.Fork(body=c.natural()),
}


def pool(c: Cursor) -> pr.Pool:
    """A pool declaration (CPool)."""
    f = c.fields(
        ("name", "cap", "evict", "preempt"),
        ("index", "block", "queue", "spill", "admit_via", "reserve_held"),
    )
    if f is None:
        return pr.Pool(name="", cap=0.0)
    return pr.Pool(
        name=f["name"].string(),
        index=f["index"].maybe(Cursor.natural),
        cap=f["cap"].constant(),
        block=f["block"].maybe(Cursor.number),
        evict=_evict(f["evict"]),
        preempt=_preempt(f["preempt"]),
        queue=f["queue"].maybe(lambda x: x.each(expr)),
        spill=f["spill"].maybe(_spill),
        admit_via=f["admit_via"].maybe(Cursor.natural),
        reserve_held=bool(f["reserve_held"].maybe(Cursor.boolean)),
    )


def _evict(c: Cursor) -> pr.EvictBy | None:
    found = c.variant(("Lru", "By"), "an eviction order")
    if found is None or found[0] == "Lru":
        return None
    return pr.EvictBy(keys=found[1].each(expr))


def _preempt(c: Cursor) -> pr.PreemptBy | None:
    found = c.variant(("None", "By"), "a preemption rule")
    if found is None or found[0] == "None":
        return None
    f = found[1].fields(("keys",), ("tail",))
    if f is None:
        return None
    return pr.PreemptBy(keys=f["keys"].each(expr), tail=bool(f["tail"].maybe(Cursor.boolean)))


def _spill(c: Cursor) -> pr.Spill | None:
    f = c.fields(("to", "via", "work", "when"))
    if f is None:
        return None
    return pr.Spill(to=f["to"].natural(), via=f["via"].natural(), work=expr(f["work"]), when=expr(f["when"]))


def stage(c: Cursor) -> pr.Stage:
    """A stage declaration (CStage)."""
    f = c.fields(("name", "kind"), ("index",))
    if f is None:
        return pr.Stage(name="", kind=pr.Fifo(servers=1))
    return pr.Stage(
        name=f["name"].string(), index=f["index"].maybe(Cursor.natural), kind=_stage_kind(f["kind"])
    )


def _stage_kind(c: Cursor) -> pr.Fifo | pr.Ps | pr.Step:
    found = c.variant(("Fifo", "Ps", "Step"), "a stage kind")
    if found is None:
        return pr.Fifo(servers=1)
    tag, inner = found
    if tag == "Fifo":
        return pr.Fifo(servers=inner.natural())
    return pr.Ps(capacity=expr(inner)) if tag == "Ps" else _step(inner)


def _step(c: Cursor) -> pr.Fifo | pr.Step:
    f = c.fields(("budget", "cost", "chunk", "serve"), ("granule", "memory", "iteration"))
    if f is None:
        return pr.Fifo(servers=1)
    return pr.Step(
        budget=expr(f["budget"]),
        cost=expr(f["cost"]),
        chunk=expr(f["chunk"]),
        granule=f["granule"].maybe(expr),
        serve=_serve_order(f["serve"]),
        memory=f["memory"].maybe(Cursor.natural),
        iteration=f["iteration"].maybe(lambda x: x.each(item)),
    )


def _serve_order(c: Cursor) -> tuple[ex.Expr, ...] | None:
    found = c.variant(("By", "ExclusivePrefill"), "a serving order")
    if found is None:
        return ()
    return None if found[0] == "ExclusivePrefill" else found[1].each(expr)


def item(c: Cursor) -> pr.IterItem:
    """A statement of an iteration body (CIter)."""
    found = c.variant(("Serve", "Admit", "Branch", "Set"), "a statement of an iteration")
    if found is None:
        return pr.Serve()
    tag, inner = found
    return _ITEM[tag](inner)


def _serve(c: Cursor) -> pr.IterItem:
    f = c.fields((), ("only", "by"))
    if f is None:
        return pr.Serve()
    return pr.Serve(only=f["only"].maybe(expr), by=f["by"].maybe(lambda x: x.each(expr)))


def _admit(c: Cursor) -> pr.IterItem:
    f = c.fields((), ("only", "gate"))
    if f is None:
        return pr.Admit()
    return pr.Admit(only=f["only"].maybe(expr), gate=f["gate"].maybe(expr))


def _iter_branch(c: Cursor) -> pr.IterItem:
    parts = c.items(3, "a guard and two lists")
    if parts is None:
        return pr.Serve()
    return pr.IterBranch(guard=expr(parts[0]), then=parts[1].each(item), other=parts[2].each(item))


def _iter_set(c: Cursor) -> pr.IterItem:
    parts = c.items(2, "a register and a value")
    return pr.Serve() if parts is None else pr.IterSet(reg=parts[0].natural(), value=expr(parts[1]))


_ITEM: dict[str, Callable[[Cursor], pr.IterItem]] = {
    "Serve": _serve,
    "Admit": _admit,
    "Branch": _iter_branch,
    "Set": _iter_set,
}


def arrival(c: Cursor) -> pr.Arrival:
    """How sessions arrive."""
    found = c.variant(("Poisson", "Renewal", "Closed", "Batch", "Sessions", "None"), "an arrival")
    if found is None:
        return None
    tag, inner = found
    match tag:
        case "Poisson":
            return pr.Poisson(rate=inner.number())
        case "Renewal":
            return pr.Renewal(gap=expr(inner))
        case "Closed":
            return pr.Closed(population=inner.natural())
        case "Batch":
            return pr.Batch(size=inner.natural())
        case "Sessions":
            return pr.Sessions(sessions=inner.each(_session))
        case _:
            return None


def _session(c: Cursor) -> pr.Session:
    f = c.fields(("attrs",), ("turns",))
    if f is None:
        return pr.Session()
    return pr.Session(attrs=_preset(f["attrs"]), turns=f["turns"].maybe(lambda x: x.each(_preset)))


def _preset(c: Cursor) -> pr.Preset:
    return c.each(_pair)


def _pair(c: Cursor) -> tuple[int, float]:
    parts = c.items(2, "a slot and a value")
    return (0, 0.0) if parts is None else (parts[0].natural(), parts[1].number())


def gauge(c: Cursor) -> pr.Gauge:
    """A gauge."""
    f = c.fields(("name", "expr"))
    if f is None:
        return pr.Gauge(name="", expr=ZERO)
    return pr.Gauge(name=f["name"].string(), expr=expr(f["expr"]))


def claim(c: Cursor) -> pr.Claim:
    """A claim."""
    f = c.fields(("name", "kind", "expr"), ("given",))
    if f is None:
        return pr.Claim(name="", kind=None, expr=ZERO)
    return pr.Claim(
        name=f["name"].string(),
        given=f["given"].maybe(expr),
        kind=_claim_kind(f["kind"]),
        expr=expr(f["expr"]),
    )


def _claim_kind(c: Cursor) -> pr.EveryIteration | pr.SomeIteration | None:
    found = c.variant(("EveryIteration", "SomeIteration", "AtEnd"), "a claim kind")
    if found is None or found[0] == "AtEnd":
        return None
    stage_index = found[1].natural()
    if found[0] == "EveryIteration":
        return pr.EveryIteration(stage=stage_index)
    return pr.SomeIteration(stage=stage_index)


def register(c: Cursor) -> pr.Register:
    """A register."""
    f = c.fields(("name", "stage", "init"))
    if f is None:
        return pr.Register(name="", stage=0, init=0.0)
    return pr.Register(name=f["name"].string(), stage=f["stage"].natural(), init=f["init"].number())
