"""The last pass, statements: blocks numbered in pre-order, the server copied after every turn (api.md §7.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from serq.ir import statements as st
from serq.ir.program import Side
from serq.ir.tables import BUILTIN_ATTRIBUTES
from serq.lang import tree
from serq.lang.attribute_types import AttributeTypes
from serq.lang.link_expressions import ExpressionLinker
from serq.lang.sourcemap import Spans
from serq.lang.tree import Block, Statement

_MODES: dict[str | None, st.Mode] = {None: "Plain", "prefill": "Prefill", "decode": "Decode"}


class StatementLinker:
    """Turns kernel statements into blocks of the IR; a statement with an unknown resource is left out."""

    def __init__(self, expressions: ExpressionLinker, types: AttributeTypes, spans: Spans) -> None:
        self.e = expressions
        self.types = types
        self.spans = spans
        self.blocks: list[list[st.Stmt]] = []
        self.sides: list[list[Side]] = []
        self.side: Side = "Workload"
        self.server: Block | None = None
        self._rules: dict[type, Callable[[Any], st.Stmt | None]] = {
            tree.Set: self._set,
            tree.Observe: self._observe,
            tree.Hold: self._hold,
            tree.Grow: self._amount,
            tree.Load: self._amount,
            tree.Drop: self._pool,
            tree.Release: self._pool,
            tree.Run: self._run,
            tree.Branch: self._branch,
            tree.While: self._while,
            tree.Loop: lambda s: st.Loop(body=self.block(s.body)),
            tree.Fork: lambda s: st.Fork(body=self.block(s.body)),
            tree.Join: lambda s: st.Join(),
            tree.End: lambda s: st.End(),
            tree.Choose: self._choose,
        }

    def block(self, block: Block | None) -> int:
        """The number of a new block; those of its bodies follow it."""
        number = len(self.blocks)
        self.blocks.append([])
        self.sides.append([])
        if block is not None:
            self.fill(number, block)
        return number

    def fill(self, number: int, block: Block) -> None:
        """Put the statements of a block where its number was reserved."""
        self._fill(number, block.statements)

    def _fill(self, number: int, statements: tuple[Statement, ...]) -> None:
        for statement in statements:
            if type(statement) is tree.Turn:
                self._turn(number, statement)
                continue
            linked = self._rules[type(statement)](statement)
            if linked is not None:
                self.add(number, linked, statement)

    def add(self, number: int, linked: st.Stmt, at: tree.Node) -> None:
        """Append a statement to a block."""
        self.spans.add(linked, at.span)
        self.blocks[number].append(linked)
        self.sides[number].append(self.side)

    def _turn(self, number: int, statement: tree.Turn) -> None:
        self.add(number, st.Turn(), statement)
        if self.server is not None and self.side == "Workload":
            self.side = "Server"
            self._fill(number, self.server.statements)
            self.side = "Workload"

    # Statements

    def _set(self, statement: tree.Set) -> st.Stmt:
        slot = self.e.attributes[statement.name.text]
        value = self.e.expr(statement.value)
        self.types.assigned(slot, value, self.side, statement)
        return st.Set(slot=slot, value=value)

    def _observe(self, statement: tree.Observe) -> st.Stmt:
        return st.Observe(observe=self.e.observes[statement.name.text], value=self.e.expr(statement.value))

    def _choose(self, statement: tree.Choose) -> st.Stmt:
        slot = self.e.attributes[statement.name.text]
        count, keys = self.e.expr(statement.count), self.e.exprs(statement.keys)
        self.types.assigned(slot, None, self.side, statement)
        return st.Choose(var=slot, count=count, key=keys)

    def _hold(self, statement: tree.Hold) -> st.Stmt | None:
        parts = []
        for take in statement.takes:
            pool = self.e.pool(take.pool)
            units, reserve = self.e.expr(take.units), self.e.maybe(take.reserve)
            if pool is not None:
                parts.append(st.HoldPool(pool=pool, units=units, reserve=reserve))
        reuse = self.e.maybe(statement.reuse)
        body = self.block(statement.body)
        cache = self.e.maybe(statement.cache)
        lease = self._lease(statement.lease)
        return st.Hold(pools=tuple(parts), reuse=reuse, body=body, cache=cache, lease=lease)

    def _lease(self, lease: tree.Lease | None) -> st.Lease | None:
        if lease is None:
            return None
        pool, duration = self.e.pool(lease.pool), self.e.expr(lease.duration)
        return None if pool is None else st.Lease(pool=pool, duration=duration)

    def _amount(self, statement: tree.Grow | tree.Load) -> st.Stmt | None:
        pool, amount = self.e.pool(statement.pool), self.e.expr(statement.amount)
        if pool is None:
            return None
        kind = st.Grow if isinstance(statement, tree.Grow) else st.Load
        return kind(pool=pool, amount=amount)

    def _pool(self, statement: tree.Drop | tree.Release) -> st.Stmt | None:
        pool = self.e.pool(statement.pool)
        if pool is None:
            return None
        return st.Drop(pool=pool) if isinstance(statement, tree.Drop) else st.Release(pool=pool)

    def _run(self, statement: tree.Run) -> st.Stmt | None:
        stages = [self.e.stage(s) for s in statement.stages]
        work = self.e.expr(statement.work)
        growing = None if statement.growing is None else self.e.pool(statement.growing)
        if any(s is None for s in stages):
            return None
        first, *also = (s for s in stages if s is not None)
        mode = _MODES[statement.mode]
        return st.Run(stage=first, mode=mode, work=work, growing=growing, also=tuple(also))

    def _branch(self, statement: tree.Branch) -> st.Stmt:
        guard = self.e.expr(statement.test)
        then = self.block(statement.then)
        return st.Branch(guard=guard, then=then, other=self.block(statement.otherwise))

    def _while(self, statement: tree.While) -> st.Stmt:
        guard = self.e.expr(statement.test)
        return st.While(guard=guard, body=self.block(statement.body))


class Names:
    """The slots of attributes and the indices of observations, in the order they are first assigned."""

    def __init__(self) -> None:
        self.attributes = {name: i for i, name in enumerate(BUILTIN_ATTRIBUTES)}
        self.observes: dict[str, int] = {}
        self.assigned: dict[str, tree.Name] = {}
        self.observed: dict[str, tree.Name] = {}

    def read(self, block: Block | None, server: Block | None) -> None:
        """Number the names of a block, the server's in place of a turn."""
        if block is None:
            return
        stack: list[tree.Node] = [block]
        while stack:
            node = stack.pop()
            match node:
                case tree.Set(name=name) | tree.Choose(name=name):
                    self.attributes.setdefault(name.text, len(self.attributes))
                    self.assigned.setdefault(name.text, name)
                case tree.Observe(name=name):
                    self.observes.setdefault(name.text, len(self.observes))
                    self.observed.setdefault(name.text, name)
                case tree.Turn() if server is not None:
                    # The next turns repeat the same names.
                    stack.extend(reversed(server.statements))
                    server = None
                case _:
                    stack.extend(reversed(_blocks(node)))


def _blocks(node: tree.Node) -> list[tree.Node]:
    match node:
        case Block(statements=statements):
            return list(cast(tuple[tree.Node, ...], statements))
        case tree.Branch(then=then, otherwise=otherwise):
            return [then] if otherwise is None else [then, otherwise]
        case tree.Hold(body=body) | tree.While(body=body) | tree.Loop(body=body) | tree.Fork(body=body):
            return [body]
        case _:
            return []
