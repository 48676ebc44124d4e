"""Whole programs: which resources a family declares, what its server does, and how hard it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from serq.ir import program as pr
from tests.generators.ir import engines, nests, readers, requests, resources, workloads
from tests.generators.ir.dice import Dice
from tests.generators.ir.draft import Draft, Layout, Node, StageFamily
from tests.generators.ir.where import Where


@dataclass
class Plan:
    """A family's choices: the engines, the other resources, and the pieces a server is made of."""

    engines: list[StageFamily] = field(default_factory=list)
    pieces: tuple[str, ...] = ("request",)
    sessions: int = 20
    gap: float = 1.0
    horizon: float = 60.0
    arrival: pr.Arrival = None


FAMILIES = {
    "engine": 5.0,
    "engines": 2.0,
    "handover": 1.5,
    "nest": 4.0,
    "mixed": 2.0,
    "alone": 0.8,
    "tiers": 1.8,
    "pair": 0.5,
    "prefix": 0.5,
}


def random_program(seed: int, family: str | None = None) -> pr.Program:
    """A valid program of this seed: the same one everywhere; of a family when one is named."""
    dice = Dice(seed)
    draft = Draft(dice, integral=dice.chance(0.6), faulty=dice.chance(0.025))
    chosen = dice.weighted(FAMILIES)
    plan = _PLANS[family or chosen](draft)
    workloads.declare(draft)
    _extras(draft)
    resources.settle_blocks(draft)
    resources.arrange(draft)
    return _finish(draft, plan)


def _engine(draft: Draft, count: int = 1, memory: float = 0.85) -> StageFamily:
    """An engine family with its request slots and its memory."""
    dice = draft.dice
    engine = resources.add_stage(draft, "engine", count)
    if dice.chance(memory):
        engine.memory = resources.add_pool(draft, "kv", count)
        engine.memory.array = engine.array
    if dice.chance(0.8):
        queues = dice.choice((1, 1, 1, 2)) if count == 1 else count
        engine.queue = resources.add_pool(draft, "reqs", queues)
        engine.queue.array = engine.queue.array or engine.array
        if dice.chance(0.92):
            engine.queue.via = engine
    elif engine.memory is not None:
        engine.queue = engine.memory
        if dice.chance(0.85):
            engine.memory.via = engine
    if engine.memory is not None and engine.memory.via is None and dice.chance(0.15):
        engine.memory.via = engine
    return engine


def _plan_engine(draft: Draft) -> Plan:
    count = draft.dice.choice((1, 1, 1, 2))
    return Plan([_engine(draft, count)], sessions=44, gap=draft.dice.choice((0.3, 0.6, 1.0)), horizon=70.0)


def _plan_engines(draft: Draft) -> Plan:
    made = [_engine(draft, draft.dice.choice((1, 1, 2))) for _ in range(2)]
    if draft.dice.chance(0.3):
        _share_memory(draft, *made)
    pieces = ("request", "request") if draft.dice.chance(0.6) else ("request",)
    return Plan(made, pieces, sessions=36, gap=0.8, horizon=60.0)


def _share_memory(draft: Draft, one: StageFamily, other: StageFamily) -> None:
    """Let two engines, or two families of as many, compute in one memory."""
    memory, spare = one.memory, other.memory
    if memory is None or spare is None or other.queue is spare:
        return
    if (one.count, one.array) == (other.count, other.array):
        draft.pool_families.remove(spare)
        other.memory = memory


def _plan_handover(draft: Draft) -> Plan:
    dice = draft.dice
    made = [_engine(draft, dice.choice((1, 1, 2)), memory=1.0) for _ in range(2)]
    draft.share = dice.choice(("MaxMin", "Bottleneck"))
    for _ in range(2):
        resources.add_stage(draft, "net")
    resources.add_stage(draft, "lag")
    return Plan(made, ("handover",), sessions=36, gap=0.8, horizon=60.0)


def _plan_nest(draft: Draft) -> Plan:
    dice = draft.dice
    for role in dice.some(("slots", "mem", "mem", "slots", "mem")):
        resources.add_pool(draft, role)
    for role in dice.some(("desk", "share", "lag", "desk")):
        resources.add_stage(draft, role)
    pieces = ("statements",) * dice.randint(1, 2)
    return Plan(
        pieces=pieces, sessions=40, gap=dice.choice((0.4, 0.8, 1.6)), horizon=dice.choice((50.0, 100.0))
    )


def _plan_mixed(draft: Draft) -> Plan:
    made = [_engine(draft, draft.dice.choice((1, 1, 2)))]
    for role in draft.dice.some(("slots", "mem", "desk", "share", "lag")):
        (resources.add_pool if role in ("slots", "mem") else resources.add_stage)(draft, role)
    resources.add_stage(draft, "desk")
    pieces = ["request", "statements"]
    draft.dice.shuffle(pieces)
    return Plan(made, tuple(pieces), sessions=32, gap=0.8, horizon=60.0)


def _plan_alone(draft: Draft) -> Plan:
    """One session at a time in a memory that some requests outgrow: whoever is preempted preempted itself."""
    engine = _engine(draft, 1, memory=1.0)
    engine.memory.preempts = True
    engine.memory.cap = draft.dice.quantity(14, 26, draft.integral)
    return Plan([engine], arrival=pr.Closed(population=1), horizon=120.0)


