"""The third pass, statements: every form rewritten to the kernel statements it stands for (api.md §7.6-§7.10).

The result names pools, stages and attributes as the IR does, and holds only `set`, `observe`, `hold`,
`grow`, `drop`, `release`, `load`, `run`, `branch`, `while`, `loop`, `choose`, `fork`, `join`, `turn`, `end`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from serq.diagnostics import Span
from serq.lang import tree
from serq.lang.calls import Calls
from serq.lang.context import Context
from serq.lang.costs import lower_record
from serq.lang.findings import Findings
from serq.lang.holds import lower_hold
from serq.lang.model import Model
from serq.lang.serving import Serving
from serq.lang.tree import Block, Name, Ref, Statement

Statements = tuple[Statement, ...]


class Lowering:
    """Rewrites statements; what one statement stands for may be several."""

    def __init__(self, model: Model, definitions: Mapping[str, object]) -> None:
        self.model = model
        self.definitions = definitions
        self.findings = model.findings
        self.calls = Calls(self)
        self.serving = Serving(self)
        # What `Size` and `Cost` statements declare, by attribute and place.
        self.declared: dict[tuple[str, Span], str] = {}
        self.records: dict[str, tuple[tuple[str, ...], tree.Node]] = {}
        self._rules: dict[type, Callable[[Any, Context], Statements]] = {
            tree.Turn: self._turn,
            tree.SizeSet: self._size,
            tree.CostSet: self._cost,
            tree.CostRecord: self._record,
            tree.Set: self._set,
            tree.Observe: self._observe,
            tree.Hold: lambda s, c: lower_hold(self, s, c),
            tree.Grow: self._amount,
            tree.Load: self._amount,
            tree.Drop: self._pool,
            tree.Release: self._pool,
            tree.Run: self._run,
            tree.EngineRun: self._engine_run,
            tree.Branch: self._branch,
            tree.While: self._while,
            tree.Loop: self._loop,
            tree.Fork: self._fork,
            tree.Join: lambda s, c: (s,),
            tree.Choose: self._choose,
            tree.End: self._end,
            tree.EntryCall: self.calls.entry,
            tree.CallStatement: self.calls.request,
            tree.Mark: self._mark,
            tree.Transfer: self.serving.transfer,
            tree.Tool: self.serving.tool,
        }

    def block(self, block: Block, context: Context) -> Block:
        """A block of kernel statements."""
        statements = self.statements(block.statements, context)
        same = len(statements) == len(block.statements) and all(
            a is b for a, b in zip(statements, block.statements, strict=True)
        )
        return block if same else Block(block.span, statements)

    def statements(self, statements: Statements, context: Context) -> Statements:
        """The kernel statements some statements stand for."""
        lowered: list[Statement] = []
        for statement in statements:
            lowered.extend(self._rules[type(statement)](statement, context))
        return tuple(lowered)

    # Assignments

    def _turn(self, statement: tree.Turn, context: Context) -> Statements:
        if context.side != "session":
            message = "`turn;` stands in the session"
            hint = "the next turn is the client's decision: `session { turn; ... }`"
            self.findings.error("SQ211", message, statement, hint=hint)
            return ()
        return (statement,)

    def _set(self, statement: tree.Set, context: Context) -> Statements:
        scope = context.scope
        name, value = scope.attribute(statement.name), scope.expr(statement.value)
        if name is statement.name and value is statement.value:
            return (statement,)
        return (tree.Set(statement.span, name, value),)

    def _size(self, statement: tree.SizeSet, context: Context) -> Statements:
        if context.in_server:
            message = "`Size` stands in the workload"
            self.findings.error(
                "SQ211", message, statement, hint="in the server, `set x = e;` computes a value"
            )
            return ()
        name = context.scope.attribute(statement.name)
        self.declared[name.text, statement.span] = "Size"
        return (tree.Set(statement.span, name, context.scope.expr(statement.value)),)

    def _cost(self, statement: tree.CostSet, context: Context) -> Statements:
        name = context.scope.attribute(statement.name)
        self.declared[name.text, statement.span] = "Cost"
        return (tree.Set(statement.span, name, context.scope.expr(statement.value)),)

    def _record(self, statement: tree.CostRecord, context: Context) -> Statements:
        return lower_record(self, statement, context)

    def _observe(self, statement: tree.Observe, context: Context) -> Statements:
        value = context.scope.expr(statement.value)
        if value is statement.value:
            return (statement,)
        return (tree.Observe(statement.span, statement.name, value),)

    def _choose(self, statement: tree.Choose, context: Context) -> Statements:
        scope = context.scope
        name, count = scope.attribute(statement.name), scope.expr(statement.count)
        keys = tuple(scope.expr(k) for k in statement.keys)
        return (tree.Choose(statement.span, name, count, keys),)

    def _mark(self, statement: tree.Mark, context: Context) -> Statements:
        if context.entry is not None:
            owner = context.entry.queue.name
        elif context.engine is not None:
            owner = context.engine.name
        else:
            message = "`mark` stands in a queue's entry or an engine's request"
            self.findings.error("SQ211", message, statement, hint="elsewhere `set x = now;` keeps a moment")
            return ()
        span = statement.span
        name = Name(statement.name.span, f"{owner}.{statement.name.text}")
        return (tree.Set(span, name, Ref(span, Name(span, "now"))),)

    # Pools

    def pool(self, ref: Ref, context: Context, verb: str) -> Ref:
        """A pool a statement acts on; a queue's own are its entries' alone (SQ776)."""
        lowered = context.scope.resource(ref)
        if context.entry is None and ref.members and lowered.name.text in self.model.pools:
            queue = ref.name.text
            if queue in self.model.queues:
                message = (
                    f"`{verb} {lowered.name.text}`: the pool is `{queue}`'s, and only its entries act on it"
                )
                self.findings.error("SQ776", message, ref, hint=f"call an entry, `{queue}.VERB (...);`")
        return lowered

    def _amount(self, statement: tree.Grow | tree.Load, context: Context) -> Statements:
        verb = "grow" if isinstance(statement, tree.Grow) else "load"
        pool, amount = self.pool(statement.pool, context, verb), context.scope.expr(statement.amount)
        return (type(statement)(statement.span, pool, amount),)

    def _pool(self, statement: tree.Drop | tree.Release, context: Context) -> Statements:
        verb = "drop" if isinstance(statement, tree.Drop) else "release"
        return (type(statement)(statement.span, self.pool(statement.pool, context, verb)),)

    # Runs

    def _run(self, statement: tree.Run, context: Context) -> Statements:
        scope = context.scope
        stages = tuple(scope.resource(s) for s in statement.stages) or self._own_stage(statement, context)
        if not stages:
            return ()
        growing = statement.growing and scope.resource(statement.growing)
        return (tree.Run(statement.span, stages, statement.mode, scope.expr(statement.work), growing),)

    def _own_stage(self, statement: tree.Run, context: Context) -> tuple[Ref, ...]:
        entry = context.entry
        if entry is None:
            message = "this `run` names no stage"
            hint = "write `run STAGE (cost(STAGE, e));`; only an entry has a stage of its own"
            self.findings.error("SQ211", message, statement, hint=hint)
            return ()
        if entry.queue.stage is None:
            message = f"this `run` is on the stage of queue `{entry.queue.name}`, and it has none"
            self.findings.error("SQ777", message, statement, hint="write a `serve` or an engine in the queue")
            return ()
        return (entry.queue.stage.at(statement, context.member),)

    def _engine_run(self, statement: tree.EngineRun, context: Context) -> Statements:
        engine = context.engine
        if engine is None:
            message = "`prefill` and `decode` are statements of an engine's request"
            hint = "elsewhere write `run ENGINE prefill (cost(ENGINE, e));`"
            self.findings.error("SQ211", message, statement, hint=hint)
            return ()
        scope, span = context.scope, statement.span
        stage = engine.stage.at(statement, None)
        work = tree.CostOf(statement.amount.span, (stage,), scope.expr(statement.amount))
        growing = statement.growing and scope.resource(statement.growing)
        return (tree.Run(span, (stage,), statement.mode, work, growing),)

    # Control

    def _branch(self, statement: tree.Branch, context: Context) -> Statements:
        test = context.scope.expr(statement.test)
        if statement.drawn:
            test = tree.Draw(test.span, Name(test.span, "bernoulli"), (test,))
        then = self.block(statement.then, context)
        otherwise = statement.otherwise and self.block(statement.otherwise, context)
        return (tree.Branch(statement.span, test, False, then, otherwise),)

    def _while(self, statement: tree.While, context: Context) -> Statements:
        test = context.scope.expr(statement.test)
        return (tree.While(statement.span, test, self.block(statement.body, context)),)

    def _loop(self, statement: tree.Loop, context: Context) -> Statements:
        return (tree.Loop(statement.span, self.block(statement.body, context)),)

    def _fork(self, statement: tree.Fork, context: Context) -> Statements:
        return (tree.Fork(statement.span, self.block(statement.body, context.inside_fork())),)

    def _end(self, statement: tree.End, context: Context) -> Statements:
        if context.entry is not None or context.engine is not None:
            refuse_end(statement, self.findings)
            return ()
        if context.in_server and (context.holding or context.forked):
            where = "a `fork`" if context.forked else "a `hold`"
            message = f"`end;` in the server inside {where}"
            self.findings.error(
                "SQ650", message, statement, hint="refuse the request before it holds or forks"
            )
            return ()
        return (statement,)


def refuse_end(statement: tree.End, findings: Findings) -> None:
    """An `end;` in an entry or a request (SQ650)."""
    message = "`end;` in an entry or a request: it says what a station does with one"
    findings.error("SQ650", message, statement, hint="the server refuses a request, with `end;` there")
