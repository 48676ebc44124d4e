"""Names in an engine's clauses: `running.…`, `waiting.…` and `batch.…`, registers, a device's time resources.

Which of them a clause reads is one table (002, *Engines on devices*; api.md §5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum

from serq.diagnostics import suggestion
from serq.lang import tree
from serq.lang.constants import number, plural, spelled
from serq.lang.model import Engine, Model, PoolFamily
from serq.lang.poison import poison
from serq.lang.rewrite import map_children
from serq.lang.scopes import Scope
from serq.lang.tree import Expr, Name, Ref
from serq.lang.vocabulary import CONTEXT_BY_NAME, ENGINE_LISTS


class Clause(StrEnum):
    """The clauses of an engine, by how an error names them."""

    TOKENS = "tokens cap"
    AT_MOST = "each at most"
    BY = "by"
    ONLY = "only"
    PLAN = "a schedule's statements"
    EXECUTE = "execute"


C = Clause
_START = frozenset({C.TOKENS, C.AT_MOST, C.BY, C.ONLY})
READ_IN: Mapping[str, frozenset[Clause]] = {
    "running.count": frozenset(Clause),
    "waiting.count": frozenset(Clause),
    "running.decoding": _START | {C.PLAN},
    "running.kv_decode": _START | {C.PLAN},
    "running.kv_prefill": _START | {C.PLAN},
    "running.preempted": frozenset({C.PLAN}),
    "waiting.admitted": frozenset({C.PLAN}),
    "batch.tokens": frozenset({C.PLAN, C.EXECUTE}),
    "batch.prefilled": frozenset({C.PLAN, C.EXECUTE}),
    "batch.decoding": frozenset({C.EXECUTE}),
    "batch.kv_decode": frozenset({C.EXECUTE}),
    "batch.kv_prefill": frozenset({C.EXECUTE}),
    "batch.attention": frozenset({C.EXECUTE}),
}
_WHY = {
    "running": "it counts the residents as they stand while the iteration is planned",
    "waiting": "it says what the schedule did so far",
    "batch": "the batch is formed after it is read",
}


class EngineScope(Scope):
    """The scope of one clause of an engine; `lets` are the schedule's, written out in `each at most`."""

    def __init__(
        self, engine: Engine, model: Model, clause: Clause, lets: Mapping[str, Expr] | None = None
    ) -> None:
        super().__init__(model)
        self.engine = engine
        self.clause = clause
        self.lets = lets or {}
        self._arguments: dict[str, Expr] = {}
        self._inside: list[str] = []

    def expr(self, node: Expr) -> Expr:
        """An expression of the clause; in `execute`, time resources are written out."""
        if isinstance(node, tree.Call):
            return self._call(node)
        return super().expr(node)

    def value(self, ref: Ref) -> Expr:
        """A name of the clause."""
        name = ref.name.text
        if ref.members:
            return self._listed(ref) if name in ENGINE_LISTS else self.member(ref)
        if ref.index is None:
            if name in self._arguments:
                return self._arguments[name]
            if name in self.lets:
                return self._let(ref)
            if name in CONTEXT_BY_NAME and CONTEXT_BY_NAME[name].dotted:
                return self._bare(ref)
        return map_children(ref, self.expr)

    def _let(self, ref: Ref) -> Expr:
        if self.clause is C.AT_MOST:
            return self.lets[ref.name.text]
        name = ref.name.text
        message = (
            f"`{name}` is a `let` of the schedule, read as the iteration starts: only `each at most` reads it"
        )
        hint = f"name an expression read where it stands with `def {name}() {{ ... }}`"
        self.findings.error("SQ761", message, ref, hint=hint)
        return poison(ref)

    def _listed(self, ref: Ref) -> Expr:
        text = ".".join((ref.name.text, *(m.text for m in ref.members)))
        clauses = READ_IN.get(text)
        if clauses is None or ref.index is not None or ref.member_index is not None:
            hint = suggestion(text, READ_IN)
            self.findings.error("SQ450", f"an engine has no value `{spelled(ref)}`", ref, hint=hint)
            return poison(ref)
        if self.clause not in clauses:
            return self._elsewhere(ref, text, clauses)
        if text == "waiting.count":
            return self._waiting(ref)
        return Ref(ref.span, Name(ref.span, text))

    def _elsewhere(self, ref: Ref, text: str, clauses: frozenset[Clause]) -> Expr:
        places = ", ".join(f"`{c}`" if c is not C.PLAN else c for c in Clause if c in clauses)
        message = f"`{text}` is not read in {self._where()}: it is read in {places}"
        batch = "batch." + text.partition(".")[2]
        hint = None
        if self.clause is C.EXECUTE and C.EXECUTE in READ_IN.get(batch, ()):
            hint = f"`execute` times the batch: write `{batch}`"
        self.findings.error("SQ450", message, ref, note=_WHY[ref.name.text], hint=hint)
        return poison(ref)

    def _where(self) -> str:
        return self.clause if self.clause is C.PLAN else f"`{self.clause}`"

    def _bare(self, ref: Ref) -> Expr:
        """The kernel's bare name of a value that clauses read under another."""
        row = CONTEXT_BY_NAME[ref.name.text]
        here = [d for d in row.dotted if self.clause in READ_IN[d]]
        message = f"an engine's clauses do not read `{ref.name.text}`"
        hint = f"write `{here[0]}`" if here else f"it is `{row.dotted[0]}`, which is not read here"
        self.findings.error("SQ451", message, ref, hint=hint)
        return poison(ref)

    def _waiting(self, ref: Ref) -> Expr:
        """The queues the engine admits, one `queued` each."""
        if self.engine.stage.indexed:
            message = (
                f"`{self.engine.name}` is a family: its `waiting.count` would read every member's queues"
            )
            hint = "count one queue with `queued(POOL[i])`"
            self.findings.error("SQ452", message, ref, hint=hint)
            return poison(ref)
        total: Expr | None = None
        for pool in self.engine.admits:
            for index in _indices(pool, ref):
                term = tree.Call(ref.span, Name(ref.span, "queued"), (pool.at(ref, index),))
                total = term if total is None else tree.Binary(ref.span, "+", total, term)
        return number(0.0, ref) if total is None else total

    # Time resources

    def _call(self, node: tree.Call) -> Expr:
        name = node.function.text
        resource = self.engine.device.times.get(name)
        if resource is None or self.clause is not C.EXECUTE:
            return map_children(node, self.expr, self.value)
        if name in self._inside:
            message = f"the time resource `{name}` uses itself"
            self.findings.error("SQ759", message, resource.name)
            return number(1.0, node)
        if len(node.arguments) != len(resource.parameters):
            wanted = plural(len(resource.parameters), "argument")
            self.findings.error("SQ319", f"`{name}` takes {wanted}, not {len(node.arguments)}", node)
            return number(1.0, node)
        arguments = [self.expr(a) for a in node.arguments]
        with self._inside_of(name, dict(zip((p.text for p in resource.parameters), arguments, strict=True))):
            return self.expr(resource.body)

    @contextmanager
    def _inside_of(self, name: str, arguments: dict[str, Expr]) -> Iterator[None]:
        outer, self._arguments = self._arguments, arguments
        self._inside.append(name)
        try:
            yield
        finally:
            self._inside.pop()
            self._arguments = outer


def _indices(pool: PoolFamily, at: tree.Node) -> list[Expr | None]:
    if not pool.indexed:
        return [None]
    return [number(float(k), at) for k in range(pool.count)]
