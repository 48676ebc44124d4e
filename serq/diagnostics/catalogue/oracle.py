"""SQ900–SQ919: scenarios, recorded traces and their comparison."""

from serq.diagnostics.codes import Code, register

register(
    Code(
        "SQ901",
        "not a scenario",
        "The oracle runs scenarios: settings of a scheduler and the requests it is given.",
        "Write budget, max_seqs, num_blocks and requests with prompt and out.",
    ),
    Code(
        "SQ902",
        "not a recorded trace",
        "A recorded trace has one record for every step of the real scheduler.",
        "Record the scenario again.",
    ),
    Code(
        "SQ903",
        "no recorded trace for a scenario",
        "A scenario is compared with what the real scheduler did, and no record of that stands beside it.",
        "Record the scenario, or name one that has been recorded.",
    ),
    Code(
        "SQ917",
        "a client that goes away before it comes",
        "`abort` is the step before which the client of a request goes away; the scheduler must have the "
        "request by then.",
        "Give `abort` a step after the request's `arrive`.",
    ),
    Code(
        "SQ918",
        "a load that is none",
        "A request's `load` is the first tokens of its prompt, which come from elsewhere, and the steps that "
        "takes.",
        "Load from one token to the whole prompt, in at least one step.",
    ),
    Code(
        "SQ919",
        "an adaptive threshold without a threshold",
        "`long_prefill_token_threshold_adaptive` raises a threshold to a fair share of the budget; without a "
        "threshold it changes nothing, and the scenario would show nothing of it.",
        "Give `chunk` a number above 0, or leave `chunk_adaptive` out.",
    ),
)
