"""Programs that are well formed and almost certainly not meant (002, *Lints*; api.md §10.1). They do not link."""

from __future__ import annotations

from dataclasses import dataclass, replace

from serq.lang import tree
from serq.lang.constants import shown
from serq.lang.findings import Findings
from serq.lang.kernel import Kernel
from serq.lang.rewrite import nodes_within, references, walk
from serq.lang.tree import Block, Expr, Ref, Statement
from serq.lang.vocabulary import BLOCK_SIZE, FUNCTION_BY_NAME
from serq.lang.walk import find


def check_lints(kernel: Kernel, findings: Findings) -> None:
    """Report stale reads, useless `cached` and `reuse`, and guards that are no test (SQ670-SQ674)."""
    if kernel.session is not None:
        _StaleReads(kernel, findings).block(kernel.session, {})
        _CachedReads(kernel, findings).block(kernel.session, _Inside(None))
        for block in (kernel.session, kernel.server):
            if block is not None:
                _check_guards(block, findings)


# A set of live state that a header uses


class _StaleReads:
    """Follows the sets of live state to the headers that read them; what a body sets stays in it."""

    def __init__(self, kernel: Kernel, findings: Findings) -> None:
        self.server = kernel.server
        self.findings = findings

    def block(self, block: Block, live: dict[str, tree.Call]) -> None:
        """A block, with the attributes set from live state before it."""
        live = dict(live)
        self._statements(block.statements, live)

    def _statements(self, statements: tuple[Statement, ...], live: dict[str, tree.Call]) -> None:
        for statement in statements:
            match statement:
                case tree.Set(name=name, value=value):
                    query = _live_query(value)
                    live.pop(name.text, None)
                    if query is not None:
                        live[name.text] = query
                case tree.Turn() if self.server is not None:
                    self._statements(self.server.statements, live)
                case tree.Hold():
                    if live:
                        self._header(statement, live)
                    # Once a request is admitted, what it read before is what it has.
                    self.block(statement.body, {})
                case _:
                    for body in _bodies(statement):
                        self.block(body, live)

    def _header(self, hold: tree.Hold, live: dict[str, tree.Call]) -> None:
        amounts = [e for t in hold.takes for e in (t.units, t.reserve)] + [hold.reuse, hold.cache]
        for ref in (r for e in amounts if e is not None for r in references(e)):
            query = live.get(ref.name.text)
            if query is None:
                continue
            name, function = ref.name.text, query.function.text
            message = (
                f"`{name}` reads `{function}(...)` before the session queues, and the hold's header uses it"
            )
            note = f"it is set at {self.findings.where(query)}; the header is read at the admission"
            hint = f"bind it there: `at admission ({name} = ...)`"
            self.findings.error("SQ670", message, ref, note=note, hint=hint)


def _live_query(value: Expr) -> tree.Call | None:
    for node in walk(value):
        if isinstance(node, tree.Call) and node.function.text != BLOCK_SIZE:
            row = FUNCTION_BY_NAME.get(node.function.text)
            if row is not None and row.moves:
                return node
    return None


# `cached` where it says nothing


@dataclass(frozen=True)
class _Inside:
    """The innermost hold around a statement, and a hold inside it that was admitted since."""

    hold: tree.Hold | None
    admitted: tree.Hold | None = None


