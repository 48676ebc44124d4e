"""SQ45x and SQ55x: values of an engine's clauses, declared types, costs and hidden attributes in a text."""

from serq.diagnostics.catalogue.scaffold import SERVER, WORKLOAD, engine, program
from serq.diagnostics.codes import Code, register

_RUN = " " + SERVER
_HIDDEN = WORKLOAD.replace("arrive", "hidden job; arrive")
_FAMILY = (
    "device gpu[2] { }\nengine llm[2] on gpu {{ reqs cap 4; tokens cap {cap}; "
    "schedule {{ advance running; admit waiting; }} execute (1); }}\npool reqs on llm {{ }}"
)

register(
    Code(
        "SQ450",
        "an engine's value where it is not read",
        "`running`, `waiting` and `batch` are read while an iteration is planned and timed, each value in the "
        "clauses where it means something.",
        "Read the value the hint names, or read it in another clause.",
        program(engine(execute="execute (running.decoding);")),
        program(engine(execute="execute (1 + batch.decoding);")),
    ),
    Code(
        "SQ451",
        "a kernel name in an engine's clause",
        "An engine names each of its values one way, which says whether it is of the residents, the queues or "
        "the batch.",
        "Write the dotted name.",
        program(engine(execute="execute (tokens);")),
        program(engine(execute="execute (1 + batch.tokens);")),
    ),
    Code(
        "SQ452",
        "`waiting.count` of an engine family",
        "Each member admits its own queue, and the sum would be over all of them.",
        "Read one queue: `queued(reqs[0])`.",
        program(_FAMILY.replace("{ }\nengine", "{{ }}\nengine").format(cap="waiting.count")),
        program(_FAMILY.replace("{ }\nengine", "{{ }}\nengine").format(cap="8 + queued(reqs[0])")),
    ),
    Code(
        "SQ550",
        "a `Size` that is a cost",
        "Sizes are what a request is; a cost is what it takes of a resource.",
        "Declare it `Cost`, in the server.",
        program(
            workload="workload { arrive batch(1); turn { Size job = 1; } session { Size c = cost(desk, 1); turn; } }"
        ),
        program(
            workload="workload { arrive batch(1); turn { Size job = 1; } session { Size c = 1; turn; } }"
        ),
    ),
    Code(
        "SQ551",
        "a `Cost` that is no cost",
        "The declaration says that the attribute is an amount of one resource.",
        "Convert the quantity: `cost(RESOURCE, e)`.",
        program(server="Cost c = job; run desk (cost(desk, job));"),
        program(server="Cost c = cost(desk, job); run desk (c);"),
    ),
    Code(
        "SQ552",
        "a malformed record of costs",
        "A record has one field for each of its resources, named without an index.",
        "Name each pool or stage once.",
        program(server="Cost c = { desk : 1, desk : 2 };" + _RUN),
        program(server="Cost c = { desk : 1 }; run desk (c.desk);"),
    ),
    Code(
        "SQ553",
        "a record that changes its fields, or is a single attribute too",
        "Every assignment of a record stores the same fields, and its name is no other attribute's.",
        "Write the same fields in the same order; give a single value another name.",
        program(server="Cost c = { desk : 1 }; set c = 2;" + _RUN),
        program(server="Cost c = { desk : 1 }; set d = 2;" + _RUN),
    ),
    Code(
        "SQ554",
        "a record read as one cost",
        "Each field is the cost of its own resource.",
        "Read a field, as `c.desk`.",
        program(server="Cost c = { desk : 1 }; run desk (c);"),
        program(server="Cost c = { desk : 1 }; run desk (c.desk);"),
    ),
    Code(
        "SQ555",
        "a cost whose index draws",
        "A cost is of a whole family, so its index says nothing, and a draw would be taken for nothing.",
        "Leave the index out.",
        program("stage rep[2] : fifo;", "run rep[0] (cost(rep[~bernoulli(0.5)], job));"),
        program("stage rep[2] : fifo;", "run rep[0] (cost(rep, job));"),
    ),
    Code(
        "SQ560",
        "a decision of the server on what it cannot know",
        "The attribute is hidden: the server learns it by running the work it decides, and not before.",
        "Decide after that run, or on something else.",
        program(server="branch (job > 1) { run desk (cost(desk, 1)); }" + _RUN, workload=_HIDDEN),
        program(
            server="run desk (cost(desk, job)); branch (job > 1) { observe long = 1; }", workload=_HIDDEN
        ),
    ),
)
