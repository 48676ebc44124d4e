"""Declarations, workloads and whole programs as text; what is written parses to the same tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from serq.lang import tree
from serq.lang.tree import Expr
from serq.lang.write_expressions import expression, expressions, reference
from serq.lang.write_statements import STEP, Lines, block, clause, statements, takes


def program(node: tree.Program) -> str:
    """A program or a library as text."""
    lines = [line for item in node.prelude for line in written(item)]
    if node.main is not None:
        lines += written(node.main)
    lines += [line for item in node.rest for line in written(item)]
    return "".join(line + "\n" for line in lines)


def written(item: tree.Node) -> Lines:
    """The lines of an item, a member or a clause."""
    return _RULES[type(item)](item)


def braced(head: str, parts: Iterable[str]) -> Lines:
    """`head { part part }`, a line per part."""
    inner = list(parts)
    if not inner:
        yield f"{head} {{ }}"
        return
    yield f"{head} {{"
    yield from (STEP + line for line in inner)
    yield "}"


def _items(nodes: Iterable[tree.Node]) -> Lines:
    for node in nodes:
        yield from written(node)


def _line(text: str) -> Lines:
    yield text + ";"


def _size(size: Expr | None) -> str:
    return "" if size is None else f"[{expression(size)}]"


def _names(names: Iterable[tree.Name]) -> str:
    return ", ".join(n.text for n in names)


def kind(node: tree.Kind) -> str:
    """`fifo(c)`, `ps(e)` or `delay`."""
    match node:
        case tree.Fifo(servers=servers):
            return "fifo" if servers is None else f"fifo({expression(servers)})"
        case tree.Ps(capacity=capacity):
            return f"ps({expression(capacity)})"
        case tree.Delay():
            return "delay"


def _keys(word: str, keys: tuple[Expr, ...] | None, without: str) -> Lines:
    return _line(f"{word} {without}" if keys is None else f"{word} by ({expressions(keys)})")


def _preempt(node: tree.Preempt) -> Lines:
    if node.policy != "by":
        return _line(f"preempt {node.policy}")
    tail = f" requeue {node.requeue}" if node.requeue is not None else ""
    return _line(f"preempt by ({expressions(node.keys)}){tail}")


def _spill(node: tree.Spill) -> Lines:
    ends = f"{reference(node.pool)} via {reference(node.via)}"
    return _line(f"spill {ends} ({expression(node.work)}) when ({expression(node.when)})")


def _pool(node: tree.Pool) -> Lines:
    owner = ""
    if node.owner is not None:
        owner = f" on {node.owner.name.text}"
        owner += f".{node.owner.device.text}" if node.owner.device is not None else ""
    return braced(f"pool {node.name.text}{_size(node.size)}{owner}", _items(node.options))


def _time(node: tree.TimeResource) -> Lines:
    return _line(f"{node.name.text} ({_names(node.parameters)}) = {expression(node.body)}")


def _engine(node: tree.Engine) -> Lines:
    name = f" {node.name.text}" if node.name is not None else ""
    return braced(f"engine{name}{_size(node.size)} on {node.device.text}", _items(node.items))


def _request(node: tree.Request) -> Lines:
    inner = list(statements(node.before))
    if node.admission is not None:
        bound = [f"{b.name.text} = {expression(b.value)};" for b in node.admission.bindings]
        inner += braced("at admission", bound)
    inner += statements(node.body)
    if node.cache is not None:
        inner.append(f"cache ({expression(node.cache.value)});")
    return braced(f"request ({_names(node.parameters)})", inner)


# Schedules


def _order(order: tree.Order | None) -> str:
    if order is None:
        return ""
    return f" by ({expressions(order.keys)})" if order.kind == "by" else f" {order.kind}"


def _advance(node: tree.Advance) -> Lines:
    clauses = clause("only", node.only) + _order(node.order) + clause("each at most", node.at_most)
    return _line(f"advance running{clauses}")


def _admit(node: tree.Admit) -> Lines:
    text = f"admit waiting{clause('only', node.only)}{clause('while', node.gate)}"
    text += clause("each at most", node.at_most)
    if node.taking is not None:
        text += f" taking {takes(node.taking.takes)}{clause('reuse', node.taking.reuse)}"
    return _line(text)


def _schedule_branch(node: tree.ScheduleBranch) -> Lines:
    lines = list(braced(f"branch ({expression(node.test)})", _items(node.then.statements)))
    if node.otherwise is None:
        yield from lines
        return
    rest = list(braced("else", _items(node.otherwise.statements)))
    yield from lines[:-1]
    yield f"{lines[-1]} {rest[0]}"
    yield from rest[1:]


# Queues and workloads


def _entry(node: tree.Entry) -> Lines:
    head = node.verb.text
    if node.parameters:
        head += f" ({_names(node.parameters)})"
    if node.source is not None:
        head += f" from {node.source.text}"
    return block(head, node.body)


def _queue(node: tree.Queue) -> Lines:
    roles = f" : {_names(node.roles)}" if node.roles else ""
    return braced(f"queue {node.name.text}{_size(node.size)}{roles}", _items(node.members))


def _relation(node: tree.Relation) -> Lines:
    ends = (node.reader, node.source) if node.kind == "pull" else (node.source, node.reader)
    wait = "" if node.latency is None else f" latency {expression(node.latency)}"
    return _line(f"{ends[0].text} {node.kind} {ends[1].text}{wait} share {node.share}")


def _serve(node: tree.Serve) -> Lines:
    wait = "" if node.latency is None else f" latency {expression(node.latency)}"
    return _line(f"serve {kind(node.kind)}{wait}")


def _arrive(node: tree.Arrive) -> Lines:
    return _line(
        f"arrive {node.law}" if node.value is None else f"arrive {node.law}({expression(node.value)})"
    )


def _claim(node: tree.Claim) -> Lines:
    head = f"claim {node.name.text}{clause('given', node.given)} : "
    if node.stage is None:
        return _line(f"{head}at end ({expression(node.property)})")
    return _line(f"{head}{node.form} iteration of {reference(node.stage)} ({expression(node.property)})")


def _expr_def(node: tree.ExprDef) -> Lines:
    yield f"def {node.name.text} ({_names(node.parameters)}) {{ {expression(node.body)} }}"


def _fn(node: tree.Fn) -> Lines:
    return braced(f"fn {node.name.text} ({_names(node.parameters)})".replace(" ()", "()"), _items(node.items))


_RULES: dict[type, Callable[[Any], Lines]] = {
    tree.Let: lambda n: _line(f"let {n.name.text} = {expression(n.value)}"),
    tree.ExprDef: _expr_def,
    tree.BlockDef: lambda n: block(f"def {n.name.text} ({_names(n.parameters)})", n.body),
    tree.Use: lambda n: _line(f'use "{n.path.value}"'),
    tree.Fn: _fn,
    tree.Settings: lambda n: braced("run", (f"{s.name.text} {expression(s.value)};" for s in n.settings)),
    tree.Pool: _pool,
    tree.Cap: lambda n: _line(f"cap {expression(n.value)}"),
    tree.BlockSize: lambda n: _line(f"block {expression(n.value)}"),
    tree.Evict: lambda n: _keys("evict", n.keys, "lru"),
    tree.QueueOrder: lambda n: _keys("queue", n.keys, "fifo"),
    tree.Preempt: _preempt,
    tree.ReserveHeld: lambda n: _line("reserve held"),
    tree.Spill: _spill,
    tree.Stage: lambda n: _line(f"stage {n.name.text}{_size(n.size)} : {kind(n.kind)}"),
    tree.Device: lambda n: braced(f"device {n.name.text}{_size(n.size)}", _items(n.resources)),
    tree.TimeResource: _time,
    tree.Capacity: lambda n: _line(f"{n.name.text}{_size(n.size)} cap {expression(n.cap)}"),
    tree.Engine: _engine,
    tree.Tokens: lambda n: _line(f"tokens cap {expression(n.cap)}"),
    tree.Granule: lambda n: _line(f"granule {expression(n.value)}"),
    tree.State: lambda n: _line(f"state {n.name.text} = {expression(n.value)}"),
    tree.Schedule: lambda n: braced("schedule", _items((*n.lets, *n.statements))),
    tree.Execute: lambda n: _line(f"execute ({expression(n.value)})"),
    tree.Request: _request,
    tree.Advance: _advance,
    tree.Admit: _admit,
    tree.ExclusivePrefill: lambda n: _line(f"exclusive prefill{clause('each at most', n.at_most)}"),
    tree.ScheduleBranch: _schedule_branch,
    tree.Set: lambda n: statements((n,)),
    tree.Queue: _queue,
    tree.Serve: _serve,
    tree.Nic: lambda n: _line(f"nic {kind(n.kind)}"),
    tree.Entry: _entry,
    tree.Relation: _relation,
    tree.Share: lambda n: _line(f"share {n.policy}"),
    tree.Gauge: lambda n: _line(f"gauge {n.name.text} = {expression(n.value)}"),
    tree.Claim: _claim,
    tree.Workload: lambda n: braced("workload", _items(n.items)),
    tree.Arrive: _arrive,
    tree.Trace: lambda n: _line(f'trace "{n.path.value}"{" ordered" if n.ordered else ""}'),
    tree.InitBlock: lambda n: block("init", n.body),
    tree.TurnBlock: lambda n: block("turn", n.body),
    tree.Session: lambda n: block("session", n.body),
    tree.Hidden: lambda n: _line(f"hidden {_names(n.names)}"),
    tree.Server: lambda n: block("server", n.body),
}
