"""SQ401-SQ413: what may be read where (moments of evaluation)."""

from serq.diagnostics.codes import Code, register


def _server(statements: str, declarations: str = "") -> str:
    return f"""\
fn main() {{
  pool memory {{ cap 9; }}
  stage desk : fifo;
  {declarations}
  workload {{ arrive batch(2); turn {{ Size job = 3; }} }}
  server {{ {statements} }}
}}
"""


def _engine(
    schedule: str = "advance running; admit waiting while (running.preempted == 0);",
    clauses: str = "tokens cap 8; execute (1);",
    pools: str = "pool slots on llm { } pool kv on gpu { }",
    declarations: str = "",
    server: str = "hold slots (cost(slots, 1)), kv (cost(kv, job)) { run llm prefill (cost(llm, job)); }",
) -> str:
    return f"""\
fn main() {{
  device gpu {{ kv cap 64; }}
  engine llm on gpu {{
    slots cap 4; {clauses}
    schedule {{ {schedule} }}
  }}
  {pools}
  {declarations}
  workload {{ arrive batch(2); turn {{ Size job = 3; }} }}
  server {{ {server} }}
}}
"""


_RUN = "run desk (cost(desk, job));"
_STATE = "tokens cap 8; state turns = 0; execute (1);"
_SET = "advance running; admit waiting; set turns = turns + 1;"

register(
    Code(
        "SQ401",
        "a variable that is not known here",
        "Each position is read at one moment, and a variable has a value only at the moments that supply it.",
        "Read it where it is known; the hint lists the places.",
        _server("set v = size; " + _RUN),
        _server("hold memory (cost(memory, 1)) { " + _RUN + " }").replace(
            "cap 9;", "cap 9; evict by (size);"
        ),
    ),
    Code(
        "SQ402",
        "an attribute where there is no session",
        "Capacities, budgets, schedules, gauges and claims speak of the deployment: no one session is read there.",
        "Read the state (pools, stages, the engine's variables) or a constant.",
        _server(_RUN, "gauge load = job;"),
        _server(_RUN, "gauge load = queue(desk);"),
    ),
    Code(
        "SQ403",
        "a draw where none is allowed",
        "What the scheduler reads again and again, or what only observes the run, must not change by being read.",
        "Draw into an attribute first and read the attribute.",
        _server("hold memory (cost(memory, ~uniform(1, 3))) { " + _RUN + " }"),
        _server("set need = ~uniform(1, 3); hold memory (cost(memory, need)) { " + _RUN + " }"),
    ),
    Code(
        "SQ404",
        "a query that is not readable here",
        "Work drains between events, a budget is being planned, a cached prefix is one session's: not every "
        "moment has the answer.",
        "Use a query the moment can answer; the hint lists where this one is readable.",
        _server(_RUN, "gauge load = work(desk);"),
        _server(_RUN, "gauge load = busy(desk);"),
    ),
    Code(
        "SQ405",
        "an aggregate before the end",
        "`total`, `count`, `largest`, `smallest` and `prefix_total` are over every value of the run.",
        "Read them in a claim at the end.",
        _server(_RUN + " observe wait = now; observe seen = count(wait);"),
        _server(_RUN + " observe wait = now;", "claim seen : at end (count(wait) == 2);"),
    ),
    Code(
        "SQ406",
        "the clock where time must not decide",
        "An engine that serves nobody waits for an event, and time passing is none; a gauge is constant between "
        "events; `given` is about a session's attributes.",
        "Decide by the state instead.",
        _engine("advance running; admit waiting while (now > 3);"),
        _engine("advance running; admit waiting while (running.count < 3);"),
    ),
    Code(
        "SQ407",
        "a schedule that reads its own plan",
        "`budget_left` plans an iteration, and the schedule is that plan.",
        "Compare what the schedule has taken so far with the budget.",
        _engine("advance running; admit waiting while (budget_left(llm) > 2);"),
        _engine("advance running; admit waiting while (8 - batch.tokens > 2);"),
    ),
    Code(
        "SQ408",
        "a budget of something that is not an engine",
        "Only an engine computes tokens within a budget; every member of a family named here must be one.",
        "Name an engine.",
        _server("set left = budget_left(desk); " + _RUN),
        _server("set left = queue(desk); " + _RUN),
    ),
    Code(
        "SQ409",
        "a register out of its engine's reach",
        "A register changes inside iterations; read anywhere else its value would depend on the order of "
        "declarations.",
        "Read it in the engine's clauses, the queue keys of a pool it admits, the header of a hold whose first "
        "pool it admits, a gauge or a claim.",
        _engine(_SET, _STATE, pools="pool slots on llm { } pool kv on gpu { evict by (turns); }"),
        _engine(_SET, _STATE, pools="pool slots on llm { queue by (turns); } pool kv on gpu { }"),
    ),
    Code(
        "SQ411",
        "`computed` in a preemption key",
        "`computed` is where a session's last preemption caught it, 0 for one never preempted: not where it is now.",
        "Read `position`.",
        _engine(pools="pool slots on llm { } pool kv on gpu { preempt by (computed); }"),
        _engine(pools="pool slots on llm { } pool kv on gpu { preempt by (position); }"),
    ),
    Code(
        "SQ412",
        "an index a gauge or claim would have to read",
        "Reading a gauge or a claim cannot fail the run, so the members it names are numbers in range.",
        "Name the member with a number.",
        _server(_RUN, "pool part[2] { cap 2; } gauge held = used(part[busy(desk)]);"),
        _server(_RUN, "pool part[2] { cap 2; } gauge held = used(part[1]);"),
    ),
    Code(
        "SQ413",
        "a renewal gap that reads something",
        "The gap to the next arrival is drawn before there is a session, from constants and distributions.",
        "Write it with constants and draws.",
        _server(_RUN).replace("batch(2)", "renewal(job)"),
        _server(_RUN).replace("batch(2)", "renewal(~exp(3))"),
    ),
)
