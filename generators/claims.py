"""Programs that claim something: the program, and each claim over a family of workloads (generators.md §6).

What `init` draws becomes any natural number, arrivals drawn become any times: that widens a family,
and what holds of every run of a wider family holds of the runs of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from serq.diagnostics import IrPath, SerqError, ordered
from serq.generators.draws import is_natural
from serq.generators.expressions import Leaf, Moment
from serq.generators.model import Assign, Bin, Block, If, Lit, Not, Term, Translated, Var, Work
from serq.generators.propositions import holds
from serq.generators.refusals import Refusals, Rule
from serq.generators.translate import Translation
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.depth import deep_recursion
from serq.ir.validate import validate
from serq.ir.validate.constants import constant

MOST_SESSIONS = 500
ARRIVAL = "arrival"
_TRIED = 20_000


@dataclass(frozen=True)
class Claim:
    """A claim: what it says of an iteration or of the end, what is given of each session, an example of it.

    `example` are values of the drawn attributes, with the time of arrival in front where there is one.
    """

    name: str
    kind: str
    says: Term
    given: Term | None
    example: tuple[int, ...]


@dataclass(frozen=True)
class Claimed:
    """A program that claims something. `gap` is set where sessions arrive at equal distances.

    `given` are the slots a session starts with: its time of arrival, if any, then what was drawn.
    """

    program: Translated
    claims: tuple[Claim, ...]
    given: tuple[int, ...]
    arrives: bool
    gap: int | None
    size: int | None


def makes_claims(program: pr.Program) -> bool:
    """Whether a program is one for the claims generator: it claims something, and its sessions arrive."""
    return bool(program.claims) and not isinstance(program.arrival, pr.Sessions)


def translate_claims(program: pr.Program) -> Claimed:
    """A program with its claims as terms. Raises `SerqError` with every reason why it is not a member."""
    invalid = validate(program)
    if invalid:
        raise SerqError(invalid)
    refusals = Refusals()
    with deep_recursion():
        made = _Claims(program, refusals).claimed()
    if refusals.found:
        raise SerqError(ordered(refusals.found))
    return made


class _Claims(Translation):
    """The walk over a program whose sessions arrive."""

    def __init__(self, program: pr.Program, refusals: Refusals) -> None:
        super().__init__(program, refusals)
        self.arrival_slot = len(program.attrs)
        self.drawn: list[int] = []
        self.assigned: list[Assign] = []
        # What each attribute is once `init` has run, as a term over what the session starts with.
        self.initial: dict[int, Term] = {}
        self.lone_tokens = not any(
            isinstance(s, st.Run) and s.growing is not None for block in program.blocks for s in block
        )

    def claimed(self) -> Claimed:
        """The program and its claims."""
        plain = self.whole()
        batch = isinstance(self.program.arrival, pr.Batch)
        before: Block = () if batch else (Work("delay", Var("attr", self.arrival_slot)),)
        translated = replace(
            plain, attrs=(*plain.attrs, ARRIVAL), code=(*before, *self.assigned, *plain.code), horizon=None
        )
        given = (*(() if batch else (self.arrival_slot,)), *self.drawn)
        gap = self._gap()
        claims = tuple(self._claim(i, c, given, gap) for i, c in enumerate(self.program.claims))
        size = self.program.arrival.size if isinstance(self.program.arrival, pr.Batch) else None
        return Claimed(translated, claims, given, not batch, gap, size)

    # The workload

    def claims(self) -> None:
        """Claims are read when the rest of the program is known."""

    def clients(self) -> tuple[()]:
        """No session: they arrive."""
        p = self.program
        if p.arrival is not None:
            self.refusals.know(p.arrival, ("arrival",))
        match p.arrival:
            case pr.Poisson():
                pass
            case pr.Renewal():
                if self._gap() is None:
                    message = "the gap between arrivals is not a natural number from 1"
                    self.refusals.refuse(Rule.WORKLOAD, ("arrival",), message)
            case pr.Batch(size=size):
                if size > MOST_SESSIONS:
                    message = f"a batch of more than {MOST_SESSIONS} sessions"
                    self.refusals.refuse(Rule.WORKLOAD, ("arrival",), message)
            case _:
                message = (
                    "claims are translated of Poisson arrivals, of arrivals at equal distances, of a batch"
                )
                self.refusals.refuse(Rule.WORKLOAD, ("arrival",), message)
        self.turn_block()
        self._reads_no_turn()
        self._read_init()
        return ()

    def _gap(self) -> int | None:
        arrival = self.program.arrival
        value = constant(arrival.gap) if isinstance(arrival, pr.Renewal) else None
        return int(value) if value is not None and value >= 1 and value.is_integer() else None

    def _reads_no_turn(self) -> None:
        p = self.program
        for b, block in enumerate(p.blocks):
            for k, s in enumerate(block):
                if any(
                    isinstance(n, ex.Attr) and n.slot == p.slot_turn for e in _parts(s) for n in ex.walk(e)
                ):
                    message = f"`{p.attrs[p.slot_turn]}` is read, which the family leaves at 0"
                    self.refusals.refuse(Rule.WORKLOAD, ("blocks", b, k), message)

    def _read_init(self) -> None:
        p = self.program
        read: set[int] = set()
        for k, s in enumerate(p.blocks[p.init]):
            path = ("blocks", p.init, k)
            if not isinstance(s, st.Set):
                message = f"`init` has the statement `{type(s).__name__}`"
                self.refusals.refuse(Rule.WORKLOAD, path, message)
            elif any(isinstance(n, ex.Sample) for n in ex.walk(s.value)):
                self._draw(s, (*path, "Set"), read)
            else:
                value = self.expressions.term(s.value, (*path, "Set", 1), self.expressions.session)
                read |= {n.slot for n in ex.walk(s.value) if isinstance(n, ex.Attr)}
                if s.slot in self.drawn:
                    message = f"`init` sets `{p.attrs[s.slot]}` again after drawing it"
                    self.refusals.refuse(Rule.WORKLOAD, path, message)
                self.assigned.append(Assign(s.slot, value))
                self.initial[s.slot] = self._substituted(value)

    def _draw(self, s: st.Set, path: IrPath, read: set[int]) -> None:
        name = self.program.attrs[s.slot]
        if not is_natural(s.value):
            message = f"`{name}` is drawn and not certainly a natural number"
            self.refusals.refuse(Rule.WORKLOAD, path, message, "round it with `floor`")
        if s.slot in self.initial or s.slot in read:
            message = f"`init` uses `{name}` before drawing it"
            self.refusals.refuse(Rule.WORKLOAD, path, message)
        self.drawn.append(s.slot)
        self.initial[s.slot] = Var("attr", s.slot)

    def _substituted(self, t: Term) -> Term:
        match t:
            case Var(name="attr", index=int(slot)):
                return self.initial.get(slot, Lit(0))
            case Var(name="now"):
                return (
                    Lit(0) if isinstance(self.program.arrival, pr.Batch) else Var("attr", self.arrival_slot)
                )
            case Bin(op=op, left=a, right=b):
                return Bin(op, self._substituted(a), self._substituted(b))
            case Not(arg=a):
                return Not(self._substituted(a))
            case If(test=a, yes=b, no=c):
                return If(self._substituted(a), self._substituted(b), self._substituted(c))
            case _:
                return t

    # Claims

    def _claim(self, i: int, claim: pr.Claim, given: tuple[int, ...], gap: int | None) -> Claim:
        path: IrPath = ("claims", i)
        self.refusals.know(claim, path)
        if claim.kind is not None:
            self.refusals.know(claim.kind, path)
        kind = "AtEnd" if claim.kind is None else type(claim.kind).__name__
        if claim.kind is not None and claim.kind.stage != 0:
            self.refusals.refuse(Rule.CLAIMS, path, "a claim over another stage than the engine")
        if kind == "SomeIteration" and (self.drawn or isinstance(self.program.arrival, pr.Poisson)):
            message = "`some iteration` over a workload that draws"
            self.refusals.refuse(Rule.CLAIMS, path, message, "the family would be larger than the program's")
        leaf = _end_leaf if claim.kind is None else self._iteration_leaf
        says = self._term(claim.expr, (*path, "expr"), leaf, "a claim")
        wanted = None
        if claim.given is not None:
            wanted = self._term(claim.given, (*path, "given"), self._given_leaf, "a `given`")
        example = self._example(path, wanted, given, gap)
        return Claim(claim.name, kind, says, wanted, example)

    def _term(self, e: ex.Expr, path: IrPath, leaf: Leaf, where: str) -> Term:
        for node in ex.walk(e):
            if isinstance(node, ex.Binary) and node.op == "Div" and (constant(node.right) or 0.0) <= 0.0:
                message = f"a divisor in {where} is not a positive constant"
                self.refusals.refuse(Rule.CLAIMS, path, message)
        return self.expressions.term(e, path, Moment(leaf, Rule.CLAIMS, where))

    def _given_leaf(self, e: ex.Expr, path: IrPath) -> Term | None:
        p = self.program
        if isinstance(e, ex.Attr) and e.slot not in (p.slot_cached, p.slot_serial):
            return self.initial.get(e.slot, Lit(0))
        return None

    def _iteration_leaf(self, e: ex.Expr, path: IrPath) -> Term | None:
        match e:
            case ex.Ctx(var=var) if var in _ITERATION:
                return Var(_ITERATION[var])
            case ex.Call(fun=fun, args=(ex.PoolArg(ref=ref),)) if fun in _POOLS:
                return Var(_POOLS[fun], self.refusals.single(ref, path, "pool"))
            case _:
                return None

    def _example(
        self, path: IrPath, wanted: Term | None, given: tuple[int, ...], gap: int | None
    ) -> tuple[int, ...]:
        """Values of one session of the family, the least found."""
        found = self._examples(wanted, given)
        values = next(found, None)
        if values is None:
            message = "no session is found of which `given` holds"
            self.refusals.refuse(Rule.CLAIMS, (*path, "given"), message, "a claim of no session says nothing")
            return ()
        return values if gap is None or not given else (gap, *values[1:])

    def _examples(self, wanted: Term | None, given: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        # Bounds are met at a constant of the `given`, or one beside it.
        near = {n + d for n in (_numbers(wanted) if wanted else ()) for d in (-1, 0, 1)}
        candidates = sorted({0, 1, 2, *(n for n in near if n > 0)}, key=lambda n: (n == 0, n))
        for k, values in enumerate(product(candidates, repeat=len(given))):
            if k == _TRIED:
                return
            if wanted is None or holds(wanted, dict(zip(given, values, strict=True))):
                yield values


_ITERATION = {
    "Ntok": "tokens",
    "Npre": "prefilled",
    "Ndec": "decoders",
    "Kvb": "kvDecode",
    "Nres": "residents",
    "Demand": "demand",
    "Served": "served",
    "Arrived": "arrived",
    "Now": "start",
}
_POOLS = {"Queued": "queued", "Holders": "holders", "Used": "allocated"}
_AGGREGATES = {"Total": "total", "Count": "count", "PrefixTotal": "prefixTotal"}


def _end_leaf(e: ex.Expr, path: IrPath) -> Term | None:
    match e:
        case ex.Agg(fun=fun, observe=name) if fun in _AGGREGATES:
            return Var(_AGGREGATES[fun], name)
        case ex.Ctx(var="Now"):
            return Var("now")
        case _:
            return None


def _parts(s: st.Stmt) -> Iterator[ex.Expr]:
    """The expressions of a statement, not of the blocks below it."""
    for name in type(s).model_fields:
        value = getattr(s, name)
        for x in value if isinstance(value, tuple) else (value,):
            if isinstance(x, ex.Expr):
                yield x
            elif isinstance(x, st.HoldPool):
                yield x.units
                if x.reserve is not None:
                    yield x.reserve


def _numbers(t: Term) -> set[int]:
    match t:
        case Lit(value=value):
            return {value}
        case Bin(left=a, right=b):
            return _numbers(a) | _numbers(b)
        case Not(arg=a):
            return _numbers(a)
        case If(test=a, yes=b, no=c):
            return _numbers(a) | _numbers(b) | _numbers(c)
        case _:
            return set()
