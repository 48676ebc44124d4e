"""What an entry or a request may read and act on: its own, its parameters and the hidden attributes
(002, *Queues*, *An engine's request*; api.md §7.6, §7.10).

Each is judged once, where it is declared, whether it is called or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from serq.ir.tables import Param
from serq.lang import tree
from serq.lang.constants import spelled
from serq.lang.definitions import bound_names
from serq.lang.findings import Findings
from serq.lang.model import Engine, Entry, Family, Model
from serq.lang.requests import taking_of
from serq.lang.rewrite import nodes_within, references
from serq.lang.statements import refuse_end
from serq.lang.tree import Block, Expr, Ref, Statement
from serq.lang.unknown import is_function, no_function
from serq.lang.vocabulary import BUILTINS, CONTEXT_BY_NAME, FUNCTION_BY_NAME, SUPPLIED
from serq.lang.walk import find

Known = frozenset[str]
_SEEN = frozenset({"cached", "computed"})


@dataclass
class Room:
    """One entry or request: its names, and what of the program it sees."""

    label: str
    parameters: frozenset[str]
    locals: frozenset[str]
    own: Mapping[str, Family]
    acts_on: frozenset[str]
    source: str | None
    hidden: frozenset[str]
    outside: frozenset[str]
    has_self: bool
    registers: frozenset[str]
    what: str


def check_rooms(model: Model) -> None:
    """Judge every entry and request of a program (SQ772-SQ779)."""
    hidden = frozenset(n.text for i in _workload(model) if isinstance(i, tree.Hidden) for n in i.names)
    outside = _outside(model)
    for queue in model.queues.values():
        for entry in queue.entries:
            _check_ends(entry.node, model)
            if queue.is_gateway and entry.node.verb.text == "route":
                continue
            _Checker(model, _entry_room(entry, hidden, outside, model)).entry(entry.node)
    for engine in model.engines.values():
        if engine.request is not None:
            _check_ends(engine.request, model)
            _Checker(model, _request_room(engine, hidden, outside, model)).request(engine, engine.request)


def _check_ends(node: tree.Entry | tree.Request, model: Model) -> None:
    for inner in find(node, tree.End):
        refuse_end(inner, model.findings)


def _workload(model: Model) -> tuple[tree.WorkloadItem, ...]:
    return model.workload.items if model.workload is not None else ()


def _outside(model: Model) -> frozenset[str]:
    """The attributes the workload, the server and the gateways set."""
    found = set(BUILTINS)
    if model.workload is not None:
        found |= bound_names(model.workload)
    if model.server is not None:
        found |= bound_names(model.server)
    for queue in model.queues.values():
        if queue.is_gateway:
            found |= bound_names(queue.node)
    return frozenset(found)


def _entry_room(entry: Entry, hidden: Known, outside: Known, model: Model) -> Room:
    queue = entry.queue
    own: dict[str, Family] = dict(queue.pools)
    if queue.stage is not None:
        own[queue.name] = queue.stage
    source = entry.node.source.text if entry.node.source is not None else None
    acts = frozenset(queue.pools) | ({source} if source is not None else frozenset())
    parameters = frozenset(p.text for p in entry.node.parameters)
    return Room(
        label=f"`{entry.label}`",
        parameters=parameters,
        locals=frozenset(entry.locals),
        own=own,
        acts_on=acts,
        source=source,
        hidden=hidden,
        outside=outside,
        has_self=queue.indexed,
        registers=frozenset(model.registers),
        what=f"queue `{queue.name}`",
    )


def _request_room(engine: Engine, hidden: Known, outside: Known, model: Model) -> Room:
    own: dict[str, Family] = {p.name: p for p in engine.pools()}
    taking = taking_of(engine)
    taken = frozenset(t.pool.name.text for t in taking.takes) if taking is not None else frozenset()
    if taken - own.keys():
        taken |= own.keys()  # the taking is refused: what it means is not known
    own[engine.name] = engine.stage
    assert engine.request is not None
    return Room(
        label=f"the request of `{engine.name}`",
        parameters=frozenset(p.text for p in engine.request.parameters),
        locals=frozenset(engine.locals),
        own=own,
        acts_on=taken,
        source=None,
        hidden=hidden,
        outside=outside,
        has_self=False,
        registers=frozenset(model.registers),
        what=f"engine `{engine.name}`",
    )


def _needed(takes: tuple[tree.Take, ...], reuse: Expr | None, bindings: tuple[tree.Binding, ...]) -> set[str]:
    """The bindings an admission's amounts read, directly or through others."""
    reads: list[Expr] = [e for t in takes for e in (t.units, t.reserve) if e is not None]
    if reuse is not None:
        reads.append(reuse)
    wanted = {ref.name.text for e in reads for ref in references(e)}
    for binding in reversed(bindings):
        if binding.name.text in wanted:
            wanted |= {ref.name.text for ref in references(binding.value)}
    return wanted


