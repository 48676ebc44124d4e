"""The one table of operators, functions, distributions, aggregates and context variables.

Interpreter, validator, checker, generators and the language key on these rows;
`tests/ir/test_tables.py` fails when any of them misses one. Columns: the name in
the IR, the name in text, arity or parameter kinds, the moments at which it may be
read (api.md §3.6 and §5, 004 *Moments*) and what it means.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar

from serq.ir.moments import ALL_MOMENTS, DRAW_MOMENTS, Moment

M = Moment


class Param(StrEnum):
    """What a function's parameter takes."""

    NUMBER = "number"
    POOL = "pool"
    STAGE = "stage"
    ENGINE = "engine"


class CostRule(StrEnum):
    """How an operator or function treats cost-typed operands (api.md §6.1)."""

    REFUSE = "refuse"  # operands are ordinary quantities
    KEEP = "keep"  # one cost operand, the result has its type
    SAME = "same"  # all operands of one cost, the result has it
    SCALE = "scale"  # one cost operand scaled by an ordinary one
    SCALE_LEFT = "scale_left"  # only the left operand may be a cost
    COMPARE = "compare"  # all operands of one cost, the result is ordinary


@dataclass(frozen=True)
class Operator:
    """A unary or binary operator; `precedence` counts from the loosest (api.md §2.1)."""

    ir: str
    text: str
    arity: int
    precedence: int
    costs: CostRule
    meaning: str
    boolean: bool = False


@dataclass(frozen=True)
class Function:
    """A call. `moves` is false for plain arithmetic, whose value only its arguments decide."""

    ir: str
    text: str
    params: tuple[Param, ...]
    moments: frozenset[Moment]
    costs: CostRule
    meaning: str
    moves: bool = True


@dataclass(frozen=True)
class Distribution:
    """A draw; `uniforms` is how many unit draws it takes (-1: its first parameter says)."""

    ir: str
    text: str
    params: tuple[str, ...]
    uniforms: int
    moments: frozenset[Moment]
    meaning: str


@dataclass(frozen=True)
class ContextVariable:
    """A value a moment supplies; `text` bare, `dotted` inside an engine's clauses ("" where none)."""

    ir: str
    text: str
    dotted: tuple[str, ...]
    moments: frozenset[Moment]
    meaning: str


@dataclass(frozen=True)
class Aggregate:
    """A function of all values observed under a name, read by claims at the end."""

    ir: str
    text: str
    moments: frozenset[Moment]
    meaning: str


def _moments(*names: Moment) -> frozenset[Moment]:
    return frozenset(names)


_NOT_CONSTANT = ALL_MOMENTS - _moments(M.CONSTANT, M.RENEWAL, M.GIVEN, M.END)
_LIVE = _NOT_CONSTANT - _moments(M.GAUGE, M.ITERATION)
_ESTIMATES = _NOT_CONSTANT - _moments(M.ITERATION)

_N1 = (Param.NUMBER,)
_N2 = (Param.NUMBER, Param.NUMBER)

OPERATORS: tuple[Operator, ...] = (
    Operator(
        "Or", "||", 2, 2, CostRule.REFUSE, "1 when either operand is non-zero, read left to right", True
    ),
    Operator(
        "And", "&&", 2, 3, CostRule.REFUSE, "1 when both operands are non-zero, read left to right", True
    ),
    Operator("Lt", "<", 2, 4, CostRule.COMPARE, "1 when less", True),
    Operator("Le", "<=", 2, 4, CostRule.COMPARE, "1 when less or equal", True),
    Operator("Gt", ">", 2, 4, CostRule.COMPARE, "1 when greater", True),
    Operator("Ge", ">=", 2, 4, CostRule.COMPARE, "1 when greater or equal", True),
    Operator("Eq", "==", 2, 4, CostRule.COMPARE, "1 when exactly equal", True),
    Operator("Ne", "!=", 2, 4, CostRule.COMPARE, "1 when not equal; NaN differs from everything", True),
    Operator("Add", "+", 2, 5, CostRule.SAME, "sum"),
    Operator("Sub", "-", 2, 5, CostRule.SAME, "difference"),
    Operator("Mul", "*", 2, 6, CostRule.SCALE, "product"),
    Operator("Div", "/", 2, 6, CostRule.SCALE_LEFT, "quotient; by zero an infinity or NaN"),
    Operator("Neg", "-", 1, 7, CostRule.KEEP, "negation"),
    Operator("Not", "!", 1, 7, CostRule.REFUSE, "1 for 0, else 0", True),
    Operator("Pow", "^", 2, 8, CostRule.REFUSE, "power"),
)