class _CachedReads:
    """Finds `cached` read in a hold that consumes no prefix, or after another admission has set it."""

    def __init__(self, kernel: Kernel, findings: Findings) -> None:
        self.server = kernel.server
        self.findings = findings

    def block(self, block: Block | None, inside: _Inside) -> _Inside:
        """The state after a block."""
        return self._statements(block.statements, inside) if block is not None else inside

    def _statements(self, statements: tuple[Statement, ...], inside: _Inside) -> _Inside:
        for statement in statements:
            inside = self._statement(statement, inside)
        return inside

    def _statement(self, statement: Statement, inside: _Inside) -> _Inside:
        match statement:
            case tree.Hold():
                return self._hold(statement, inside)
            case tree.Branch(test=test, then=then, otherwise=otherwise):
                self._read(test, inside)
                first, second = self.block(then, inside), self.block(otherwise, inside)
                return first if first.admitted is not None else second
            case tree.While(test=test, body=body):
                inside = self._repeated(body, inside)
                self._read(test, inside)
                return self.block(body, inside)
            case tree.Loop(body=body):
                return self.block(body, self._repeated(body, inside))
            case tree.Fork(body=body):
                self.block(body, _Inside(None))
                return inside
            case tree.Turn() if self.server is not None:
                return self._statements(self.server.statements, inside)
            case _:
                for expr in _amounts(statement):
                    self._read(expr, inside)
                return inside

    def _repeated(self, body: Block, inside: _Inside) -> _Inside:
        """A second pass comes after the holds of the first."""
        if inside.admitted is not None:
            return inside
        held = next((n for n in _held(body)), None)
        return inside if held is None else replace(inside, admitted=held)

    def _hold(self, hold: tree.Hold, inside: _Inside) -> _Inside:
        for expr in [e for t in hold.takes for e in (t.units, t.reserve)] + [hold.reuse]:
            if expr is not None:
                self._read(expr, inside)
        if hold.reuse is not None and hold.cache is None:
            message = "`reuse` on a hold without `cache` bounds nothing: such a hold consumes no prefix"
            hint = "add `cache (...)`; `cache (0)` consumes the prefix and keeps nothing"
            self.findings.error("SQ672", message, hold.reuse, hint=hint)
        self.block(hold.body, _Inside(hold))
        return inside if inside.hold is None else replace(inside, admitted=hold)

    def _read(self, expr: Expr, inside: _Inside) -> None:
        if inside.hold is None:
            return
        for ref in _values(expr):
            if ref.name.text != "cached":
                continue
            if inside.hold.cache is None:
                message = "`cached` is read in a hold without `cache`, where it is 0"
                note = "such a hold leaves the session's cached prefix where it is"
                hint = "add `cache (...)`; `cache (0)` consumes the prefix and keeps nothing"
                self.findings.error("SQ671", message, ref, note=note, hint=hint)
            elif inside.admitted is not None:
                message = "`cached` is read after another hold, whose admission has set it"
                note = f"that hold is at {self.findings.where(inside.admitted)}"
                self.findings.error("SQ673", message, ref, note=note, hint="`set` it before that hold")


def _held(body: Block) -> list[tree.Hold]:
    """The holds of a block outside legs."""
    found: list[tree.Hold] = []
    stack: list[Block] = [body]
    while stack:
        for statement in stack.pop().statements:
            if isinstance(statement, tree.Hold):
                found.append(statement)
            elif not isinstance(statement, tree.Fork):
                stack.extend(_bodies(statement))
    return found


def _amounts(statement: Statement) -> list[Expr]:
    """The values a plain statement reads, indices of its references left out."""
    match statement:
        case tree.Set(value=value) | tree.Observe(value=value):
            return [value]
        case tree.Run(work=work):
            return [work]
        case tree.Grow(amount=amount) | tree.Load(amount=amount):
            return [amount]
        case tree.Choose(count=count, keys=keys):
            return [count, *keys]
        case _:
            return []


def _values(expr: Expr) -> list[Ref]:
    """The names an expression reads as values, indices of resources left out."""
    return [r for r in references(expr) if r.index is None]


# Guards


def _check_guards(block: Block, findings: Findings) -> None:
    for node in find(block, tree.Branch):
        value = _literal(node.test)
        if value is not None and value not in (0.0, 1.0):
            message = f"`branch ({shown(value)})` is no test: a guard is 0 or 1"
            between = 0.0 < value < 1.0
            hint = (
                f"with a probability, write `branch with ({shown(value)})`"
                if between
                else "write a comparison"
            )
            findings.error("SQ674", message, node.test, hint=hint)


def _literal(test: Expr) -> float | None:
    match test:
        case tree.Num(value=value):
            return value
        case Ref(name=tree.Name(text="inf"), index=None):
            return float("inf")
        case _:
            return None


def _bodies(statement: Statement) -> list[Block]:
    return [n for n in nodes_within(statement) if isinstance(n, Block)]
