"""Engines: budgets, chunks, costs, orders, exclusive prefill, iteration bodies and registers."""

from __future__ import annotations

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir.moments import Moment
from tests.generators.ir import expressions as gen
from tests.generators.ir import terms as t
from tests.generators.ir.draft import Draft, StageFamily
from tests.generators.ir.resources import registers_of

_DECODE_FIRST = ex.Cond(test=t.ctx("Decoding"), then=t.num(0), other=t.num(1))
_NOT_PREEMPTED = ex.Unary(op="Not", arg=t.ctx("Preempted"))


def shapes(draft: Draft) -> dict[int, str]:
    """Choose the schedule of every engine, and declare the registers its body will set."""
    chosen = {}
    for family in draft.stages_of("engine"):
        shape = draft.dice.weighted({"default": 4.0, "exclusive": 1.2, "body": 3.5, "only": 0.8})
        chosen[family.base] = shape
        if shape == "body" and not family.array and draft.dice.chance(0.6):
            for _ in range(draft.dice.randint(1, 2)):
                init = draft.dice.choice((0.0, 1.0, 4.0))
                name = f"state{len(draft.registers)}"
                draft.registers.append(pr.Register(name=name, stage=family.base, init=init))
    return chosen


def define_engines(draft: Draft, chosen: dict[int, str]) -> dict[int, tuple[pr.Step, ...]]:
    """The members of every engine family, by its base."""
    return {f.base: _members(draft, f, chosen[f.base]) for f in draft.stages_of("engine")}


def _members(draft: Draft, family: StageFamily, shape: str) -> tuple[pr.Step, ...]:
    step = _step(draft, family, shape)
    memory = family.memory
    if memory is None:
        return (step,) * family.count
    return tuple(step.model_copy(update={"memory": memory.base + i}) for i in range(family.count))


def _step(draft: Draft, family: StageFamily, shape: str) -> pr.Step:
    dice = draft.dice
    registers = registers_of(draft, family)
    chunk, bound = _chunk(draft, registers)
    granule = None
    if shape != "exclusive" and dice.chance(0.25):
        granule = t.num(dice.choice([g for g in (1.0, 2.0, 4.0, 0.5, float("inf")) if g <= bound]))
    return pr.Step(
        budget=_budget(draft, family, registers),
        cost=_cost(draft, registers),
        chunk=chunk,
        granule=granule,
        serve=None if shape == "exclusive" else _order(draft, registers),
        iteration=_iteration(draft, registers, shape),
    )


def _budget(draft: Draft, family: StageFamily, registers: tuple[int, ...]) -> ex.Expr:
    dice = draft.dice
    family.budget = dice.quantity(4, 32, draft.integral)
    constant = t.num(family.budget)
    match dice.weighted({"constant": 4.0, "residents": 1.0, "any": 1.0, "drawn": 0.3, "inf": 0.4}):
        case "residents":
            return t.add(constant, t.mul(t.num(2), t.ctx(dice.choice(("Nres", "Ndec")))))
        case "any":
            return gen.amount(draft, gen.Scope(Moment.BUDGET, registers), 2.0, 24.0)
        case "drawn":
            return t.add(t.num(2), t.floor(t.draw("Exp", 8)))
        case "inf":
            return t.num(float("inf"))
        case _:
            return constant


def _chunk(draft: Draft, registers: tuple[int, ...]) -> tuple[ex.Expr, float]:
    """The chunk, and a bound no granule may pass."""
    dice = draft.dice
    size = dice.quantity(2, 12, draft.integral)
    match dice.weighted({"none": 3.0, "constant": 2.0, "choice": 1.5, "any": 0.7}):
        case "constant":
            return t.num(size), size
        case "choice":
            scope = gen.Scope(Moment.BUDGET, registers)
            test = t.binary("Gt", t.ctx("Nres"), t.num(1)) if dice.chance(0.5) else gen.guard(draft, scope)
            other = dice.choice((0.0, 3.0))
            return ex.Cond(test=test, then=t.num(size), other=t.num(other)), min(size, other or size)
        case "any":
            scope = gen.Scope(Moment.BUDGET, registers)
            return t.most(t.num(2), gen.number(draft, scope, 1)), 2.0
        case _:
            return t.num(0), float("inf")


def _cost(draft: Draft, registers: tuple[int, ...]) -> ex.Expr:
    dice = draft.dice
    fixed = t.num(dice.choice((0.05, 0.1, 0.25, 1.0)))
    match dice.weighted({"unit": 1.0, "linear": 4.0, "roof": 1.5, "any": 1.5, "drawn": 0.7}):
        case "unit":
            return t.num(1)
        case "linear":
            terms = dice.some(("Ntok", "Npre", "Ndec", "Kvb", "Kvp", "Attn", "Nres"))
            cost: ex.Expr = fixed
            for name in terms[:3]:
                cost = t.add(cost, t.mul(t.num(dice.choice((0.01, 0.02, 0.005, 0.003))), t.ctx(name)))
            return cost
        case "roof":
            memory = t.mul(t.num(0.01), t.add(t.ctx("Kvb"), t.ctx("Kvp")))
            return t.add(fixed, t.most(memory, t.mul(t.num(0.02), t.ctx("Ntok"))))
        case "drawn":
            return t.add(fixed, t.draw("Uniform", 0, 0.3))
        case _:
            return gen.amount(draft, gen.Scope(Moment.STEP, registers), 0.05, 2.0)


