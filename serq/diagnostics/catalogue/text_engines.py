"""SQ75x, SQ76x, SQ782: engines on devices, their schedules and requests in a text."""

from serq.diagnostics.catalogue.scaffold import SCHEDULE, engine, program, request
from serq.diagnostics.codes import Code, register

_CALL = "llm (job);"
_REQUESTED = (
    "device gpu{size} {{ }}\n"
    "engine llm{size} on gpu {{ tokens cap 4; request (p) {{ prefill (p); }} "
    "schedule {{ advance running; }} execute (1); }}"
)
_TAKING = "taking reqs (1), kv (p)"


def _schedule(statements: str, items: str = "") -> str:
    return program(engine(items, schedule=f"schedule {{ {statements} }}"))


def _request(
    body: str, taking: str = _TAKING, *, before: str = "", server: str = _CALL, more: str = ""
) -> str:
    return program(request(body, taking, before=before) + more, server)


_GOOD = _request("prefill (p) growing kv; cache (p);")

register(
    Code(
        "SQ750",
        "an engine without one of its clauses",
        "An engine says how many tokens an iteration computes, what it does in one and how long it takes.",
        "Write `tokens cap e;`, `schedule { ... }` and `execute (e);`.",
        program(engine(execute="")),
        program(engine()),
    ),
    Code(
        "SQ751",
        "a clause of an engine twice",
        "The second would silently replace the first.",
        "Keep one.",
        program(engine("tokens cap 8;")),
        program(engine()),
    ),
    Code(
        "SQ752",
        "two engines on one device",
        "A device runs one engine, whose batch its memory and time are about.",
        "Declare a device for each.",
        program(engine() + f"\nengine other on gpu {{ tokens cap 4; {SCHEDULE} execute (1); }}"),
        program(
            engine()
            + f"\ndevice gpu2 {{ }}\nengine other on gpu2 {{ tokens cap 4; {SCHEDULE} execute (1); }}"
        ),
    ),
    Code(
        "SQ753",
        "an engine family and its device of different sizes",
        "Member by member, an engine runs on a device.",
        "Give both the same size.",
        program(f"device gpu[2] {{ }}\nengine llm on gpu {{ tokens cap 4; {SCHEDULE} execute (1); }}"),
        program(f"device gpu[2] {{ }}\nengine llm[2] on gpu {{ tokens cap 4; {SCHEDULE} execute (1); }}"),
    ),
    Code(
        "SQ754",
        "two memories of one engine",
        "The pool on a device is the memory of its engine: preemption and KV totals are about that pool.",
        "Keep one pool on the device; put others on the engine.",
        program(
            engine(
                device="kv cap 64; host cap 9;",
                pools="pool kv on gpu { }\npool host on gpu { }\npool reqs on llm { }",
            )
        ),
        program(engine()),
    ),
    Code(
        "SQ755",
        "a capacity that is no pool",
        "A capacity is held through the pool declared on its owner.",
        "Declare `pool NAME on OWNER { }`.",
        program(engine(pools="pool kv on gpu { }")),
        program(engine()),
    ),
    Code(
        "SQ756",
        "a pool of a capacity its owner does not have",
        "A pool on a device or an engine takes its capacity from there.",
        "Write `NAME cap c;` in the owner.",
        program(engine(pools="pool kv on gpu { }\npool reqs on llm { }\npool host on gpu { }")),
        program(engine()),
    ),
    Code(
        "SQ757",
        "a resource twice",
        "A device or engine has each of its resources once.",
        "Rename or remove one.",
        program(engine(device="kv cap 64; kv cap 32;")),
        program(engine()),
    ),
    Code(
        "SQ758",
        "a family of queues in an engine family",
        "Every member would admit every one of them.",
        "Write the capacity without a size: each member has its own.",
        program(
            f"device gpu[2] {{ }}\nengine llm[2] on gpu {{ reqs[3] cap 4; tokens cap 4; {SCHEDULE} execute (1); }}\n"
            "pool reqs on llm { }"
        ),
        program(
            f"device gpu[2] {{ }}\nengine llm[2] on gpu {{ reqs cap 4; tokens cap 4; {SCHEDULE} execute (1); }}\n"
            "pool reqs on llm { }"
        ),
    ),
    Code(
        "SQ759",
        "a time resource that uses itself",
        "A time resource is written out where `execute` reads it.",
        "Compute it from others.",
        program(engine(device="kv cap 64; mm (t) = mm(t) + 1;", execute="execute (mm(1));")),
        program(engine(device="kv cap 64; mm (t) = t + 1;", execute="execute (mm(1));")),
    ),
    Code(
        "SQ760",
        "no tokens in an iteration",
        "An engine that may compute no token never ends a request.",
        "Use a cap above 0, or `inf`.",
        program(engine(tokens="tokens cap 0;")),
        program(engine(tokens="tokens cap 8;")),
    ),
    Code(
        "SQ761",
        "a schedule's `let` read elsewhere",
        "It is read once, as the iteration starts; other clauses are read as the iteration goes on.",
        "Name the expression with a `def`.",
        _schedule("let few = running.count < 3; advance running only (few); admit waiting;"),
        _schedule("advance running only (running.count < 3); admit waiting;"),
    ),
    Code(
        "SQ762",
        "`exclusive prefill` in another schedule",
        "It takes back decodes that were chosen, which statements one after the other cannot.",
        "Write `exclusive prefill; admit waiting while (running.preempted == 0);`.",
        _schedule("exclusive prefill; advance running;"),
        _schedule("exclusive prefill; admit waiting while (running.preempted == 0);"),
    ),
    Code(
        "SQ763",
        "a schedule sets what is no register",
        "An iteration belongs to no session, so it sets the engine's registers only.",
        "Declare it in the engine: `state NAME = c;`.",
        _schedule("set turns = 1; advance running;"),
        _schedule("set turns = 1; advance running;", "state turns = 0;"),
    ),
    Code(
        "SQ764",
        "different caps in one schedule",
        "An iteration gives every run at most one cap's tokens.",
        "Write the same `each at most` on every statement, or on none.",
        _schedule("advance running each at most (4); admit waiting;"),
        _schedule("advance running each at most (4); admit waiting each at most (4);"),
    ),
    Code(
        "SQ765",
        "a cap that could give a run nothing",
        "The kernel reads 0 as no cap: a cap at or below 0 would mean one thing and run another.",
        "Keep it above 0, as `max(1, e)`; no cap is `inf`.",
        _schedule("advance running each at most (running.count);"),
        _schedule("advance running each at most (max(1, running.count));"),
    ),
    Code(
        "SQ766",
        "a register that starts at an infinity",
        "A register holds a number.",
        "Start it at a finite value.",
        _schedule("set turns = 1; advance running;", "state turns = inf;"),
        _schedule("set turns = 1; advance running;", "state turns = 0;"),
    ),
    Code(
        "SQ767",
        "a time resource read outside `execute`",
        "It turns what a batch asks of the device into time, and only `execute` has the batch.",
        "Read it in the `execute` of the engine on that device.",
        program("device gpu { mm (t) = t; }", "run desk (cost(desk, mm(job)));"),
        program("def mm(t) { t }", "run desk (cost(desk, mm(job)));"),
    ),
    Code(
        "SQ768",
        "a claim about no one engine",
        "A claim over iterations is about one member, named by a number.",
        "Write its number.",
        program(
            f"device gpu[2] {{ }}\nengine llm[2] on gpu {{ tokens cap 4; {SCHEDULE} execute (1); }}\n"
            "claim c: every iteration of llm[n] (tokens <= 4);"
        ),
        program(
            f"device gpu[2] {{ }}\nengine llm[2] on gpu {{ tokens cap 4; {SCHEDULE} execute (1); }}\n"
            "claim c: every iteration of llm[0] (tokens <= 4);"
        ),
    ),
    Code(
        "SQ769",
        "a `taking` and a request that do not fit",
        "`taking` on `admit waiting` sizes the admission of the engine's request, over the engine's own "
        "capacities and its device's, the same on every `admit waiting`; without it a request holds nothing.",
        "Write the same `taking` on each, of the engine's capacities, beside a `request`.",
        _request("prefill (p) growing kv;", "taking reqs (1), desk (p)"),
        _GOOD,
    ),
    Code(
        "SQ770",
        "a request where none can be",
        "A queue's entries say what its engine does, and a family's call would not say which member runs it.",
        "Write the statements in a queue's entry.",
        program(_REQUESTED.format(size="[2]")),
        program(_REQUESTED.format(size="")),
    ),
    Code(
        "SQ771",
        "a call of an engine that cannot be",
        "The server calls the request of an engine declared above it.",
        "Write a `request` in the engine, and call it in the server.",
        program(engine(), _CALL),
        _GOOD,
    ),
    Code(
        "SQ782",
        "a request's own name used outside it",
        "What a request sets is its own: the program reads what it marks.",
        "`mark` a moment in the request, or use another name.",
        _request("set kept = p; prefill (kept) growing kv;", server=_CALL + " observe k = kept;"),
        _request(
            "set kept = p; prefill (kept) growing kv; mark done;", server=_CALL + " observe k = llm.done;"
        ),
    ),
)
