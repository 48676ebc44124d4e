"""A schedule as the IR's step stage has it: an order, a chunk, an iteration body (api.md §7.5)."""

from __future__ import annotations

import math
from collections.abc import Iterator

from serq.lang import tree
from serq.lang.constants import Constant, NotConstant, number, shown, value_of
from serq.lang.engine_scope import Clause, EngineScope
from serq.lang.kernel import KernelAdmit, KernelBranch, KernelItem, KernelServe, KernelSet
from serq.lang.model import Engine, Model
from serq.lang.rewrite import same
from serq.lang.tree import Expr, Name, Ref

Served = tuple[tuple[Expr, ...] | None, tuple[KernelItem, ...] | None]
_EXCLUSIVE = "exclusive prefill; admit waiting while (running.preempted == 0);"
_CAPS = "a cap is a constant above 0, `inf`, `max(k, e)` with such a `k`, or `? :` over those"


class ScheduleLowering:
    """Rewrites one engine's schedule."""

    def __init__(self, engine: Engine, schedule: tree.Schedule, model: Model) -> None:
        self.engine = engine
        self.schedule = schedule
        self.model = model
        self.findings = model.findings
        self.lets = {let.name.text: let.value for let in schedule.lets}
        self.keys = self._scope(Clause.BY)
        self.only = self._scope(Clause.ONLY)
        self.plan = self._scope(Clause.PLAN)

    def _scope(self, clause: Clause) -> EngineScope:
        return EngineScope(self.engine, self.model, clause, self.lets)

    # Order and body

    def order(self) -> Served:
        """The order residents are served in and the iteration body, if the schedule has one."""
        statements = self.schedule.statements
        if not statements:
            return (), None  # reported with the shape of the program
        shape = tuple(type(s) for s in statements)
        if shape == (tree.Advance, tree.Admit) and self._is_default(statements[0], statements[1]):
            return self._default(statements[0], statements[1])
        if any(isinstance(s, tree.ExclusivePrefill) for s in _statements(statements)):
            return self._exclusive(statements)
        return (), self._items(statements)

    def _is_default(self, advance: tree.ScheduleStatement, admit: tree.ScheduleStatement) -> bool:
        assert isinstance(advance, tree.Advance) and isinstance(admit, tree.Admit)
        return is_unpreempted(admit.gate) and same(advance.only, admit.only)

    def _default(self, advance: tree.ScheduleStatement, admit: tree.ScheduleStatement) -> Served:
        assert isinstance(advance, tree.Advance) and isinstance(admit, tree.Admit)
        keys = self._order(advance.order) or ()
        if advance.only is None or admit.only is None:
            return keys, None
        gate = tree.Unary(admit.span, "!", Ref(admit.span, Name(admit.span, "running.preempted")))
        serve = KernelServe(advance, self.only.expr(advance.only), None)
        return keys, (serve, KernelAdmit(admit, self.only.expr(admit.only), gate))

    def _exclusive(self, statements: tuple[tree.ScheduleStatement, ...]) -> Served:
        match statements:
            case (tree.ExclusivePrefill(), tree.Admit(only=None, gate=gate)) if is_unpreempted(gate):
                return None, None
        at = next(s for s in _statements(statements) if isinstance(s, tree.ExclusivePrefill))
        message = "`exclusive prefill` takes back decodes already chosen, which no other schedule can"
        self.findings.error("SQ762", message, at, hint=f"its schedule is `{_EXCLUSIVE}`")
        return (), None

    def _order(self, order: tree.Order | None) -> tuple[Expr, ...] | None:
        if order is None or order.kind == "admission":
            return None
        if order.kind == "by":
            return tuple(self.keys.expr(k) for k in order.keys)
        decoding = Ref(order.span, Name(order.span, "decoding"))
        return (tree.Cond(order.span, decoding, number(0.0, order), number(1.0, order)),)

    def _items(self, statements: tuple[tree.ScheduleStatement, ...]) -> tuple[KernelItem, ...]:
        items = (self._item(s) for s in statements)
        return tuple(i for i in items if i is not None)

    def _item(self, statement: tree.ScheduleStatement) -> KernelItem | None:
        match statement:
            case tree.Advance(only=only, order=order):
                by = self._order(order)
                if order is not None and order.kind == "admission":
                    by = ()
                return KernelServe(statement, only and self.only.expr(only), by)
            case tree.Admit(only=only, gate=gate):
                return KernelAdmit(statement, only and self.only.expr(only), gate and self.plan.expr(gate))
            case tree.ScheduleBranch(test=test, then=then, otherwise=otherwise):
                guard = self.plan.expr(test)
                arms = (then.statements, otherwise.statements if otherwise is not None else ())
                return KernelBranch(statement, guard, self._items(arms[0]), self._items(arms[1]))
            case tree.Set(name=name, value=value):
                return self._set(statement, name, value)
            case _:
                return None

    def _set(self, statement: tree.Set, name: Name, value: Expr) -> KernelItem | None:
        if name.text not in self.engine.states:
            message = f"`{name.text}` is not a register of `{self.engine.name}`: a schedule sets only those"
            hint = f"declare it in the engine: `state {name.text} = 0;`"
            self.findings.error("SQ763", message, name, hint=hint)
            return None
        return KernelSet(statement, name.text, self.plan.expr(value))

    # The chunk

    def chunk(self) -> Expr:
        """`each at most` as the IR has it: one for the whole iteration, 0 for none."""
        caps = [(s, _at_most(s)) for s in _statements(self.schedule.statements) if _serves(s)]
        if not caps:
            return number(0.0, self.schedule)
        first = caps[0][1]
        for statement, cap in caps[1:]:
            if not same(first, cap):
                message = "the schedule's `each at most` differ: an iteration has one cap per run"
                at = cap if cap is not None else statement
                self.findings.error("SQ764", message, at, hint="write the same on every statement, or none")
                return number(0.0, self.schedule)
        if first is None:
            return number(0.0, self.schedule)
        scope = EngineScope(self.engine, self.model, Clause.AT_MOST, self._written_lets())
        return self._cap(scope.expr(first))

    def _written_lets(self) -> dict[str, Expr]:
        """The schedule's lets, each written out in those after it."""
        lets: dict[str, Expr] = {}
        for let in self.schedule.lets:
            if let.name.text in lets:
                message = f"`{let.name.text}` is a `let` of this schedule twice"
                self.findings.error("SQ310", message, let.name)
                continue
            scope = EngineScope(self.engine, self.model, Clause.AT_MOST, dict(lets))
            lets[let.name.text] = scope.expr(let.value)
        return lets

    def _cap(self, cap: Expr) -> Expr:
        try:
            return self._constant_cap(cap, value_of(cap))
        except NotConstant:
            pass
        match cap:
            case tree.Cond(span=span, test=test, then=then, otherwise=otherwise):
                return tree.Cond(span, test, self._cap(then), self._cap(otherwise))
            case tree.Call(function=Name(text="max"), arguments=(left, right)):
                if any(_is_floor(a) for a in (left, right)):
                    return cap
        message = "this `each at most` could give a run nothing, which would read as no cap"
        self.findings.error("SQ765", message, cap, note=_CAPS, hint="keep it above 0: `max(1, e)`")
        return number(0.0, cap)

    def _constant_cap(self, cap: Expr, value: float) -> Expr:
        if value == math.inf:
            return number(0.0, cap)
        if not (value > 0 and math.isfinite(value)):
            message = f"`each at most ({shown(value)})` gives a run nothing"
            self.findings.error("SQ765", message, cap, note=_CAPS, hint="no cap is written `inf`")
            return number(0.0, cap)
        return number(value, cap)


