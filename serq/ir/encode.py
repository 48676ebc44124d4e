"""A program to JSON (004, *Format*; api.md §7.13): externally tagged, in the order of the reference."""

from __future__ import annotations

import json
import math
from typing import Any

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.depth import deep_recursion

Json = Any


def number(value: float) -> Json:
    """A constant: infinities are strings, as JSON has none."""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(value)


def target(t: ex.CostTarget) -> Json:
    """A cost target."""
    match t:
        case ex.PoolTarget() | ex.StageTarget():
            return {t.tag: {"base": t.base, "count": t.count}}
        case ex.JointTarget(targets=targets):
            return {"Joint": [target(x) for x in targets]}
    raise TypeError(f"not a cost target: {t!r}")


def ref(r: ex.CRef) -> Json:
    """A pool or stage reference."""
    return {"base": r.base, "count": r.count, "index": maybe(r.index)}


def maybe(e: ex.Expr | None) -> Json:
    """An expression or null."""
    return None if e is None else expr(e)


def expr(e: ex.Expr) -> Json:
    """An expression."""
    match e:
        case ex.Num(value=v):
            return {"Num": number(v)}
        case ex.Attr(slot=slot):
            return {"Attr": slot}
        case ex.Ctx(var=var):
            return {"Ctx": var}
        case ex.Reg(index=index):
            return {"Reg": index}
        case ex.Sample(dist=dist, args=args):
            return {"Sample": [dist, [expr(a) for a in args]]}
        case ex.Call(fun=fun, args=args):
            return {"Call": [fun, [_argument(a) for a in args]]}
        case ex.Unary(op=op, arg=arg):
            return {"Unary": [op, expr(arg)]}
        case ex.Binary(op=op, left=left, right=right):
            return {"Binary": [op, expr(left), expr(right)]}
        case ex.Cond(test=test, then=then, other=other):
            return {"Cond": [expr(test), expr(then), expr(other)]}
        case ex.Agg(fun=fun, observe=observe):
            return {"Agg": [fun, observe]}
        case ex.Cost(target=t, arg=arg):
            return {"Cost": [target(t), expr(arg)]}
    raise TypeError(f"not an expression: {e!r}")


def _argument(a: ex.Expr | ex.PoolArg | ex.StageArg) -> Json:
    match a:
        case ex.PoolArg(ref=r):
            return {"Pool": ref(r)}
        case ex.StageArg(ref=r):
            return {"Stage": ref(r)}
        case _:
            return {"Expr": expr(a)}


def statement(s: st.Stmt) -> Json:
    """A statement."""
    match s:
        case st.Turn() | st.End() | st.Join():
            return type(s).__name__
        case st.Set(slot=slot, value=value):
            return {"Set": [slot, expr(value)]}
        case st.Observe(observe=observe, value=value):
            return {"Observe": [observe, expr(value)]}
        case st.Hold():
            return {"Hold": _hold(s)}
        case st.Grow(pool=pool, amount=amount):
            return {"Grow": [ref(pool), expr(amount)]}
        case st.Load(pool=pool, amount=amount):
            return {"Load": [ref(pool), expr(amount)]}
        case st.Drop(pool=pool):
            return {"Drop": ref(pool)}
        case st.Release(pool=pool):
            return {"Release": ref(pool)}
        case st.Run():
            return {"Run": _run(s)}
        case st.Branch(guard=guard, then=then, other=other):
            return {"Branch": [expr(guard), then, other]}
        case st.Loop(body=body):
            return {"Loop": body}
        case st.While(guard=guard, body=body):
            return {"While": [expr(guard), body]}
        case st.Choose(var=var, count=count, key=key):
            return {"Choose": {"var": var, "count": expr(count), "key": [expr(k) for k in key]}}
        case st.Fork(body=body):
            return {"Fork": body}
    raise TypeError(f"not a statement: {s!r}")


def _hold(s: st.Hold) -> Json:
    return {
        "pools": [[ref(p.pool), expr(p.units), maybe(p.reserve)] for p in s.pools],
        "reuse": maybe(s.reuse),
        "body": s.body,
        "cache": maybe(s.cache),
        "lease": None if s.lease is None else [ref(s.lease.pool), expr(s.lease.duration)],
    }


def _run(s: st.Run) -> Json:
    data = {
        "stage": ref(s.stage),
        "mode": s.mode,
        "work": expr(s.work),
        "growing": None if s.growing is None else ref(s.growing),
    }
    if s.also:
        data["also"] = [ref(r) for r in s.also]
    return data


def _pool(p: pr.Pool) -> Json:
    data: dict[str, Json] = {"name": p.name}
    if p.index is not None:
        data["index"] = p.index
    data["cap"] = number(p.cap)
    data["block"] = p.block
    data["evict"] = "Lru" if p.evict is None else {"By": [expr(k) for k in p.evict.keys]}
    data["preempt"] = "None" if p.preempt is None else {"By": _preempt(p.preempt)}
    data["queue"] = None if p.queue is None else [expr(k) for k in p.queue]
    data["spill"] = None if p.spill is None else _spill(p.spill)
    data["admit_via"] = p.admit_via
    if p.reserve_held:
        data["reserve_held"] = True
    return data


def _preempt(p: pr.PreemptBy) -> Json:
    data: dict[str, Json] = {"keys": [expr(k) for k in p.keys]}
    if p.tail:
        data["tail"] = True
    return data


def _spill(s: pr.Spill) -> Json:
    return {"to": s.to, "via": s.via, "work": expr(s.work), "when": expr(s.when)}


