"""How sessions arrive, what their turns draw, and the client's side of a session."""

from __future__ import annotations

from collections.abc import Callable

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.moments import Moment
from tests.generators.ir import expressions as gen
from tests.generators.ir import terms as t
from tests.generators.ir.draft import (
    MORE,
    NEW,
    OUT,
    SERIAL,
    THINK,
    TURN_NO,
    Draft,
    Node,
    assign,
    branch,
    record,
    remainder,
    repeat,
    run,
    with_side,
)

_TRACED = (NEW, OUT, THINK)


def declare(draft: Draft) -> None:
    """The workload's attributes, before any statement reads them."""
    for name in ("p", "o", "w"):
        draft.size(name)
    dice = draft.dice
    if dice.chance(0.4):
        draft.size("rank")
    if dice.chance(0.25):
        draft.size("K")
    if dice.chance(0.25):
        draft.hidden = draft.size("o")


def _quantity(draft: Draft, low: float, high: float) -> ex.Expr:
    """A drawn quantity of a turn, within [low, high]."""
    dice = draft.dice
    match dice.weighted({"uniform": 4.0, "exp": 2.0, "constant": 1.0, "h2": 0.5}):
        case "uniform":
            value: ex.Expr = t.draw("Uniform", low, high + draft.integral)
        case "exp":
            value = t.least(t.num(high * 1.5), t.add(t.num(low), t.draw("Exp", (high - low) / 3)))
        case "h2":
            value = t.least(t.num(high * 2), t.add(t.num(low), t.draw("H2", (high - low) / 4, 3)))
        case _:
            value = t.num(dice.quantity(low, high, draft.integral))
    return t.floor(value) if draft.integral and not isinstance(value, ex.Num) else value