class _Checker:
    """Walks one entry or request, with the locals that are set on every way to where it is."""

    def __init__(self, model: Model, room: Room) -> None:
        self.model = model
        self.findings: Findings = model.findings
        self.room = room
        self.header = False
        self.known: Known = frozenset()

    def entry(self, entry: tree.Entry) -> None:
        """Judge an entry's statements."""
        self._assigns(entry.body)
        self.block(entry.body.statements, frozenset())

    def request(self, engine: Engine, request: tree.Request) -> None:
        """Judge a request's statements and the `taking` of its engine."""
        self._assigns(request)
        known = self.block(request.before, frozenset())
        taking = taking_of(engine)
        bindings = request.admission.bindings if request.admission is not None else ()
        if taking is not None:
            known_inside = self._header(taking.takes, taking.reuse, bindings, known)
            if request.cache is not None:
                self.expr(request.cache.value)
            self.block(request.body, known_inside)
        else:
            self.block(request.body, known)

    def _assigns(self, node: tree.Node) -> None:
        """A parameter is not assigned (SQ778)."""
        stack = [node]
        while stack:
            inner = stack.pop()
            match inner:
                case tree.Set() | tree.CostSet() | tree.CostRecord() | tree.Choose() | tree.Binding():
                    if inner.name.text in self.room.parameters:
                        message = f"{self.room.label} sets its parameter `{inner.name.text}`"
                        self.findings.error("SQ778", message, inner.name, hint="set another name")
            stack.extend(nodes_within(inner))

    # Statements

    def block(self, statements: tuple[Statement, ...], known: Known) -> Known:
        """Judge statements in order; the locals set on every way through them."""
        for statement in statements:
            known = self._statement(statement, known)
        return known

    def _statement(self, statement: Statement, known: Known) -> Known:
        match statement:
            case tree.Hold():
                return self._hold(statement, known)
            case tree.Branch(test=test, then=then, otherwise=otherwise):
                self.expr(test)
                first = self.block(then.statements, known)
                second = self.block(otherwise.statements, known) if otherwise is not None else known
                return first & second
            case tree.While(test=test, body=body):
                self.expr(test)
                self.block(body.statements, known)
                return known
            case tree.Loop(body=body) | tree.Fork(body=body):
                self.block(body.statements, known)
                return known
            case _:
                self._plain(statement)
                assigned = bound_names(statement)
                return known | assigned if assigned else known

    def _plain(self, statement: Statement) -> None:
        match statement:
            case tree.Grow(pool=pool, amount=amount) | tree.Load(pool=pool, amount=amount):
                self.acts(pool)
                self.expr(amount)
            case tree.Drop(pool=pool) | tree.Release(pool=pool):
                self.acts(pool)
            case tree.Run(stages=stages, work=work, growing=growing):
                for stage in stages:
                    self.runs(stage)
                self.expr(work)
                if growing is not None:
                    self.acts(growing)
            case tree.EngineRun(amount=amount, growing=growing):
                self.expr(amount)
                if growing is not None:
                    self.acts(growing)
            case tree.Tool(index=index, stages=stages, work=work):
                for stage in stages:
                    self.runs(stage)
                for part in (index, work):
                    if part is not None:
                        self.expr(part)
            case tree.Transfer():
                self._transfer(statement)
            case tree.EntryCall():
                self._call(statement)
            case _:
                for child in nodes_within(statement):
                    if not isinstance(child, Block):
                        self._any(child)

    def _any(self, node: tree.Node) -> None:
        if isinstance(node, tree.CostField):
            self.expr(node.value)
        elif not isinstance(node, Statement):
            self.expr(node)  # type: ignore[arg-type]

    def _transfer(self, statement: tree.Transfer) -> None:
        for stage in statement.stages:
            self.runs(stage)
        if statement.index is not None:
            self.expr(statement.index)
        self.expr(statement.work)
        self.expr(statement.amount)
        self.acts(statement.source)
        self.acts(statement.target)

    def _call(self, statement: tree.EntryCall) -> None:
        for argument in statement.arguments:
            self.expr(argument)
        if statement.queue.index is not None:
            self.expr(statement.queue.index)
        if self.room.source is not None and statement.queue.name.text == self.room.source:
            self._is_lease(statement.queue)
        if statement.to is not None:
            self.acts(statement.to.pool)
            self.expr(statement.to.amount)
            if statement.source is not None:
                self.acts(statement.source)

    def _hold(self, hold: tree.Hold, known: Known) -> Known:
        inside = self._header(hold.takes, hold.reuse, hold.bindings, known)
        after = self.block(hold.body.statements, inside)
        if hold.cache is not None:
            self.expr(hold.cache)
        if hold.lease is not None:
            self.acts(hold.lease.pool)
            self.expr(hold.lease.duration)
        return after

    def _header(
        self,
        takes: tuple[tree.Take, ...],
        reuse: Expr | None,
        bindings: tuple[tree.Binding, ...],
        known: Known,
    ) -> Known:
        """An admission reads less than the statements do."""
        for take in takes:
            self.acts(take.pool)
        self.known = known
        needed = _needed(takes, reuse, bindings)
        for binding in bindings:
            # One that only `cache` and the body read is read as they are.
            self.header = binding.name.text in needed
            self.expr(binding.value)
            self.known |= {binding.name.text}
        self.header = True
        for take in takes:
            self.expr(take.units)
            if take.reserve is not None:
                self.expr(take.reserve)
        if reuse is not None:
            self.expr(reuse)
        inside, self.header = self.known, False
        return inside

    # References

    def acts(self, ref: Ref) -> None:
        """A pool a statement holds, grows, loads or releases (SQ776)."""
        if self._indexed(ref) or (ref.name.text in self.room.acts_on and not ref.members):
            return
        message = f"{self.room.label} acts on `{spelled(ref)}`, which is not {self.room.what}'s to act on"
        hint = "it acts on the pools it was admitted with" if "request" in self.room.label else None
        self.findings.error("SQ776", message, ref, hint=hint)

    def runs(self, ref: Ref) -> None:
        """A stage a statement runs: its own or one of the deployment's."""
        if self._indexed(ref):
            return
        for index in (ref.index, ref.member_index):
            if index is not None:
                self.expr(index)

    def _indexed(self, ref: Ref) -> bool:
        """An own pool or stage is the member's, without an index (SQ775)."""
        name = ref.name.text
        if self.room.source == name:
            if ref.index is not None or ref.member_index is not None:
                self._is_lease(ref)
                return True
            return False
        if ref.index is not None and name in self.room.own and not self.room.label.startswith("the request"):
            message = f"`{spelled(ref)}` inside its queue: the member's own is meant"
            self.findings.error("SQ775", message, ref, hint=f"write `{name}`")
            return True
        return False

    def _is_lease(self, ref: Ref) -> None:
        message = f"`{ref.name.text}` is the KV this request leased there: it takes no index and no member"
        self.findings.error("SQ775", message, ref)

    def reads(self, ref: Ref) -> None:
        """A pool or stage a query reads (SQ779)."""
        if self._indexed(ref):
            return
        name = ref.name.text
        if not ref.members and (name in self.room.own or name == self.room.source):
            if ref.index is not None:
                self.expr(ref.index)
            return
        full = ".".join((name, *(m.text for m in ref.members)))
        if self.model.family(full) is None and not ref.members:
            self._unknown(ref)
            return
        message = f"{self.room.label} reads `{spelled(ref)}`, which is not {self.room.what}'s"
        hint = "it sees its own; pass what it needs as a parameter"
        self.findings.error("SQ779", message, ref, hint=hint)

    # Expressions

    def expr(self, node: Expr) -> None:
        """Judge every name of an expression."""
        match node:
            case Ref():
                self.value(node)
            case tree.Call(function=function, arguments=arguments):
                if not is_function(function.text):
                    no_function(self.model, node)
                    return
                row = FUNCTION_BY_NAME.get(function.text)
                kinds = row.params if row is not None else (Param.POOL,)
                for position, argument in enumerate(arguments):
                    kind = kinds[position] if position < len(kinds) else Param.NUMBER
                    if kind is not Param.NUMBER and isinstance(argument, Ref):
                        self.reads(argument)
                    else:
                        self.expr(argument)
            case tree.CostOf(resources=resources, amount=amount):
                for resource in resources:
                    self.runs(resource)
                self.expr(amount)
            case _:
                for child in nodes_within(node):
                    self.expr(child)  # type: ignore[arg-type]

    def value(self, ref: Ref) -> None:
        """A name read as a number (SQ772, SQ777)."""
        room, name = self.room, ref.name.text
        if ref.members:
            if name not in room.locals:
                message = f"{room.label} reads `{spelled(ref)}`, another's: it sees its own"
                hint = "the server or a gateway reads it and passes what is needed"
                self.findings.error("SQ779", message, ref, hint=hint)
            return
        if name in room.parameters or name == "inf" or name in _SEEN - room.locals:
            return
        if name == "self":
            self._self(ref)
            return
        if name in room.locals:
            self._local(ref)
        elif self.header:
            self._not_in_header(ref)
        elif name in room.hidden or name in SUPPLIED:
            return
        elif name in room.registers:
            message = f"{room.label} reads `{name}`, a register of an engine"
            self.findings.error(
                "SQ772", message, ref, hint="a register is read by its engine's schedule alone"
            )
        elif name == room.source:
            message = f"`{name}` is the KV the request leased there, not a number"
            self.findings.error("SQ772", message, ref, hint=f"write `transfer ... from {name} to ...`")
        elif name in room.outside:
            message = f"{room.label} reads `{name}`, an attribute of the session"
            hint = f"pass `{name}` as a parameter"
            self.findings.error("SQ772", message, ref, hint=hint)
        else:
            self._unknown(ref)

    def _self(self, ref: Ref) -> None:
        if not self.room.has_self:
            message = f"`self` in {self.room.what}, which is not a family"
            hint = "`self` is the index of the member the call names"
            self.findings.error("SQ794", message, ref, hint=hint)

    def _local(self, ref: Ref) -> None:
        name = ref.name.text
        if self.header and name not in self.known:
            message = f"the admission reads `{name}`, which is not set on every way to it"
            hint = "set it above the hold, in both arms of a branch, not in a loop or a leg"
            self.findings.error("SQ777", message, ref, hint=hint)

    def _not_in_header(self, ref: Ref) -> None:
        name = ref.name.text
        if name not in self.room.outside | self.room.hidden and name not in CONTEXT_BY_NAME:
            self._unknown(ref)
            return
        message = f"the admission of {self.room.label} reads `{name}`"
        note = (
            "an admission sees the parameters, what is set above it, its own pools and stage, and constants"
        )
        hint = f"pass `{name}` as a parameter"
        self.findings.error("SQ772", message, ref, note=note, hint=hint)

    def _unknown(self, ref: Ref) -> None:
        message = f"`{ref.name.text}` is not a name of this program"
        self.findings.error("SQ301", message, ref, hint="declare it with `let`, or assign it with `set`")
