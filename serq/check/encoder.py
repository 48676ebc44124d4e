"""From expressions of the IR to terms: one walk, every operator by its row (`operations`, `draws`, `readings`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from serq.check import operations, readings
from serq.check.draws import DRAWS
from serq.check.solver import Fact, both, negation
from serq.check.terms import INF, Term, ite, truth
from serq.check.variables import Variables
from serq.ir import encode, tables
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir.symbolic import Input
from serq.ir.validate.names import Names

Attributes = Callable[[int], Term]


@dataclass(frozen=True, eq=False)
class Watched:
    """A division, a subtraction or a query's index inside an expression, with when it is evaluated."""

    expr: ex.Expr
    operands: tuple[Term, ...]
    when: Fact
    ref: ex.CRef | None = None


@dataclass(eq=False)
class Encoder:
    """Encodes expressions read at one moment: equal readings of the state are one variable.

    `given` holds the readings made so far, by context variable or by the query's JSON.
    """

    program: pr.Program
    names: Names
    variables: Variables
    attributes: Attributes
    given: dict[str, Term] = field(default_factory=dict)
    watched: list[Watched] = field(default_factory=list)
    _when: list[Fact] = field(default_factory=list)

    def encode(self, e: ex.Expr) -> Term:
        """The term of an expression. Depth is bounded by the recursion limit (`deep_recursion`)."""
        match e:
            case ex.Num(value=value):
                return self.variables.number(value)
            case Input(name=name):
                return self.variables.inputs[name]
            case ex.Attr(slot=slot):
                return self.attributes(slot)
            case ex.Cost(arg=arg):
                return self.encode(arg)
            case ex.Unary(op=op, arg=arg):
                return operations.UNARY[op](self.variables.rounding, self.encode(arg))
            case ex.Binary():
                return self._binary(e, quotient=False)
            case ex.Cond(test=test, then=then, other=other):
                return self._cond(self.encode(test), then, other)
            case ex.Sample(dist=dist, args=args):
                values = tuple(self.encode(a) for a in args)
                return DRAWS[dist](self.variables, f"the draw {self.names.expr(e)}", values)
            case ex.Call():
                return self._call(e)
            case _:
                return self._reading(e)

    def _cond(self, test: Term, then: ex.Expr, other: ex.Expr) -> Term:
        flag = truth(test)
        if isinstance(flag, bool):
            return self.encode(then if flag else other)

        yes = Fact(flag, lambda v: v.of(test) != 0.0)
        return ite(flag, yes.holds, self._under(yes, then), self._under(negation(yes), other))

    def _under(self, when: Fact, e: ex.Expr) -> Term:
        """The term of an expression that is only evaluated under a condition."""
        self._when.append(when)
        try:
            return self.encode(e)
        finally:
            self._when.pop()

    def _binary(self, e: ex.Binary, *, quotient: bool) -> Term:
        a, r = self.encode(e.left), self.variables.rounding
        if e.op in ("And", "Or"):
            goes_on = Fact(truth(a), lambda v: v.of(a) != 0.0)
            b = self._under(goes_on if e.op == "And" else negation(goes_on), e.right)
        else:
            b = self.encode(e.right)
        if e.op in ("Div", "Sub"):
            self.watched.append(Watched(e, (a, b), both(*self._when)))
        return (
            operations.divide(r, a, b, quotient=quotient)
            if e.op == "Div"
            else operations.BINARY[e.op](r, a, b)
        )

    def _call(self, e: ex.Call) -> Term:
        r = self.variables.rounding
        if e.fun in ("Floor", "Ceil"):
            return operations.ONE_ARGUMENT[e.fun](r, self._rounded(e.args[0]))
        numbers = [self.encode(a) for a in e.args if isinstance(a, ex.Expr)]
        if e.fun in operations.ONE_ARGUMENT:
            return operations.ONE_ARGUMENT[e.fun](r, numbers[0])
        if e.fun in operations.TWO_ARGUMENTS:
            return operations.TWO_ARGUMENTS[e.fun](r, numbers[0], numbers[1])
        return self._query(e)

    def _rounded(self, e: ex.Expr | ex.PoolArg | ex.StageArg) -> Term:
        """What a `floor` or `ceil` rounds: a quotient of whole numbers as it is, not rounded before."""
        while isinstance(e, ex.Cost):
            e = e.arg
        assert isinstance(e, ex.Expr)
        return (
            self._binary(e, quotient=True) if isinstance(e, ex.Binary) and e.op == "Div" else self.encode(e)
        )

    def _query(self, e: ex.Call) -> Term:
        make = readings.QUERIES[e.fun]
        self._watch_indices(e)
        text = self.names.expr(e)
        if any(isinstance(x, ex.Sample) for x in ex.walk(e)):
            return make(self.variables, self.program, e, text)
        # Printed expressions are shortened; their JSON tells them apart.
        return self._once(json.dumps(encode.expr(e)), lambda: make(self.variables, self.program, e, text))

    def _watch_indices(self, e: ex.Call) -> None:
        for arg in e.args:
            if not isinstance(arg, ex.Expr) and arg.ref.index is not None:
                term = self.encode(arg.ref.index)
                self.watched.append(Watched(e, (term,), both(*self._when), arg.ref))

    def _reading(self, e: ex.Expr) -> Term:
        match e:
            case ex.Ctx(var=var):
                return self._once(var, lambda: self._ranged(tables.CONTEXT[var].text, readings.CONTEXT[var]))
            case ex.Reg(index=index):
                what = f"the register {self.names.register(index)}"
                return self._once(f"register {index}", lambda: self._ranged(what, readings.Range(-INF)))
            case ex.Agg(fun=fun):
                key = json.dumps(encode.expr(e))
                return self._once(key, lambda: self._ranged(self.names.expr(e), readings.AGGREGATES[fun]))
            case _:
                raise TypeError(f"no encoding of {type(e).__name__}")

    def _ranged(self, what: str, r: readings.Range) -> Term:
        return readings.ranged(self.variables, what, r, self.program.horizon)

    def _once(self, key: str, make: Callable[[], Term]) -> Term:
        if key not in self.given:
            self.given[key] = make()
        return self.given[key]