def arrival(draft: Draft, sessions: int, gap: float) -> pr.Arrival:
    """How sessions arrive, at about one a `gap`, or all of `sessions` at once."""
    dice = draft.dice
    match dice.weighted({"poisson": 3.0, "renewal": 2.0, "closed": 1.5, "batch": 1.2, "sessions": 1.8}):
        case "poisson":
            return pr.Poisson(rate=round(1 / gap, 3))
        case "renewal":
            if dice.chance(0.4):
                return pr.Renewal(gap=t.num(dice.choice((0.5, 1.0, gap))))
            return pr.Renewal(gap=t.add(t.num(0.01), gen.sample(dice, gap)))
        case "closed":
            return pr.Closed(population=dice.randint(1, 6))
        case "batch":
            return pr.Batch(size=max(1, sessions // 2))
        case _:
            return pr.Sessions(sessions=tuple(_explicit(draft) for _ in range(max(1, sessions // 2))))


def _explicit(draft: Draft) -> pr.Session:
    dice = draft.dice
    presets = tuple(
        (slot, dice.quantity(0, 6, draft.integral)) for slot in draft.sizes() if dice.chance(0.25)
    )
    if dice.chance(0.3):
        return pr.Session(attrs=presets)
    turns = tuple(replayed(draft) for _ in range(dice.randint(0 if dice.chance(0.1) else 1, 4)))
    return pr.Session(attrs=presets, turns=turns)


def replayed(draft: Draft) -> pr.Preset:
    """The values of one explicit turn."""
    dice = draft.dice
    return (
        (NEW, dice.quantity(1, 16, draft.integral)),
        (OUT, dice.quantity(1, 12, draft.integral)),
        (THINK, dice.quantity(0.25, 3, False)),
    )


def initial(draft: Draft) -> list[Node]:
    """The init block."""
    nodes = [assign(draft.size("p"), _quantity(draft, 1, 12), "Workload")]
    if "rank" in draft.attrs:
        nodes.append(assign(draft.size("rank"), gen.sample(draft.dice, 2.0), "Workload"))
    if "K" in draft.attrs:
        nodes.append(assign(draft.size("K"), t.num(0), "Workload"))
    return nodes if draft.dice.chance(0.6) else nodes[1:]


def turned(draft: Draft, replays: bool) -> list[Node]:
    """The turn block: this turn's prompt, output and work."""
    dice = draft.dice
    long = dice.choice((12, 18, 26))
    prompt: ex.Expr = t.add(t.attr(NEW), t.num(1)) if replays else _quantity(draft, 1, long)
    out: ex.Expr = t.attr(OUT) if replays else _quantity(draft, 1, dice.choice((4, 10, 16)))
    nodes = [
        assign(draft.size("p"), prompt, "Workload"),
        assign(draft.size("o"), out, "Workload"),
        assign(draft.size("w"), gen.sample(dice, dice.choice((0.5, 1.0, 1.5))), "Workload"),
    ]
    dice.shuffle(nodes)
    if dice.chance(0.2):
        nodes.append(record(draft, "asked", t.attr(draft.size("p")), "Workload"))
    return nodes


def session(draft: Draft, serve: Callable[[], list[Node]], replays: bool, paced: bool) -> list[Node]:
    """The session program: turns with the client's time between them, then its end."""
    dice = draft.dice
    nodes = [_tool(draft, positive=True)] if paced else []
    if dice.chance(0.2):
        nodes.append(_tool(draft, positive=False))
    shape = dice.weighted(
        {"one": 2.0, "more": 3.0 if replays else 0.3, "rounds": 2.0, "loop": 1.0, "held": 0.6}
    )
    if replays and dice.chance(0.6):
        shape = "more"
    match shape:
        case "one":
            nodes += _turn(serve)
        case "held" if draft.pools_of("client"):
            nodes += _held(draft, serve)
        case "loop":
            nodes.append(_looped(draft, serve))
        case "more":
            nodes += _turn(serve)
            nodes.append(repeat(t.attr(MORE), _again(draft, serve), "Workload"))
        case _:
            rounds = (
                t.num(dice.randint(2, 3))
                if dice.chance(0.5)
                else t.add(t.num(1), remainder(t.attr(SERIAL), 3))
            )
            nodes += _turn(serve)
            test = t.binary("Lt", t.attr(TURN_NO), rounds)
            nodes.append(repeat(test, _again(draft, serve), "Workload"))
    if dice.chance(0.3):
        nodes.append(record(draft, "left", t.NOW, "Workload"))
    return [*nodes, Node(st.End(), "Workload")]


def _turn(serve: Callable[[], list[Node]]) -> list[Node]:
    return [Node(st.Turn(), "Workload"), *serve()]


def _again(draft: Draft, serve: Callable[[], list[Node]]) -> list[Node]:
    nodes = [_tool(draft, positive=True)]
    if draft.dice.chance(0.06):
        nodes.append(assign(TURN_NO, t.add(t.attr(TURN_NO), t.num(0.5)), "Workload"))
    if draft.dice.chance(0.08) and not draft.sums_two:
        nodes += _aside(draft)
    if "K" in draft.attrs:
        k = t.attr(draft.size("K"))
        longer = t.add(k, t.add(t.attr(draft.size("p")), t.attr(draft.size("o"))))
        nodes.insert(0, assign(draft.size("K"), t.least(longer, t.num(40)), "Workload"))
    return nodes + _turn(serve)


def _aside(draft: Draft) -> list[Node]:
    """A leg of the client's own, beside its tool."""
    draft.forks = True
    body = (_tool(draft, positive=False), record(draft, "leg", t.NOW, "Workload"))
    fork = Node(st.Fork(body=0), "Workload", (body,))
    return [fork, _tool(draft, positive=False), Node(st.Join(), "Workload")]


def _looped(draft: Draft, serve: Callable[[], list[Node]]) -> Node:
    leave = branch(
        t.binary("Ge", t.attr(TURN_NO), t.num(draft.dice.randint(1, 3))),
        [Node(st.End(), "Workload")],
        [_tool(draft, positive=True)],
        "Workload",
    )
    body = [*_turn(serve), leave, _tool(draft, positive=True)]
    return Node(st.Loop(body=0), "Workload", (tuple(body),))


def _held(draft: Draft, serve: Callable[[], list[Node]]) -> list[Node]:
    """Turns inside a hold of the client's own."""
    family = draft.pools_of("client")[0]
    ref = family.ref(t.num(0)) if family.array else family.ref()
    cost = ex.Cost(target=family.target, arg=t.num(1))
    body = [*_turn(serve), _tool(draft, positive=False)]
    if draft.dice.chance(0.4):
        body += _turn(serve)
    hold = st.Hold(pools=(st.HoldPool(pool=ref, units=cost),), body=0)
    return [Node(hold, "Workload", (tuple(body),))]


def _tool(draft: Draft, positive: bool) -> Node:
    family = draft.stages_of("tool")[0]
    dice = draft.dice
    wait = t.add(t.num(0.1), gen.sample(dice, 1.0))
    if dice.chance(0.3):
        wait = t.add(t.num(0.1), t.most(t.num(0), t.attr(THINK)))
    elif not positive and dice.chance(0.5):
        wait = gen.amount(draft, gen.Scope(Moment.SESSION), 0.0, 2.0, 1)
    return with_side([run(family, draft.member(family), wait)], "Workload")[0]
