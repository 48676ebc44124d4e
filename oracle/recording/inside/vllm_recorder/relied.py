"""What the recorder relies on in vLLM, read from the installed package: names, parameters, settings, bodies.

Imports nothing of vLLM by itself, so that it can say what is missing where the recorder does not even start.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import importlib.metadata
import inspect
from typing import Any

# Called by the recorder: their parameters matter.
CALLED = (
    "vllm.config:CacheConfig",
    "vllm.config:DeviceConfig",
    "vllm.config:KVTransferConfig",
    "vllm.config:ModelConfig",
    "vllm.config:ParallelConfig",
    "vllm.config:SchedulerConfig.get_scheduler_cls",
    "vllm.config:VllmConfig",
    "vllm.entrypoints.serve.utils.api_utils:get_max_tokens",
    "vllm.renderers.params:TokenizeParams",
    "vllm.distributed.kv_transfer.kv_connector.v1.base:KVConnectorBase_V1",
    "vllm.distributed.kv_transfer.kv_connector.v1.base:KVConnectorBase_V1.build_connector_meta",
    "vllm.distributed.kv_transfer.kv_connector.v1.base:KVConnectorBase_V1.get_num_new_matched_tokens",
    "vllm.distributed.kv_transfer.kv_connector.v1.base:KVConnectorBase_V1.update_state_after_alloc",
    "vllm.sampling_params:SamplingParams",
    "vllm.utils.hashing:get_hash_fn_by_name",
    "vllm.v1.core.block_pool:BlockPool.get_num_free_blocks",
    "vllm.v1.core.kv_cache_manager:KVCacheManager.get_block_ids",
    "vllm.v1.core.kv_cache_utils:get_request_block_hasher",
    "vllm.v1.core.kv_cache_utils:init_none_hash",
    "vllm.v1.core.kv_cache_utils:resolve_kv_cache_block_sizes",
    "vllm.v1.core.sched.scheduler:Scheduler",
    "vllm.v1.core.sched.scheduler:Scheduler.add_request",
    "vllm.v1.core.sched.scheduler:Scheduler.finish_requests",
    "vllm.v1.core.sched.scheduler:Scheduler.has_requests",
    "vllm.v1.core.sched.scheduler:Scheduler.has_unfinished_requests",
    "vllm.v1.core.sched.scheduler:Scheduler.schedule",
    "vllm.v1.core.sched.scheduler:Scheduler.shutdown",
    "vllm.v1.core.sched.scheduler:Scheduler.update_from_output",
    "vllm.v1.core.sched.scheduler:Scheduler._preempt_request",
    "vllm.v1.kv_cache_interface:FullAttentionSpec",
    "vllm.v1.kv_cache_interface:KVCacheConfig",
    "vllm.v1.kv_cache_interface:KVCacheGroupSpec",
    "vllm.v1.outputs:KVConnectorOutput",
    "vllm.v1.outputs:ModelRunnerOutput",
    "vllm.v1.request:Request",
    "vllm.v1.structured_output:StructuredOutputManager",
)
# Settings: their fields and defaults matter.
SETTINGS = ("vllm.config:SchedulerConfig", "vllm.config:CacheConfig")
# Decide what is recorded: a change of their text asks for new recordings.
BODIES = (
    "vllm.v1.core.sched.scheduler:Scheduler.schedule",
    "vllm.v1.core.sched.scheduler:Scheduler.update_from_output",
    "vllm.v1.core.sched.scheduler:Scheduler._preempt_request",
    "vllm.v1.core.sched.scheduler:Scheduler.finish_requests",
    "vllm.v1.core.sched.scheduler:Scheduler._free_request_blocks",
    "vllm.v1.core.sched.scheduler:Scheduler._update_from_kv_xfer_finished",
    "vllm.v1.core.sched.async_scheduler:AsyncScheduler",
    "vllm.v1.core.sched.request_queue:FCFSRequestQueue",
    "vllm.v1.core.sched.request_queue:PriorityRequestQueue",
    "vllm.v1.core.sched.utils:check_stop",
    "vllm.entrypoints.serve.utils.api_utils:get_max_tokens",
    "vllm.renderers.params:TokenizeParams",
    "vllm.v1.core.kv_cache_manager:KVCacheManager.allocate_slots",
    "vllm.v1.core.kv_cache_manager:KVCacheManager.get_computed_blocks",
    "vllm.v1.core.block_pool:BlockPool",
    "vllm.v1.core.single_type_kv_cache_manager:FullAttentionManager",
    "vllm.v1.core.single_type_kv_cache_manager:SingleTypeKVCacheManager",
)


def _find(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _parameters(found: Any) -> dict[str, str]:
    return {p.name: _parameter(p) for p in inspect.signature(found).parameters.values()}


def _parameter(parameter: inspect.Parameter) -> str:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return str(parameter.kind.description)
    return "required" if parameter.default is parameter.empty else _value(parameter.default)


def _fields(found: Any) -> dict[str, str]:
    return {field.name: _default(field) for field in dataclasses.fields(found)}


def _default(field: Any) -> str:
    if field.default_factory is not dataclasses.MISSING:
        return "made"
    if field.default is dataclasses.MISSING:
        return "required"
    # A pydantic field keeps its default one level down.
    return _value(getattr(field.default, "default", field.default))


def _value(default: Any) -> str:
    """A default as text where it is plain, else only that there is one."""
    return repr(default) if isinstance(default, (bool, int, float, str, type(None))) else "made"


def _digest(found: Any) -> str:
    return hashlib.sha256(inspect.getsource(found).encode()).hexdigest()[:16]


def _facts(names: tuple[str, ...], read: Any) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for name in names:
        try:
            facts[name] = read(_find(name))
        except Exception as error:
            facts[name] = {"missing": f"{type(error).__name__}: {error}"}
    return facts


def relied() -> dict[str, Any]:
    """The facts of the installed vLLM; a name that is not there has `missing` with the reason."""
    return {
        "vllm": importlib.metadata.version("vllm"),
        "parameters": _facts(CALLED, _parameters),
        "settings": _facts(SETTINGS, _fields),
        "bodies": _facts(BODIES, _digest),
    }
