"""SQ77x to SQ79x: queues, their entries and relations, and what an entry or a request may read."""

from serq.diagnostics.catalogue.scaffold import SCHEDULE, pod, program
from serq.diagnostics.codes import Code, register

_CALL = "pod.decode (job);"
_RUN = "run (cost(pod, k));"
_HOLD = "hold kv (cost(kv, 1)) { run (cost(pod, k)); }"


def _entry(body: str, server: str = _CALL, *, size: str = "", declarations: str = "") -> str:
    return program(declarations + "\n" + pod(f"decode (k) {{ {body} }}", size=size), server)


_GOOD = _entry(_RUN)
_SOURCE = (
    "queue src : prefill { pool kv { cap 8; } serve fifo; nic ps(2); "
    "prefill (k) { hold kv (cost(kv, 1)) { run (cost(src, k)); } lease kv (inf) } }"
)
_READ = "hold kv (cost(kv, 1)) { transfer (k) from src to kv (1); }"
_READER = "queue pod : decode {{ pool kv {{ cap 8; }} nic ps(2); decode (k) from src {{ {body} }} }}"
_CALLS = "src.prefill (job); pod.decode (job) from src;"


def _pair(
    body: str = _READ,
    relation: str = "pod pull src share maxmin;",
    source: str = _SOURCE,
    server: str = _CALLS,
) -> str:
    return program("\n".join((source, _READER.format(body=body), relation)), server)


_PAIR = _pair()

