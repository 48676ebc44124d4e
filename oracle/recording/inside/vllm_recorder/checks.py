"""What a server checks before the scheduler sees anything: a request's length, and its own memory as it starts."""

from __future__ import annotations

import importlib
from typing import Any

from vllm.entrypoints.serve.utils.api_utils import get_max_tokens  # type: ignore[import-not-found]
from vllm.exceptions import VLLMValidationError  # type: ignore[import-not-found]
from vllm.renderers.params import TokenizeParams  # type: ignore[import-not-found]

from .build import VERSION, full_attention, vllm_config

_REFUSALS = ("No available memory for the cache blocks", "larger than the available KV cache")
# Where the check of the memory is, newest first.
_PLANNING = ("vllm.v1.core.kv_cache_planning", "vllm.v1.core.kv_cache_utils")


def answer_length(prompt: int, max_tokens: int, max_model_len: int) -> int | None:
    """The tokens a request may answer with, after the server's checks of it; None when it is refused."""
    try:
        limits = TokenizeParams(max_total_tokens=max_model_len, max_output_tokens=max_tokens)
        limits._token_len_check(None, list(range(prompt)))
        left = int(get_max_tokens(max_model_len, max_tokens, prompt, {}))
    except (VLLMValidationError, ValueError):
        return None
    return left


def starts(num_blocks: int, block_size: int, max_model_len: int) -> bool:
    """Whether the check of the memory at start lets so many blocks through."""
    config = vllm_config({"budget": 64, "max_seqs": 4, "requests": [], "max_model_len": max_model_len})
    config.cache_config.block_size = block_size
    if hasattr(config.cache_config, "kv_cache_layout"):
        # Resolved by the engine from what its workers report; the check only counts bytes.
        config.cache_config.kv_cache_layout = "LBNHC"
    spec = full_attention(block_size)
    try:
        _check()(config, {"layer": spec}, num_blocks * spec.page_size_bytes)
    except ValueError as error:
        if not any(words in str(error) for words in _REFUSALS):
            raise
        return False
    return True


def _check() -> Any:
    for name in _PLANNING:
        try:
            return importlib.import_module(name).check_enough_kv_cache_memory
        except (ImportError, AttributeError):
            continue
    raise AttributeError("check_enough_kv_cache_memory is in none of " + ", ".join(_PLANNING))


def checks(requests: list[list[int]], memories: list[list[int]]) -> dict[str, Any]:
    """Rows of prompt, max_tokens and max_model_len, and of blocks, block size and max_model_len, with the answers."""
    return {
        "vllm": VERSION,
        "requests": [[*row, answer_length(*row)] for row in requests],
        "memories": [[*row, starts(*row)] for row in memories],
    }
