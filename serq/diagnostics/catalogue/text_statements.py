"""SQ65x to SQ67x: statements of a text that are refused before they become the IR's."""

from serq.diagnostics.catalogue.scaffold import SERVER, program
from serq.diagnostics.codes import Code, register

_KV = "pool kv { cap 9; }"
_RUN = " " + SERVER


def _hold(header: str, body: str = "", after: str = "", *, before: str = "") -> str:
    return program(_KV, f"{before} hold kv (cost(kv, 1)) {header} {{ {body} }} {after}" + _RUN)


register(
    Code(
        "SQ650",
        "`end;` where a request is being handled",
        "`end;` refuses a request before anything is held or forked for it; it belongs to the server.",
        "Refuse the request above, or finish it here.",
        _hold("", "end;"),
        program(_KV, "branch (job > 8) { end; }" + _RUN),
    ),
    Code(
        "SQ655",
        "a name bound twice",
        "A binding stands for its value in the header.",
        "Bind another name.",
        _hold("at admission (x = 1, x = 2)"),
        _hold("at admission (x = 1, y = 2)"),
    ),
    Code(
        "SQ656",
        "a binding that draws",
        "A binding is written out where the header reads it, at every attempt to admit.",
        "`set` the draw above the hold and read that.",
        _hold("at admission (x = ~exp(1))"),
        _hold("at admission (x = u)", before="set u = ~exp(1);"),
    ),
    Code(
        "SQ657",
        "a binding that reads a later one",
        "Bindings are read in order.",
        "Move it behind the one it reads.",
        _hold("at admission (x = y, y = 2)"),
        _hold("at admission (y = 2, x = y)"),
    ),
    Code(
        "SQ658",
        "a body that reads a binding of live state",
        "The body sees a binding as an attribute set at its top, where live state and `cached` have moved on.",
        "Read `cached` for what was reused, or read the state anew.",
        _hold("at admission (x = used(kv))", "observe u = x;"),
        _hold("at admission (x = used(kv))", "observe u = used(kv);"),
    ),
    Code(
        "SQ659",
        "a binding read outside its hold",
        "A binding is the hold's own.",
        "`set` a value to read it elsewhere.",
        _hold("at admission (x = job)", "observe u = x;", "observe v = x;"),
        _hold("at admission (x = job)", "observe u = x;", "observe v = job;"),
    ),
    Code(
        "SQ660",
        "a serving form without its stage",
        "`transfer` and `tool` run on the one stage of their name declared above them, or on one they name.",
        "Declare the stage above, or write `tool on STAGE e;`.",
        program(server="tool (1);" + _RUN),
        program(server="tool on desk (1);" + _RUN),
    ),
    Code(
        "SQ663",
        "two policies for shared stages",
        "One policy divides every stage that flows share; a relation names it, or `share` does.",
        "Keep one of them.",
        program(
            "stage a : ps(1);\nstage b : ps(1);\nshare maxmin;\nshare bottleneck;",
            "run a, b (cost(a, b, 1));" + _RUN,
        ),
        program("stage a : ps(1);\nstage b : ps(1);\nshare maxmin;", "run a, b (cost(a, b, 1));" + _RUN),
    ),
    Code(
        "SQ670",
        "a header that uses what was read before queueing",
        "The value is that of the moment the session reached the `set`; the admission is later.",
        "Read it when the session is admitted: `at admission (x = ...)`.",
        program(_KV, "set u = free(kv); hold kv (cost(kv, min(u, 1))) { }" + _RUN),
        program(_KV, "hold kv (cost(kv, min(u, 1))) at admission (u = free(kv)) { }" + _RUN),
    ),
    Code(
        "SQ671",
        "`cached` in a hold without `cache`",
        "Without a `cache` clause a hold takes no part in the prefix cache, and `cached` is 0 in it.",
        "Add `cache (...)`; `cache (0)` consumes the prefix and keeps nothing.",
        _hold("", "observe c = cached;"),
        program(_KV, "hold kv (cost(kv, 1)) { observe c = cached; } cache (cost(kv, 1))" + _RUN),
    ),
    Code(
        "SQ672",
        "`reuse` in a hold without `cache`",
        "A hold that consumes no prefix has nothing to bound.",
        "Add `cache (...)`, or remove `reuse`.",
        _hold("reuse (cost(kv, 1))"),
        program(_KV, "hold kv (cost(kv, 1)) reuse (cost(kv, 1)) { } cache (cost(kv, 1))" + _RUN),
    ),
    Code(
        "SQ673",
        "`cached` after another admission",
        "Every admission sets `cached`, so after an inner hold it says nothing about the outer one.",
        "`set` it before the inner hold.",
        program(
            _KV + "\npool slots { }",
            "hold kv (cost(kv, 1)) { hold slots (cost(slots, 1)) { } observe c = cached; } cache (cost(kv, 1))"
            + _RUN,
        ),
        program(
            _KV + "\npool slots { }",
            "hold kv (cost(kv, 1)) { observe c = cached; hold slots (cost(slots, 1)) { } } cache (cost(kv, 1))"
            + _RUN,
        ),
    ),
    Code(
        "SQ674",
        "a constant guard that is no test",
        "A guard is 0 or 1; a probability is drawn with `branch with`.",
        "Write a comparison, or `branch with (p)`.",
        program(server="branch (0.5) { observe x = 1; }" + _RUN),
        program(server="branch with (0.5) { observe x = 1; }" + _RUN),
    ),
)
