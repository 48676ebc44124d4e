"""Mutants of programs: each with one mistake that people make, such as a reserve left out or a guard swapped.

A mutation makes sites: a place, and what to put there or how to change the program. The places
are paths of fields and positions in the models of the IR.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.expressions import Node

Path = tuple[str | int, ...]
Change = Callable[[pr.Program], pr.Program]
Site = tuple[Path, Any]
ZERO = ex.Num(value=0.0)


@dataclass(frozen=True)
class Mutation:
    """A kind of mistake.

    `rule` is the one that speaks of it when it is one whatever the program says; else `harmless`
    says when it is none.
    """

    name: str
    sites: Callable[[pr.Program], Iterator[Site]]
    rule: str | None = None
    harmless: str = ""


@dataclass(frozen=True)
class Mutant:
    """A program with one mistake, and where it is."""

    mutation: Mutation
    path: Path
    program: pr.Program


def mutants(program: pr.Program, most: int, first: int = 0) -> Iterator[Mutant]:
    """At most so many mutants of each kind, at places spread over the program from the one numbered `first`."""
    for mutation in MUTATIONS:
        sites = list(mutation.sites(program))
        step = max(1.0, len(sites) / most)
        for k in range(min(most, len(sites))):
            path, value = sites[(first + int(k * step)) % len(sites)]
            changed = value(program) if callable(value) else put(program, path, value)
            if changed != program:
                yield Mutant(mutation, path, changed)


def put(node: Any, path: Path, value: Any) -> Any:
    """A copy with something else at a path."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(step, str):
        return node.model_copy(update={step: put(getattr(node, step), rest, value)})
    return (*node[:step], put(node[step], rest, value), *node[step + 1 :])


def without(path: Path) -> Change:
    """Takes a statement out."""
    block, position = int(path[1]), int(path[2])

    def change(program: pr.Program) -> pr.Program:
        kept = _cut(program.blocks[block], position)
        sides = put(program, ("sides", block), _cut(program.sides[block], position))
        return put(sides, ("blocks", block), kept)  # type: ignore[no-any-return]

    return change


def _cut(items: tuple[Any, ...], position: int) -> tuple[Any, ...]:
    return (*items[:position], *items[position + 1 :])


