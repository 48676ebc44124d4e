"""The host API: build a program in Python with names instead of slots (004, *Program*).

    b = Builder()
    kv = b.pool("kv", cap=64, block=16, preempt=LIFO)
    llm = b.engine("llm", budget=32, cost=1, memory=kv)
    prompt = b.attr("prompt")
    b.server([hold([(kv, prompt)], [run(llm, prompt, mode="Prefill", growing=kv)])])
    program = b.build(arrival=Batch(size=4), horizon=100)

Amounts are ordinary expressions: the builder reads them as the cost their consumer takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.expressions import (
    Attr,
    Call,
    Cost,
    CostTarget,
    CRef,
    Ctx,
    Expr,
    JointTarget,
    Num,
    PoolArg,
    PoolTarget,
    StageArg,
    StageTarget,
    Unary,
)
from serq.ir.quantity import Quantity, Value, lift
from serq.ir.tables import BUILTIN_ATTRIBUTES, BUILTIN_VALUES

LIFO = pr.PreemptBy(keys=(Unary(op="Neg", arg=Ctx(var="Admission")),))
DELAY = pr.Ps(capacity=Ctx(var="N"))


@dataclass(frozen=True)
class PoolRef:
    """A pool of the program being built."""

    index: int

    @property
    def ref(self) -> CRef:
        """The reference statements use."""
        return CRef(base=self.index, count=1)

    @property
    def target(self) -> PoolTarget:
        """The cost target."""
        return PoolTarget(base=self.index, count=1)

    def query(self, fun: str) -> Quantity:
        """A pool query by its IR name, such as `Used`."""
        return Quantity(Call(fun=fun, args=(PoolArg(ref=self.ref),)))


@dataclass(frozen=True)
class StageRef:
    """A stage of the program being built."""

    index: int

    @property
    def ref(self) -> CRef:
        """The reference statements use."""
        return CRef(base=self.index, count=1)

    @property
    def target(self) -> StageTarget:
        """The cost target."""
        return StageTarget(base=self.index, count=1)

    def query(self, fun: str) -> Quantity:
        """A stage query by its IR name, such as `Queue`."""
        return Quantity(Call(fun=fun, args=(StageArg(ref=self.ref),)))


@dataclass(frozen=True)
class Draft:
    """A statement whose bodies are lists, not yet block indices."""

    kind: str
    fields: Mapping[str, object] = field(default_factory=dict)
    bodies: tuple[Sequence[Draft], ...] = ()


Body = Sequence[Draft]


def turn() -> Draft:
    """Draw the next turn; the server's statements follow it."""
    return Draft("Turn")


def end() -> Draft:
    """End the session."""
    return Draft("End")


def join() -> Draft:
    """Wait for the legs."""
    return Draft("Join")


def assign(name: Quantity, value: Value) -> Draft:
    """Assign an attribute."""
    return Draft("Set", {"slot": _slot(name), "value": lift(value)})


def observe(name: str, value: Value) -> Draft:
    """Record an observation."""
    return Draft("Observe", {"name": name, "value": lift(value)})


def hold(
    parts: Sequence[tuple[PoolRef, Value] | tuple[PoolRef, Value, Value | None]],
    body: Body,
    *,
    reuse: Value | None = None,
    cache: Value | None = None,
    lease: tuple[PoolRef, Value] | None = None,
) -> Draft:
    """Acquire units of pools (with a reserve as third part), run the body, release."""
    fields = {"parts": tuple(parts), "reuse": reuse, "cache": cache, "lease": lease}
    return Draft("Hold", fields, (body,))


def grow(pool: PoolRef, amount: Value) -> Draft:
    """Enlarge the hold on a pool."""
    return Draft("Grow", {"pool": pool, "amount": amount})


def load(pool: PoolRef, amount: Value) -> Draft:
    """Computed tokens arrive."""
    return Draft("Load", {"pool": pool, "amount": amount})


