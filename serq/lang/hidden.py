"""Hidden attributes in the server: no decision or allocation reads one before a run reveals it
(002, *`hidden`*; api.md §10.8).

A run reveals what its work certainly reads. An attribute set from a hidden one is hidden with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from serq.lang import tree
from serq.lang.findings import Findings
from serq.lang.kernel import Kernel
from serq.lang.rewrite import nodes_within, references
from serq.lang.tree import Block, Expr, Ref, Statement

Sources = frozenset[str]
_NONE: Sources = frozenset()


@dataclass(frozen=True)
class State:
    """What is known at a point of the server: the hidden attributes revealed, and what each attribute was set from."""

    revealed: Sources
    tainted: dict[str, Sources]

    def joined(self, other: State) -> State:
        """What is known where two ways meet."""
        if self == other:
            return self
        names = self.tainted.keys() | other.tainted.keys()
        tainted = {n: self.tainted.get(n, _NONE) | other.tainted.get(n, _NONE) for n in names}
        return State(self.revealed & other.revealed, tainted)


def check_hidden(kernel: Kernel, findings: Findings) -> None:
    """Report every decision of the server that reads what no run has revealed (SQ560)."""
    if not kernel.hidden or kernel.server is None:
        return
    hidden = frozenset(n.text for n in kernel.hidden)
    _Checker(hidden, findings).block(kernel.server, State(_NONE, {}))


class _Checker:
    """Walks the server in the order it runs."""

    def __init__(self, hidden: Sources, findings: Findings) -> None:
        self.hidden = hidden
        self.findings = findings

    def block(self, block: Block | None, state: State) -> State:
        """The state after a block."""
        for statement in block.statements if block is not None else ():
            state = self._statement(statement, state)
        return state

    def _statement(self, statement: Statement, state: State) -> State:
        match statement:
            case tree.Set(name=name, value=value):
                return self._assigned(name.text, self._sources(references(value), state), state)
            case tree.Choose(name=name, count=count, keys=keys):
                self._decides((count, *keys), state, "a choice")
                return self._assigned(name.text, _NONE, state)
            case tree.Run(stages=stages, work=work, growing=growing):
                self._decides(_indices(*stages, growing), state, "the choice of a stage or pool")
                return self._revealed(work, state)
            case tree.Grow(pool=pool, amount=amount) | tree.Load(pool=pool, amount=amount):
                self._decides((*_indices(pool), amount), state, "an allocation")
                return state
            case tree.Hold():
                return self._hold(statement, state)
            case tree.Branch(test=test, then=then, otherwise=otherwise):
                self._decides((test,), state, "a branch")
                return self.block(then, state).joined(self.block(otherwise, state))
            case tree.While(test=test, body=body):
                return self._repeated(body, state, test)
            case tree.Loop(body=body):
                return self._repeated(body, state, None)
            case tree.Fork(body=body):
                self.block(body, state)
                return state
            case _:
                return state

    def _assigned(self, name: str, sources: Sources, state: State) -> State:
        if not sources and name not in state.tainted:
            return state
        return State(state.revealed, {**state.tainted, name: sources})

    def _hold(self, hold: tree.Hold, state: State) -> State:
        for take in hold.takes:
            self._decides(_indices(take.pool), state, "the choice of a pool")
            amounts = (e for e in (take.units, take.reserve) if e is not None)
            self._decides(amounts, state, "an admission", derived_only=True)
        if hold.reuse is not None:
            self._decides((hold.reuse,), state, "an admission", derived_only=True)
        if hold.lease is not None:
            self._decides((hold.lease.duration,), state, "a lease")
        return self.block(hold.body, state)

    def _repeated(self, body: Block, state: State, test: Expr | None) -> State:
        """A body that runs any number of times: what a pass sets is there in the next one."""
        silent = _Checker(self.hidden, Findings())
        head = state
        while True:
            after = silent.block(body, head)
            joined = State(head.revealed, head.joined(after).tainted)
            if joined == head:
                break
            head = joined
        if test is not None:
            self._decides((test,), head, "a `while`")
        after = self.block(body, head)
        return State(head.revealed if test is not None else after.revealed, head.joined(after).tainted)

    # Reading

    def _sources(self, refs: Iterable[Ref], state: State) -> Sources:
        """The hidden attributes some references read, directly or through what was set from them."""
        found: set[str] = set()
        for ref in refs:
            name = ref.name.text
            if name in self.hidden:
                found.add(name)
            found |= state.tainted.get(name, _NONE)
        return frozenset(found)

    def _revealed(self, work: Expr, state: State) -> State:
        return State(state.revealed | self._sources(_certain(work), state), state.tainted)

    def _decides(self, exprs: Iterable[Expr], state: State, what: str, *, derived_only: bool = False) -> None:
        """A decision reads only what is not hidden or revealed; `derived_only` where the IR judges the rest."""
        for ref in (r for e in exprs for r in references(e)):
            name = ref.name.text
            if name in self.hidden:
                if name not in state.revealed and not derived_only:
                    message = f"`{name}` is hidden, and {what} reads it before a run reveals it"
                    self._report(message, ref)
                continue
            unknown = state.tainted.get(name, _NONE) - state.revealed
            if unknown:
                source = min(unknown)
                message = (
                    f"`{name}` is set from the hidden `{source}`, and {what} reads it before a run reveals it"
                )
                self._report(message, ref)

    def _report(self, message: str, ref: Ref) -> None:
        note = "a run whose work reads the attribute reveals it, on every way to this point"
        hint = "decide after that run, or on something the scheduler knows"
        self.findings.error("SQ560", message, ref, note=note, hint=hint)


def _indices(*refs: Ref | None) -> list[Expr]:
    return [r.index for r in refs if r is not None and r.index is not None]


def _certain(expr: Expr) -> Iterator[Ref]:
    """The references an expression reads whatever their values: not the arms of `? :`, not the right of `&&`."""
    stack: list[tree.Node] = [expr]
    while stack:
        match stack.pop():
            case Ref() as ref:
                yield ref
            case tree.Cond(test=test):
                stack.append(test)
            case tree.Binary(op="&&" | "||", left=left):
                stack.append(left)
            case tree.CostOf(amount=amount):
                stack.append(amount)
            case node:
                stack.extend(nodes_within(node))
