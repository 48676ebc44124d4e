"""Expressions to Python source: each is compiled once per run into a function of its moment's readings.

Parts deeper than `_INLINE` levels become functions of their own, so that neither
Python's parser nor its compiler meets deep nesting. The snippets are keyed by the
rows of `serq.ir.tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from serq.diagnostics import IrPath
from serq.ir.expressions import (
    Agg,
    Attr,
    Binary,
    Call,
    Cond,
    Cost,
    CRef,
    Ctx,
    Expr,
    Num,
    PoolArg,
    Reg,
    Sample,
    StageArg,
    Unary,
    walk,
)
from serq.ir.moments import Moment
from serq.ir.tables import BINARY, FUNCTION, UNARY
from serq.sim import numeric

_INLINE = 20
_FILE = "<serq program>"

# What a compiled expression is called with at each moment: the session, the context.
PARAMETERS: Mapping[Moment, str] = {
    Moment.SESSION: "s",
    Moment.ADMIT: "s",
    Moment.SELECT: "s, c",
    Moment.EVICT: "s, c",
    Moment.PS: "c",
    Moment.BUDGET: "c",
    Moment.STEP: "c",
    Moment.SERVE: "s, c",
    Moment.ONLY: "s, c",
    Moment.VICTIM: "s, c",
    Moment.PLAN: "c",
    Moment.GAUGE: "",
    Moment.GIVEN: "s",
    Moment.ITERATION: "c",
    Moment.END: "",
    Moment.RENEWAL: "",
}

SESSION_STREAM = "(s.stream or open_stream(s))"
WORKLOAD_STREAM = "(s.workload or open_workload(s))"
_STREAMS: Mapping[Moment, str] = {
    Moment.SESSION: SESSION_STREAM,
    Moment.EVICT: "evict_rng",
    Moment.PS: "machine_rng",
    Moment.BUDGET: "machine_rng",
    Moment.STEP: "machine_rng",
    Moment.RENEWAL: "arrival_rng",
}

UNARY_VALUE: Mapping[str, str] = {"Neg": "(-{0})"}
BINARY_VALUE: Mapping[str, str] = {
    "Add": "({0} + {1})",
    "Sub": "({0} - {1})",
    "Mul": "({0} * {1})",
    "Div": "div({0}, {1})",
    "Pow": "power({0}, {1})",
}
TESTS: Mapping[str, str] = {
    "Lt": "({0} < {1})",
    "Le": "({0} <= {1})",
    "Gt": "({0} > {1})",
    "Ge": "({0} >= {1})",
    "Eq": "({0} == {1})",
    "Ne": "({0} != {1})",
}
LOGIC: Mapping[str, str] = {"And": "({0} and {1})", "Or": "({0} or {1})", "Not": "(not {0})"}

CALLS: Mapping[str, str] = {
    "Min": "fmin({0}, {1})",
    "Max": "fmax({0}, {1})",
    "Abs": "abs({0})",
    "Floor": "floor({0})",
    "Ceil": "ceil({0})",
    "Sqrt": "sqrt({0})",
    "Exp": "exp({0})",
    "Ln": "ln({0})",
    "Pow": "power({0}, {1})",
    "Queue": "float({0}.count)",
    "Busy": "{0}.busy()",
    "Work": "{0}.work_left()",
    "EstLambda": "{0}.estimator.rate()",
    "EstRho": "{0}.estimator.load()",
    "EstWait": "{0}.estimator.wait",
    "Price": "{0}.estimator.price({1}, {2})",
    "Used": "{0}.used",
    "Free": "{0}.free()",
    "Holders": "float(len({0}.holder_counts))",
    "Queued": "float(len({0}.waiting))",
    "CachedIn": "{0}.cached_in(s.serial)",
    "BudgetLeft": "{0}.budget_left()",
}
DRAWS: Mapping[str, str] = {
    "Exp": "draw_exp",
    "Det": "draw_det",
    "Uniform": "draw_uniform",
    "Erlang": "draw_erlang",
    "H2": "draw_h2",
    "Bernoulli": "draw_bernoulli",
}
# Context variables are read off the context object under their IR names; the clock off the machine.
CONTEXT_READS: Mapping[str, str] = {"Now": "m.now"}
AGGREGATE_READS = "aggregate({0!r}, {1})"


def context_read(var: str) -> str:
    """How a context variable is read in generated code."""
    return CONTEXT_READS.get(var, f"c.{var}")


def literal(value: float) -> str:
    """A constant in generated code."""
    if value != value:
        return "NAN"
    if value in (numeric.INF, -numeric.INF):
        return "INF" if value > 0 else "(-INF)"
    text = repr(value)
    return f"({text})" if text.startswith("-") else text


def is_boolean(e: Expr) -> bool:
    """Whether an expression can only be 0 or 1 by its outermost operator."""
    match e:
        case Binary(op=op):
            return BINARY[op].boolean
        case Unary(op=op):
            return UNARY[op].boolean
        case Sample(dist="Bernoulli"):
            return True
        case Num(value=v):
            return v in (0.0, 1.0)
        case Cond(then=a, other=b):
            return is_boolean(a) and is_boolean(b)
        case Cost(arg=a):
            return is_boolean(a)
        case _:
            return False


class Codegen:
    """Collects functions as source and links them against a machine's objects."""

    def __init__(self) -> None:
        self._source: list[str] = []
        self._paths: list[tuple[IrPath, ...]] = []
        self._by_line: dict[int, IrPath] = {}

    def function(self, e: Expr, moment: Moment, stream: str | None = None) -> str:
        """Define a function of an expression's value; returns its name."""
        return self._define(f"return {Writer(self, moment, stream).value(e, 0)}", moment)

    def test(self, e: Expr, moment: Moment, stream: str | None = None) -> str:
        """Define a function of an expression's truth, for expressions that can only be 0 or 1."""
        return self._define(f"return {Writer(self, moment, stream).truth(e, 0)}", moment)

    def key_list(self, keys: tuple[Expr, ...], moment: Moment, stream: str | None = None) -> str:
        """Define a function of a list of keys under the total order of doubles."""
        writer = Writer(self, moment, stream)
        values = "".join(f"order_key({writer.value(k, 0)}), " for k in keys)
        return self._define(f"return ({values})", moment)

    def lines(self, body: list[str], moment: Moment, paths: Sequence[IrPath] = ()) -> str:
        """Define a function of several one-line statements; `paths` say where each comes from."""
        return self._define("\n    ".join(body or ["pass"]), moment, tuple(paths))

    def writer(self, moment: Moment, stream: str | None = None) -> Writer:
        """Source of single expressions, for functions put together by the caller."""
        return Writer(self, moment, stream)

    def _define(self, body: str, moment: Moment, paths: tuple[IrPath, ...] = ()) -> str:
        name = f"f{len(self._source)}"
        self._source.append(f"def {name}({PARAMETERS[moment]}):\n    {body}\n")
        self._paths.append(paths)
        return name

    def path_of(self, traceback: TracebackType | None) -> IrPath:
        """Where in the IR the generated line comes from that an exception passed through."""
        path: IrPath = ()
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == _FILE:
                path = self._by_line.get(traceback.tb_lineno, path)
            traceback = traceback.tb_next
        return path

    def link(self, namespace: dict[str, Any]) -> Callable[[str], Callable[..., Any]]:
        """Compile everything defined, in a namespace; returns a look-up by name."""
        first = 1
        for text, paths in zip(self._source, self._paths, strict=True):
            self._by_line.update({first + 1 + k: path for k, path in enumerate(paths)})
            first += text.count("\n") + 1
        code = compile("\n".join(self._source), _FILE, "exec")
        exec(code, namespace)
        return namespace.__getitem__


