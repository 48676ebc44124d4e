"""Calls written out: a queue's entry on one of its members, an engine's request (api.md §7.6, §7.10)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from serq.diagnostics import suggestion
from serq.lang import tree
from serq.lang.constants import plural
from serq.lang.context import Context
from serq.lang.model import Engine, Entry, Queue
from serq.lang.requests import request_hold
from serq.lang.rewrite import draws
from serq.lang.scopes import EntryScope, RequestScope
from serq.lang.tree import Expr, Name, Ref, Statement
from serq.lang.unknown import no_statement

if TYPE_CHECKING:
    from serq.lang.statements import Lowering

Statements = tuple[Statement, ...]


class Calls:
    """Replaces calls by the statements of what they call."""

    def __init__(self, lowering: Lowering) -> None:
        self.lowering = lowering
        self.model = lowering.model
        self.findings = lowering.findings

    # Entries

    def entry(self, call: tree.EntryCall, context: Context) -> Statements:
        """`Q[i].verb (a, ...) [from P[j]] [to pool (n)];` (SQ795-SQ799, SQ306)."""
        if not context.in_server:
            message = "an entry is called in the server: a session describes turns, with `turn;`"
            self.findings.error("SQ795", message, call)
            return ()
        queue = self._queue(call.queue, call)
        if queue is None:
            return ()
        entry = self._entry(queue, call)
        if entry is None or not self._arguments_fit(entry.label, entry.node.parameters, call.arguments, call):
            return ()
        if entry.label in context.calls:
            message = f"`{entry.label}` calls itself: an entry is written out where it is called"
            self.findings.error("SQ796", message, call)
            return ()
        return self._written(entry, call, context)

    def _written(self, entry: Entry, call: tree.EntryCall, context: Context) -> Statements:
        scope = context.scope
        member = self._member(entry.queue, call.queue, call, context)
        names = [p.text for p in entry.node.parameters]
        arguments = dict(zip(names, (scope.expr(a) for a in call.arguments), strict=True))
        source = self._source(entry, call, context)
        inner = EntryScope(entry, self.model, member, arguments, source)
        order = entry.queue.order
        calls = (*context.calls, entry.label)
        body = replace(
            context, scope=inner, entry=entry, member=member, engine=None, order=order, calls=calls
        )
        written = self.lowering.statements(entry.node.body.statements, body)
        return written + self._delivery(entry, call, context)

    def _queue(self, ref: Ref, call: tree.EntryCall) -> Queue | None:
        name = ref.name.text
        queue = self.model.queues.get(name)
        if queue is None:
            hint = suggestion(name, self.model.queues) or "declare it: `queue NAME : ROLE { ... }`"
            self.findings.error("SQ306", f"no queue `{name}` is declared", ref.name, hint=hint)
        return queue

    def _entry(self, queue: Queue, call: tree.EntryCall) -> Entry | None:
        verb = call.verb.text
        delivers = verb == "transfer" and "link" in queue.roles
        if delivers:
            return self._transfer_entry(queue, call)
        if call.to is not None:
            message = f"`to` belongs to a link's `transfer`, not to `{verb}`"
            self.findings.error("SQ798", message, call.to)
            return None
        entry = queue.entry(verb, call.source is not None)
        if entry is None:
            self._no_entry(queue, call)
            return None
        if call.source is not None and entry.node.source is not None:
            wanted, given = entry.node.source.text, call.source.name.text
            if wanted != given:
                message = f"`{entry.label}` takes the KV `from {wanted}`, not from `{given}`"
                self.findings.error("SQ798", message, call.source)
                return None
        return entry

    def _transfer_entry(self, queue: Queue, call: tree.EntryCall) -> Entry | None:
        entry = queue.entry("transfer", False)
        if entry is None:
            message = f"queue `{queue.name}` has no `transfer` entry: its `serve` is its cost"
            hint = f"write `transfer on {queue.name} (n) from S to P (m);`"
            self.findings.error("SQ797", message, call.verb, hint=hint)
        elif call.source is None or call.to is None:
            message = "a link's `transfer` names the pool it takes from and the pool it fills"
            hint = f"write `{queue.name}.transfer (n) from S to P (m);`"
            self.findings.error("SQ798", message, call, hint=hint)
            return None
        return entry

    def _no_entry(self, queue: Queue, call: tree.EntryCall) -> None:
        verb = call.verb.text
        if verb in queue.refused:
            return
        other = queue.entry(verb, call.source is None)
        if other is not None:
            has = f"`{verb} (...) from ...`" if call.source is None else f"`{verb} (...)`, without `from`"
            message, hint = f"queue `{queue.name}` has only {has}", None
        else:
            message = f"queue `{queue.name}` has no entry `{verb}`"
            verbs = [e.node.verb.text for e in queue.entries]
            hint = suggestion(verb, verbs) or (f"its entries: {', '.join(verbs)}" if verbs else None)
        self.findings.error("SQ797", message, call.verb, hint=hint)

    def _arguments_fit(
        self, label: str, parameters: tuple[Name, ...], arguments: tuple[Expr, ...], call: tree.Node
    ) -> bool:
        if len(parameters) != len(arguments):
            wanted = plural(len(parameters), "argument")
            self.findings.error("SQ799", f"`{label}` takes {wanted}, not {len(arguments)}", call)
            return False
        for parameter, argument in zip(parameters, arguments, strict=True):
            drawn = draws(argument)
            if drawn is not None:
                message = (
                    f"the argument for `{parameter.text}` draws: it is written out where `{label}` reads it"
                )
                self.findings.error("SQ799", message, argument, hint="`set` the draw first and pass the name")
                return False
        return True

    def _member(self, queue: Queue, ref: Ref, at: tree.Node, context: Context) -> Expr | None:
        """The member a call names; a family is indexed, a single queue is not (SQ316, SQ317)."""
        if ref.members:
            self.findings.error("SQ317", f"`{queue.name}` is a queue: name it, or a member of it", ref)
            return None
        if queue.indexed and ref.index is None:
            message = f"`{queue.name}` is a family of {queue.count}: a call names a member"
            self.findings.error("SQ316", message, ref, hint=f"write `{queue.name}[i]`")
            return tree.Num(ref.span, 0.0, "0")
        if not queue.indexed and ref.index is not None:
            message = f"`{queue.name}` is one queue, not a family"
            self.findings.error("SQ317", message, ref, hint=f"write `{queue.name}`")
            return None
        return None if ref.index is None else context.scope.expr(ref.index)

    def _source(
        self, entry: Entry, call: tree.EntryCall, context: Context
    ) -> tuple[Queue, Expr | None] | None:
        if entry.node.source is None or call.source is None:
            return None
        queue = self.model.queues.get(call.source.name.text)
        if queue is None:
            return None  # the declaration of the entry reports it
        return queue, self._member(queue, call.source, call, context)

    def _delivery(self, entry: Entry, call: tree.EntryCall, context: Context) -> Statements:
        """What follows a link's `transfer`: the tokens arrive, the source is given back."""
        if call.to is None or call.source is None:
            return ()
        return self.lowering.serving.arrival(call, call.to.pool, call.to.amount, call.source, context)

    # Requests

    def request(self, call: tree.CallStatement, context: Context) -> Statements:
        """`E (a, ...);` (SQ305, SQ771, SQ799)."""
        name = call.function.text
        engine = self.model.engines.get(name)
        if engine is None or engine.order > context.order:
            self._unknown(call, engine, context)
            return ()
        if engine.request is None:
            message = f"the engine `{name}` has no `request`, so it cannot be called"
            self.findings.error("SQ771", message, call, hint="write `request (...) { ... }` in it")
            return ()
        if not context.in_server:
            message = f"`{name}` is called in the server: a session describes turns, with `turn;`"
            self.findings.error("SQ771", message, call)
            return ()
        if name in context.calls:
            self.findings.error("SQ796", f"the request of `{name}` calls itself", call)
            return ()
        parameters = engine.request.parameters
        if not self._arguments_fit(name, parameters, call.arguments, call):
            return ()
        return self._request(engine, engine.request, call, context)

    def _request(
        self, engine: Engine, request: tree.Request, call: tree.CallStatement, context: Context
    ) -> Statements:
        names = [p.text for p in request.parameters]
        values = [context.scope.expr(a) for a in call.arguments]
        scope = RequestScope(self.model, dict(zip(names, values, strict=True)))
        inner = replace(
            context, scope=scope, engine=engine, entry=None, member=None, calls=(*context.calls, engine.name)
        )
        return self.lowering.statements(request_hold(engine, request), inner)

    def _unknown(self, call: tree.CallStatement, engine: Engine | None, context: Context) -> None:
        name = call.function.text
        if engine is not None:
            message = f"the engine `{name}` is declared below this call"
            self.findings.error("SQ771", message, call, hint="declare the engine above the server")
            return
        no_statement(self.model, self.lowering.definitions, call)
