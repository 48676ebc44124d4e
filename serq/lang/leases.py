"""Which pool a queue leases to its reader: one that every way through every entry leases (002, *Queues*)."""

from __future__ import annotations

from serq.lang import tree
from serq.lang.model import Model, Queue
from serq.lang.tree import Block, Statement


def resolve_leases(model: Model) -> None:
    """Check every `from` of an entry and find the pool it takes (SQ773, SQ774)."""
    for queue in model.queues.values():
        for entry in queue.entries:
            if entry.node.source is not None:
                _source(model, queue, entry.node, entry.node.source)


def _source(model: Model, reader: Queue, entry: tree.Entry, name: tree.Name) -> None:
    findings = model.findings
    source = model.queues.get(name.text)
    if source is reader:
        message = f"`{reader.name}` takes the KV from another queue, not from itself"
        findings.error("SQ773", message, name)
    elif source is None or source.order > reader.order:
        message = f"no queue `{name.text}` is declared above"
        findings.error("SQ773", message, name, hint="`from` names the queue whose entry leased the KV")
    else:
        _check_relation(model, reader, source, name)
        _leased(model, source, name)


def _check_relation(model: Model, reader: Queue, source: Queue, name: tree.Name) -> None:
    pulls = reader.pulls
    if pulls is not None and pulls.source is not source:
        message = f"`{reader.name}` reads from `{pulls.source.name}`, and this entry takes the KV from `{source.name}`"
        note = f"the relation is declared at {model.findings.where(pulls.node)}"
        model.findings.error("SQ792", message, name, note=note)


def _leased(model: Model, source: Queue, name: tree.Name) -> None:
    if source.leased is not None:
        return
    pools: dict[str, tree.Entry] = {}
    for entry in source.entries:
        pool = _through(entry.node.body.statements)
        if pool is None:
            message = (
                f"`{entry.label}` leases nothing on some way through it, so `{source.name}` has no KV to take"
            )
            hint = "lease one pool on every way: `... } lease kv (inf)`"
            model.findings.error("SQ774", message, name, hint=hint)
            return
        pools.setdefault(pool, entry.node)
    if len(pools) != 1:
        names = " and ".join(f"`{p}`" for p in pools)
        message = (
            f"the entries of `{source.name}` lease {names}" if pools else f"`{source.name}` has no entries"
        )
        hint = "a `from` takes one pool, which every entry leases"
        model.findings.error("SQ774", message, name, hint=hint)
        return
    source.leased = source.pools.get(next(iter(pools)))


def _through(statements: tuple[Statement, ...]) -> str | None:
    """The pool leased on every way through some statements."""
    for statement in statements:
        pool = _leases(statement)
        if pool is not None:
            return pool
    return None


def _leases(statement: Statement) -> str | None:
    match statement:
        case tree.Hold(lease=lease, body=body):
            return lease.pool.name.text if lease is not None else _through(body.statements)
        case tree.Branch(then=then, otherwise=Block() as otherwise):
            both = _through(then.statements), _through(otherwise.statements)
            return both[0] if None not in both else None
        case _:
            return None