class Writer:
    """Writes expressions of one moment."""

    def __init__(self, codegen: Codegen, moment: Moment, stream: str | None) -> None:
        self._codegen = codegen
        self._moment = moment
        self._stream = stream or _STREAMS.get(moment, "no_stream")

    def value(self, e: Expr, depth: int = 0) -> str:
        """Source of an expression's value."""
        if depth > _INLINE:
            return self._apart(e)
        match e:
            case Num(value=v):
                return literal(v)
            case Attr(slot=slot):
                return f"s.attrs[{slot}]"
            case Ctx(var=var):
                return context_read(var)
            case Reg(index=index):
                return f"registers[{index}]"
            case Cost(arg=arg):
                return self.value(arg, depth)
            case Agg(fun=fun, observe=k):
                return AGGREGATE_READS.format(fun, k)
            case Unary(op=op, arg=arg) if op in UNARY_VALUE:
                return UNARY_VALUE[op].format(self.value(arg, depth + 1))
            case Binary(op=op, left=left, right=right) if op in BINARY_VALUE:
                return self._arithmetic(op, left, right, depth)
            case Cond(test=test, then=then, other=other):
                arms = self.value(then, depth + 1), self.value(other, depth + 1)
                return f"({arms[0]} if {self.truth(test, depth + 1)} else {arms[1]})"
            case Sample(dist=dist, args=args):
                values = "".join(f", {self.value(a, depth + 1)}" for a in args)
                return f"{DRAWS[dist]}({self._stream}{values})"
            case Call():
                return self._call(e, depth)
            case _:
                return f"(1.0 if {self.truth(e, depth)} else 0.0)"

    def truth(self, e: Expr, depth: int = 0) -> str:
        """Source of whether an expression is non-zero; NaN is."""
        if depth > _INLINE:
            return f"({self._apart(e)})"
        match e:
            case Binary(op=op, left=left, right=right) if op in TESTS:
                return TESTS[op].format(self.value(left, depth + 1), self.value(right, depth + 1))
            case Binary(op=op, left=left, right=right) if op in LOGIC:
                return LOGIC[op].format(self.truth(left, depth + 1), self.truth(right, depth + 1))
            case Unary(op=op, arg=arg) if op in LOGIC:
                return LOGIC[op].format(self.truth(arg, depth + 1))
            case _:
                return self.value(e, depth)

    def _arithmetic(self, op: str, left: Expr, right: Expr, depth: int) -> str:
        if op == "Div" and isinstance(right, Num) and right.value != 0.0:
            return f"({self.value(left, depth + 1)} / {literal(right.value)})"
        if op == "Div" and depth < 2 and not any(isinstance(x, Sample | Call) for x in walk(left)):
            # Read first, the divisor decides; the dividend draws nothing, so the order does not show.
            name = f"d{depth}"
            a, b = self.value(left, depth + 1), self.value(right, depth + 1)
            return f"({a} / {name} if ({name} := {b}) else div({a}, {name}))"
        return BINARY_VALUE[op].format(self.value(left, depth + 1), self.value(right, depth + 1))

    def _call(self, e: Call, depth: int) -> str:
        if e.fun == "CachedIn" and "s" not in PARAMETERS[self._moment]:
            return "0.0"
        if FUNCTION[e.fun].params and len(e.args) != len(FUNCTION[e.fun].params):
            raise ValueError(f"{e.fun} takes {len(FUNCTION[e.fun].params)} arguments")
        return CALLS[e.fun].format(*(self._argument(a, depth + 1) for a in e.args))

    def _argument(self, a: Expr | PoolArg | StageArg, depth: int) -> str:
        match a:
            case PoolArg(ref=ref):
                return self.reference(ref, "pools", depth)
            case StageArg(ref=ref):
                return self.reference(ref, "stages", depth)
            case _:
                return self.value(a, depth)

    def reference(self, ref: CRef, table: str, depth: int = 0) -> str:
        """Source of the pool or stage a reference names."""
        static = static_member(ref)
        if static is not None:
            return f"{table}_{static}"
        assert ref.index is not None
        return f"member({table}, {ref.base}, {ref.count}, {self.value(ref.index, depth)})"

    def _apart(self, e: Expr) -> str:
        name = self._codegen.function(e, self._moment, self._stream)
        return f"{name}({PARAMETERS[self._moment]})"


def static_member(ref: CRef) -> int | None:
    """The index of the only pool or stage a reference can name, or None when its index decides."""
    if ref.index is None:
        return ref.base
    if isinstance(ref.index, Num) and ref.index.value in range(ref.count):
        return ref.base + int(ref.index.value)
    return None