FUNCTIONS: tuple[Function, ...] = (
    Function("Min", "min", _N2, ALL_MOMENTS, CostRule.SAME, "the lesser; a NaN is ignored", moves=False),
    Function("Max", "max", _N2, ALL_MOMENTS, CostRule.SAME, "the greater; a NaN is ignored", moves=False),
    Function("Abs", "abs", _N1, ALL_MOMENTS, CostRule.KEEP, "absolute value", moves=False),
    Function("Floor", "floor", _N1, ALL_MOMENTS, CostRule.KEEP, "rounded down", moves=False),
    Function("Ceil", "ceil", _N1, ALL_MOMENTS, CostRule.KEEP, "rounded up", moves=False),
    Function("Sqrt", "sqrt", _N1, ALL_MOMENTS, CostRule.REFUSE, "square root; NaN below 0", moves=False),
    Function("Exp", "exp", _N1, ALL_MOMENTS, CostRule.REFUSE, "e to the power", moves=False),
    Function("Ln", "ln", _N1, ALL_MOMENTS, CostRule.REFUSE, "natural logarithm; -inf at 0", moves=False),
    Function("Pow", "pow", _N2, ALL_MOMENTS, CostRule.REFUSE, "power, as `^`", moves=False),
    Function(
        "Queue",
        "queue",
        (Param.STAGE,),
        _NOT_CONSTANT,
        CostRule.REFUSE,
        "jobs present at the stage: waiting and in service; an engine's residents",
    ),
    Function(
        "Busy",
        "busy",
        (Param.STAGE,),
        _NOT_CONSTANT,
        CostRule.REFUSE,
        "jobs in service; an engine's jobs in the running iteration",
    ),
    Function(
        "Work",
        "work",
        (Param.STAGE,),
        _LIVE - _moments(M.ONLY, M.PLAN),
        CostRule.REFUSE,
        "work left at the stage, in its unit",
    ),
    Function(
        "EstLambda",
        "est_lambda",
        (Param.STAGE,),
        _ESTIMATES,
        CostRule.REFUSE,
        "online estimate of the rate at which services start",
    ),
    Function(
        "EstRho",
        "est_rho",
        (Param.STAGE,),
        _ESTIMATES,
        CostRule.REFUSE,
        "online estimate of the load, at most 0.99",
    ),
    Function(
        "EstWait", "est_wait", (Param.STAGE,), _ESTIMATES, CostRule.REFUSE, "online estimate of the wait"
    ),
    Function(
        "Price",
        "price",
        (Param.STAGE, Param.NUMBER, Param.NUMBER),
        _ESTIMATES,
        CostRule.REFUSE,
        "the delay that d more work after h imposes, from the estimates",
    ),
    Function(
        "Used", "used", (Param.POOL,), _NOT_CONSTANT, CostRule.REFUSE, "units allocated, leases included"
    ),
    Function("Free", "free", (Param.POOL,), _NOT_CONSTANT, CostRule.REFUSE, "cap less the units allocated"),
    Function("Holders", "holders", (Param.POOL,), _NOT_CONSTANT, CostRule.REFUSE, "sessions that hold units"),
    Function(
        "Queued", "queued", (Param.POOL,), _NOT_CONSTANT, CostRule.REFUSE, "holds waiting in the pool's queue"
    ),
    Function(
        "CachedIn", "cachedin", (Param.POOL,), _LIVE, CostRule.REFUSE, "the session's own reusable prefix"
    ),
    Function(
        "BudgetLeft",
        "budget_left",
        (Param.ENGINE,),
        _LIVE - _moments(M.BUDGET, M.VICTIM),
        CostRule.REFUSE,
        "tokens the iteration being planned has left",
    ),
)

DISTRIBUTIONS: tuple[Distribution, ...] = (
    Distribution("Exp", "exp", ("mean",), 1, DRAW_MOMENTS, "exponential of this mean"),
    Distribution("Det", "det", ("value",), 0, DRAW_MOMENTS, "the value itself"),
    Distribution("Uniform", "uniform", ("low", "high"), 1, DRAW_MOMENTS, "uniform on [low, high)"),
    Distribution(
        "Erlang",
        "erlang",
        ("phases", "mean"),
        -1,
        DRAW_MOMENTS,
        "sum of exponential phases of this total mean",
    ),
    Distribution(
        "H2",
        "h2",
        ("mean", "cv2"),
        2,
        DRAW_MOMENTS,
        "balanced hyperexponential of this mean and squared variation",
    ),
    Distribution("Bernoulli", "bernoulli", ("p",), 1, DRAW_MOMENTS, "1 with probability p, else 0"),
)