def drop(pool: PoolRef) -> Draft:
    """Discard the session's cached prefix."""
    return Draft("Drop", {"pool": pool})


def release(pool: PoolRef) -> Draft:
    """Give a hold's allocation back, or end a lease."""
    return Draft("Release", {"pool": pool})


def run(
    stage: StageRef,
    work: Value,
    *,
    mode: Literal["Plain", "Prefill", "Decode"] = "Plain",
    growing: PoolRef | None = None,
    also: Sequence[StageRef] = (),
) -> Draft:
    """Work at a stage, or at several at once."""
    return Draft("Run", {"stage": stage, "work": work, "mode": mode, "growing": growing, "also": tuple(also)})


def branch(guard: Value, then: Body, other: Body = ()) -> Draft:
    """One body or the other."""
    return Draft("Branch", {"guard": lift(guard)}, (then, other))


def loop(body: Body) -> Draft:
    """Repeat a body."""
    return Draft("Loop", {}, (body,))


def while_(guard: Value, body: Body) -> Draft:
    """Repeat a body while the guard is 1."""
    return Draft("While", {"guard": lift(guard)}, (body,))


def choose(var: Quantity, count: Value, keys: Sequence[Value]) -> Draft:
    """The index below `count` with the least keys."""
    return Draft("Choose", {"var": _slot(var), "count": lift(count), "key": tuple(lift(k) for k in keys)})


def fork(body: Body) -> Draft:
    """Run a body beside the session."""
    return Draft("Fork", {}, (body,))


def _slot(name: Quantity) -> int:
    if not isinstance(name.expr, Attr):
        raise TypeError("an attribute made by Builder.attr is assigned")
    return name.expr.slot