def _order(draft: Draft, registers: tuple[int, ...]) -> tuple[ex.Expr, ...]:
    dice = draft.dice
    match dice.weighted({"admission": 3.0, "decode": 1.5, "remaining": 1.0, "keys": 2.0}):
        case "admission":
            return ()
        case "decode":
            return (_DECODE_FIRST,)
        case "remaining":
            return (t.ctx("Remaining") if dice.chance(0.5) else t.neg(t.ctx("Remaining")),)
        case _:
            return gen.keys(draft, gen.Scope(Moment.SERVE, registers))


def _only(draft: Draft, registers: tuple[int, ...]) -> ex.Expr:
    decoding, prefilling = t.ctx("Decoding"), ex.Unary(op="Not", arg=t.ctx("Decoding"))
    some_decode = t.binary("Gt", t.ctx("Ndec"), t.num(0))
    some_prefill = t.binary("Lt", t.ctx("Ndec"), t.ctx("Nres"))
    match draft.dice.weighted({"phase": 1.5, "prefills": 1.5, "decodes": 1.0, "any": 1.5}):
        case "phase":
            return ex.Cond(test=some_decode, then=decoding, other=prefilling)
        case "prefills":
            return ex.Cond(test=some_prefill, then=prefilling, other=decoding)
        case "decodes":
            return decoding
        case _:
            return gen.guard(draft, gen.Scope(Moment.ONLY, registers))


def _iteration(draft: Draft, registers: tuple[int, ...], shape: str) -> tuple[pr.IterItem, ...] | None:
    if shape in ("default", "exclusive"):
        return None
    if shape == "only":
        only = _only(draft, registers)
        return (pr.Serve(only=only), pr.Admit(only=only, gate=_NOT_PREEMPTED))
    items = _body(draft, registers, draft.dice.randint(1, 4), 2)
    for register in registers:
        at = draft.dice.randint(0, len(items))
        items.insert(at, _set(draft, registers, register))
    return (*items, *_backstop(draft))


def _backstop(draft: Draft) -> list[pr.IterItem]:
    """Mostly end with plain service, so that few bodies starve everyone."""
    if draft.dice.chance(0.2):
        return [pr.Serve()]
    return [pr.Serve(), pr.Admit(gate=_NOT_PREEMPTED if draft.dice.chance(0.6) else None)]


def _body(draft: Draft, registers: tuple[int, ...], length: int, depth: int) -> list[pr.IterItem]:
    return [_item(draft, registers, depth) for _ in range(length)]


def _item(draft: Draft, registers: tuple[int, ...], depth: int) -> pr.IterItem:
    dice = draft.dice
    table = {"serve": 3.0, "admit": 2.0}
    if depth > 0:
        table["branch"] = 1.5
    if registers:
        table["set"] = 1.5
    match dice.weighted(table):
        case "serve":
            by = _order(draft, registers) if dice.chance(0.4) else None
            return pr.Serve(only=_only(draft, registers) if dice.chance(0.6) else None, by=by)
        case "admit":
            gate = _gate(draft, registers) if dice.chance(0.8) else None
            return pr.Admit(only=_only(draft, registers) if dice.chance(0.3) else None, gate=gate)
        case "set":
            return _set(draft, registers, dice.choice(registers))
        case _:
            test = gen.guard(draft, gen.Scope(Moment.PLAN, registers))
            arms = [tuple(_body(draft, registers, dice.randint(0, 2), depth - 1)) for _ in range(2)]
            return pr.IterBranch(guard=test, then=arms[0], other=arms[1])


def _gate(draft: Draft, registers: tuple[int, ...]) -> ex.Expr:
    dice = draft.dice
    match dice.weighted({"preempted": 3.0, "admitted": 1.5, "any": 1.0}):
        case "preempted":
            return _NOT_PREEMPTED
        case "admitted":
            return t.binary("Lt", t.ctx("Admitted"), t.num(dice.randint(1, 3)))
        case _:
            return gen.guard(draft, gen.Scope(Moment.PLAN, registers))


def _set(draft: Draft, registers: tuple[int, ...], register: int) -> pr.IterSet:
    scope = gen.Scope(Moment.PLAN, registers)
    if draft.dice.chance(0.4):
        return pr.IterSet(reg=register, value=t.add(ex.Reg(index=register), t.num(1)))
    return pr.IterSet(reg=register, value=gen.amount(draft, scope, -10.0, 30.0, 1))
