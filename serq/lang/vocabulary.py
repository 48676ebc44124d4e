"""Words the language reserves or supplies, derived from the tables of `serq.ir` (api.md §1, §5, §6)."""

from __future__ import annotations

from serq.ir.tables import (
    AGGREGATES,
    BUILTIN_ATTRIBUTES,
    CONTEXT_VARIABLES,
    DISTRIBUTIONS,
    FUNCTIONS,
    ContextVariable,
)

CONTEXT_BY_NAME: dict[str, ContextVariable] = {row.text: row for row in CONTEXT_VARIABLES}
CONTEXT_BY_DOTTED: dict[str, ContextVariable] = {
    dotted: row for row in CONTEXT_VARIABLES for dotted in row.dotted
}
ENGINE_LISTS = frozenset({"running", "waiting", "batch"})
SUPPLIED = frozenset(CONTEXT_BY_NAME) | ENGINE_LISTS | {"inf"}
BUILTINS = frozenset(BUILTIN_ATTRIBUTES)

FUNCTION_BY_NAME = {row.text: row for row in FUNCTIONS}
DISTRIBUTION_BY_NAME = {row.text: row for row in DISTRIBUTIONS}
AGGREGATE_BY_NAME = {row.text: row for row in AGGREGATES}
BLOCK_SIZE = "blocksize"  # not a function of the IR: folded to the pool's `block`

# Words of earlier versions; each is an ordinary name when the program declares it.
RETIRED_CONTEXT = {
    "n": "present",
    "ntok": "tokens",
    "ndec": "decoders",
    "nres": "residents",
    "npre": "prefilled",
    "kvb": "kv_decode",
    "kvp": "kv_prefill",
    "attn": "attention",
}
RETIRED_STATEMENTS = frozenset({"enter", "keep"})

_KEYWORD_TEXT = """
Cost Size admission admit advance arrive at batch block bottleneck branch by cache cap choose claim closed cost
decode def delay device drop each else end engine every evict execute exclusive fifo first fn fork from gauge given
granule grow growing head held hidden hold in init iteration join latency lease let lifo link load loop lru mark
maxmin most nic none observe of on only ordered poisson pool preempt prefill ps pull push queue release renewal
request requeue reserve reuse run running schedule serve server session set share some spill stage state tail
taking tokens tool trace transfer turn use via waiting when while with workload
"""
_KEYWORDS = frozenset(_KEYWORD_TEXT.split())
_OLD_WORDS = frozenset({"step", "memory", "budget", "chunk", "horizon", "warmup", "seed", "arrivals"})
_FUNCTIONS = frozenset(FUNCTION_BY_NAME) | frozenset(AGGREGATE_BY_NAME) | {BLOCK_SIZE, "sum"}

WORDS = _KEYWORDS | _OLD_WORDS
DEF_WORDS = WORDS | _FUNCTIONS | frozenset(DISTRIBUTION_BY_NAME) | RETIRED_STATEMENTS
PARAMETER_WORDS = WORDS | _FUNCTIONS | RETIRED_STATEMENTS | {"exp", "bernoulli"}
ENGINE_WORDS = WORDS | {"sum", "bernoulli"}
RESOURCE_WORDS = DEF_WORDS - RETIRED_STATEMENTS - ENGINE_LISTS - {"tokens"}
QUEUE_WORDS = frozenset({"prefill", "decode", "transfer", "tool", "gateway", "link"})
