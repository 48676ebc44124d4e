"""SQ020-SQ029: settings and the structure of the IR."""

from serq.diagnostics.codes import Code, register


def _server(statements: str, declarations: str = "stage desk : fifo;") -> str:
    return f"""\
fn main() {{
  {declarations}
  workload {{ arrive batch(2); turn {{ Size job = 3; }} }}
  server {{ {statements} }}
}}
"""


_RUN = "run desk (cost(desk, job));"

register(
    Code(
        "SQ020",
        "horizon and warmup do not fit",
        "A run lasts from 0 to a finite horizon, and what is counted starts at the warmup, which comes before it.",
        "Give settings with 0 ≤ warmup < horizon.",
    ),
    Code(
        "SQ021",
        "a number of arrivals that cannot be counted",
        "A run of N arrivals counts open arrivals; batches, populations and explicit sessions have none to count.",
        "Leave the number out, or let sessions arrive by `poisson` or `renewal`.",
    ),
    Code(
        "SQ022",
        "tables of different lengths",
        "Types stand beside attributes and sides beside statements: an entry without its partner means nothing.",
        "Give every attribute a type and every statement a side, in the same order.",
    ),
    Code(
        "SQ023",
        "an index that names nothing",
        "Attributes, pools, stages, observations, registers and blocks are named by their index in the program.",
        "Name one that exists, or declare it.",
    ),
    Code(
        "SQ024",
        "a block that is reached twice",
        "Every block is the body of one statement, so that a statement has one place and one set of holds around it.",
        "Copy the block.",
    ),
    Code(
        "SQ025",
        "`init` or `turn` does more than set and observe",
        "These blocks draw what a session brings; they take no time and hold nothing.",
        "Move the statement into the session or the server.",
    ),
    Code(
        "SQ026",
        "wrong arguments",
        "A function or distribution takes its own number of arguments, each a number, a pool or a stage.",
        "Give the arguments the hint lists.",
    ),
    Code(
        "SQ027",
        "an index that is no member",
        "A member of an array of n is a whole number from 0 to n - 1.",
        "Use a number in range.",
    ),
    Code(
        "SQ028",
        "one name for two statistics",
        "Reports tell gauges, claims, registers and observations apart by name.",
        "Rename one of them.",
        _server(_RUN, "stage desk : fifo; gauge load = queue(desk); gauge load = busy(desk);"),
        _server(_RUN, "stage desk : fifo; gauge load = queue(desk); gauge active = busy(desk);"),
    ),
    Code(
        "SQ029",
        "a declaration that serves nobody",
        "Blocks of no units and a stage of no servers would leave every request waiting.",
        "Give a block above 0 and at least one server.",
    ),
)
