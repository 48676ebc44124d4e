"""SQ501-SQ517: types, sides and hidden attributes."""

from serq.diagnostics.codes import Code, register


def _server(
    statements: str, workload: str = "arrive batch(2); turn { Size job = 3; }", declarations: str = ""
) -> str:
    return f"""\
fn main() {{
  pool memory {{ cap 9; }}
  stage desk : fifo;
  {declarations}
  workload {{ {workload} }}
  server {{ {statements} }}
}}
"""


_RUN = "run desk (cost(desk, job));"

register(
    Code(
        "SQ501",
        "a built-in slot of the wrong type",
        "`cached` and `computed` are set by the scheduler and are values; the other built-in attributes are sizes.",
        "Give the attribute its type, or point the slot at the right attribute.",
    ),
    Code(
        "SQ502",
        "the server sets a size",
        "Sizes say what the workload asks for: the server reads them.",
        "Set an attribute of the server's own.",
        _server("set job = 2; " + _RUN),
        _server("set part = 2; run desk (cost(desk, part));"),
    ),
    Code(
        "SQ503",
        "the workload sets a value of the server's",
        "What `init`, `turn` and the session set are sizes; the server's bookkeeping is its own.",
        "Give the attribute type Size, or let the server set it.",
    ),
    Code(
        "SQ504",
        "an assignment that changes a type",
        "An attribute is a size, a value or the cost of one resource throughout.",
        "Use an attribute for each.",
        _server("set c = cost(desk, job); run desk (c); set c = 2;"),
        _server("set c = cost(desk, job); run desk (c); set d = 2;"),
    ),
    Code(
        "SQ505",
        "a use without its cost",
        "A resource is charged in its own cost type, so that tokens are not mistaken for seconds or units.",
        "Convert the quantity where it is used: `cost(resource, expression)`.",
        _server("run desk (job);"),
        _server("run desk (cost(desk, job));"),
    ),
    Code(
        "SQ506",
        "a cost where an ordinary quantity belongs",
        "Guards, indices, keys, durations, distributions, gauges and claims take plain numbers; a cost is made once.",
        "Use the quantity before its conversion.",
        _server("set c = cost(desk, job); branch (c) { run desk (c); }"),
        _server("set c = cost(desk, job); branch (job > 2) { run desk (c); }"),
    ),
    Code(
        "SQ507",
        "costs and numbers mixed",
        "A cost can be scaled, and added to or compared with a cost of the same resource: nothing else.",
        "Convert last: put `cost(resource, …)` around the whole expression.",
        _server("run desk (cost(desk, job) + 2);"),
        _server("run desk (cost(desk, job + 2));"),
    ),
    Code(
        "SQ508",
        "a joint cost out of order",
        "A joint cost lists two or more distinct resources, pools before stages, each by ascending index, "
        "so that equal costs are equal.",
        "Sort the list and name each resource once.",
    ),
    Code(
        "SQ509",
        "a cost read before it is set",
        "A cost has no value until it is made, and loops, legs and single arms may not make it.",
        "Set it before, on every path; a hold's `cache` needs it before the hold.",
        _server("branch (job > 2) { set c = cost(desk, job); } run desk (c);"),
        _server("set c = cost(desk, 1); branch (job > 2) { set c = cost(desk, job); } run desk (c);"),
    ),
    Code(
        "SQ510",
        "the workload handles a cost of the server's",
        "How much of a resource a request takes is the server's to decide; clients pay only for what is theirs.",
        "Send a size, and convert it in the server.",
        _server(_RUN, "arrive batch(2); turn { Size job = 3; } session { turn; run desk (cost(desk, 1)); }"),
        _server(
            _RUN,
            "arrive batch(2); turn { Size job = 3; } session { turn; run home (cost(home, 1)); }",
            "stage home : delay;",
        ),
    ),
    Code(
        "SQ511",
        "a cost in `init` or `turn`",
        "These blocks produce sizes.",
        "Send a size; the server converts it.",
        _server(_RUN, "arrive batch(2); turn { Size job = 3; set c = cost(desk, job); }"),
        _server("set c = cost(desk, job); run desk (c);"),
    ),
    Code(
        "SQ512",
        "a workload statement inside a server's",
        "A server's bodies are the server's: authority does not change inside a hold, a branch or a loop.",
        "Give the statement side Server.",
    ),
    Code(
        "SQ513",
        "a turn in the server",
        "A turn is the client's request; the server answers it and takes none.",
        "Put `turn;` into the workload's session.",
    ),
    Code(
        "SQ514",
        "a server statement in `init` or `turn`",
        "These blocks belong to the workload.",
        "Give the statement side Workload.",
    ),
    Code(
        "SQ515",
        "a preset that is not a size",
        "Explicit sessions bring what a workload would draw; values and costs are computed by the server.",
        "Preset sizes only.",
    ),
    Code(
        "SQ516",
        "an attribute that cannot be hidden so",
        "`hidden` keeps what the workload knows from the scheduler: not what the scheduler sets, and each name once.",
        "Name attributes of the workload, each once.",
    ),
    Code(
        "SQ517",
        "the scheduler reads a hidden attribute",
        "A scheduler that admits, evicts or preempts by what it cannot know decides better than the real one.",
        "Decide without it, or by a bound that is not hidden.",
        _server(
            "hold memory (cost(memory, job)) { " + _RUN + " }",
            "arrive batch(2); turn { Size job = 3; } hidden job;",
        ),
        _server(
            "hold memory (cost(memory, 3)) { " + _RUN + " }",
            "arrive batch(2); turn { Size job = 3; } hidden job;",
        ),
    ),
)
