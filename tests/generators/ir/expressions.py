"""Random expressions for every moment, drawn from what the tables of the IR say the moment supplies."""

from __future__ import annotations

from dataclasses import dataclass, field

from serq.ir import expressions as ex
from serq.ir.moments import ATTRIBUTE_MOMENTS, DRAW_MOMENTS, SCHEDULER_MOMENTS, Moment
from serq.ir.tables import CONTEXT_VARIABLES, FUNCTIONS, Function, Param
from tests.generators.ir import terms as t
from tests.generators.ir.draft import CACHED, COMPUTED, SERIAL, TURN_NO, Draft, PoolFamily, StageFamily

_CONSTANTS = (0.0, 1.0, 1.0, 2.0, 3.0, 5.0, 0.5, 0.25, 1.5, 8.0)
_FIXED_INDEX = frozenset({Moment.GAUGE, Moment.ITERATION, Moment.PS, Moment.BUDGET, Moment.STEP, Moment.PLAN})
_ARITHMETIC = ("Add", "Sub", "Mul", "Add", "Sub", "Mul", "Div")
_TESTS = ("Lt", "Le", "Gt", "Ge", "Eq", "Ne")


@dataclass(frozen=True)
class Scope:
    """Where an expression stands: its moment and what it may name besides what the moment supplies."""

    moment: Moment
    registers: tuple[int, ...] = ()
    routes: dict[int, int] = field(default_factory=dict)
    draws: bool = True
    budget_left: bool = False
    without: frozenset[int] = frozenset()
    extra: tuple[ex.Expr, ...] = ()


def number(draft: Draft, scope: Scope, depth: int = 2) -> ex.Expr:
    """Any quantity: it may be negative, infinite or NaN."""
    dice = draft.dice
    table: dict[str, float] = {"constant": 2.0, "query": 2.0}
    if scope.moment in ATTRIBUTE_MOMENTS and _attributes(draft, scope):
        table["attribute"] = 3.0
    if _variables(scope):
        table["variable"] = 4.0
    if scope.registers:
        table["register"] = 3.0
    if scope.extra:
        table["extra"] = 4.0
    if depth > 0:
        table |= {"operator": 4.0, "function": 1.5, "condition": 0.7, "test": 0.4}
    if scope.draws and scope.moment in DRAW_MOMENTS:
        table["draw"] = 0.6
    return _FORMS[dice.weighted(table)](draft, scope, depth)


def guard(draft: Draft, scope: Scope, depth: int = 1) -> ex.Expr:
    """A condition that reads 0 or 1."""
    dice = draft.dice
    kind = dice.weighted({"test": 6.0, "both": 1.0, "not": 1.0, "choice": 0.4})
    if depth <= 0 or kind == "test":
        return _test(draft, scope, depth)
    if kind == "not":
        return ex.Unary(op="Not", arg=guard(draft, scope, depth - 1))
    if kind == "choice":
        return ex.Cond(test=guard(draft, scope, 0), then=guard(draft, scope, 0), other=guard(draft, scope, 0))
    op = dice.choice(("And", "Or"))
    return t.binary(op, guard(draft, scope, depth - 1), guard(draft, scope, depth - 1))


def amount(draft: Draft, scope: Scope, low: float, high: float, depth: int = 2) -> ex.Expr:
    """A quantity held within [low, high]; whole in programs of whole quantities."""
    value = t.clamp(number(draft, scope, depth), low, high)
    return t.floor(value) if draft.integral and float(low).is_integer() else value


def keys(draft: Draft, scope: Scope, most: int = 2) -> tuple[ex.Expr, ...]:
    """One or several keys of an order."""
    return tuple(number(draft, scope) for _ in range(draft.dice.randint(1, most)))


def _attributes(draft: Draft, scope: Scope) -> list[int]:
    slots = [i for i, kind in enumerate(draft.types) if kind in ("Size", "Value") and i not in scope.without]
    if scope.moment in SCHEDULER_MOMENTS:
        slots = draft.schedulable(slots)
    if scope.moment == Moment.VICTIM:
        slots = [s for s in slots if s != COMPUTED]
    if scope.moment == Moment.GIVEN:
        slots = [s for s in slots if draft.types[s] == "Size"]
    return slots


def _variables(scope: Scope) -> list[str]:
    return [row.ir for row in CONTEXT_VARIABLES if scope.moment in row.moments]


def _constant(draft: Draft, scope: Scope, depth: int) -> ex.Expr:
    value = draft.dice.choice(_CONSTANTS)
    return t.num(-value if draft.dice.chance(0.1) else value)


def _attribute(draft: Draft, scope: Scope, depth: int) -> ex.Expr:
    slots = _attributes(draft, scope)
    own = [s for s in slots if s > COMPUTED or s in (SERIAL, TURN_NO, CACHED, COMPUTED)]
    return t.attr(draft.dice.choice(own or slots))