def _stage(s: pr.Stage) -> Json:
    data: dict[str, Json] = {"name": s.name}
    if s.index is not None:
        data["index"] = s.index
    match s.kind:
        case pr.Fifo(servers=servers):
            data["kind"] = {"Fifo": servers}
        case pr.Ps(capacity=capacity):
            data["kind"] = {"Ps": expr(capacity)}
        case pr.Step():
            data["kind"] = {"Step": _step(s.kind)}
    return data


def _step(s: pr.Step) -> Json:
    data: dict[str, Json] = {"budget": expr(s.budget), "cost": expr(s.cost), "chunk": expr(s.chunk)}
    if s.granule is not None:
        data["granule"] = expr(s.granule)
    data["serve"] = "ExclusivePrefill" if s.serve is None else {"By": [expr(k) for k in s.serve]}
    data["memory"] = s.memory
    if s.iteration is not None:
        data["iteration"] = [item(i) for i in s.iteration]
    return data


def item(i: pr.IterItem) -> Json:
    """A statement of an iteration body."""
    match i:
        case pr.Serve(only=only, by=by):
            data: dict[str, Json] = {}
            if only is not None:
                data["only"] = expr(only)
            if by is not None:
                data["by"] = [expr(k) for k in by]
            return {"Serve": data}
        case pr.Admit(only=only, gate=gate):
            data = {}
            if only is not None:
                data["only"] = expr(only)
            if gate is not None:
                data["gate"] = expr(gate)
            return {"Admit": data}
        case pr.IterBranch(guard=guard, then=then, other=other):
            return {"Branch": [expr(guard), [item(x) for x in then], [item(x) for x in other]]}
        case pr.IterSet(reg=reg, value=value):
            return {"Set": [reg, expr(value)]}
    raise TypeError(f"not an iteration statement: {i!r}")


def _arrival(a: pr.Arrival) -> Json:
    match a:
        case None:
            return "None"
        case pr.Poisson(rate=rate):
            return {"Poisson": float(rate)}
        case pr.Renewal(gap=gap):
            return {"Renewal": expr(gap)}
        case pr.Closed(population=n):
            return {"Closed": n}
        case pr.Batch(size=n):
            return {"Batch": n}
        case pr.Sessions(sessions=sessions):
            return {"Sessions": [_session(s) for s in sessions]}


def _session(s: pr.Session) -> Json:
    data: dict[str, Json] = {"attrs": _preset(s.attrs)}
    if s.turns is not None:
        data["turns"] = [_preset(t) for t in s.turns]
    return data


def _preset(p: pr.Preset) -> Json:
    return [[slot, float(value)] for slot, value in p]


def _claim(c: pr.Claim) -> Json:
    data: dict[str, Json] = {"name": c.name}
    if c.given is not None:
        data["given"] = expr(c.given)
    match c.kind:
        case None:
            data["kind"] = "AtEnd"
        case pr.EveryIteration(stage=stage):
            data["kind"] = {"EveryIteration": stage}
        case pr.SomeIteration(stage=stage):
            data["kind"] = {"SomeIteration": stage}
    data["expr"] = expr(c.expr)
    return data


SLOTS = ("cached", "serial", "turn", "new", "out", "think", "more", "forced", "computed")


def program_data(p: pr.Program) -> dict[str, Json]:
    """A program as plain JSON data."""
    with deep_recursion():
        return _program(p)


def _program(p: pr.Program) -> dict[str, Json]:
    data: dict[str, Json] = {
        "version": pr.IR_VERSION,
        "attrs": list(p.attrs),
        "attr_types": [t if isinstance(t, str) else {"Cost": target(t)} for t in p.attr_types],
        "sides": [list(s) for s in p.sides],
        "observes": list(p.observes),
        "pools": [_pool(x) for x in p.pools],
        "stages": [_stage(x) for x in p.stages],
        "arrival": _arrival(p.arrival),
        "trace": p.trace,
        "trace_ordered": p.trace_ordered,
        "init": p.init,
        "turn": p.turn,
        "session": p.session,
        "blocks": [[statement(s) for s in block] for block in p.blocks],
        "horizon": float(p.horizon),
        "warmup": float(p.warmup),
        "seed": p.seed,
    }
    if p.arrivals is not None:
        data["arrivals"] = p.arrivals
    for name in SLOTS:
        data[f"slot_{name}"] = getattr(p, f"slot_{name}")
    data["hidden"] = list(p.hidden)
    if p.share is not None:
        data["share"] = p.share
    if p.gauges:
        data["gauges"] = [{"name": g.name, "expr": expr(g.expr)} for g in p.gauges]
    if p.claims:
        data["claims"] = [_claim(c) for c in p.claims]
    if p.registers:
        data["registers"] = [{"name": r.name, "stage": r.stage, "init": float(r.init)} for r in p.registers]
    return data


def dumps(p: pr.Program) -> str:
    """Canonical JSON text of a program, ending in a newline: short values on one line, the rest indented."""
    with deep_recursion():
        return _layout(_program(p), 0) + "\n"


_WIDTH = 100
_LEVELS = 12


def _layout(value: Json, level: int) -> str:
    compact = json.dumps(value, ensure_ascii=False, allow_nan=True)
    if level >= _LEVELS or len(compact) + 2 * level <= _WIDTH or not isinstance(value, dict | list):
        return compact
    pad, close = "  " * (level + 1), "  " * level
    if isinstance(value, dict):
        rows = [f"{pad}{json.dumps(k)}: {_layout(v, level + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{close}}}"
    return "[\n" + ",\n".join(pad + _layout(v, level + 1) for v in value) + f"\n{close}]"
