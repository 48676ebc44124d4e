"""Small machines by hand: numbers, positions, loops and ends, holds that are refused, faults, snapshots."""

from __future__ import annotations

import pytest

from serq.generators import machine
from serq.generators.machine.code import DONE, FINISH
from serq.generators.machine.expressions import evaluate
from serq.generators.machine.state import Ended, InDelay, Loop, Queued, Ready, Rest
from serq.generators.model import (
    Assign,
    Bin,
    Block,
    Choice,
    Client,
    Deployment,
    Finish,
    Forever,
    Hold,
    If,
    Lit,
    Need,
    NextTurn,
    Not,
    Op,
    PoolSpec,
    Repeat,
    See,
    Slots,
    Translated,
    Var,
    Work,
)

NOW, LEFT = Var("now"), Var("attr", 3)
PAUSE = Work("delay", Lit(2))


def _program(
    code: Block, *clients: Client, pools: tuple[PoolSpec, ...] = (PoolSpec(4),), memory: int | None = None
) -> Translated:
    return Translated(
        attrs=("turn", "more", "computed", "left"),
        pool_names=tuple(f"pool{p}" for p in range(len(pools))),
        observes=("seen",),
        deployment=Deployment(pools, 4, Lit(0), memory, Lit(3)),
        clients=clients or (Client(),),
        slots=Slots(0, 1, 2),
        code=code,
        horizon=None,
        digest="",
    )


def _seen(program: Translated, horizon: int) -> tuple[tuple[int, ...], ...]:
    return machine.observed(machine.run(program, horizon), 0)


@pytest.mark.parametrize(
    ("op", "a", "b", "value"),
    [
        ("sub", 2, 5, 0),
        ("sub", 5, 2, 3),
        ("div", 7, 2, 3),
        ("div", 7, 0, 0),
        ("ceil", 7, 2, 4),
        ("ceil", 6, 2, 3),
        ("ceil", 7, 0, 0),
        ("ceil", 0, 3, 0),
        ("min", 3, 4, 3),
        ("max", 3, 4, 4),
        ("lt", 3, 3, 0),
        ("le", 3, 3, 1),
        ("eq", 3, 3, 1),
        ("ne", 3, 3, 0),
        ("and", 7, 9, 1),
        ("and", 7, 0, 0),
        ("or", 0, 9, 1),
        ("or", 0, 0, 0),
    ],
)
def test_operations_on_natural_numbers(op: Op, a: int, b: int, value: int) -> None:
    assert evaluate(Bin(op, Lit(a), Lit(b)), lambda v: 0) == value


def test_conditions_are_numbers() -> None:
    assert evaluate(Not(Lit(0)), lambda v: 0) == 1 and evaluate(Not(Lit(7)), lambda v: 0) == 0
    assert evaluate(If(NOW, Lit(1), Lit(2)), lambda v: 0) == 2
    assert evaluate(If(NOW, Lit(1), Lit(2)), lambda v: 5) == 1


def test_equal_positions_are_equal() -> None:
    assert machine.code_of((PAUSE, Finish())).after == FINISH == machine.code_of((Finish(),))
    assert machine.code_of((PAUSE,)).after == DONE == machine.code_of(())
    assert machine.code_of((PAUSE, Finish(), PAUSE)) == machine.code_of((PAUSE, Finish()))
    assert machine.code_of((Forever((PAUSE,)), PAUSE)) == machine.code_of((Forever((PAUSE,)),))
    assert machine.code_of((PAUSE, Finish())).block == (PAUSE, Finish())
    assert len({machine.code_of((Finish(),)), FINISH, DONE}) == 2


def test_an_endless_loop_goes_on() -> None:
    body = (PAUSE, See(0, NOW))
    program = _program((Forever(body),))
    assert _seen(program, 7) == ((2, 4, 6),)
    (session,) = machine.run(program, 7).state.sessions
    assert session.code == machine.code_of(body[1:]) and session.frames == (Loop(machine.code_of(body)),)
    assert session.status == InDelay(8, 3)


