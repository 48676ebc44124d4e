"""From the symbols of a grammar rule to a node of the tree: one row per rule or alias.

A builder gets every symbol of its rule in order, tokens included, with None for an absent
optional part and repetitions spliced in. Rules that only group symbols build plain values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serq.diagnostics import Span
from serq.lang import tree as t
from serq.lang.tokens import between, number_value

Children = list[Any]
Builder = Callable[[Children], Any]


def span_of(children: Children) -> Span:
    """From the first symbol to the last one present; the first is always present."""
    last = children[-1]
    if last is None:
        last = next(c for c in reversed(children) if c is not None)
    if type(last) is tuple:
        last = last[-1]
    return between(children[0].span, last.span)


def node(make: Callable[..., t.Node], *positions: int) -> Builder:
    """A node whose fields are the symbols at these positions."""
    return lambda c: make(span_of(c), *[c[i] for i in positions])


def listing(make: Callable[..., t.Node], *positions: int, rest: int) -> Builder:
    """A node whose last field is every symbol from `rest` up to the closing brace."""
    return lambda c: make(span_of(c), *[c[i] for i in positions], tuple(c[rest:-1]))


def part(position: int) -> Builder:
    """The symbol at one position: a rule that adds only words or brackets around it."""
    return lambda c: c[position]


def listed(c: Children) -> tuple[Any, ...]:
    """`x, x, ...` without its commas."""
    return tuple(c[::2])


def name(token: Any) -> t.Name:
    """A token as a name."""
    return t.Name(token.span, token.text)


LEAVES: dict[str, Callable[[Any], t.Node]] = {
    "NAME": name,
    "STRING": lambda token: t.Text(token.span, token.text),
    "NUMBER": lambda token: t.Num(token.span, number_value(token.text), token.text),
}


# Expressions


def _parenthesised(c: Children) -> t.Expr:
    """`( e )` or `[ e ]`: the expression itself, whose span takes the brackets in."""
    expression: t.Expr = c[1]
    # The node was built a moment ago and nobody else has it yet.
    object.__setattr__(expression, "span", between(c[0].span, c[2].span))
    return expression


def _call(c: Children) -> t.Call | t.CostOf:
    function = c[0]
    arguments: tuple[t.Expr, ...] = c[2] or ()
    span = between(function.span, c[3].span)
    resources = tuple(a for a in arguments[:-1] if isinstance(a, t.Ref))
    if function.text == "cost" and 0 < len(resources) == len(arguments) - 1:
        return t.CostOf(span, resources, arguments[-1])
    return t.Call(span, function, arguments)


def _binary(c: Children) -> t.Binary:
    left, op, right = c
    return t.Binary(between(left.span, right.span), op.text, left, right)


_EXPRESSIONS: dict[str, Builder] = {
    "amount": _parenthesised,
    "keys": part(1),
    "index": _parenthesised,
    "exprs": listed,
    "refs": listed,
    "ref": lambda c: t.Ref(c[0].span if len(c) == 1 else span_of(c), c[0], c[1] if len(c) > 1 else None),
    "dotted": node(t.Ref, 0, 1, 2, 3),
    "members": lambda c: tuple(c[1::2]),
    "cond": node(t.Cond, 0, 2, 4),
    "binary": _binary,
    "unary": lambda c: t.Unary(span_of(c), c[0].text, c[1]),
    "draw": lambda c: t.Draw(span_of(c), c[1], c[3] or ()),
    "call": _call,
    "aggregate": lambda c: t.Aggregate(span_of(c), name(c[0]), c[1], c[3], c[4]),
    "input": node(t.Input, 2, 4),
}


# Statements


def _place_index(c: Children) -> tuple[t.Expr | None, tuple[t.Ref, ...]]:
    return c[0], ()


def _place_stages(c: Children) -> tuple[t.Expr | None, tuple[t.Ref, ...]]:
    return None, c[1]


def _transfer(c: Children) -> t.Transfer:
    index, stages = c[1] or (None, ())
    return t.Transfer(span_of(c), index, stages, c[2], c[4], c[6], c[7])


def _tool(c: Children) -> t.Tool:
    index, stages = c[1] or (None, ())
    return t.Tool(span_of(c), index, stages, c[2])


def _entry_call(c: Children) -> t.EntryCall:
    queue_name, index, _, verb, _, arguments, _, source, to, _ = c
    start = queue_name.span
    # The index ends one column before the dot at the latest; the name alone when there is none.
    queue = t.Ref(start if index is None else between(start, index.span), queue_name, index)
    return t.EntryCall(span_of(c), queue, verb, arguments or (), source, to)


_STATEMENTS: dict[str, Builder] = {
    "block": listing(t.Block, rest=1),
    "turn": node(t.Turn),
    "size_set": node(t.SizeSet, 1, 3),
    "cost_set": node(t.CostSet, 1, 3),
    "cost_record": node(t.CostRecord, 1, 4),
    "cost_fields": listed,
    "cost_field": node(t.CostField, 0, 2),
    "set": node(t.Set, 1, 3),
    "observe": node(t.Observe, 1, 3),
    "hold": lambda c: t.Hold(span_of(c), c[1], c[2], c[3] or (), c[4], c[5], c[6]),
    "takes": listed,
    "take": node(t.Take, 0, 1, 2),
    "reserve": part(1),
    "reuse": part(1),
    "bindings": lambda c: tuple(c[3:-1:2]),
    "binding": node(t.Binding, 0, 2),
    "cache": part(1),
    "lease": node(t.Lease, 1, 2),
    "grow": node(t.Grow, 1, 2),
    "drop": node(t.Drop, 1),
    "release": node(t.Release, 1),
    "load": node(t.Load, 1, 2),
    "run": lambda c: t.Run(span_of(c), c[1], c[2].text if c[2] else None, c[3], c[4]),
    "run_own": lambda c: t.Run(span_of(c), (), None, c[1], None),
    "engine_run": lambda c: t.EngineRun(span_of(c), c[0].text, c[1], c[2]),
    "mode": part(0),
    "growing": part(1),
    "branch": lambda c: t.Branch(span_of(c), c[1], False, c[2], c[3]),
    "branch_with": lambda c: t.Branch(span_of(c), c[2], True, c[3], c[4]),
    "else_block": part(1),
    "while_loop": node(t.While, 1, 2),
    "loop": node(t.Loop, 1),
    "fork": node(t.Fork, 1),
    "join": node(t.Join),
    "choose": node(t.Choose, 1, 3, 5),
    "end": node(t.End),
    "entry_call": _entry_call,
    "call_source": part(1),
    "delivery": node(t.Delivery, 1, 2),
    "call_statement": lambda c: t.CallStatement(span_of(c), c[0], c[2] or ()),
    "mark": node(t.Mark, 1),
    "transfer": _transfer,
    "tool": _tool,
    "place_index": _place_index,
    "place_stages": _place_stages,
}


# Pools, stages, devices


_RESOURCES: dict[str, Builder] = {
    "pool": listing(t.Pool, 1, 2, 3, rest=5),
    "owner": node(t.Owner, 1, 3),
    "cap": node(t.Cap, 1),
    "block_size": node(t.BlockSize, 1),
    "evict_lru": lambda c: t.Evict(span_of(c), None),
    "evict_by": node(t.Evict, 2),
    "preempt": lambda c: t.Preempt(span_of(c), c[1].text, (), None),
    "preempt_by": lambda c: t.Preempt(span_of(c), "by", c[2], c[3]),
    "requeue": lambda c: c[1].text,
    "queue_fifo": lambda c: t.QueueOrder(span_of(c), None),
    "queue_by": node(t.QueueOrder, 2),
    "reserve_held": node(t.ReserveHeld),
    "spill": node(t.Spill, 1, 3, 4, 6),
    "stage": node(t.Stage, 1, 2, 4),
    "fifo": node(t.Fifo, 1),
    "ps": node(t.Ps, 1),
    "delay": node(t.Delay),
    "device": listing(t.Device, 1, 2, rest=4),
    "time_resource": node(t.TimeResource, 0, 1, 3),
    "capacity": node(t.Capacity, 0, 1, 3),
}


# Engines


def _schedule(c: Children) -> t.Schedule:
    items = c[2:-1]
    lets = tuple(i for i in items if isinstance(i, t.Let))
    return t.Schedule(span_of(c), lets, tuple(i for i in items if not isinstance(i, t.Let)))


def _request(c: Children) -> t.Request:
    _, parameters, _, (*items, cache), _ = c
    at = next((i for i, item in enumerate(items) if isinstance(item, t.Admission)), None)
    if at is None:
        return t.Request(span_of(c), parameters, (), None, tuple(items), cache)
    return t.Request(span_of(c), parameters, tuple(items[:at]), items[at], tuple(items[at + 1 :]), cache)


_ENGINES: dict[str, Builder] = {
    "engine": listing(t.Engine, 1, 2, 4, rest=6),
    "tokens": node(t.Tokens, 2),
    "granule": node(t.Granule, 1),
    "state": node(t.State, 1, 3),
    "schedule": _schedule,
    "execute": node(t.Execute, 1),
    "request": _request,
    "request_body": lambda c: c,
    "advance": node(t.Advance, 2, 3, 4),
    "admit": node(t.Admit, 2, 3, 4, 5),
    "exclusive_prefill": node(t.ExclusivePrefill, 2),
    "schedule_branch": node(t.ScheduleBranch, 1, 2, 3),
    "schedule_block": listing(t.ScheduleBlock, rest=1),
    "schedule_else": part(1),
    "only": part(1),
    "by_admission": lambda c: t.Order(span_of(c), "admission", ()),
    "by_keys": lambda c: t.Order(span_of(c), "by", c[2]),
    "decode_first": lambda c: t.Order(span_of(c), "decode first", ()),
    "at_most": part(3),
    "gate": part(1),
    "taking": node(t.Taking, 1, 2),
    "admission": listing(t.Admission, rest=3),
    "request_cache": node(t.RequestCache, 1),
    "request_binding": node(t.Binding, 0, 2),
}


# Queues, workload, claims, programs


def _relation(c: Children) -> t.Relation:
    first, verb, second, latency, _, policy, _ = c
    reader, source = (first, second) if verb.text == "pull" else (second, first)
    return t.Relation(span_of(c), verb.text, reader, source, latency, policy)


def _iteration_claim(c: Children) -> t.Claim:
    _, claim_name, given, _, form, _, _, stage, prop, _ = c
    return t.Claim(span_of(c), claim_name, given, form.text, stage, prop)


def _program(c: Children) -> tuple[t.Item, ...]:
    return tuple(c)


_DECLARATIONS: dict[str, Builder] = {
    "program": _program,
    "instance": _program,
    "expression": part(0),
    "let": node(t.Let, 1, 3),
    "use": node(t.Use, 1),
    "expr_def": node(t.ExprDef, 1, 2, 4),
    "block_def": node(t.BlockDef, 1, 2, 3),
    "fn": listing(t.Fn, 1, 2, rest=4),
    "parameters": lambda c: c[1] or (),
    "names": listed,
    "settings": listing(t.Settings, rest=2),
    "setting": lambda c: t.Setting(span_of(c), name(c[0]), c[1]),
    "queue": lambda c: t.Queue(span_of(c), c[1], c[2], c[3] or (), tuple(c[5:-1])),
    "roles": lambda c: tuple(c[1::2]),
    "role": lambda c: name(c[0]),
    "serve": node(t.Serve, 1, 2),
    "nic": node(t.Nic, 1),
    "entry": lambda c: t.Entry(span_of(c), c[0], c[1] or (), c[2], c[3]),
    "latency": part(1),
    "entry_source": part(1),
    "share": node(t.Share, 1),
    "relation": _relation,
    "policy": lambda c: c[0].text,
    "gauge": node(t.Gauge, 1, 3),
    "iteration_claim": _iteration_claim,
    "end_claim": lambda c: t.Claim(span_of(c), c[1], c[2], "end", None, c[6]),
    "given": part(1),
    "workload": listing(t.Workload, rest=2),
    "arrive": lambda c: t.Arrive(span_of(c), c[1].text, c[2]),
    "arrive_none": lambda c: t.Arrive(span_of(c), "none", None),
    "trace": lambda c: t.Trace(span_of(c), c[1], c[2] is not None),
    "init_block": node(t.InitBlock, 1),
    "turn_block": node(t.TurnBlock, 1),
    "session": node(t.Session, 1),
    "hidden": node(t.Hidden, 1),
    "server": node(t.Server, 1),
}

BUILDERS: dict[str, Builder] = {**_EXPRESSIONS, **_STATEMENTS, **_RESOURCES, **_ENGINES, **_DECLARATIONS}
