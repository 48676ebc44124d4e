"""SQ2xx, first part: the shape of a program."""

from serq.diagnostics.codes import Code, register

_STAGE = "  stage desk : fifo;\n"
_WORKLOAD = "  workload { arrive poisson(1); turn { Size job = ~exp(0.5); } }\n"
_SERVER = "  server { run desk (cost(desk, job)); }\n"


def _main(items: str = _STAGE + _WORKLOAD + _SERVER, before: str = "", after: str = "") -> str:
    return f"{before}fn main() {{\n{items}}}\n{after}"


_GOOD = _main()

register(
    Code(
        "SQ201",
        "no `fn main()`",
        "The deployment is what `fn main()` declares; definitions alone do nothing by themselves.",
        "Put the declarations into `fn main() { ... }`.",
        "def half(x) { x / 2 }\n",
        _main(before="def half(x) { x / 2 }\n"),
    ),
    Code(
        "SQ202",
        "another function than one `main`",
        "A program has exactly one entry point, at the top level, and no other function.",
        "Keep one `fn main()`; write reusable parts as `def`.",
        _main(after="fn main() { }\n"),
        _GOOD,
    ),
    Code(
        "SQ203",
        "`main` with parameters",
        "Values from outside are inputs, declared one by one with a default.",
        'Remove the parameters; declare `let x = args.number("x", 1);` under `use "std/args";`.',
        _GOOD.replace("main()", "main(rate)"),
        _GOOD,
    ),
    Code(
        "SQ204",
        "a declaration before `fn main()`",
        "Before the entry point stand only imports, definitions and constants: nothing that is part of "
        "the deployment.",
        "Move the declaration into `fn main() { ... }`.",
        _main(_WORKLOAD + _SERVER, before="stage desk : fifo;\n"),
        _GOOD,
    ),
    Code(
        "SQ205",
        "something after `fn main()`",
        "The entry point is the last part of a program.",
        "Move what follows into it, or a `use`, `def` or `let` above it.",
        _main(after="let last = 1;\n"),
        _main(before="let first = 1;\n"),
    ),
    Code(
        "SQ206",
        "settings in a program",
        "A program describes a deployment; how long and with which seed it runs is given from outside.",
        "Use `--horizon`, `--warmup`, `--seed` and `--arrivals`, or an instance file.",
        _main(_STAGE + _WORKLOAD + _SERVER + "  run { horizon 10; }\n"),
        _GOOD,
    ),
    Code(
        "SQ207",
        "a session outside the workload",
        "A session is how a client's turns follow one another: part of the workload.",
        "Move it into `workload { ... }`.",
        _main(_STAGE + _WORKLOAD + _SERVER + "  session { turn; }\n"),
        _main(_STAGE + _WORKLOAD.replace(" }\n", " session { turn; } }\n") + _SERVER),
    ),
    Code(
        "SQ208",
        "a workload without a server, or the reverse",
        "The workload's turns are handled by the server: a program has both or neither.",
        "Add the one that is missing.",
        _main(_STAGE + _WORKLOAD),
        _GOOD,
    ),
    Code(
        "SQ209",
        "given twice",
        "There is one of this in a program, a workload or an instance.",
        "Keep one.",
        _main(_STAGE + _WORKLOAD + _SERVER + _SERVER),
        _GOOD,
    ),
    Code(
        "SQ210",
        "a session without a turn",
        "Only a `turn;` asks the server for something; a session without one would never use the deployment.",
        "Write `turn;`, or leave the session out.",
        _main(_STAGE + _WORKLOAD.replace(" }\n", " session { tool 1; } }\n") + _SERVER),
        _main(_STAGE + _WORKLOAD.replace(" }\n", " session { turn; tool 1; } }\n") + _SERVER),
    ),
    Code(
        "SQ211",
        "a statement in the wrong block",
        "Turns are the session's, request sizes the workload's, an engine's own run its request's, and "
        "marks and the "
        "queue's own run an entry's.",
        "Move the statement, or write the form the hint gives.",
        _main(_STAGE + _WORKLOAD + _SERVER.replace("{ run", "{ turn; run")),
        _GOOD,
    ),
    Code(
        "SQ212",
        "more than assignments in `init` or `turn`",
        "These blocks give a request its attributes at one instant: they assign and observe.",
        "Move the statement to the `session` or the `server`.",
        _main(_STAGE + _WORKLOAD.replace("Size job", "tool 1; Size job") + _SERVER),
        _GOOD,
    ),
    Code(
        "SQ213",
        "an input inside an expression",
        "An input is declared by a `let` whose whole value it is, so that its name and default can be "
        "listed.",
        "Give the input a `let` of its own.",
        _main('  let double = 2 * args.number("rate", 1);\n', before='use "std/args";\n'),
        _main('  let rate = args.number("rate", 1);\n  let double = 2 * rate;\n', before='use "std/args";\n'),
    ),
    Code(
        "SQ214",
        "an empty schedule",
        "A schedule says which requests an iteration serves and admits; without a statement it would "
        "serve none.",
        "Write at least `advance running;`.",
        _main(
            "  device gpu { kv cap 9; }\n"
            "  engine llm on gpu { tokens cap 8; schedule { } execute (1); }\n"
            "  pool kv on gpu { }\n"
        ),
        _main(
            "  device gpu { kv cap 9; }\n"
            "  engine llm on gpu { tokens cap 8; schedule { advance running; } execute (1); }\n"
            "  pool kv on gpu { }\n"
        ),
    ),
    Code(
        "SQ215",
        "an owned pool with a size or a capacity",
        "A pool on a device or an engine is as large and as many as its owner says.",
        "Write the capacity in the owner: `NAME cap e;`.",
        _main("  device gpu { kv cap 9; }\n  pool kv on gpu { cap 9; }\n"),
        _main("  device gpu { kv cap 9; }\n  pool kv on gpu { block 3; }\n"),
    ),
    Code(
        "SQ216",
        "an instance used as a program",
        "The file holds settings and bindings of inputs: it says how to run a program and is none.",
        "Compile the program and name this file with `--instance`.",
        "run { horizon 10; }\n",
        _GOOD,
    ),
    Code(
        "SQ217",
        "an engine without a name",
        "Pools, calls and claims refer to an engine by its name. Only a queue's engine has none of its own: it "
        "is named after the queue.",
        "Name the engine.",
        _main(
            "  device gpu { kv cap 9; }\n"
            "  engine on gpu { tokens cap 8; schedule { advance running; } execute (1); }\n"
            "  pool kv on gpu { }\n"
        ),
        _main(
            "  device gpu { kv cap 9; }\n"
            "  engine llm on gpu { tokens cap 8; schedule { advance running; } execute (1); }\n"
            "  pool kv on gpu { }\n"
        ),
    ),
)
