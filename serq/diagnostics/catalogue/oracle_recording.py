"""SQ92x and SQ93x: scenarios and recordings of the real vLLM scheduler."""

from serq.diagnostics.codes import Code, register

register(
    Code(
        "SQ920",
        "a scenario's value of the wrong kind",
        "A scenario is one JSON object with numbers, flags and a list of requests; this value is not what "
        "its key takes.",
        "Write the kind of value named in the message.",
    ),
    Code(
        "SQ921",
        "a scenario's key is missing",
        "`budget`, `max_seqs`, `num_blocks` and `requests`, and each request's `prompt` and `out`, have no default: "
        "every recording says what it was made with.",
        "Add the key named.",
    ),
    Code(
        "SQ922",
        "a scenario's key is unknown",
        "A key that is not read could be a setting that was meant to be in force, so it is not dropped silently.",
        "Correct its spelling, or remove it.",
    ),
    Code(
        "SQ923",
        "a scenario's number out of range",
        "Lengths, budgets and block counts are whole numbers from 1, times from 0, the watermark is at least 0 and "
        "below 1.",
        "Write a number in the range named in the message.",
    ),
    Code(
        "SQ924",
        "more sequences than budget",
        "Every running sequence that answers takes one token of a step's budget; with more sequences than tokens "
        "the last ones would never be served while the first ones answer.",
        "Lower `max_seqs` or raise `budget`.",
    ),
    Code(
        "SQ925",
        "a request is there twice",
        "A request's `id`, where it has one, is the name reports call it by; two requests cannot have the same.",
        "Rename or remove one of the two.",
    ),
    Code(
        "SQ926",
        "a key written twice",
        "JSON keeps the last of two equal keys and says nothing; one of the two values would not be in force.",
        "Remove one of the two.",
    ),
    Code(
        "SQ927",
        "a prefix shared with a later request",
        "`share` takes the first tokens from a request written before; sharing with itself, a later one or none "
        "has no meaning.",
        "Order the requests so that the shared one comes first.",
    ),
    Code(
        "SQ928",
        "a shared prefix longer than there is",
        "The shared tokens are the beginning of this request's prompt and of the other's prompt and answer, so "
        "they are at most as many as either has.",
        "Lengthen the prompt or share fewer tokens.",
    ),
    Code(
        "SQ929",
        "a request that comes after no earlier one",
        "`after` names an earlier request and a pause: the request comes that many steps after the other is done. "
        "It replaces `arrive`.",
        "Name a request written before, and keep either `after` or `arrive`.",
    ),
    Code(
        "SQ930",
        "a request longer than the context",
        "vLLM's front end refuses a request whose prompt and `max_tokens` together exceed `max_model_len`, or, "
        "since 0.33, cuts its answer; its scheduler never sees one that is longer.",
        "Shorten the request or raise `max_model_len`.",
    ),
    Code(
        "SQ931",
        "an unknown word in a scenario",
        "The policy is `fcfs` or `priority`, and the format version is one this reader knows.",
        "Write one of the words of the list.",
    ),
    Code(
        "SQ932",
        "a request that never fits",
        "The request needs more blocks than are usable, so the real scheduler waits for ever, or preempts it for "
        "ever where the full sequence need not fit. The recording says so: it ends `stuck` or at its limit.",
        "Nothing, where the hang is what is to be recorded; else raise `num_blocks` or shorten the request.",
    ),
    Code(
        "SQ933",
        "no vLLM environment",
        "Recording runs in an environment of its own that has vLLM; the folder given has no Python.",
        "Make one with `make oracle-env`, and give its folder.",
    ),
    Code(
        "SQ934",
        "the recorder does not start",
        "The environment's Python could not import vLLM or a part of it the recorder relies on.",
        "`serq oracle drift` says what is missing or has changed in that version.",
    ),
    Code(
        "SQ935",
        "the recorder stopped",
        "The process in the vLLM environment ended, or did not answer in time.",
        "The last lines it wrote are in the note; record the scenario alone to see whether it is the cause.",
    ),
    Code(
        "SQ936",
        "vLLM refused a scenario",
        "The installed version does not know a setting, or its scheduler or one of the recorder's checks of it "
        "raised an error.",
        "The note has vLLM's own words; `serq oracle drift` says what differs in that version.",
    ),
    Code(
        "SQ937",
        "not a trace",
        "The file is not a gzip file of JSON in the trace format, or has another version of it.",
        "Record the scenario again with `serq oracle record`.",
    ),
    Code(
        "SQ938",
        "two scenarios of one name",
        "A trace is named after its scenario's file; two files of one name would write the same trace.",
        "Rename one of the two files.",
    ),
    Code(
        "SQ939",
        "a serving order the real scheduler does not have",
        "vLLM serves running requests in the order of their admission and has no setting for another; a scenario "
        "with another order is for programs, and nothing real can be recorded for it.",
        "Record it without `serve`, or compare it with programs alone.",
    ),
)
