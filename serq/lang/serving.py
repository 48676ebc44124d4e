"""The serving forms: `transfer` and `tool` as runs, loads and releases (api.md §7.9, 002 *The serving vocabulary*)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from serq.lang import tree
from serq.lang.context import Context
from serq.lang.model import Latency, Queue, Relation, StageFamily
from serq.lang.scopes import EntryScope
from serq.lang.tree import Expr, Ref, Statement

if TYPE_CHECKING:
    from serq.lang.statements import Lowering

Statements = tuple[Statement, ...]
CLIENT_TOOL = "tool"


class Serving:
    """Rewrites `transfer` and `tool`; keeps the client's own tool stage when a workload needs one."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.model = lowering.model
        self.findings = lowering.findings
        self.client_tool: StageFamily | None = None

    # Tools

    def tool(self, statement: tree.Tool, context: Context) -> Statements:
        """`tool e;`, `tool[j] e;`, `tool on S[j] e;`."""
        work = context.scope.expr(statement.work)
        stages = self._stages(statement, ("tool",), context)
        return (self._run(statement, stages, work),) if stages else ()

    def _stages(
        self, statement: tree.Tool | tree.Transfer, roles: tuple[str, ...], context: Context
    ) -> tuple[Ref, ...]:
        if statement.stages:
            return tuple(context.scope.resource(s) for s in statement.stages)
        index = statement.index and context.scope.expr(statement.index)
        found = [f for r in roles if (f := self.model.stages.get(r)) and f.order < context.order]
        if len(found) == 1:
            return (found[0].at(statement, index),)
        form = "tool" if isinstance(statement, tree.Tool) else "transfer"
        supplied = isinstance(statement, tree.Tool) and not found and index is None
        if supplied and not context.in_server:
            return self._client_tool(statement)
        names = " or ".join(f"`{r}`" for r in roles)
        if found:
            message = f"both {' and '.join(f'`{f.name}`' for f in found)} could serve this `{form}`"
        else:
            message = f"no stage {names} is declared above this `{form}`"
        hint = f"name the stage: `{form} on STAGE ...`"
        self.findings.error("SQ660", message, statement, hint=hint)
        return ()

    def _client_tool(self, statement: tree.Node) -> tuple[Ref, ...]:
        """The client's time between turns: a delay of the workload's own, after the declared stages."""
        declared = self.model.stages.get(CLIENT_TOOL)
        if declared is not None and declared is not self.client_tool:
            message = "the stage `tool` is declared below this `tool`"
            note = f"it is declared at {self.findings.where(declared.node)}"
            self.findings.error("SQ660", message, statement, note=note, hint="declare it above the workload")
            return ()
        if self.client_tool is None:
            family = StageFamily(CLIENT_TOOL, statement, kind=tree.Delay(statement.span))
            self.model.add(self.model.stages, family)
            self.client_tool = family
        return (self.client_tool.at(statement, None),)

    # Transfers

    def transfer(self, statement: tree.Transfer, context: Context) -> Statements:
        """`transfer [[j] | on S, ...] x from P to Q (n);`: the link's time, the arrival, the release."""
        work = context.scope.expr(statement.work)
        relation = self._relation(statement, context)
        if relation is not None:
            runs = self._read(statement, relation, work, context)
        elif self._needs_relation(statement, context):
            self._unrelated(statement, context)
            return ()
        else:
            stages = self._stages(statement, ("link", "transfer"), context)
            runs = (*self._waits(stages, statement), self._run(statement, stages, work)) if stages else ()
        if not runs:
            return ()
        return runs + self.arrival(statement, statement.target, statement.amount, statement.source, context)

    def _unrelated(self, statement: tree.Transfer, context: Context) -> None:
        if context.entry is None or context.entry.queue.unrelated:
            return
        queue = context.entry.queue.name
        message = f"this `transfer` names no NIC, and no relation says from whom `{queue}` reads"
        hint = f"declare `{queue} pull SOURCE share maxmin;`, or write `transfer on ...`"
        self.findings.error("SQ793", message, statement, hint=hint)

    def arrival(self, at: tree.Node, target: Ref, amount: Expr, source: Ref, context: Context) -> Statements:
        """`load` of the destination and `release` of the source."""
        scope = context.scope
        pool = self.lowering.pool(target, context, "load")
        tokens = tree.CostOf(amount.span, (replace(pool, index=None),), scope.expr(amount))
        given_back = self.lowering.pool(source, context, "release")
        return tree.Load(at.span, pool, tokens), tree.Release(at.span, given_back)

    def _needs_relation(self, statement: tree.Transfer, context: Context) -> bool:
        taken = context.entry is not None and context.entry.node.source is not None
        return taken and statement.index is None and not statement.stages

    def _relation(self, statement: tree.Transfer, context: Context) -> Relation | None:
        if not self._needs_relation(statement, context) or context.entry is None:
            return None
        return context.entry.queue.pulls

    def _read(self, statement: tree.Transfer, relation: Relation, work: Expr, context: Context) -> Statements:
        """One read over the source's NIC and the reader's, after the poster's wait."""
        scope = context.scope
        wanted = relation.source.name
        declared = context.entry.node.source if context.entry is not None else None
        if declared is not None and declared.text != wanted:
            return ()  # reported where the entry names its source
        if statement.source.name.text != wanted or not isinstance(scope, EntryScope) or scope.source is None:
            message = f"this read takes from `{statement.source.name.text}`: it takes from the entry's source"
            self.findings.error("SQ793", message, statement.source, hint=f"write `from {wanted}`")
            return ()
        ends: dict[Queue, Expr | None] = {relation.source: scope.source[1], relation.reader: scope.index}
        runs: list[Statement] = []
        if relation.latency is not None:
            runs.append(self._wait(relation.latency, ends[relation.poster], statement))
        nics = [q.nic.at(statement, index) for q, index in ends.items() if q.nic is not None]
        runs.append(self._run(statement, tuple(nics), work))
        return tuple(runs)

    def _waits(self, stages: tuple[Ref, ...], at: tree.Node) -> Statements:
        """The fixed wait of every link named, in the order named."""
        waits = []
        for stage in stages:
            queue = self.model.queues.get(stage.name.text)
            if queue is not None and queue.latency is not None:
                waits.append(self._wait(queue.latency, stage.index, at))
        return tuple(waits)

    def _wait(self, latency: Latency, index: Expr | None, at: tree.Node) -> Statement:
        return self._run(at, (latency.stage.at(at, index),), latency.time)

    def _run(self, at: tree.Node, stages: tuple[Ref, ...], work: Expr) -> Statement:
        families = tuple(replace(s, index=None) for s in stages)
        return tree.Run(at.span, stages, None, tree.CostOf(work.span, families, work), None)
