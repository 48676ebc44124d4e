"""IR programs as terms of the Lean model, or every reason why not (lean-model.md §11, generators.md §2–4).

Membership and translation are one walk: what cannot be translated is refused, so a program is in
the fragment exactly when nothing was refused.
"""

from __future__ import annotations

from serq.diagnostics import IrPath, SerqError, ordered
from serq.generators import costs
from serq.generators.expressions import Expressions, refuse_unnatural
from serq.generators.model import Client, Deployment, Lit, PoolSpec, Slots, Term, Translated, Values
from serq.generators.refusals import Refusals, Rule
from serq.generators.statements import Statements, check_feeding
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.build import DELAY, LIFO
from serq.ir.depth import deep_recursion
from serq.ir.validate import validate
from serq.ir.validate.constants import constant


def translate(program: pr.Program, proved: frozenset[IrPath] = frozenset()) -> Translated:
    """A program as terms of the model. Raises `SerqError` with every reason why it is not a member.

    `proved` are the places of expressions in which no difference goes below 0, so that what the
    program decides by them is the same over ℕ.
    """
    invalid = validate(program)
    if invalid:
        raise SerqError(invalid)
    with deep_recursion():
        refusals = Refusals(proved)
        made = Translation(program, refusals).whole()
    if refusals.found:
        raise SerqError(ordered(refusals.found))
    return made


