"""A scheduler of the installed vLLM from a scenario, and the settings in force in it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from functools import cache
from typing import Any

import torch  # type: ignore[import-not-found]
import vllm  # type: ignore[import-not-found]
from vllm.config import (  # type: ignore[import-not-found]
    CacheConfig,
    DeviceConfig,
    KVTransferConfig,
    ModelConfig,
    ParallelConfig,
    SchedulerConfig,
    VllmConfig,
)
from vllm.sampling_params import SamplingParams  # type: ignore[import-not-found]
from vllm.utils.hashing import get_hash_fn_by_name  # type: ignore[import-not-found]
from vllm.v1.core.kv_cache_utils import (  # type: ignore[import-not-found]
    get_request_block_hasher,
    init_none_hash,
    resolve_kv_cache_block_sizes,
)
from vllm.v1.core.sched.async_scheduler import AsyncScheduler  # type: ignore[import-not-found]
from vllm.v1.core.sched.scheduler import Scheduler  # type: ignore[import-not-found]
from vllm.v1.kv_cache_interface import (  # type: ignore[import-not-found]
    FullAttentionSpec,
    KVCacheConfig,
    KVCacheGroupSpec,
)
from vllm.v1.request import Request  # type: ignore[import-not-found]
from vllm.v1.structured_output import StructuredOutputManager  # type: ignore[import-not-found]

from .tokens import prompt_tokens

VERSION: str = vllm.__version__

# A model of one tiny layer, described and never loaded.
_MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "vocab_size": 32000,
    "max_position_embeddings": 1 << 20,
    "rms_norm_eps": 1e-5,
    "torch_dtype": "float32",
}

# Settings a scenario may leave to the version; each is a field of its SchedulerConfig.
_OPTIONAL = {
    "chunk_adaptive": "long_prefill_token_threshold_adaptive",
    "reserve_full_isl": "scheduler_reserve_full_isl",
    "watermark": "watermark",
}

Scenario = dict[str, Any]
Hasher = Callable[[Any], Any] | None


class UnknownSetting(ValueError):
    """The scenario asks for a setting that this version of vLLM does not have."""


@cache
def model_dir() -> str:
    """A folder holding only a config.json: no weights, no tokenizer. One place, so that vLLM's own cache finds it."""
    folder = os.path.join(tempfile.gettempdir(), f"vllm_recorder_model_{os.getuid()}")
    os.makedirs(folder, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder)
    with os.fdopen(handle, "w") as out:
        json.dump(_MODEL, out)
    os.replace(name, os.path.join(folder, "config.json"))
    return folder


@cache
def model_config(max_model_len: int) -> Any:
    """vLLM's configuration of the tiny model; building it takes seconds, so each length is built once."""
    return ModelConfig(
        model=model_dir(), skip_tokenizer_init=True, dtype="float32", max_model_len=max_model_len, seed=0
    )


def _scheduler_config(scenario: Scenario, max_model_len: int) -> Any:
    asked = {}
    for key, field in _OPTIONAL.items():
        if scenario.get(key) is None:
            continue
        if field not in SchedulerConfig.__dataclass_fields__:
            raise UnknownSetting(f"vLLM {VERSION} has no setting {field} ({key})")
        asked[field] = scenario[key]
    return SchedulerConfig(
        max_num_seqs=scenario["max_seqs"],
        max_num_batched_tokens=scenario["budget"],
        max_model_len=max_model_len,
        is_encoder_decoder=False,
        enable_chunked_prefill=True,
        long_prefill_token_threshold=scenario.get("chunk", 0),
        policy=scenario.get("policy", "fcfs"),
        async_scheduling=in_flight(scenario) > 1,
        **asked,
    )


def in_flight(scenario: Scenario) -> int:
    """The steps that are computed at a time."""
    return int(scenario.get("in_flight", 1))


def has_connector(scenario: Scenario) -> bool:
    """Whether some KV comes from elsewhere; with steps in flight a connector may, at any time."""
    return in_flight(scenario) > 1 or any("load" in row for row in scenario["requests"])


def _transfer() -> Any:
    return KVTransferConfig(
        kv_connector="Loads", kv_connector_module_path=f"{__package__}.connector", kv_role="kv_consumer"
    )


def _cache_config(block_size: int, num_blocks: int) -> Any:
    group = KVCacheGroupSpec(["layer"], full_attention(block_size))
    return KVCacheConfig(num_blocks=num_blocks, kv_cache_tensors=[], kv_cache_groups=[group])


def full_attention(block_size: int) -> Any:
    """The KV cache of one layer whose tokens are four bytes each."""
    return FullAttentionSpec(block_size=block_size, num_kv_heads=1, head_size=1, dtype=torch.float32)


def vllm_config(scenario: Scenario) -> Any:
    """The configuration of a scenario."""
    length, block_size = scenario.get("max_model_len", 8192), scenario.get("block_size", 16)
    cached = bool(scenario.get("prefix_caching", False))
    return VllmConfig(
        model_config=model_config(length),
        scheduler_config=_scheduler_config(scenario, length),
        cache_config=CacheConfig(block_size=block_size, enable_prefix_caching=cached),
        parallel_config=ParallelConfig(),
        device_config=DeviceConfig("cpu"),
        kv_transfer_config=_transfer() if has_connector(scenario) else None,
    )