register(
    Code(
        "SQ772",
        "an entry or a request reads what it does not see",
        "A station sees its parameters, what it sets itself, its own pools and stage, the clock in its body and "
        "the hidden attributes; the rest of the session is the caller's.",
        "Pass it as a parameter.",
        _entry("run (cost(pod, k + n));"),
        _GOOD,
    ),
    Code(
        "SQ773",
        "a `from` of no queue above",
        "An entry takes the KV that a queue declared above it leased.",
        "Declare that queue above, or correct the name.",
        program(
            "queue pod : decode { pool kv { cap 8; } decode (k) from src { "
            + _HOLD.replace("run (cost(pod, k));", "")
            + " } }"
        ),
        _PAIR,
    ),
    Code(
        "SQ774",
        "a `from` of a queue that may lease nothing",
        "Whichever entry the request went through, on every way, left the KV: one pool, the same in each.",
        "Lease the pool on every way through every entry of the source.",
        _pair(source=_SOURCE.replace(" lease kv (inf)", "")),
        _PAIR,
    ),
    Code(
        "SQ775",
        "an index inside a queue",
        "Inside its queue an entry is one member's: its own pool and stage, and the lease it reads.",
        "Leave the index out.",
        _entry("observe u = used(kv[0]); " + _RUN),
        _entry("observe u = used(kv); " + _RUN),
    ),
    Code(
        "SQ776",
        "an act on a pool of another",
        "A queue's entries act on its own pools and on the lease they read; a request on what it was admitted with.",
        "Call an entry of the queue the pool belongs to.",
        _entry("hold top (cost(top, 1)) { " + _RUN + " }", declarations="pool top { cap 8; }"),
        _entry(_HOLD, declarations="pool top { cap 8; }"),
    ),
    Code(
        "SQ777",
        "a value that is not there yet, or a stage that is none",
        "An admission reads what is set on every way to it; `run (e)` in an entry is on the queue's own stage.",
        "Set the value above the hold; give the queue a stage.",
        _entry("hold kv (cost(kv, x)) { set x = 1; run (cost(pod, k)); }"),
        _entry("set x = 1; hold kv (cost(kv, x)) { run (cost(pod, k)); }"),
    ),
    Code(
        "SQ778",
        "a parameter assigned",
        "A parameter stands for the text of an argument.",
        "Set another name.",
        _entry("set k = 1; " + _RUN),
        _entry("set x = 1; " + _RUN),
    ),
    Code(
        "SQ779",
        "an entry or a request reads another station",
        "Each station sees its own; the server or a gateway reads across them.",
        "Pass what is needed as a parameter.",
        _entry("observe q = queue(desk); " + _RUN),
        _entry("observe q = queue(pod); " + _RUN),
    ),
    Code(
        "SQ780",
        "members of a queue out of order",
        "A queue declares its device and pools, then its stage, then its entries, each reading what is above it.",
        "Move the member up.",
        program(
            "queue pod : decode { serve fifo; pool kv { cap 8; } decode (k) { run (cost(pod, k)); } }", _CALL
        ),
        _GOOD,
    ),
    Code(
        "SQ781",
        "roles that do not fit the queue",
        "A queue plays each role once, and a gateway, which requests enter, is one queue.",
        "Correct the roles or the size.",
        program(pod("decode (k) { run (cost(pod, k)); }", "decode, decode"), _CALL),
        _GOOD,
    ),
    Code(
        "SQ783",
        "a queue's engine with a name",
        "The engine of a queue is named after it.",
        "Write `engine on DEVICE { ... }`.",
        program(
            f"queue pod : decode {{ device gpu {{ }} engine llm on gpu {{ tokens cap 4; {SCHEDULE} execute (1); }} "
            "decode (k) { run pod decode (cost(pod, k)); } }",
            _CALL,
        ),
        program(
            f"queue pod : decode {{ device gpu {{ }} engine on gpu {{ tokens cap 4; {SCHEDULE} execute (1); }} "
            "decode (k) { run pod decode (cost(pod, k)); } }",
            _CALL,
        ),
    ),
    Code(
        "SQ784",
        "a `latency` of a queue that is no link",
        "A latency is the fixed wait of a link before a transfer over it.",
        "Declare the queue `: link`, or wait in its entry.",
        program(pod("decode (k) { run (cost(pod, k)); }", members="serve fifo latency 1;"), _CALL),
        program("queue wire : link { serve ps(1) latency 1; }"),
    ),
    Code(
        "SQ785",
        "two stages or two NICs in one queue",
        "A queue has one stage, named after it, and one NIC.",
        "Keep one of them.",
        program(pod("decode (k) { run (cost(pod, k)); }", members="serve fifo; serve delay;"), _CALL),
        _GOOD,
    ),
    Code(
        "SQ786",
        "an entry of no role of the queue",
        "Each role has its entry, and a queue has the entries of the roles it declares.",
        "Declare the role, or remove the entry.",
        program(pod("decode (k) { run (cost(pod, k)); } prefill (k) { }"), _CALL),
        program(pod("decode (k) { run (cost(pod, k)); } prefill (k) { }", "decode, prefill"), _CALL),
    ),
    Code(
        "SQ787",
        "an entry its role does not have",
        "A role says how many parameters its entry has and whether it takes a `from`; each entry is written once.",
        "Write it as the role does.",
        program(pod("decode (k, m) { run (cost(pod, k)); }"), "pod.decode (job, 1);"),
        _GOOD,
    ),
    Code(
        "SQ788",
        "a role that is not played out",
        "A queue has the entry of every role it declares, and a link says once what a transfer over it costs.",
        "Write the entry; give a link a `serve` with its latency, or a `transfer` entry.",
        program(pod("decode (k) { run (cost(pod, k)); }", "decode, prefill"), _CALL),
        _GOOD,
    ),
    Code(
        "SQ789",
        "a latency below 0",
        "A wait takes no negative time.",
        "Use a number from 0.",
        program("queue wire : link { serve ps(1) latency 0 - 1; }"),
        program("queue wire : link { serve ps(1) latency 1; }"),
    ),
    Code(
        "SQ790",
        "a relation of no queue above",
        "A relation says which of two queues declared above reads from the other.",
        "Move it below both.",
        program(_SOURCE + "\npod pull src share maxmin;"),
        _PAIR,
    ),
    Code(
        "SQ791",
        "a relation without a NIC",
        "A read crosses the NICs of both queues.",
        "Write `nic ps(e);` in the queue.",
        _pair(source=_SOURCE.replace("nic ps(2); ", "")),
        _PAIR,
    ),
    Code(
        "SQ792",
        "a reader with another source",
        "A queue reads from one other queue, and its entries take the KV from that one.",
        "Keep one relation for a reader, and the same source in its entries.",
        _pair(relation="pod pull src share maxmin;\npod pull src share maxmin;"),
        _PAIR,
    ),
    Code(
        "SQ793",
        "a `transfer` without a way",
        "In an entry that reads a source, a transfer without `on` is the read of its relation.",
        "Declare the relation, or name the stages: `transfer on ...`.",
        _pair(relation=""),
        _PAIR,
    ),
    Code(
        "SQ794",
        "`self` in a queue that is no family",
        "`self` is the index of the member a call names.",
        "Declare the queue as a family, or leave it out.",
        _entry("observe m = self; " + _RUN),
        _entry("observe m = self; " + _RUN, "pod[1].decode (job);", size="[2]"),
    ),
    Code(
        "SQ795",
        "an entry called outside the server",
        "The session describes turns; what a turn asks of the deployment is in the server.",
        "Call it in the server.",
        program(
            pod("decode (k) { run (cost(pod, k)); }"),
            workload="workload { arrive batch(1); turn { Size job = 1; } session { turn; pod.decode (1); } }",
        ),
        _GOOD,
    ),
    Code(
        "SQ796",
        "a call that comes back to itself",
        "An entry and a request are written out where they are called.",
        "Break the cycle.",
        _entry("pod.decode (k);"),
        _GOOD,
    ),
    Code(
        "SQ797",
        "an entry a queue does not have",
        "A call names one of the queue's entries, with `from` exactly where the entry has it.",
        "Correct the entry's name, or its `from`.",
        _entry(_RUN, "pod.prefill (job);"),
        _GOOD,
    ),
    Code(
        "SQ798",
        "a call whose `from` or `to` does not fit",
        "A reading entry takes its own source; a link's transfer names the pool it takes from and the one it fills.",
        "Write `from` and `to` as the entry has them.",
        _entry(_RUN, "pod.decode (job) to desk (1);"),
        _GOOD,
    ),
    Code(
        "SQ799",
        "arguments that do not fit",
        "Each parameter stands for one argument, written out wherever it is read, so none may draw.",
        "Pass as many as there are parameters; `set` a draw first.",
        _entry(_RUN, "pod.decode (~exp(1));"),
        _entry(_RUN, "set u = ~exp(1); pod.decode (u);"),
    ),
)