def test_a_loop_ends_by_its_guard() -> None:
    down = Assign(3, Bin("sub", LEFT, Lit(1)))
    program = _program((Repeat(LEFT, (down, PAUSE, See(0, LEFT))), See(0, NOW)), Client(((3, 3),)))
    assert _seen(program, 100) == ((2, 1, 0, 6),)
    (session,) = machine.run(program, 2).state.sessions
    assert session.attrs == (0, 0, 0, 1)


def test_a_side_of_a_choice_is_followed_by_the_rest() -> None:
    code = (Choice(LEFT, (PAUSE,), (Work("delay", Lit(5)),)), See(0, NOW))
    program = _program(code, Client(((3, 1),)), Client())
    assert _seen(program, 100) == ((2,), (5,))
    (yes, _) = machine.run(program, 1).state.sessions
    assert yes.frames == (Rest(machine.code_of(code[1:])),)


def test_an_end_inside_a_hold_releases_it() -> None:
    hold = Hold((Need(0, Lit(4)),), (PAUSE, Finish()))
    program = _program((hold, See(0, NOW)), Client(), Client())
    early, late = machine.run(program, 1), machine.run(program, 3)
    assert [s.status for s in early.state.sessions] == [InDelay(2, 0), Queued(0, False)]
    assert early.state.pools[0].allocated == 4 and early.state.pools[0].queue == (1,)
    assert [s.status for s in late.state.sessions] == [Ended(), InDelay(4, 1)]
    assert late.state.pools[0].holders == (1,) and late.state.admissions == 2
    assert _seen(program, 100) == ((), ())


def test_a_hold_that_never_fits_ends_its_session() -> None:
    program = _program((Hold((Need(0, Lit(5)),), ()), See(0, NOW)))
    assert machine.start(program).state.sessions[0].status == Ended()


def test_turns_are_taken_and_counted() -> None:
    code = (NextTurn(), See(0, LEFT), Repeat(Var("attr", 1), (NextTurn(), See(0, LEFT))))
    program = _program(code, Client(turns=(((3, 7),), ((3, 8),), ((3, 9),))))
    (session,) = machine.start(program).state.sessions
    assert _seen(program, 0) == ((7, 8, 9),) and session.attrs == (3, 0, 0, 9) and session.turn == 3


def test_the_engine_serves_in_order_within_its_budget() -> None:
    program = _program((Work("prefill", Lit(5)), See(0, NOW)), Client(), Client())
    found = machine.run(program, 100)
    assert [s.tokens for s in machine.steps(program, found)] == [((0, 4),), ((0, 1), (1, 3)), ((1, 2),)]
    assert [s.start for s in machine.steps(program, found)] == [0, 3, 6]
    assert [s.start for s in machine.steps_within(program, 3, 6)] == [3]
    assert machine.observed(found, 0) == ((6,), (9,)) and found.served == 10 and found.now == 9


@pytest.mark.parametrize(
    "code",
    [
        (Forever((Assign(3, Lit(1)),)),),
        (Hold((Need(0, Lit(1)), Need(0, Lit(1))), ()),),
        (Hold((), ()),),
        (Work("decode", Lit(1), grows=True),),
    ],
    ids=["a loop without a run", "a pool twice", "no pool", "growth outside a hold"],
)
def test_what_leaves_the_semantics_is_a_fault(code: Block) -> None:
    with pytest.raises(machine.Fault):
        machine.start(_program(code, memory=0))


def test_a_machine_that_is_kept_stays_as_it_was() -> None:
    program = _program((Forever((Hold((Need(0, Lit(3)),), (PAUSE,)), See(0, NOW))),), Client(), Client())
    kept = [machine.start(program)]
    while (t := machine.next_time(kept[-1])) is not None and t <= 20:
        after = machine.step(program, kept[-1])
        assert after is not None and after.now == t
        kept.append(after)
    assert len({m.state for m in kept}) == len(kept) > 5
    for m in kept:
        assert machine.run_until(program, m, 20) == kept[-1] == machine.run(program, 20)


def test_nothing_happens_after_the_last_event() -> None:
    program = _program((PAUSE,))
    last = machine.run(program, 100)
    assert last.now == 2 and machine.next_time(last) is None and machine.step(program, last) is None
    assert machine.initial(program).state.sessions[0].status == Ready()
