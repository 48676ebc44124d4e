"""From expressions of the IR to terms: one walk, every operator by its row (`operations`, `draws`, `readings`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from serq.check import operations, readings
from serq.check.draws import DRAWS
from serq.check.terms import Term, Values, constant, ite, truth
from serq.check.variables import Variables
from serq.ir import encode
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import tables
from serq.ir.validate.names import Names

Attributes = Callable[[int], Term]


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

    def encode(self, e: ex.Expr) -> Term:
        """The term of an expression. Depth is bounded by the recursion limit (`deep_recursion`)."""
        match e:
            case ex.Num(value=value):
                return constant(value)
            case ex.Attr(slot=slot):
                return self.attributes(slot)
            case ex.Cost(arg=arg):
                return self.encode(arg)
            case ex.Unary(op=op, arg=arg):
                return operations.UNARY[op](self.variables.rounding, self.encode(arg))
            case ex.Binary(op=op, left=left, right=right):
                a, b = self.encode(left), self.encode(right)
                return operations.BINARY[op](self.variables.rounding, a, b)
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

        def decide(v: Values) -> bool:
            return v.of(test) != 0.0

        return ite(flag, decide, self.encode(then), self.encode(other))

    def _call(self, e: ex.Call) -> Term:
        numbers = [self.encode(a) for a in e.args if isinstance(a, ex.Expr)]
        r = self.variables.rounding
        if e.fun in ("Floor", "Ceil") and (whole := self._quotient(e.args[0])) is not None:
            return operations.ONE_ARGUMENT[e.fun](r, whole)
        if e.fun in operations.ONE_ARGUMENT:
            return operations.ONE_ARGUMENT[e.fun](r, numbers[0])
        if e.fun in operations.TWO_ARGUMENTS:
            return operations.TWO_ARGUMENTS[e.fun](r, numbers[0], numbers[1])
        return self._query(e)

    def _quotient(self, e: ex.Expr | ex.PoolArg | ex.StageArg) -> Term | None:
        """The exact quotient under a `floor` or `ceil`, where rounding cannot pass a whole number."""
        while isinstance(e, ex.Cost):
            e = e.arg
        if not isinstance(e, ex.Binary) or e.op != "Div":
            return None
        a, b = self.encode(e.left), self.encode(e.right)
        return operations.divide(self.variables.rounding, a, b, quotient=True) if a.whole and b.whole else None

    def _query(self, e: ex.Call) -> Term:
        make = readings.QUERIES[e.fun]
        text = self.names.expr(e)
        if any(isinstance(x, ex.Sample) for x in ex.walk(e)):
            return make(self.variables, self.program, e, text)
        # Printed expressions are shortened; their JSON tells them apart.
        return self._once(json.dumps(encode.expr(e)), lambda: make(self.variables, self.program, e, text))

    def _reading(self, e: ex.Expr) -> Term:
        match e:
            case ex.Ctx(var=var):
                return self._once(var, lambda: self._ranged(tables.CONTEXT[var].text, readings.CONTEXT[var]))
            case ex.Reg(index=index):
                what = f"the register {self.names.register(index)}"
                return self._once(f"register {index}", lambda: self._ranged(what, readings.Range(-readings.INF)))
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