def nodes(node: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every model inside one with its path."""
    if isinstance(node, Node):
        yield path, node
        for name in type(node).model_fields:
            yield from nodes(getattr(node, name), (*path, name))
    elif isinstance(node, tuple):
        for i, part in enumerate(node):
            yield from nodes(part, (*path, i))


def _statements(program: pr.Program) -> Iterator[tuple[Path, st.Stmt]]:
    for b, block in enumerate(program.blocks):
        for i, stmt in enumerate(block):
            yield ("blocks", b, i), stmt


def _amounts(program: pr.Program) -> Iterator[tuple[Path, ex.Expr]]:
    """Works, units and growths."""
    for path, stmt in _statements(program):
        match stmt:
            case st.Run(work=amount):
                yield (*path, "work"), amount
            case st.Grow(amount=amount) | st.Load(amount=amount):
                yield (*path, "amount"), amount
            case st.Hold(pools=pools):
                for k, part in enumerate(pools):
                    yield (*path, "pools", k, "units"), part.units
            case _:
                pass


def _guards(program: pr.Program) -> Iterator[tuple[Path, ex.Expr]]:
    for path, node in nodes(program):
        if isinstance(node, st.Branch | st.While | pr.IterBranch):
            yield (*path, "guard"), node.guard


def _steps(program: pr.Program) -> Iterator[tuple[Path, pr.Step]]:
    for i, stage in enumerate(program.stages):
        if isinstance(stage.kind, pr.Step):
            yield ("stages", i, "kind"), stage.kind


def _pools(program: pr.Program) -> Iterator[tuple[Path, pr.Pool]]:
    for i, pool in enumerate(program.pools):
        yield ("pools", i), pool


def _inside(program: pr.Program) -> Iterator[tuple[Path, Any]]:
    """The nodes of statements and stages."""
    yield from nodes(program.blocks, ("blocks",))
    yield from nodes(program.stages, ("stages",))


# What statements say


def drop_reserve(program: pr.Program) -> Iterator[Site]:
    for path, stmt in _statements(program):
        if isinstance(stmt, st.Hold):
            for k, part in enumerate(stmt.pools):
                if part.reserve is not None:
                    yield (*path, "pools", k, "reserve"), None


def swap_guard(program: pr.Program) -> Iterator[Site]:
    for path, guard in _guards(program):
        yield path, ex.Unary(op="Not", arg=guard)


def count_as_guard(program: pr.Program) -> Iterator[Site]:
    """`x > y` written as `x`."""
    for path, guard in _guards(program):
        if isinstance(guard, ex.Binary) and guard.op in ("Lt", "Le", "Gt", "Ge", "Eq", "Ne"):
            yield path, guard.left


def always_true(program: pr.Program) -> Iterator[Site]:
    """A branch whose guard ends with `|| 1`, left from a trial."""
    for path, stmt in _statements(program):
        if isinstance(stmt, st.Branch):
            yield (*path, "guard"), ex.Binary(op="Or", left=stmt.guard, right=ex.Num(value=1.0))


def negate_amount(program: pr.Program) -> Iterator[Site]:
    for path, amount in _amounts(program):
        yield path, ex.Unary(op="Neg", arg=amount)


def drop_clamp(program: pr.Program) -> Iterator[Site]:
    for path, node in _inside(program):
        if isinstance(node, ex.Call) and node.fun in ("Min", "Max") and len(node.args) == 2:
            kept = [a for a in node.args if not isinstance(a, ex.Num)]
            yield path, (kept or list(node.args))[0]


def drop_summand(program: pr.Program) -> Iterator[Site]:
    """`1 + x` written as `x`."""
    for path, node in _inside(program):
        if isinstance(node, ex.Binary) and node.op == "Add":
            if isinstance(node.left, ex.Num) and node.left.value > 0:
                yield path, node.right
            elif isinstance(node.right, ex.Num) and node.right.value > 0:
                yield path, node.left


def remove_set(program: pr.Program) -> Iterator[Site]:
    """One of several: an attribute that nothing else assigns is a name that the text does not know."""
    counts = Counter(s.slot for _, s in _statements(program) if isinstance(s, st.Set))
    for path, stmt in _statements(program):
        if isinstance(stmt, st.Set) and counts[stmt.slot] > 1:
            yield path, without(path)


def set_another(program: pr.Program) -> Iterator[Site]:
    """The server assigns another of its attributes than the one meant."""
    served = [(p, s) for p, s in _statements(program) if isinstance(s, st.Set) and _server(program, p)]
    slots = list(dict.fromkeys(s.slot for _, s in served))
    for path, stmt in served:
        if len(slots) > 1:
            yield (*path, "slot"), slots[(slots.index(stmt.slot) + 1) % len(slots)]


def _server(program: pr.Program, path: Path) -> bool:
    return program.sides[int(path[1])][int(path[2])] == "Server"


def drop_release(program: pr.Program) -> Iterator[Site]:
    for path, stmt in _statements(program):
        if isinstance(stmt, st.Release):
            yield path, without(path)


def endless_lease(program: pr.Program) -> Iterator[Site]:
    for path, stmt in _statements(program):
        if isinstance(stmt, st.Hold) and stmt.lease is not None:
            yield (*path, "lease", "duration"), ex.Num(value=math.inf)


def no_work_in_a_loop(program: pr.Program) -> Iterator[Site]:
    inner = {
        b for _, s in _statements(program) if isinstance(s, st.Loop | st.While) for b in _below(program, s)
    }
    for path, stmt in _statements(program):
        if isinstance(stmt, st.Run) and path[1] in inner:
            nothing = stmt.work.model_copy(update={"arg": ZERO}) if isinstance(stmt.work, ex.Cost) else ZERO
            yield (*path, "work"), nothing


def _below(program: pr.Program, stmt: st.Stmt) -> Iterator[int]:
    for block in st.bodies(stmt):
        yield block
        for inner in program.blocks[block]:
            yield from _below(program, inner)


def index_off_by_one(program: pr.Program) -> Iterator[Site]:
    for path, node in nodes(program.blocks, ("blocks",)):
        if isinstance(node, ex.CRef) and node.index is not None:
            yield (*path, "index"), ex.Binary(op="Add", left=node.index, right=ex.Num(value=1.0))


def zero_divisor(program: pr.Program) -> Iterator[Site]:
    """A divisor less its least value: `x / n` written as `x / (n - 1)`."""
    for path, node in _inside(program):
        if isinstance(node, ex.Binary) and node.op == "Div" and not isinstance(node.right, ex.Num):
            yield (*path, "right"), ex.Binary(op="Sub", left=node.right, right=node.right)


def one_hold_after_another(program: pr.Program) -> Iterator[Site]:
    """Pools taken at once are taken one inside the other, the last first."""
    for path, stmt in _statements(program):
        if isinstance(stmt, st.Hold) and len(stmt.pools) > 1:
            yield path, _apart(path, stmt)


def _apart(path: Path, hold: st.Hold) -> Change:
    def change(program: pr.Program) -> pr.Program:
        inner = hold.model_copy(update={"pools": hold.pools[:1]})
        outer = st.Hold(pools=hold.pools[1:], body=len(program.blocks))
        side = program.sides[int(path[1])][int(path[2])]
        changed = put(program, path, outer)
        update = {"blocks": (*changed.blocks, (inner,)), "sides": (*program.sides, (side,))}
        return changed.model_copy(update=update)  # type: ignore[no-any-return]

    return change


# What pools say


def shrink_cap(program: pr.Program) -> Iterator[Site]:
    for path, pool in _pools(program):
        if 16 <= pool.cap < math.inf:
            block = pool.block or 1.0
            yield (*path, "cap"), max(block, block * (pool.cap // (16 * block)))


def half_cap(program: pr.Program) -> Iterator[Site]:
    for path, pool in _pools(program):
        if 16 <= pool.cap < math.inf:
            block = pool.block or 1.0
            yield (*path, "cap"), max(block, block * (pool.cap // (2 * block)))


def drop_preemption(program: pr.Program) -> Iterator[Site]:
    for path, pool in _pools(program):
        if pool.preempt is not None:
            yield (*path, "preempt"), None


def reserve_not_held(program: pr.Program) -> Iterator[Site]:
    for path, pool in _pools(program):
        if pool.reserve_held:
            yield (*path, "reserve_held"), False


def constant_keys(program: pr.Program) -> Iterator[Site]:
    for path, pool in _pools(program):
        if pool.queue is not None:
            yield (*path, "queue"), (ZERO,)
        if isinstance(pool.evict, pr.EvictBy):
            yield (*path, "evict", "keys"), (ZERO,)
        if isinstance(pool.preempt, pr.PreemptBy):
            yield (*path, "preempt", "keys"), (ZERO,)


def drop_ageing(program: pr.Program) -> Iterator[Site]:
    for path, node in nodes(program.pools, ("pools",)):
        if isinstance(node, ex.Ctx) and node.var == "Waited":
            yield path, ZERO


def shortest_first(program: pr.Program) -> Iterator[Site]:
    """A first-come, first-served queue ordered by an attribute that every turn draws."""
    drawn = [
        s.slot
        for s in program.blocks[program.turn]
        if isinstance(s, st.Set) and any(isinstance(x, ex.Sample) for x in ex.walk(s.value))
    ]
    slots = [s for s in drawn if s not in program.hidden]
    for path, pool in _pools(program):
        if pool.queue is None and slots and pool.cap < math.inf:
            yield (*path, "queue"), (ex.Attr(slot=slots[0]),)


# What stages say


def zero_budget(program: pr.Program) -> Iterator[Site]:
    for path, _ in _steps(program):
        yield (*path, "budget"), ZERO


def drop_at_most(program: pr.Program) -> Iterator[Site]:
    for path, step in _steps(program):
        if not isinstance(step.chunk, ex.Num) or step.chunk.value > 0:
            yield (*path, "chunk"), ZERO


def negative_cost(program: pr.Program) -> Iterator[Site]:
    for path, step in _steps(program):
        yield (*path, "cost"), ex.Unary(op="Neg", arg=step.cost)


def drop_fixed_cost(program: pr.Program) -> Iterator[Site]:
    """The constant parts of an iteration's cost are left out."""
    for path, step in _steps(program):
        for at, node in nodes(step.cost, (*path, "cost")):
            if isinstance(node, ex.Num) and node.value > 0:
                yield at, ZERO


# What claims say


def contradict_given(program: pr.Program) -> Iterator[Site]:
    for i, claim in enumerate(program.claims):
        if claim.given is not None:
            wrong = ex.Binary(op="And", left=claim.given, right=ex.Unary(op="Not", arg=claim.given))
            yield ("claims", i, "given"), wrong


def weaken_claim(program: pr.Program) -> Iterator[Site]:
    for i, claim in enumerate(program.claims):
        yield ("claims", i, "expr"), ex.Binary(op="Or", left=claim.expr, right=ex.Num(value=1.0))


def subtract_in_claim(program: pr.Program) -> Iterator[Site]:
    """`a <= b` written as `a - b <= 0`."""
    for path, node in nodes(program.claims, ("claims",)):
        if isinstance(node, ex.Binary) and node.op in ("Le", "Lt"):
            yield (
                path,
                node.model_copy(
                    update={"left": ex.Binary(op="Sub", left=node.left, right=node.right), "right": ZERO}
                ),
            )


# What schedulers may know


def leak_hidden(program: pr.Program) -> Iterator[Site]:
    """A hidden attribute is added to what another one is set to."""
    if not program.hidden:
        return
    for path, stmt in _statements(program):
        if isinstance(stmt, st.Set) and path[1] not in (program.init, program.turn):
            leaked = ex.Binary(op="Add", left=stmt.value, right=ex.Attr(slot=program.hidden[0]))
            yield (*path, "value"), leaked


MUTATIONS = (
    Mutation(
        "drop a reserve",
        drop_reserve,
        harmless="with preemption a request that does not fit is preempted and comes back",
    ),
    Mutation(
        "swap a guard", swap_guard, harmless="the other way round is another program, in which nothing hangs"
    ),
    Mutation("a count for a guard", count_as_guard, harmless="the count is 0 or 1"),
    Mutation("a guard that always holds", always_true, "constant-guard"),
    Mutation("negate an amount", negate_amount, harmless="the amount is 0"),
    Mutation(
        "drop a clamp", drop_clamp, harmless="the ranges never reach the clamp, or only a value changes"
    ),
    Mutation("drop a constant summand", drop_summand, harmless="a smaller value where 0 is allowed"),
    Mutation("remove a set", remove_set, harmless="the attribute keeps a value that is as valid"),
    Mutation("set the wrong attribute", set_another, harmless="both attributes have valid values"),
    Mutation("drop a release", drop_release, harmless="the hold or lease ends all the same"),
    Mutation("a lease for ever", endless_lease, harmless="something releases it"),
    Mutation("no work in a loop", no_work_in_a_loop, harmless="another run of the pass takes time"),
    Mutation(
        "an index off by one", index_off_by_one, harmless="it is never read, or another member is as good"
    ),
    Mutation("a divisor that is 0", zero_divisor, "division-by-zero"),
    Mutation(
        "pools taken one by one",
        one_hold_after_another,
        harmless="in one order everywhere they form no cycle",
    ),
    Mutation("a sixteenth of a cap", shrink_cap, harmless="the longest request still fits, or none needs it"),
    Mutation("half a cap", half_cap, harmless="the longest request still fits"),
    Mutation("drop preemption", drop_preemption, harmless="nothing grows beyond what it has taken at once"),
    Mutation(
        "a reserve that is not held",
        reserve_not_held,
        harmless="what the body grows to is little, or preempted",
    ),
    Mutation("keys that are constant", constant_keys, "keys-equal"),
    Mutation("drop ageing", drop_ageing),
    Mutation("shortest first", shortest_first, harmless="sessions stop coming"),
    Mutation("zero a budget", zero_budget, "budget-zero"),
    Mutation("drop `each at most`", drop_at_most, harmless="longer steps"),
    Mutation("negate a cost", negative_cost, "iteration-cost"),
    Mutation("drop a part of a cost", drop_fixed_cost, harmless="the rest is above 0"),
    Mutation("contradict a `given`", contradict_given, "vacuous-claim"),
    Mutation("weaken a claim", weaken_claim, "vacuous-claim"),
    Mutation("subtract in a claim", subtract_in_claim, harmless="the difference is not always negative"),
    Mutation("leak a hidden attribute", leak_hidden, harmless="no decision of a scheduler reads it"),
)
