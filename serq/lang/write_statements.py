"""Statements as text, one to a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from serq.lang import tree
from serq.lang.tree import Block, Expr, Ref, Statement
from serq.lang.write_expressions import expression, expressions, reference

Lines = Iterator[str]
STEP = "  "


def statements(items: tuple[Statement, ...], indent: str = "") -> Lines:
    """The lines of some statements."""
    for item in items:
        lines = _RULES[type(item)](item)
        yield from (indent + line for line in lines)


def block(head: str, body: Block | None, tail: str = "") -> Lines:
    """`head { ... } tail`, a line per statement."""
    inner = body.statements if body is not None else ()
    if not inner:
        yield f"{head} {{ }}{tail}"
        return
    yield f"{head} {{"
    yield from statements(inner, STEP)
    yield f"}}{tail}"


def _line(text: str) -> Lines:
    yield text + ";"


def _assign(word: str) -> Callable[[Any], Lines]:
    return lambda s: _line(f"{word} {s.name.text} = {expression(s.value)}")


def _record(s: tree.CostRecord) -> Lines:
    fields = ", ".join(f"{reference(f.resource)} : {expression(f.value)}" for f in s.fields)
    return _line(f"Cost {s.name.text} = {{ {fields} }}")


def takes(items: tuple[tree.Take, ...]) -> str:
    """`pool (units) reserve (units), ...`."""
    written = []
    for take in items:
        text = f"{reference(take.pool)} ({expression(take.units)})"
        written.append(text + clause("reserve", take.reserve))
    return ", ".join(written)


def clause(word: str, value: Expr | None) -> str:
    """` word (value)`, nothing without a value."""
    return "" if value is None else f" {word} ({expression(value)})"


def _hold(s: tree.Hold) -> Lines:
    head = f"hold {takes(s.takes)}{clause('reuse', s.reuse)}"
    if s.bindings:
        bound = ", ".join(f"{b.name.text} = {expression(b.value)}" for b in s.bindings)
        head += f" at admission ({bound})"
    tail = clause("cache", s.cache)
    if s.lease is not None:
        tail += f" lease {reference(s.lease.pool)} ({expression(s.lease.duration)})"
    return block(head, s.body, tail)


def _growing(ref: Ref | None) -> str:
    return "" if ref is None else f" growing {reference(ref)}"


def _run(s: tree.Run) -> Lines:
    stages = ", ".join(reference(r) for r in s.stages)
    words = ["run", *([stages] if stages else []), *([s.mode] if s.mode else [])]
    return _line(f"{' '.join(words)} ({expression(s.work)}){_growing(s.growing)}")


def _branch(s: tree.Branch) -> Lines:
    head = f"branch{' with' if s.drawn else ''} ({expression(s.test)})"
    if s.otherwise is None:
        yield from block(head, s.then)
        return
    lines = list(block(head, s.then))
    rest = list(block("else", s.otherwise))
    yield from lines[:-1]
    yield f"{lines[-1]} {rest[0]}"
    yield from rest[1:]


def _entry_call(s: tree.EntryCall) -> Lines:
    text = f"{reference(s.queue)}.{s.verb.text} ({expressions(s.arguments)})"
    if s.source is not None:
        text += f" from {reference(s.source)}"
    if s.to is not None:
        text += f" to {reference(s.to.pool)} ({expression(s.to.amount)})"
    return _line(text)


def _place(s: tree.Tool | tree.Transfer) -> str:
    if s.index is not None:
        return f"[{expression(s.index)}]"
    if s.stages:
        return f" on {', '.join(reference(r) for r in s.stages)}"
    return ""


def _transfer(s: tree.Transfer) -> Lines:
    ends = f"from {reference(s.source)} to {reference(s.target)} ({expression(s.amount)})"
    return _line(f"transfer{_place(s)} ({expression(s.work)}) {ends}")


_RULES: dict[type, Callable[[Any], Lines]] = {
    tree.Turn: lambda s: _line("turn"),
    tree.End: lambda s: _line("end"),
    tree.Join: lambda s: _line("join"),
    tree.Set: _assign("set"),
    tree.SizeSet: _assign("Size"),
    tree.CostSet: _assign("Cost"),
    tree.CostRecord: _record,
    tree.Observe: _assign("observe"),
    tree.Hold: _hold,
    tree.Grow: lambda s: _line(f"grow {reference(s.pool)} ({expression(s.amount)})"),
    tree.Load: lambda s: _line(f"load {reference(s.pool)} ({expression(s.amount)})"),
    tree.Drop: lambda s: _line(f"drop {reference(s.pool)}"),
    tree.Release: lambda s: _line(f"release {reference(s.pool)}"),
    tree.Run: _run,
    tree.EngineRun: lambda s: _line(f"{s.mode} ({expression(s.amount)}){_growing(s.growing)}"),
    tree.Branch: _branch,
    tree.While: lambda s: block(f"while ({expression(s.test)})", s.body),
    tree.Loop: lambda s: block("loop", s.body),
    tree.Fork: lambda s: block("fork", s.body),
    tree.Choose: lambda s: _line(f"choose {s.name.text} in {expression(s.count)} by ({expressions(s.keys)})"),
    tree.EntryCall: _entry_call,
    tree.CallStatement: lambda s: _line(f"{s.function.text} ({expressions(s.arguments)})"),
    tree.Mark: lambda s: _line(f"mark {s.name.text}"),
    tree.Transfer: _transfer,
    tree.Tool: lambda s: _line(f"tool{_place(s)} ({expression(s.work)})"),
}