def _plan_tiers(draft: Draft) -> Plan:
    """Memories too small for the prefixes left in them, which go to another pool instead of away."""
    plan = _plan_engine(draft) if draft.dice.chance(0.6) else _plan_nest(draft)
    for memory in draft.pools_of("kv", "mem"):
        memory.cap = min(memory.cap, draft.dice.quantity(18, 40, draft.integral))
    resources.add_pool(draft, "tier")
    resources.add_stage(draft, "disk", 1)
    return plan


def _plan_pair(draft: Draft) -> Plan:
    """Two sessions, no legs: the only place where sums over a stage's jobs have one order."""
    plan = draft.dice.choice((_plan_engine, _plan_nest, _plan_mixed))(draft)
    draft.sums_two = True
    plan.arrival = pr.Closed(population=2)
    return plan


def _plan_prefix(draft: Draft) -> Plan:
    """Long prefixes of which little may be reused, in a memory with room for what is left of them."""
    draft.prefixes = True
    engine = _engine(draft, 1, memory=1.0)
    engine.memory.cap = 2000.0
    turns = tuple(workloads.replayed(draft) for _ in range(3))
    sessions = pr.Sessions(sessions=tuple(pr.Session(turns=turns) for _ in range(draft.dice.randint(2, 8))))
    return Plan([engine], arrival=sessions, horizon=80.0)


_PLANS: dict[str, Callable[[Draft], Plan]] = {
    "engine": _plan_engine,
    "engines": _plan_engines,
    "handover": _plan_handover,
    "nest": _plan_nest,
    "mixed": _plan_mixed,
    "alone": _plan_alone,
    "tiers": _plan_tiers,
    "pair": _plan_pair,
    "prefix": _plan_prefix,
}


def _extras(draft: Draft) -> None:
    """Resources any family may have besides."""
    dice = draft.dice
    resources.add_stage(draft, "tool", 1)
    if dice.chance(0.15):
        resources.add_pool(draft, "client", 1)
    if not draft.stages_of("lag", "desk", "share") or dice.chance(0.3):
        resources.add_stage(draft, dice.choice(("lag", "desk", "share")))
    if draft.share is None and dice.chance(0.25):
        for _ in range(dice.choice((2, 2, 3))):
            resources.add_stage(draft, "net")
        draft.share = dice.choice(("MaxMin", "Bottleneck"))


def _serve(draft: Draft, plan: Plan, where: Where) -> list[Node]:
    nodes: list[Node] = []
    left = list(plan.engines)
    for piece in plan.pieces:
        match piece:
            case "request":
                engine = left.pop(0) if left else draft.dice.choice(plan.engines)
                nodes += requests.request(draft, where, engine)
            case "handover":
                nodes += requests.handover(draft, where, *plan.engines)
            case _:
                nodes += nests.sequence(draft, where, draft.dice.randint(1, 3))
    return nodes


def _server(draft: Draft, plan: Plan) -> Callable[[], list[Node]]:
    """What serves a turn: mostly the same statements for each."""
    where = Where(forked=draft.sums_two)
    nodes = _serve(draft, plan, where)
    if draft.dice.chance(0.25):
        nodes += nests.sequence(draft, where, 1)

    if draft.faulty:
        nodes += nests.fault(draft, where)

    def serve() -> list[Node]:
        return nodes if draft.dice.chance(0.85) else _serve(draft, plan, Where(forked=draft.sums_two))

    return serve


def _finish(draft: Draft, plan: Plan) -> pr.Program:
    """Draw everything that refers to placed resources, and put the program together."""
    dice = draft.dice
    shapes = engines.shapes(draft)
    arrival = plan.arrival or workloads.arrival(draft, plan.sessions, plan.gap)
    replays = isinstance(arrival, pr.Sessions) and any(s.turns for s in arrival.sessions)
    serve = _server(draft, plan)
    blocks = Layout()
    init = blocks.block(workloads.initial(draft))
    turn = blocks.block(workloads.turned(draft, replays))
    paced = isinstance(arrival, pr.Closed)
    session = blocks.block(workloads.session(draft, serve, replays, paced))
    resources.define_pools(draft)
    resources.define_stages(draft, engines.define_engines(draft, shapes))
    gauges, claims = readers.gauges(draft), readers.claims(draft)
    limited = isinstance(arrival, pr.Poisson | pr.Renewal) and dice.chance(0.13)
    horizon = plan.horizon * (5 if limited else 1)
    return pr.Program(
        attrs=tuple(draft.attrs),
        attr_types=tuple(draft.types),
        sides=tuple(blocks.sides),
        observes=tuple(draft.observes),
        pools=tuple(draft.pools),
        stages=tuple(draft.stages),
        arrival=arrival,
        init=init,
        turn=turn,
        session=session,
        blocks=tuple(blocks.blocks),
        horizon=horizon,
        warmup=dice.choice((0.0, 0.0, 5.0, plan.horizon / 8)),
        seed=dice.randrange(2**63) if dice.chance(0.5) else dice.randrange(100),
        arrivals=dice.randint(4, 24) if limited else None,
        hidden=() if draft.hidden is None else (draft.hidden,),
        share=_share(draft, blocks),
        gauges=gauges,
        claims=claims,
        registers=tuple(draft.registers),
    )


def _share(draft: Draft, blocks: Layout) -> str | None:
    """The policy, exactly when some run is over several stages."""
    flows = any(getattr(s, "also", ()) for block in blocks.blocks for s in block)
    return draft.share if flows else None
