"""A kernel program as text: pools, stages and blocks as the IR has them, under their names."""

from __future__ import annotations

from serq.lang import tree
from serq.lang.constants import shown
from serq.lang.kernel import (
    Kernel,
    KernelAdmit,
    KernelBranch,
    KernelItem,
    KernelPool,
    KernelServe,
    KernelStage,
    KernelStep,
)
from serq.lang.rewrite import map_children
from serq.lang.tree import Block, Expr
from serq.lang.write_expressions import expression, expressions, reference
from serq.lang.write_items import braced, written
from serq.lang.write_statements import Lines, block, clause


def kernel(node: Kernel) -> str:
    """The text of a kernel program; `turn;` is followed by the server's statements."""
    lines = [line for part in _parts(node) for line in part]
    return "".join(line + "\n" for line in lines)


def _parts(node: Kernel) -> list[Lines]:
    parts: list[Lines] = [_pool(p) for p in node.pools]
    parts += [_stage(s) for s in node.stages]
    if node.share is not None:
        parts.append(iter([f"share {node.share};"]))
    parts += [iter([f"register {name} = {shown(value)};"]) for name, value in node.registers.items()]
    items = (i for i in (node.arrival, node.trace) if i is not None)
    parts += [written(i) for i in items]
    if node.hidden:
        parts.append(iter([f"hidden {', '.join(n.text for n in node.hidden)};"]))
    parts += [block("init", node.init), block("turn", node.turn)]
    session = node.session
    if session is not None and node.server is not None:
        session = _served(session, node.server)
    parts.append(block("session", session))
    parts += [written(g) for g in (*node.gauges, *node.claims)]
    return parts


def _served(body: Block, server: Block) -> Block:
    """A block with the server's statements after every turn."""
    statements: list[tree.Statement] = []
    for statement in body.statements:
        if isinstance(statement, tree.Turn):
            statements += [statement, *server.statements]
        else:
            statements.append(
                map_children(statement, lambda n: _served(n, server) if isinstance(n, Block) else n)
            )
    return Block(body.span, tuple(statements))


def _label(name: str, count: int, indexed: bool) -> str:
    return f"{name}[{count}]" if indexed else name


def _pool(pool: KernelPool) -> Lines:
    family = pool.family
    parts = [f"cap {shown(pool.cap)};"]
    if pool.block is not None:
        parts.append(f"block {shown(pool.block)};")
    for word, keys in (("evict", pool.evict), ("preempt", pool.preempt), ("queue", pool.queue)):
        if keys is not None:
            tail = " requeue tail" if word == "preempt" and pool.tail else ""
            parts.append(f"{word} by ({expressions(keys)}){tail};")
    if pool.reserve_held:
        parts.append("reserve held;")
    if pool.spill is not None:
        ends = f"{reference(pool.spill.pool)} via {reference(pool.spill.via)}"
        work, when = expression(pool.spill.work), expression(pool.spill.when)
        parts.append(f"spill {ends} ({work}) when ({when});")
    if family.admitted_by is not None:
        parts.append(f"admitted by {family.admitted_by.name};")
    return braced(f"pool {_label(family.name, family.count, family.indexed)}", parts)


def _stage(stage: KernelStage) -> Lines:
    family, kind = stage.family, stage.kind
    label = _label(family.name, family.count, family.indexed)
    if isinstance(kind, KernelStep):
        memory = stage.engine.memory if stage.engine is not None else None
        return braced(f"stage {label} : step", _step(kind, memory.name if memory is not None else None))
    text = f"fifo({kind})" if isinstance(kind, int) else f"ps({expression(kind)})"
    return iter([f"stage {label} : {text};"])


def _step(step: KernelStep, memory: str | None) -> Lines:
    yield f"budget ({expression(step.budget)});"
    yield f"cost ({expression(step.cost)});"
    yield f"chunk ({expression(step.chunk)});"
    if step.granule is not None:
        yield f"granule ({expression(step.granule)});"
    yield "serve exclusive prefill;" if step.serve is None else f"serve by ({expressions(step.serve)});"
    if memory is not None:
        yield f"memory {memory};"
    if step.iteration is not None:
        yield from braced("iteration", (line for item in step.iteration for line in _item(item)))


def _item(item: KernelItem) -> Lines:
    match item:
        case KernelServe(only=only, by=by):
            yield f"serve{clause('only', only)}{_by(by)};"
        case KernelAdmit(only=only, gate=gate):
            yield f"admit{clause('only', only)}{clause('while', gate)};"
        case KernelBranch(guard=guard, then=then, otherwise=otherwise):
            yield from braced(f"branch ({expression(guard)})", (x for i in then for x in _item(i)))
            yield from braced("else", (x for i in otherwise for x in _item(i)))
        case _:
            yield f"set {item.register} = {expression(item.value)};"


def _by(keys: tuple[Expr, ...] | None) -> str:
    return "" if keys is None else f" by ({expressions(keys)})"