def build(scenario: Scenario) -> tuple[Any, Hasher]:
    """The scheduler a scenario asks for, and the block hasher of its requests (None without prefix caching).

    Raises `UnknownSetting`, and `AssertionError` when vLLM rewrote a setting it was given.
    """
    block_size, cached = scenario.get("block_size", 16), bool(scenario.get("prefix_caching", False))
    config = vllm_config(scenario)
    memory = config.cache_config
    memory.num_gpu_blocks = scenario["num_blocks"]
    blocks = _cache_config(block_size, scenario["num_blocks"])
    sizes = resolve_kv_cache_block_sizes(blocks, config)
    assert sizes == (block_size, block_size), f"block sizes {sizes}, asked for {block_size}"
    chosen = config.scheduler_config.get_scheduler_cls()
    assert chosen is (AsyncScheduler if in_flight(scenario) > 1 else Scheduler), f"scheduler class {chosen}"
    scheduler = chosen(
        vllm_config=config,
        kv_cache_config=blocks,
        structured_output_manager=StructuredOutputManager(config),
        block_size=block_size,
        hash_block_size=block_size,
        log_stats=False,
    )
    _assert_in_force(scheduler, scenario, cached)
    return scheduler, _hasher(memory, block_size) if cached else None


def _hasher(memory: Any, block_size: int) -> Hasher:
    function = get_hash_fn_by_name(memory.prefix_caching_hash_algo)
    init_none_hash(function)
    hasher: Hasher = get_request_block_hasher(block_size, function)
    return hasher


def _assert_in_force(scheduler: Any, scenario: Scenario, cached: bool) -> None:
    """What was asked for is what is in force: configuration code may rewrite it."""
    config = scheduler.scheduler_config
    pairs = {
        "budget": (scheduler.max_num_scheduled_tokens, scenario["budget"]),
        "max_seqs": (scheduler.max_num_running_reqs, scenario["max_seqs"]),
        "chunk": (config.long_prefill_token_threshold, scenario.get("chunk", 0)),
        "adaptive chunk": (_adaptive(config), bool(scenario.get("chunk_adaptive", False))),
        "chunked prefill": (config.enable_chunked_prefill, True),
        "asynchronous scheduling": (bool(config.async_scheduling), in_flight(scenario) > 1),
        "connector": (scheduler.connector is not None, has_connector(scenario)),
        "deferred frees": (scheduler.defer_block_free, in_flight(scenario) > 1),
        "prefix caching": (scheduler.kv_cache_manager.enable_caching, cached),
        "blocks": (scheduler.kv_cache_manager.block_pool.num_gpu_blocks, scenario["num_blocks"]),
    }
    for name, (found, asked) in pairs.items():
        assert found == asked, f"{name}: asked for {asked}, in force {found}"


def _adaptive(config: Any) -> bool:
    """Whether the threshold is an adaptive one; versions before 0.31 have none such."""
    return bool(getattr(config, "long_prefill_token_threshold_adaptive", False))


def in_force(scheduler: Any) -> dict[str, Any]:
    """The settings in force, read back from the scheduler."""
    config, manager = scheduler.scheduler_config, scheduler.kv_cache_manager
    return {
        "reserve_full_isl": config.scheduler_reserve_full_isl,
        "watermark": getattr(config, "watermark", None),
        "watermark_blocks": getattr(manager, "watermark_blocks", None),
        "usable_blocks": manager.block_pool.num_gpu_blocks - 1,
        "budget": scheduler.max_num_scheduled_tokens,
        "max_seqs": scheduler.max_num_running_reqs,
        "block_size": scheduler.block_size,
        "chunk": config.long_prefill_token_threshold,
        **({"chunk_adaptive": True} if _adaptive(config) else {}),
        "policy": config.policy,
        "prefix_caching": manager.enable_caching,
        "max_model_len": scheduler.max_model_len,
        "chunked_prefill": config.enable_chunked_prefill,
        "async_scheduling": bool(config.async_scheduling),
        **({"connector": True} if scheduler.connector is not None else {}),
        "hash": scheduler.cache_config.prefix_caching_hash_algo,
    }


def make_request(scenario: Scenario, index: int, hasher: Hasher) -> Any:
    """vLLM's request of one row of the scenario; its arrival time decides ties under the priority policy."""
    row = scenario["requests"][index]
    return Request(
        request_id=str(index),
        prompt_token_ids=prompt_tokens(scenario["requests"], index),
        sampling_params=SamplingParams(max_tokens=row["out"], ignore_eos=True, temperature=0.0),
        pooling_params=None,
        arrival_time=float(row.get("arrive", 0)) + index * 1e-6,
        priority=row.get("priority", 0),
        block_hasher=hasher,
    )