class Translation:
    """The walk over a program whose sessions are explicit."""

    lone_tokens = False
    """Whether it is enough that every iteration with a token takes time."""

    def __init__(self, program: pr.Program, refusals: Refusals) -> None:
        self.program = program
        self.refusals = refusals
        self.expressions = Expressions(program, refusals)

    def whole(self) -> Translated:
        """The program as terms; what is refused is collected."""
        p = self.program
        self.refusals.know(p, ())
        self.settings()
        self._stages()
        clients = self.clients()
        memory = self._step.memory if self._step is not None else None
        pools = tuple(self._pool(i, pool, memory) for i, pool in enumerate(p.pools))
        self._queues()
        code = Statements(p, self.expressions, self.refusals, memory).session()
        check_feeding(p, self.refusals)
        return Translated(
            attrs=p.attrs,
            pool_names=tuple(pool.label for pool in p.pools),
            observes=p.observes,
            deployment=self._deployment(pools, memory),
            clients=clients,
            slots=Slots(p.slot_turn, p.slot_more, p.slot_computed),
            code=code,
            horizon=int(p.horizon) if p.horizon.is_integer() else None,
            digest=p.digest,
        )

    @property
    def _step(self) -> pr.Step | None:
        kind = self.program.stages[0].kind if self.program.stages else None
        return kind if isinstance(kind, pr.Step) else None

    # Settings and workload

    def settings(self) -> None:
        """What holds of the program as a whole."""
        p, refuse = self.program, self.refusals.refuse
        if p.share is not None:
            refuse(Rule.SETTINGS, ("share",), "shared capacities of several stages are not modelled")
        if p.arrivals is not None:
            refuse(Rule.SETTINGS, ("arrivals",), "a number of open arrivals is set")
        if p.trace is not None or p.trace_ordered:
            message = "the program replays a trace file"
            refuse(Rule.SETTINGS, ("trace",), message, "write the trace into it: `serq ir --inline-trace`")
        if p.registers:
            refuse(Rule.SETTINGS, ("registers",), "registers are not modelled")
        self.claims()

    def claims(self) -> None:
        """Claims speak of a family of workloads, not of one."""
        for i, claim in enumerate(self.program.claims):
            message = f"the claim `{claim.name}` of a program whose sessions are written out"
            self.refusals.refuse(Rule.CLAIMS, ("claims", i), message, "let the sessions arrive")

    def clients(self) -> tuple[Client, ...]:
        """The explicit sessions."""
        p = self.program
        if not isinstance(p.arrival, pr.Sessions):
            word = "no arrivals" if p.arrival is None else f"arrivals `{type(p.arrival).__name__}`"
            hint = "write the sessions out, with their attributes"
            self.refusals.refuse(Rule.WORKLOAD, ("arrival",), f"{word}, not explicit sessions", hint)
            return ()
        self.refusals.know(p.arrival, ("arrival",))
        self.turn_block()
        self._init(p.arrival)
        return tuple(self._client(i, s) for i, s in enumerate(p.arrival.sessions))

    def turn_block(self) -> None:
        """The turn block has to be empty."""
        if self.program.blocks[self.program.turn]:
            message = "the turn block is not empty"
            path = ("blocks", self.program.turn)
            self.refusals.refuse(Rule.WORKLOAD, path, message, "give the sessions their turns")

    def _init(self, arrival: pr.Sessions) -> None:
        """Presets take the place of `init`, so it may set only what every session presets."""
        p = self.program
        always = set(range(len(p.attrs)))
        for s in arrival.sessions:
            always &= {slot for slot, _ in s.attrs}
        for k, stmt in enumerate(p.blocks[p.init]):
            path = ("blocks", p.init, k)
            if not isinstance(stmt, st.Set):
                message = f"`init` has the statement `{type(stmt).__name__}`"
                self.refusals.refuse(Rule.WORKLOAD, path, message)
            elif stmt.slot not in always:
                message = f"`init` sets `{p.attrs[stmt.slot]}`, which some session does not preset"
                self.refusals.refuse(Rule.WORKLOAD, path, message)

    def _client(self, i: int, s: pr.Session) -> Client:
        path = ("arrival", "Sessions", i)
        self.refusals.know(s, path)
        turns = tuple(self._values(t, (*path, "turns", k)) for k, t in enumerate(s.turns or ()))
        if s.turns == ():
            message = "a session has a list of turns without a turn"
            self.refusals.refuse(Rule.WORKLOAD, (*path, "turns"), message, "leave the list out")
        return Client(self._values(s.attrs, (*path, "attrs")), turns)

    def _values(self, preset: pr.Preset, path: tuple[str | int, ...]) -> Values:
        p = self.program
        for slot, _ in preset:
            if slot in (p.slot_cached, p.slot_serial):
                message = f"a session presets `{p.attrs[slot]}`, which only the machine sets"
                self.refusals.refuse(Rule.WORKLOAD, path, message)
        return tuple((slot, self.refusals.natural(v, path, f"`{p.attrs[slot]}`")) for slot, v in preset)

    # Pools

    def _pool(self, i: int, pool: pr.Pool, memory: int | None) -> PoolSpec:
        refusals, path = self.refusals, ("pools", i)
        refusals.know(pool, path)
        if pool.evict is not None:
            refusals.refuse(Rule.POOLS, (*path, "evict"), f"{pool.label} is not evicted by LRU")
        if pool.spill is not None:
            refusals.refuse(Rule.POOLS, (*path, "spill"), f"{pool.label} spills")
        if pool.reserve_held:
            refusals.refuse(Rule.POOLS, (*path, "reserve_held"), f"{pool.label} reserves for its holders")
        if pool.admit_via not in (None, 0):
            message = f"{pool.label} is admitted by another stage than the engine"
            refusals.refuse(Rule.POOLS, (*path, "admit_via"), message)
        self._preemption(i, pool, memory)
        block = 1.0 if pool.block is None else pool.block
        return PoolSpec(
            cap=refusals.natural(pool.cap, (*path, "cap"), f"the capacity of {pool.label}", Rule.POOLS),
            block=refusals.natural(block, (*path, "block"), f"the block of {pool.label}", Rule.POOLS),
            by_engine=pool.admit_via == 0,
            key=self._key(i, pool, memory),
        )

    def _preemption(self, i: int, pool: pr.Pool, memory: int | None) -> None:
        path = ("pools", i, "preempt")
        if i == memory:
            if pool.admit_via is not None:
                message = f"{pool.label} is the engine's memory and admitted by the engine"
                self.refusals.refuse(Rule.QUEUES, ("pools", i, "admit_via"), message, "admit by another pool")
            if pool.preempt is None and self._grown(i):
                message = f"{pool.label} is grown and does not preempt the newest"
                self.refusals.refuse(Rule.QUEUES, path, message, "preempt by `-admission`")
        elif pool.preempt is not None:
            message = f"{pool.label} preempts and is not the engine's memory"
            self.refusals.refuse(Rule.QUEUES, path, message)
        if pool.preempt is not None:
            self.refusals.know(pool.preempt, path)
            if pool.preempt != LIFO:
                message = f"{pool.label} preempts otherwise than the newest, put back in front"
                self.refusals.refuse(Rule.QUEUES, path, message, "preempt by `-admission`")

    def _grown(self, i: int) -> bool:
        runs = (s for block in self.program.blocks for s in block if isinstance(s, st.Run))
        return any(r.growing is not None and r.growing.base == i for r in runs)

    def _key(self, i: int, pool: pr.Pool, memory: int | None) -> Term | None:
        path = ("pools", i, "queue")
        if not pool.queue:
            return None
        if len(pool.queue) > 1:
            message = f"the queue of {pool.label} has {len(pool.queue)} keys"
            self.refusals.refuse(Rule.QUEUES, path, message, "combine them into one")
        if i == memory:
            self.refusals.refuse(
                Rule.QUEUES, path, f"the queue of the engine's memory {pool.label} has a key"
            )
        refuse_unnatural(self.refusals, Rule.QUEUES, pool.queue[0], (*path, 0), "the key of a queue")
        return self.expressions.term(pool.queue[0], (*path, 0), self.expressions.session)

    def _queues(self) -> None:
        keyed = [i for i, pool in enumerate(self.program.pools) if pool.queue]
        for i in keyed[1:]:
            self.refusals.refuse(Rule.QUEUES, ("pools", i, "queue"), "more than one queue has a key")

    # Stages

    def _stages(self) -> None:
        stages = self.program.stages
        if self._step is None:
            message = "the first stage is not an engine" if stages else "the program has no engine"
            self.refusals.refuse(
                Rule.STAGES, ("stages", 0), message, "declare the engine before other stages"
            )
        for i, stage in enumerate(stages):
            path = ("stages", i, "kind")
            self.refusals.know(stage, path)
            self.refusals.know(stage.kind, path)
            if i and stage.kind != DELAY:
                self.refusals.refuse(Rule.STAGES, path, f"{stage.label} is neither the engine nor a delay")

    def _deployment(self, pools: tuple[PoolSpec, ...], memory: int | None) -> Deployment:
        step = self._step
        if step is None:
            return Deployment(pools, 0, Lit(0), memory, Lit(1))
        path = ("stages", 0, "kind", "Step")
        if step.granule is not None:
            self.refusals.refuse(Rule.SERVING, (*path, "granule"), "chunks have a granule")
        if step.serve != ():
            message = "residents are not served in admission order"
            self.refusals.refuse(Rule.SERVING, (*path, "serve"), message, "serve without keys")
        return Deployment(
            pools=pools,
            budget=self._budget(step.budget, (*path, "budget")),
            chunk=self._chunk(step.chunk, (*path, "chunk")),
            memory=memory,
            cost=self._cost(step.cost, (*path, "cost")),
            only=self._only(step.iteration, (*path, "iteration")),
        )

    def _budget(self, e: ex.Expr, path: tuple[str | int, ...]) -> int:
        value = constant(e)
        if value is None:
            self.refusals.refuse(Rule.BUDGET, path, "the budget is not a constant")
            return 0
        return self.refusals.natural(value, path, "the budget", Rule.BUDGET)

    def _chunk(self, e: ex.Expr, path: tuple[str | int, ...]) -> Term:
        match e:
            case ex.Cond(then=then, other=other) if constant(then) == constant(other) is not None:
                return self._chunk(then, path)
        if constant(e) is None:
            refuse_unnatural(self.refusals, Rule.CHUNK, e, path, "a chunk")
        return self.expressions.term(e, path, self.expressions.chunk)

    def _cost(self, e: ex.Expr, path: tuple[str | int, ...]) -> Term:
        try:
            return costs.cost_term(e, lone_tokens=self.lone_tokens)
        except costs.CostError as error:
            self.refusals.refuse(Rule.COST, path, str(error))
            return Lit(1)

    def _only(self, body: tuple[pr.IterItem, ...] | None, path: tuple[str | int, ...]) -> Term | None:
        """The shared body of an engine's `only`, and no other."""
        if body is None:
            return None
        match body:
            case (pr.Serve(only=ex.Expr() as p, by=None), pr.Admit(only=q, gate=gate)) if p == q:
                if gate == _UNPREEMPTED:
                    at = (*path, 0, "Serve", "only")
                    refuse_unnatural(self.refusals, Rule.ITERATION, p, at, "an iteration's `only`", path)
                    return self.expressions.term(p, at, self.expressions.only)
        message = "an iteration body other than `serve only p; admit only p while nobody was preempted`"
        self.refusals.refuse(Rule.ITERATION, path, message)
        return None


_UNPREEMPTED = ex.Unary(op="Not", arg=ex.Ctx(var="Preempted"))
