"""Expressions of the IR as terms over natural numbers, with the leaves of each moment (lean-model.md §2, §9).

Constants are folded first, as the interpreter computes them, and must then be natural.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from serq.diagnostics import IrPath
from serq.generators.model import Bin, If, Lit, Not, Op, Term, Var
from serq.generators.refusals import Refusals, Rule
from serq.ir import expressions as ex
from serq.ir.program import Program
from serq.ir.validate.constants import constant

_OPERATORS: dict[str, Op] = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Lt": "lt",
    "Le": "le",
    "Eq": "eq",
    "Ne": "ne",
    "And": "and",
    "Or": "or",
}
_TURNED: dict[str, Op] = {"Gt": "lt", "Ge": "le"}
_LESSER: dict[str, Op] = {"Min": "min", "Max": "max"}
_ROUNDED: dict[str, Op] = {"Floor": "div", "Ceil": "ceil"}

Leaf = Callable[[ex.Expr, IrPath], Term | None]


@dataclass(frozen=True)
class Moment:
    """How leaves are read: what a leaf becomes (None: not readable), the rule that refuses, the name."""

    leaf: Leaf
    rule: Rule
    name: str


class Expressions:
    """Translates expressions of one program; what it cannot is refused and stands for 0."""

    def __init__(self, program: Program, refusals: Refusals) -> None:
        self.program = program
        self.refusals = refusals
        self.session = Moment(self._session_leaf, Rule.EXPRESSIONS, "a session")
        self.chunk = Moment(self._chunk_leaf, Rule.CHUNK, "a chunk")
        self.only = Moment(self._only_leaf, Rule.ITERATION, "an iteration's `only`")

    def term(self, e: ex.Expr, path: IrPath, moment: Moment) -> Term:
        """A whole expression as a term."""
        value = constant(e)
        # What reads something keeps doing so: a hold's amount lasts only if all of it does.
        if value is not None and not _reads(e):
            self._know(e, path)
            return Lit(self.refusals.natural(value, path, "a constant", moment.rule))
        self._know_node(e, path)
        match e:
            case ex.Cost(arg=arg):
                return self.term(arg, path, moment)
            case ex.Cond(test=test, then=then, other=other):
                a, b, c = (self.term(x, path, moment) for x in (test, then, other))
                return If(a, b, c)
            case ex.Unary(op="Not", arg=arg):
                return Not(self.term(arg, path, moment))
            case ex.Binary(op=op, left=left, right=right) if op in _OPERATORS:
                return Bin(_OPERATORS[op], self.term(left, path, moment), self.term(right, path, moment))
            case ex.Binary(op=op, left=left, right=right) if op in _TURNED:
                return Bin(_TURNED[op], self.term(right, path, moment), self.term(left, path, moment))
            case ex.Call(fun=fun, args=(ex.Expr() as left, ex.Expr() as right)) if fun in _LESSER:
                return Bin(_LESSER[fun], self.term(left, path, moment), self.term(right, path, moment))
            case ex.Call(fun=fun, args=(ex.Expr() as inner,)) if fun in _ROUNDED:
                return self._rounded(fun, inner, path, moment)
            case _:
                return self._leaf(e, path, moment)

    def _know(self, e: ex.Expr, path: IrPath) -> None:
        for node in ex.walk(e):
            self._know_node(node, path)

    def _know_node(self, e: ex.Expr, path: IrPath) -> None:
        self.refusals.know(e, path)
        for arg in e.args if isinstance(e, ex.Call) else ():
            self.refusals.know(arg, path)

    def _rounded(self, fun: str, inner: ex.Expr, path: IrPath, moment: Moment) -> Term:
        quotient = without_costs(inner)
        if not isinstance(quotient, ex.Binary) or quotient.op != "Div":
            message = f"`{fun.lower()}` of something else than a quotient"
            return self._refused(path, moment, message, "write `floor(a / b)` or `ceil(a / k)`")
        divisor = constant(quotient.right)
        if fun == "Ceil" and not (divisor is not None and divisor >= 1):
            return self._refused(path, moment, "`ceil` of a quotient whose divisor is not a constant from 1")
        if divisor is not None and divisor <= 0:
            return self._refused(path, moment, "a division by a constant that is not positive")
        left, right = self.term(quotient.left, path, moment), self.term(quotient.right, path, moment)
        return Bin(_ROUNDED[fun], left, right)

    def _leaf(self, e: ex.Expr, path: IrPath, moment: Moment) -> Term:
        found = moment.leaf(e, path)
        if found is None:
            return self._refused(path, moment, f"{described(e)} is not readable in {moment.name}")
        return found

    def _refused(self, path: IrPath, moment: Moment, message: str, hint: str | None = None) -> Term:
        self.refusals.refuse(moment.rule, path, message, hint)
        return Lit(0)

    # Leaves

    def _session_leaf(self, e: ex.Expr, path: IrPath) -> Term | None:
        match e:
            case ex.Attr(slot=slot):
                return self._attribute(slot)
            case ex.Ctx(var="Now"):
                return Var("now")
            case ex.Call(fun="CachedIn", args=(ex.PoolArg(ref=ref),)):
                return Var("cachedIn", self.refusals.single(ref, path, "pool"))
            case ex.Call(fun="BudgetLeft", args=(ex.StageArg(ref=ref),)):
                return Var("budgetLeft") if self.refusals.single(ref, path, "stage") == 0 else None
            case _:
                return None

    def _attribute(self, slot: int) -> Term:
        if slot == self.program.slot_cached:
            return Var("cached")
        return Var("serial") if slot == self.program.slot_serial else Var("attr", slot)

    def _chunk_leaf(self, e: ex.Expr, path: IrPath) -> Term | None:
        match e:
            case ex.Ctx(var="Nres"):
                return Var("residents")
            case ex.Call(fun="Queued", args=(ex.PoolArg(ref=ref),)):
                return Var("queued", self.refusals.single(ref, path, "pool"))
            case _:
                return None

    def _only_leaf(self, e: ex.Expr, path: IrPath) -> Term | None:
        match e:
            case ex.Attr(slot=slot) if slot not in (self.program.slot_cached, self.program.slot_serial):
                return Var("residentAttr", slot)
            case ex.Ctx(var=var) if var in _ONLY:
                return Var(_ONLY[var])
            case _:
                return None


# What may go below 0 and stays at 0 over ℕ.
DIFFERENCE = "a difference"
_ONLY = {
    "Decoding": "decoding",
    "Admission": "admission",
    "Remaining": "remaining",
    "Nres": "residents",
    "Ndec": "decoders",
}


def without_costs(e: ex.Expr) -> ex.Expr:
    """The expression inside cost conversions, which are erased."""
    while isinstance(e, ex.Cost):
        e = e.arg
    return e


def described(e: ex.Expr) -> str:
    """A construct as refusals name it."""
    match e:
        case ex.Ctx(var=name) | ex.Call(fun=name) | ex.Unary(op=name) | ex.Binary(op=name):
            return f"`{name}`"
        case ex.Sample(dist=name):
            return f"a draw of `{name}`"
        case ex.Agg(fun=name):
            return f"the aggregate `{name}`"
        case ex.Reg():
            return "a register"
        case _:
            return f"`{type(e).__name__}`"


def _reads(e: ex.Expr) -> bool:
    """Whether an expression reads anything, in an arm that is never chosen, too."""
    return any(isinstance(n, ex.Attr | ex.Ctx | ex.Reg | ex.Sample | ex.Agg) or _asks(n) for n in ex.walk(e))


def _asks(e: ex.Expr) -> bool:
    return isinstance(e, ex.Call) and any(not isinstance(a, ex.Expr) for a in e.args)


def _unnatural(e: ex.Expr, proved: bool) -> Iterator[str]:
    """What may have another value over ℕ: a difference, or a divisor that is no positive constant.

    `proved` says that no difference in it goes below 0 where it is read.
    """
    for node in ex.walk(e):
        match node:
            case ex.Binary(op="Sub") if proved:
                continue
            case ex.Binary(op="Sub") | ex.Unary(op="Neg"):
                yield DIFFERENCE
            case ex.Binary(op="Div", right=right) if (constant(right) or 0.0) <= 0.0:
                yield "a divisor that is not a positive constant"
            case _:
                pass


def refuse_unnatural(
    refusals: Refusals, rule: Rule, e: ex.Expr, at: IrPath, where: str, path: IrPath | None = None
) -> None:
    """Refuse what in the expression at a place may have another value over ℕ; it is said at `path`, if not there."""
    for what in _unnatural(e, at in refusals.proved):
        refusals.refuse(rule, at if path is None else path, f"{what} in {where}")
