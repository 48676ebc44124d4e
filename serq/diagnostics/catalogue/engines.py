"""SQ701-SQ710: engines, registers and claims."""

from serq.diagnostics.codes import Code, register

_VLLM = "advance running; admit waiting while (running.preempted == 0);"
_PREFILL = "hold slots (cost(slots, 1)), kv (cost(kv, job)) { run llm prefill (cost(llm, job)) growing kv; }"


def _engine(
    schedule: str = _VLLM, clauses: str = "", pools: str = "", server: str = _PREFILL, declarations: str = ""
) -> str:
    return f"""\
fn main() {{
  device gpu {{ kv cap 64; }}
  engine llm on gpu {{
    slots cap 4; tokens cap 8; {clauses}
    schedule {{ {schedule} }}
    execute (1);
  }}
  pool slots on llm {{ {pools} }}
  pool kv on gpu {{ }}
  stage desk : fifo;
  {declarations}
  workload {{ arrive batch(2); turn {{ Size job = 3; }} }}
  server {{ {server} }}
}}
"""


register(
    Code(
        "SQ701",
        "a run in the wrong mode",
        "An engine's runs say whether they prefill or decode; other stages know only work.",
        "Name the mode on an engine, and leave it out elsewhere.",
        _engine(server=_PREFILL.replace(" prefill", "").replace(" growing kv", "")),
        _engine(),
    ),
    Code(
        "SQ702",
        "growing away from an engine",
        "A hold grows with the tokens an engine computes.",
        "Leave `growing` out, and use `grow` or `load` beside the run.",
        _engine(server="hold kv (cost(kv, job)) { run desk (cost(desk, job)) growing kv; }"),
        _engine(server="hold kv (cost(kv, job)) { run desk (cost(desk, job)); grow kv (cost(kv, job)); }"),
    ),
    Code(
        "SQ703",
        "a pool admitted by a stage that admits nobody",
        "Only an engine's iterations admit; a queue served by another stage would wait forever.",
        "Name an engine, or leave the pool to itself.",
    ),
    Code(
        "SQ704",
        "an order without a key",
        "`queue by` and `preempt by` compare requests by at least one key.",
        "Give a key, or leave the order out.",
    ),
    Code(
        "SQ705",
        "a granule that cannot be met",
        "A prefill's chunk is a multiple of the granule: a positive number, not above a constant chunk.",
        "Give a positive granule of at most the chunk.",
        _engine(_VLLM.replace(";", " each at most (2);"), "granule 4;"),
        _engine(_VLLM.replace(";", " each at most (4);"), "granule 4;"),
    ),
    Code(
        "SQ706",
        "exclusive prefill with something else",
        "Exclusive prefill is a whole procedure that takes back decodes: a body or a granule cannot join it.",
        "Use it alone, or write the schedule out.",
        _engine(_VLLM.replace("advance running", "exclusive prefill"), "granule 4;"),
        _engine(_VLLM.replace("advance running", "exclusive prefill")),
    ),
    Code(
        "SQ707",
        "a schedule that may serve nobody",
        "An engine that schedules nothing waits for an event that may never come.",
        "Advance or admit on every path.",
        _engine("branch (running.count > 2) { advance running; }"),
        _engine("branch (running.count > 2) { advance running; } else { admit waiting; }"),
    ),
    Code(
        "SQ708",
        "a register without its engine",
        "A register is set by the schedule of one engine, which is not a member of an array.",
        "Give it to an engine that has a schedule of its own.",
    ),
    Code(
        "SQ709",
        "a schedule sets another engine's register",
        "A register changes within its own engine's iterations.",
        "Set the engine's own registers.",
    ),
    Code(
        "SQ710",
        "a claim over iterations of no engine",
        "Only an engine has iterations.",
        "Name an engine.",
        _engine(declarations="claim busy : every iteration of desk (tokens > 0);"),
        _engine(declarations="claim busy : every iteration of llm (tokens > 0);"),
    ),
)
