"""SQ601-SQ618: holds, loops, legs, amounts, flows and arrivals."""

from serq.diagnostics.codes import Code, register


def _server(statements: str, declarations: str = "", arrive: str = "batch(2)") -> str:
    return f"""\
fn main() {{
  pool memory {{ cap 9; }}
  pool part[2] {{ cap 5; }}
  stage desk : fifo;
  {declarations}
  workload {{ arrive {arrive}; turn {{ Size job = 3; }} }}
  server {{ {statements} }}
}}
"""


_RUN = "run desk (cost(desk, job));"
_PREEMPTS = "pool kv { cap 9; preempt lifo; } pool bank[2] { cap 9; preempt lifo; }"
_WIRES = "stage up : ps(2); stage down : ps(3);"

register(
    Code(
        "SQ601",
        "an amount that is negative or no number",
        "Work, units, growth and loads are amounts, from 0 up.",
        "Write an amount that is not negative; `max(0, …)` keeps a difference from falling below 0.",
        _server("run desk (cost(desk, 2 - 3));"),
        _server("run desk (cost(desk, 3 - 2));"),
    ),
    Code(
        "SQ602",
        "a demand no pool can meet",
        "A constant demand above the cap, whole blocks counted, would be rejected whenever it is reached.",
        "Ask for less, or raise the cap.",
        _server("hold memory (cost(memory, 20)) { " + _RUN + " }"),
        _server("hold memory (cost(memory, 9)) { " + _RUN + " }"),
    ),
    Code(
        "SQ603",
        "outside a hold of that pool",
        "Growth, loads and releases act on an enclosing hold's allocation of the same reference, index included; "
        "a leg has none of its session's.",
        "Put the statement into the hold, and write the pool as the hold does.",
        _server("hold memory (cost(memory, 1)) { grow part[0] (cost(part, 1)); " + _RUN + " }"),
        _server("hold part[0] (cost(part, 1)) { grow part[0] (cost(part, 1)); " + _RUN + " }"),
    ),
    Code(
        "SQ604",
        "a pool held twice by one hold",
        "A hold has one allocation in each pool it names.",
        "Name the pool once, with the units added.",
        _server("hold memory (cost(memory, 1)), memory (cost(memory, 2)) { " + _RUN + " }"),
        _server("hold memory (cost(memory, 3)) { " + _RUN + " }"),
    ),
    Code(
        "SQ605",
        "a lease of a pool the hold does not take",
        "A lease keeps one of the hold's own allocations past its end.",
        "Lease a pool of the hold, written as the hold writes it.",
        _server("hold memory (cost(memory, 1)) { " + _RUN + " } lease part[0] (3);"),
        _server("hold memory (cost(memory, 1)) { " + _RUN + " } lease memory (3);"),
    ),
    Code(
        "SQ606",
        "a hold whose body changes its index",
        "The index is read at admission and again inside; all readings must name one member.",
        "Change the attribute before or after the hold, or index by another.",
        _server("set k = 0; hold part[k] (cost(part, 1)) { set k = 1; " + _RUN + " }"),
        _server("set k = 0; hold part[k] (cost(part, 1)) { " + _RUN + " } set k = 1;"),
    ),
    Code(
        "SQ607",
        "an index that moves",
        "Between the admission and a statement inside, the state and the clock move, and a draw draws again.",
        "Set an attribute to the member before the hold and index by it.",
        _server(
            "hold part[busy(desk)] (cost(part, 1)) { grow part[busy(desk)] (cost(part, 1)); " + _RUN + " }"
        ),
        _server(
            "set k = busy(desk); hold part[k] (cost(part, 1)) { grow part[k] (cost(part, 1)); " + _RUN + " }"
        ),
    ),
    Code(
        "SQ608",
        "an index a preempted hold reads again",
        "A preempted hold is admitted anew; its index must still name the member it had.",
        "Index by an attribute set before the hold, not by the state, the clock, `cached` or `computed`.",
        _server("hold bank[busy(desk)] (cost(bank, 1)) { " + _RUN + " }", _PREEMPTS),
        _server("set k = busy(desk); hold bank[k] (cost(bank, 1)) { " + _RUN + " }", _PREEMPTS),
    ),
    Code(
        "SQ609",
        "a loop that may take no time",
        "A pass that takes no time would be followed by another at the same instant, without end.",
        "Put a run of some work, a hold around one, or `end` on every path through the body.",
        _server("set k = 0; while (k < 3) { set k = k + 1; } " + _RUN),
        _server("set k = 0; while (k < 3) { set k = k + 1; " + _RUN + " }"),
    ),
    Code(
        "SQ610",
        "a guard that is no test",
        "A guard is 1 to go on and 0 to stop; a constant that is neither stops the run.",
        "Write a test, or `~bernoulli(p)` to go on with probability p.",
        _server("while (3) { " + _RUN + " }"),
        _server("while (~bernoulli(0.5)) { " + _RUN + " }"),
    ),
    Code(
        "SQ611",
        "a choice without a key",
        "`choose` takes the index with the least keys.",
        "Give at least one key.",
    ),
    Code(
        "SQ612",
        "a leg that acts for its session",
        "A leg is a part of the request: it does not turn, end, fork or join.",
        "Leave the statement to the session.",
        _server("fork { " + _RUN + " fork { } } join;"),
        _server("fork { " + _RUN + " } fork { } join;"),
    ),
    Code(
        "SQ613",
        "a fork in a hold that may be preempted",
        "A preempted hold runs again from its start and would fork a second leg.",
        "Fork before the hold.",
        _server("hold kv (cost(kv, 1)) { fork { " + _RUN + " } join; }", _PREEMPTS),
        _server("fork { " + _RUN + " } hold kv (cost(kv, 1)) { join; }", _PREEMPTS),
    ),
    Code(
        "SQ614",
        "a fork without a join, or the reverse",
        "A session may not end while its leg runs, so a program that forks joins; a join without a leg waits "
        "for nothing.",
        "Write both.",
        _server("fork { " + _RUN + " }"),
        _server("fork { " + _RUN + " } join;"),
    ),
    Code(
        "SQ615",
        "a stage named twice by one run",
        "Which member an index names is known only when the run starts; one job cannot hold a stage twice.",
        "Name each family of stages once.",
        _server("run up, up (cost(up, job)); run up, down (cost(up, down, job));", _WIRES + " share maxmin;"),
        _server("run up, down (cost(up, down, job));", _WIRES + " share maxmin;"),
    ),
    Code(
        "SQ616",
        "a shared stage without a constant capacity",
        "Rates of jobs that hold several stages are computed from constant capacities.",
        "Declare the stage as `ps` of a positive number.",
        _server("run up, desk (cost(up, desk, job));", _WIRES + " share maxmin;"),
        _server("run up, down (cost(up, down, job));", _WIRES + " share maxmin;"),
    ),
    Code(
        "SQ617",
        "sharing that is not said, or said for nothing",
        "How stages divide among jobs that hold several has no default, and means nothing without such a job.",
        "Write `share maxmin;` or `share bottleneck;` exactly when a run holds several stages.",
        _server("run up, down (cost(up, down, job));", _WIRES),
        _server("run up, down (cost(up, down, job));", _WIRES + " share maxmin;"),
    ),
    Code(
        "SQ618",
        "arrivals that cannot happen",
        "Rates are positive and finite, constant gaps positive, and populations from 1 to a million sessions.",
        "Give a number in range, or `arrive none`.",
        _server(_RUN, arrive="poisson(0)"),
        _server(_RUN, arrive="poisson(1)"),
    ),
)