def is_unpreempted(gate: Expr | None) -> bool:
    """Whether a gate is one of the spellings of `running.preempted == 0`."""
    match gate:
        case tree.Binary(op="==", left=left, right=right):
            return any(_is_preempted(a) and _is_zero(b) for a, b in ((left, right), (right, left)))
        case tree.Unary(op="!", operand=operand):
            return _is_preempted(operand)
        case _:
            return False


def _is_preempted(expr: Expr) -> bool:
    match expr:
        case Ref(name=Name(text="running"), index=None, members=(Name(text="preempted"),), member_index=None):
            return True
        case _:
            return False


def _is_zero(expr: Expr) -> bool:
    """The number written out: under a constant's name it is another schedule, with a gate of its own."""
    return isinstance(expr, tree.Num) and not isinstance(expr, Constant) and expr.value == 0


def _is_floor(expr: Expr) -> bool:
    try:
        return 0 < value_of(expr) < math.inf
    except NotConstant:
        return False


def _statements(statements: tuple[tree.ScheduleStatement, ...]) -> Iterator[tree.ScheduleStatement]:
    """Every statement of a schedule, those in branches included."""
    for statement in statements:
        yield statement
        if isinstance(statement, tree.ScheduleBranch):
            yield from _statements(statement.then.statements)
            if statement.otherwise is not None:
                yield from _statements(statement.otherwise.statements)


def _serves(statement: tree.ScheduleStatement) -> bool:
    return isinstance(statement, tree.Advance | tree.Admit | tree.ExclusivePrefill)


def _at_most(statement: tree.ScheduleStatement) -> Expr | None:
    if isinstance(statement, tree.Advance | tree.Admit | tree.ExclusivePrefill):
        return statement.at_most
    return None