def _variable(draft: Draft, scope: Scope, depth: int) -> ex.Expr:
    names = _variables(scope)
    if draft.dice.chance(0.7) and len(names) > 1:
        names = [n for n in names if n != "Now"]
    return t.ctx(draft.dice.choice(names))


def _register(draft: Draft, scope: Scope, depth: int) -> ex.Expr:
    return ex.Reg(index=draft.dice.choice(scope.registers))


def _extra(draft: Draft, scope: Scope, depth: int) -> ex.Expr:
    return draft.dice.choice(scope.extra)


def _test(draft: Draft, scope: Scope, depth: int) -> ex.Expr:
    less = max(0, depth - 1)
    return t.binary(draft.dice.choice(_TESTS), number(draft, scope, less), number(draft, scope, less))


def _operator(draft: Draft, scope: Scope, depth: int) -> ex.Expr:
    if draft.dice.chance(0.12):
        return t.neg(number(draft, scope, depth - 1))
    op = draft.dice.choice(_ARITHMETIC)
    return t.binary(op, number(draft, scope, depth - 1), number(draft, scope, depth - 1))


def _function(draft: Draft, scope: Scope, depth: int) -> ex.Expr:
    dice = draft.dice
    fun = dice.choice(("Min", "Max", "Min", "Max", "Floor", "Ceil", "Abs", "Sqrt", "Exp", "Ln", "Pow"))
    inner = number(draft, scope, depth - 1)
    match fun:
        case "Min" | "Max":
            return t.call(fun, inner, number(draft, scope, depth - 1))
        case "Exp":
            return t.call(fun, t.neg(t.call("Abs", inner)))
        case "Pow":
            base, power = t.call("Abs", inner), t.num(dice.choice((0.5, 2.0, 1.5, -1.0)))
            return t.call(fun, base, power) if dice.chance(0.5) else t.binary(fun, base, power)
        case _:
            return t.call(fun, inner)


def _condition(draft: Draft, scope: Scope, depth: int) -> ex.Expr:
    return ex.Cond(
        test=_test(draft, scope, depth - 1),
        then=number(draft, scope, depth - 1),
        other=number(draft, scope, depth - 1),
    )


def _draw(draft: Draft, scope: Scope, depth: int) -> ex.Expr:
    return sample(draft.dice, draft.dice.choice((0.5, 1.0, 2.0, 4.0)))


def sample(dice, mean: float) -> ex.Sample:
    """A draw of about this mean, of any distribution."""
    match dice.choice(("Exp", "Uniform", "Erlang", "H2", "Bernoulli", "Det")):
        case "Uniform":
            return t.draw("Uniform", round(0.2 * mean, 3), round(1.8 * mean, 3))
        case "Erlang":
            return t.draw("Erlang", dice.randint(1, 4), mean)
        case "H2":
            return t.draw("H2", mean, dice.choice((1.0, 2.0, 4.0)))
        case "Bernoulli":
            return t.draw("Bernoulli", dice.choice((0.2, 0.5, 0.8)))
        case dist:
            return t.draw(dist, mean)


def _query(draft: Draft, scope: Scope, depth: int) -> ex.Expr:
    rows = [row for row in FUNCTIONS if row.moves and _allowed(draft, scope, row)]
    if not rows:
        return _constant(draft, scope, depth)
    row = draft.dice.choice(rows)
    args: list[ex.Expr | ex.PoolArg | ex.StageArg] = []
    for param in row.params:
        if param is Param.NUMBER:
            args.append(number(draft, scope, 0))
        elif param is Param.POOL:
            args.append(ex.PoolArg(ref=_ref(draft, scope, draft.dice.choice(draft.pool_families))))
        else:
            args.append(ex.StageArg(ref=_ref(draft, scope, draft.dice.choice(_stages(draft, param)))))
    return ex.Call(fun=row.ir, args=tuple(args))


def _allowed(draft: Draft, scope: Scope, row: Function) -> bool:
    if scope.moment not in row.moments or (row.ir == "Work" and not draft.sums_two):
        return False
    if row.ir == "BudgetLeft" and not scope.budget_left:
        return False
    if Param.POOL in row.params and not draft.pool_families:
        return False
    return all(_stages(draft, p) for p in row.params if p in (Param.STAGE, Param.ENGINE))


def _stages(draft: Draft, param: Param) -> list[StageFamily]:
    return draft.stages_of("engine") if param is Param.ENGINE else draft.stage_families


def _ref(draft: Draft, scope: Scope, family: PoolFamily | StageFamily) -> ex.CRef:
    fixed = scope.moment in _FIXED_INDEX or scope.moment not in ATTRIBUTE_MOMENTS
    return draft.member(family, None if fixed else scope.routes or draft.routes())


_FORMS = {
    "constant": _constant,
    "query": _query,
    "attribute": _attribute,
    "variable": _variable,
    "register": _register,
    "extra": _extra,
    "operator": _operator,
    "function": _function,
    "condition": _condition,
    "test": _test,
    "draw": _draw,
}
