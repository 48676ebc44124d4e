"""SQ8xx: a run that stops (interp.md §18)."""

from serq.diagnostics.catalogue.scaffold import SERVER, WORKLOAD, engine, program
from serq.diagnostics.codes import Code, register

_KV = "pool kv { cap 4; }"
_SLOTS = "pool slots[2] { cap 5; }"


def _then_work(statements: str, declarations: str = "") -> str:
    return program(declarations, f"{statements} {SERVER}")


def _arriving(gap: str) -> str:
    return program(workload=WORKLOAD.replace("poisson(1)", f"renewal({gap})"))


def _forking(after: str) -> str:
    return program(server=f"fork {{ run desk (cost(desk, 1)); }} {after}")


def _holding(statements: str) -> str:
    return program(_KV, f"hold kv (cost(kv, 3)) {{ {statements} }}", WORKLOAD.replace("poisson", "batch"))


def _serving(
    execute: str = "execute (1);", schedule: str = "advance running; admit waiting;", items: str = ""
) -> str:
    server = "hold reqs (cost(reqs, 1)) { run llm prefill (cost(llm, n)); }"
    declarations = engine(items, schedule=f"schedule {{ {schedule} }}", execute=execute)
    return program(declarations, server, stage="")


register(
    Code(
        "SQ801",
        "a guard that is neither 0 nor 1",
        "A guard is a test, and a test has two answers; a fraction, a count or NaN is neither.",
        "Write a comparison, such as `x > 0`.",
        _then_work("branch (n) { observe large = 1; }"),
        _then_work("branch (n > 1) { observe large = 1; }"),
    ),
    Code(
        "SQ802",
        "an amount that is negative or not a number",
        "Work, units, growth and loads are amounts: a negative one or NaN is a mistake, not a value to round.",
        "Bound the expression with max(0, …), or correct its inputs.",
        program(server="run desk (cost(desk, n - 5));"),
        program(server="run desk (cost(desk, max(0, n - 5)));"),
    ),
    Code(
        "SQ803",
        "a gap that is not positive and finite",
        "A renewal arrival comes after its gap; with a gap of 0 or less time would stand still or run back.",
        "Draw gaps above 0, or bound them with max(k, …).",
        _arriving("~uniform(-1, 1)"),
        _arriving("~uniform(0.5, 1)"),
    ),
    Code(
        "SQ804",
        "an instant that never settles",
        "A session keeps becoming ready, or executing statements, without letting time pass.",
        "Make every pass of the loop reach a run with work above 0.",
        program(server="loop { run desk (cost(desk, n - 2)); }"),
        program(server="loop { run desk (cost(desk, n)); }"),
    ),
    Code(
        "SQ805",
        "an index that names no member, or two references that name one",
        "An index is a whole number from 0 below the array's size, and a hold takes each pool once.",
        "Bound or round the index; sum the units of one pool.",
        _then_work("observe u = used(slots[n]);", _SLOTS),
        _then_work("observe u = used(slots[n - 1]);", _SLOTS),
    ),
    Code(
        "SQ806",
        "growth without a hold",
        "Only an open hold of the pool can grow, load or carry a growing run.",
        "Keep the statement inside the hold and before any release of the pool.",
        _holding(f"release kv; grow kv (cost(kv, 1)); {SERVER}"),
        _holding(f"grow kv (cost(kv, 1)); {SERVER} release kv;"),
    ),
    Code(
        "SQ807",
        "an iteration that takes no time",
        "An iteration that computes tokens lasts a positive time, else an engine could run without end at once.",
        "Give `execute` a fixed part above 0.",
        _serving("execute (0.01 * (batch.tokens - 2));"),
        _serving("execute (0.01 * batch.tokens);"),
    ),
    Code(
        "SQ808",
        "a register that is not finite",
        "Registers carry numbers between iterations; an infinite or undefined one decides nothing.",
        "Bound the expression that sets it.",
        _serving(items="state r = 1;", schedule="set r = r / 0; advance running; admit waiting;"),
        _serving(items="state r = 1;", schedule="set r = r / 2; advance running; admit waiting;"),
    ),
    Code(
        "SQ809",
        "a session that ends while a leg runs",
        "A leg is part of its request: the request is not done before it is.",
        "Write `join;` before the session can end.",
        _forking("branch (n > 2) { join; }"),
        _forking("join;"),
    ),
    Code(
        "SQ810",
        "sessions and legs that wait only for each other",
        "A leg waits for memory its session's side holds, while the session waits at a join: hold and wait.",
        "Release what the leg needs before the join, or give the lease a finite time.",
        _holding("fork { hold kv (cost(kv, 2)) { run desk (cost(desk, 1)); } } join;"),
        _holding("fork { hold kv (cost(kv, 2)) { run desk (cost(desk, 1)); } } release kv; join;"),
    ),
    Code(
        "SQ811",
        "too few arrivals by the horizon",
        "`arrivals` asks for exactly that many sessions, and the horizon came first.",
        "Raise the horizon or ask for fewer.",
    ),
    Code(
        "SQ812",
        "sessions that do not drain",
        "With `arrivals` the run ends when every session has; some were still live at the horizon.",
        "Raise the horizon; look in the report of a run without `arrivals` for sessions that wait for ever.",
    ),
    Code(
        "SQ813",
        "a run that ends before its warm-up",
        "Statistics are taken from the warm-up to the end; here nothing is left between them.",
        "Lower the warm-up or ask for more arrivals.",
    ),
    Code(
        "SQ814",
        "a load beyond the allocation",
        "Tokens that arrive are kept in what the hold has allocated.",
        "Hold or grow what the load needs first.",
        _holding(f"load kv (cost(kv, n + 2)); {SERVER}"),
        _holding(f"load kv (cost(kv, n)); {SERVER}"),
    ),
    Code(
        "SQ815",
        "a choice over a count that is not whole",
        "`choose j in n` looks at j = 0 … n − 1.",
        "Round the count.",
        _then_work("choose k in n / 4 by (-k);"),
        _then_work("choose k in ceil(n / 4) by (-k);"),
    ),
    Code(
        "SQ850",
        "a self-check that fails",
        "Under `--self-check` the run's state is checked after every event; a finding is a fault of serq.",
        "Report it with the program and its seed.",
    ),
)