class Builder:
    """Collects declarations and statements, and makes the program."""

    def __init__(self) -> None:
        self._attrs = list(BUILTIN_ATTRIBUTES)
        self._types: list[pr.AttrType] = ["Value" if a in BUILTIN_VALUES else "Size" for a in self._attrs]
        self._typed = set(range(len(self._attrs)))
        self._observes: list[str] = []
        self._pools: list[pr.Pool] = []
        self._stages: list[pr.Stage] = []
        self._blocks: list[tuple[st.Stmt, ...]] = []
        self._sides: list[tuple[pr.Side, ...]] = []
        self._init: Body = ()
        self._turn: Body = ()
        self._session: Body = (turn(),)
        self._server: Body = ()
        self._gauges: list[pr.Gauge] = []
        self._claims: list[pr.Claim] = []

    # Declarations

    def attr(self, name: str) -> Quantity:
        """An attribute by name, built in or new."""
        if name not in self._attrs:
            self._attrs.append(name)
            self._types.append("Value")
        return Quantity(Attr(slot=self._attrs.index(name)))

    def pool(
        self,
        name: str,
        *,
        cap: float = float("inf"),
        block: float | None = None,
        evict: pr.EvictBy | None = None,
        preempt: pr.PreemptBy | None = None,
        queue: Sequence[Value] | None = None,
        admit_via: StageRef | None = None,
        reserve_held: bool = False,
    ) -> PoolRef:
        """Declare a pool."""
        spec = pr.Pool(
            name=name,
            cap=float(cap),
            block=None if block is None else float(block),
            evict=evict,
            preempt=preempt,
            queue=None if queue is None else tuple(lift(k) for k in queue),
            admit_via=None if admit_via is None else admit_via.index,
            reserve_held=reserve_held,
        )
        self._pools.append(spec)
        return PoolRef(len(self._pools) - 1)

    def stage(self, name: str, kind: pr.Fifo | pr.Ps) -> StageRef:
        """Declare a stage without iterations; `DELAY` is a delay."""
        self._stages.append(pr.Stage(name=name, kind=kind))
        return StageRef(len(self._stages) - 1)

    def engine(
        self,
        name: str,
        *,
        budget: Value,
        cost: Value,
        chunk: Value = 0.0,
        memory: PoolRef | None = None,
        serve: Sequence[Value] | None = (),
        iteration: Sequence[pr.IterItem] | None = None,
        granule: float | None = None,
    ) -> StageRef:
        """Declare an engine; `serve` None is exclusive prefill."""
        step = pr.Step(
            budget=lift(budget),
            cost=lift(cost),
            chunk=lift(chunk),
            granule=None if granule is None else Num(value=float(granule)),
            serve=None if serve is None else tuple(lift(k) for k in serve),
            memory=None if memory is None else memory.index,
            iteration=None if iteration is None else tuple(iteration),
        )
        self._stages.append(pr.Stage(name=name, kind=step))
        return StageRef(len(self._stages) - 1)

    def gauge(self, name: str, value: Value) -> None:
        """Declare a gauge."""
        self._gauges.append(pr.Gauge(name=name, expr=lift(value)))

    def claim(self, claim: pr.Claim) -> None:
        """Declare a claim."""
        self._claims.append(claim)

    # Statements

    def init(self, body: Body) -> None:
        """The workload's init block."""
        self._init = body

    def turn(self, body: Body) -> None:
        """The workload's turn block."""
        self._turn = body

    def session(self, body: Body) -> None:
        """The session; each `turn()` is followed by the server's statements."""
        self._session = body

    def server(self, body: Body) -> None:
        """What the server does with each turn."""
        self._server = body

    # The program

    def build(
        self,
        *,
        horizon: float,
        arrival: pr.Arrival = None,
        warmup: float = 0.0,
        seed: int = 1,
        arrivals: int | None = None,
        hidden: Sequence[Quantity] = (),
        share: Literal["MaxMin", "Bottleneck"] | None = None,
    ) -> pr.Program:
        """The program; it is not validated here (`serq.ir.validate`)."""
        self._blocks, self._sides = [(), (), ()], [(), (), ()]
        for index, body in ((0, self._init), (1, self._turn), (2, [*self._session, end()])):
            self._fill(index, body, "Workload")
        return pr.Program(
            attrs=tuple(self._attrs),
            attr_types=tuple(self._types),
            sides=tuple(self._sides),
            observes=tuple(self._observes),
            pools=tuple(self._pools),
            stages=tuple(self._stages),
            arrival=arrival,
            init=0,
            turn=1,
            session=2,
            blocks=tuple(self._blocks),
            horizon=float(horizon),
            warmup=float(warmup),
            seed=seed,
            arrivals=arrivals,
            hidden=tuple(_slot(h) for h in hidden),
            share=share,
            gauges=tuple(self._gauges),
            claims=tuple(self._claims),
        )

    def _block(self, body: Body, side: pr.Side) -> int:
        self._blocks.append(())
        self._sides.append(())
        index = len(self._blocks) - 1
        self._fill(index, body, side)
        return index

    def _fill(self, index: int, body: Body, side: pr.Side) -> None:
        stmts: list[st.Stmt] = []
        sides: list[pr.Side] = []
        for draft in body:
            stmts.append(self._statement(draft, side))
            sides.append(side)
            if draft.kind == "Turn":
                stmts += [self._statement(d, "Server") for d in self._server]
                sides += ["Server"] * len(self._server)
        self._blocks[index] = tuple(stmts)
        self._sides[index] = tuple(sides)

    def _statement(self, d: Draft, side: pr.Side) -> st.Stmt:
        f = dict(d.fields)
        match d.kind:
            case "Set" | "Choose":
                slot = f["slot"] if d.kind == "Set" else f["var"]
                assert isinstance(slot, int)
                self._infer(slot, f.get("value"), side)
                return st.Set.model_validate(f) if d.kind == "Set" else st.Choose.model_validate(f)
            case "Observe":
                name = str(f.pop("name"))
                if name not in self._observes:
                    self._observes.append(name)
                return st.Observe.model_validate({**f, "observe": self._observes.index(name)})
            case "Hold":
                return self._hold(f, d.bodies[0], side)
            case "Run":
                return self._run(f)
            case "Grow" | "Load":
                pool = f["pool"]
                assert isinstance(pool, PoolRef)
                data = {"pool": pool.ref, "amount": _cost(pool.target, f["amount"])}
                return st.Grow.model_validate(data) if d.kind == "Grow" else st.Load.model_validate(data)
            case "Drop" | "Release":
                pool = f["pool"]
                assert isinstance(pool, PoolRef)
                return st.Drop(pool=pool.ref) if d.kind == "Drop" else st.Release(pool=pool.ref)
            case "Branch":
                bodies = [self._block(b, side) for b in d.bodies]
                return st.Branch.model_validate({**f, "then": bodies[0], "other": bodies[1]})
            case "Loop" | "While" | "Fork":
                return self._one_body(d, f, side)
            case _:
                return {"Turn": st.Turn, "End": st.End, "Join": st.Join}[d.kind]()

    def _one_body(self, d: Draft, f: dict[str, object], side: pr.Side) -> st.Stmt:
        body = self._block(d.bodies[0], side)
        if d.kind == "While":
            return st.While.model_validate({**f, "body": body})
        return st.Loop(body=body) if d.kind == "Loop" else st.Fork(body=body)

    def _infer(self, slot: int, value: object, side: pr.Side) -> None:
        if slot in self._typed:
            return
        self._typed.add(slot)
        if isinstance(value, Cost):
            self._types[slot] = value.target
        else:
            self._types[slot] = "Size" if side == "Workload" else "Value"

    def size(self, *names: Quantity) -> None:
        """Declare attributes that explicit sessions preset: sizes."""
        for name in names:
            self._types[_slot(name)] = "Size"
            self._typed.add(_slot(name))

    def _hold(self, f: dict[str, object], body: Body, side: pr.Side) -> st.Stmt:
        parts = f["parts"]
        assert isinstance(parts, tuple)
        pools = [p[0] for p in parts]
        joint = _joint([p.target for p in pools])
        made = [
            st.HoldPool(
                pool=p[0].ref,
                units=_cost(p[0].target, p[1]),
                reserve=None if len(p) < 3 or p[2] is None else _cost(p[0].target, p[2]),
            )
            for p in parts
        ]
        lease = f["lease"]
        return st.Hold(
            pools=tuple(made),
            reuse=None if f["reuse"] is None else _cost(joint, f["reuse"]),
            cache=None if f["cache"] is None else _cost(joint, f["cache"]),
            lease=None
            if not isinstance(lease, tuple)
            else st.Lease(pool=lease[0].ref, duration=lift(lease[1])),
            body=self._block(body, side),
        )

    def _run(self, f: dict[str, object]) -> st.Stmt:
        stage, also, growing = f["stage"], f["also"], f["growing"]
        assert isinstance(stage, StageRef) and isinstance(also, tuple)
        target = _joint([stage.target, *(a.target for a in also)])
        data = {
            "stage": stage.ref,
            "mode": f["mode"],
            "work": _cost(target, f["work"]),
            "growing": growing.ref if isinstance(growing, PoolRef) else None,
            "also": tuple(a.ref for a in also),
        }
        return st.Run.model_validate(data)


def _joint(targets: Sequence[PoolTarget | StageTarget]) -> CostTarget:
    unique = {(isinstance(t, StageTarget), t.base, t.count): t for t in targets}
    if len(unique) == 1:
        return next(iter(unique.values()))
    return JointTarget(targets=tuple(unique[k] for k in sorted(unique)))


def _cost(target: CostTarget, amount: object) -> Expr:
    expr = lift(amount)  # type: ignore[arg-type]
    return expr if isinstance(expr, Cost) else Cost(target=target, arg=expr)
