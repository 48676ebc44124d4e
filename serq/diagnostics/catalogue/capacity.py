"""SQ940–SQ949: the settings of a deployment that `serq capacity` is asked about."""

from serq.diagnostics.codes import Code, register

register(
    Code(
        "SQ940",
        "not a file of settings",
        "Settings are a JSON object, or lines of `name: value` as in a flat YAML file.",
        "Write one setting a line, by the names vLLM gives them.",
    ),
    Code(
        "SQ941",
        "a setting of the wrong kind",
        "Each setting is a whole number, a share, true or false, or the name of a policy.",
        "Give it as vLLM's own flag or configuration file would.",
    ),
    Code(
        "SQ942",
        "a setting out of range",
        "A scheduler with this value would not start.",
        "Give a value in the range the message names.",
    ),
    Code(
        "SQ943",
        "the size of the memory is not known",
        "Whether requests fit depends on the number of KV blocks, which the server finds when it starts.",
        "Give num_gpu_blocks, or the log lines that a server writes as it starts.",
    ),
    Code(
        "SQ944",
        "the longest request is not known",
        "The worst case is a request of the length that the server lets in.",
        "Give max_model_len, or the log lines that a server writes as it starts.",
    ),
    Code(
        "SQ945",
        "more sequences than tokens in a step",
        "vLLM refuses a max_num_batched_tokens below max_num_seqs: a step gives each running request a token.",
        "Raise max_num_batched_tokens or lower max_num_seqs.",
    ),
    Code(
        "SQ946",
        "a threshold longer than a request",
        "vLLM refuses a long_prefill_token_threshold above max_model_len.",
        "Lower the threshold; 0 is none.",
    ),
    Code(
        "SQ947",
        "no settings in a log",
        "None of the lines that a server writes as it starts is in the file.",
        "Capture the output of `vllm serve` from its start.",
    ),
    Code(
        "SQ948",
        "a setting the version does not have",
        "The setting came with a later version of vLLM; the one named has no such option and refuses it.",
        "Leave the setting out, or give the version the server really is of.",
    ),
)