_RESIDENTS = _moments(M.BUDGET, M.STEP, M.SERVE, M.ONLY, M.PLAN, M.ITERATION)
_BATCH = _moments(M.STEP, M.PLAN, M.ITERATION)
_BATCH_ONLY = _moments(M.STEP, M.ITERATION)
_CANDIDATE = _moments(M.SERVE, M.ONLY, M.VICTIM)
_CLOCK = ALL_MOMENTS - _moments(M.ONLY, M.PLAN, M.GAUGE, M.GIVEN, M.RENEWAL, M.CONSTANT)

CONTEXT_VARIABLES: tuple[ContextVariable, ...] = (
    ContextVariable("Now", "now", (), _CLOCK, "the clock"),
    ContextVariable("Waited", "waited", (), _moments(M.SELECT), "time since this hold joined the queue"),
    ContextVariable("Size", "size", (), _moments(M.EVICT), "units of the cache entry"),
    ContextVariable("Age", "age", (), _moments(M.EVICT), "time since the entry was released"),
    ContextVariable("Last", "last", (), _moments(M.EVICT), "when the entry was released"),
    ContextVariable(
        "Queued", "waiting", (), _moments(M.EVICT), "1 when the entry's session waits in a pool's queue"
    ),
    ContextVariable("N", "present", (), _moments(M.PS), "jobs present at the stage"),
    ContextVariable("Ntok", "tokens", ("batch.tokens",), _BATCH, "tokens scheduled"),
    ContextVariable(
        "Ndec",
        "decoders",
        ("running.decoding", "batch.decoding"),
        _RESIDENTS,
        "decodes: running, or in the batch",
    ),
    ContextVariable("Npre", "prefilled", ("batch.prefilled",), _BATCH, "prefill tokens scheduled"),
    ContextVariable("Nres", "residents", ("running.count",), _RESIDENTS, "running requests"),
    ContextVariable(
        "Kvb",
        "kv_decode",
        ("running.kv_decode", "batch.kv_decode"),
        _RESIDENTS,
        "memory units of the decodes",
    ),
    ContextVariable(
        "Kvp",
        "kv_prefill",
        ("running.kv_prefill", "batch.kv_prefill"),
        _RESIDENTS,
        "memory units of the prefills",
    ),
    ContextVariable(
        "Attn", "attention", ("batch.attention",), _BATCH_ONLY, "sum over prefill chunks of n (K + n/2)"
    ),
    ContextVariable("Decoding", "decoding", (), _CANDIDATE, "1 for a decode"),
    ContextVariable("Admission", "admission", (), _CANDIDATE, "admission sequence number"),
    ContextVariable("Remaining", "remaining", (), _moments(M.SERVE, M.ONLY), "tokens the run has left"),
    ContextVariable(
        "Position", "position", (), _moments(M.VICTIM), "computed position of the candidate's hold"
    ),
    ContextVariable(
        "Admitted", "admitted", ("waiting.admitted",), _moments(M.PLAN), "admissions so far in this iteration"
    ),
    ContextVariable(
        "Preempted",
        "preempted",
        ("running.preempted",),
        _moments(M.PLAN),
        "preemptions so far in this iteration",
    ),
    ContextVariable(
        "Demand", "demand", (), _moments(M.ITERATION), "tokens the residents could take without a budget"
    ),
    ContextVariable(
        "Served", "served", (), _moments(M.ITERATION), "tokens of this engine's earlier iterations"
    ),
    ContextVariable("Arrived", "arrived", (), _moments(M.ITERATION), "sessions started so far"),
)

AGGREGATES: tuple[Aggregate, ...] = (
    Aggregate("Total", "total", _moments(M.END), "sum of the values"),
    Aggregate("Count", "count", _moments(M.END), "number of values"),
    Aggregate("Largest", "largest", _moments(M.END), "greatest value, 0 when none"),
    Aggregate("Smallest", "smallest", _moments(M.END), "least value, 0 when none"),
    Aggregate(
        "PrefixTotal",
        "prefix_total",
        _moments(M.END),
        "sum of all prefix sums of the values sorted ascending",
    ),
)


class _Row(Protocol):
    @property
    def ir(self) -> str: ...


R = TypeVar("R", bound=_Row)


def _by_ir(rows: Iterable[R]) -> dict[str, R]:
    return {row.ir: row for row in rows}


UNARY = _by_ir(row for row in OPERATORS if row.arity == 1)
BINARY = _by_ir(row for row in OPERATORS if row.arity == 2)
FUNCTION = _by_ir(FUNCTIONS)
DISTRIBUTION = _by_ir(DISTRIBUTIONS)
CONTEXT = _by_ir(CONTEXT_VARIABLES)
AGGREGATE = _by_ir(AGGREGATES)

BUILTIN_ATTRIBUTES: tuple[str, ...] = (
    "cached",
    "serial",
    "turn_no",
    "new",
    "out",
    "think",
    "more",
    "forced",
    "computed",
)
BUILTIN_VALUES = frozenset({"cached", "computed"})
