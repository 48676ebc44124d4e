"""A deployment's settings, by vLLM's names, with where each value comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from serq.diagnostics import Diagnostic, SerqError
from serq.oracle.request import rules_of
from serq.oracle.scenario import Request, Scenario

POLICIES = ("fcfs", "priority")
# The versions of vLLM whose rules are recorded, oldest first.
VERSIONS = ("0.30", "0.31", "0.33")


@dataclass(frozen=True)
class Settings:
    """What the scheduler is told. `num_gpu_blocks` includes the null block."""

    num_gpu_blocks: int
    max_model_len: int
    block_size: int = 16
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2048
    long_prefill_token_threshold: int = 0
    policy: str = "fcfs"
    enable_prefix_caching: bool = True
    scheduler_reserve_full_isl: bool = True
    watermark: float = 0.0
    long_prefill_token_threshold_adaptive: bool = False
    vllm: str = VERSIONS[-1]

    @property
    def usable_blocks(self) -> int:
        """Blocks that requests can have: one is the null block."""
        return self.num_gpu_blocks - 1

    @property
    def capacity(self) -> int:
        """Tokens the usable blocks hold."""
        return self.usable_blocks * self.block_size

    @property
    def longest(self) -> int:
        """Tokens of the longest request that need memory: the last one is sampled and never computed."""
        return self.max_model_len - 1

    @property
    def watermark_blocks(self) -> int:
        """Blocks an admission leaves free in a step that has scheduled another request."""
        return int(self.watermark * self.num_gpu_blocks)

    @property
    def chunk(self) -> int:
        """What a prefill takes at most in a step while one other request runs or waits."""
        threshold, budget = self.long_prefill_token_threshold, self.max_num_batched_tokens
        if threshold and self.long_prefill_token_threshold_adaptive:
            threshold = max(threshold, budget // 2)
        return min(threshold, budget) if threshold else budget

    @property
    def chunk_alone(self) -> int:
        """What the prefill of a request that is alone takes at most in a step."""
        return self.chunk if rules_of(self.vllm).threshold_when_alone else self.max_num_batched_tokens

    def blocks(self, tokens: int) -> int:
        """The blocks that so many tokens take."""
        return -(-tokens // self.block_size)

    def changed(self, **values: Any) -> Settings:
        """The settings with some others."""
        return replace(self, **values)

    def scenario(self, requests: tuple[Request, ...]) -> Scenario:
        """The scenario of some requests under these settings."""
        return Scenario(
            name="capacity",
            budget=self.max_num_batched_tokens,
            max_seqs=self.max_num_seqs,
            block_size=self.block_size,
            num_blocks=self.num_gpu_blocks,
            requests=requests,
            chunk=self.long_prefill_token_threshold,
            prefix_caching=self.enable_prefix_caching,
            policy=self.policy,
            reserve_full_isl=self.scheduler_reserve_full_isl,
            watermark=self.watermark,
            chunk_adaptive=self.long_prefill_token_threshold_adaptive,
        )


# The kinds of value, by name: those that must be given have no default.
KINDS: Mapping[str, type] = {
    "num_gpu_blocks": int,
    "max_model_len": int,
    "block_size": int,
    "max_num_seqs": int,
    "max_num_batched_tokens": int,
    "long_prefill_token_threshold": int,
    "policy": str,
    "enable_prefix_caching": bool,
    "scheduler_reserve_full_isl": bool,
    "watermark": float,
    "long_prefill_token_threshold_adaptive": bool,
    "vllm": str,
}
_LEAST = {"max_model_len": 2, "long_prefill_token_threshold": 0}


@dataclass(frozen=True)
class Given:
    """A value and where it comes from, such as a flag or a line of a log."""

    value: Any
    source: str


@dataclass(frozen=True)
class Deployment:
    """Settings, the source of each, and what was set aside on the way."""

    settings: Settings
    sources: Mapping[str, str]
    notes: tuple[str, ...] = field(default=())


def deployment_of(given: Mapping[str, Given], notes: tuple[str, ...] = ()) -> Deployment:
    """Settings from the values given, defaults for the others; raises `SerqError` for what vLLM would refuse."""
    problems = list(_missing(given))
    problems += [d for name, g in given.items() for d in _range(name, g)]
    if problems:
        raise SerqError(problems)
    settings = Settings(**{name: g.value for name, g in given.items()})
    problems = list(_together(settings, given))
    if problems:
        raise SerqError(problems)
    sources = {name: given[name].source if name in given else "assumed" for name in KINDS}
    return Deployment(settings, sources, notes)


def _missing(given: Mapping[str, Given]) -> Iterator[Diagnostic]:
    if "num_gpu_blocks" not in given:
        hint = "give --num-gpu-blocks N, or --log FILE with the lines of a server's start"
        yield Diagnostic("SQ943", "the number of KV blocks is not given", hint=hint)
    if "max_model_len" not in given:
        hint = "give --max-model-len N, or --log FILE with the lines of a server's start"
        yield Diagnostic("SQ944", "the longest request is not given", hint=hint)


def _range(name: str, given: Given) -> Iterator[Diagnostic]:
    value = given.value
    if name == "policy":
        if value not in POLICIES:
            message = f"`policy` is {value!r} ({given.source}); it is one of {', '.join(POLICIES)}"
            yield Diagnostic("SQ942", message)
    elif name == "vllm":
        if value not in VERSIONS:
            message = f"`vllm` is {value!r} ({given.source}); its rules are known for {', '.join(VERSIONS)}"
            yield Diagnostic("SQ942", message)
    elif name == "watermark":
        if not 0 <= value < 1:
            message = f"`watermark` is {value:g} ({given.source}); it is a share from 0, below 1"
            yield Diagnostic("SQ942", message)
    elif KINDS[name] is int and value < _LEAST.get(name, 1):
        message = f"`{name}` is {value} ({given.source}); it is at least {_LEAST.get(name, 1)}"
        yield Diagnostic("SQ942", message)


def _together(s: Settings, given: Mapping[str, Given]) -> Iterator[Diagnostic]:
    if s.max_num_seqs > s.max_num_batched_tokens:
        message = (
            f"`max_num_seqs` is {s.max_num_seqs} and `max_num_batched_tokens` is {s.max_num_batched_tokens}"
        )
        assumed = [n for n in ("max_num_seqs", "max_num_batched_tokens") if n not in given]
        note = f"`{assumed[0]}` is not given: its default is assumed" if assumed else None
        yield Diagnostic("SQ945", message, note=note, hint="vLLM refuses to start with these")
    if s.long_prefill_token_threshold > s.max_model_len:
        message = (
            f"`long_prefill_token_threshold` is {s.long_prefill_token_threshold} "
            f"and `max_model_len` is {s.max_model_len}"
        )
        yield Diagnostic("SQ946", message, hint="vLLM refuses to start with these")
    if s.long_prefill_token_threshold_adaptive and rules_of(s.vllm).threshold_when_alone:
        message = f"vLLM {s.vllm} has no `long_prefill_token_threshold_adaptive`"
        yield Diagnostic("SQ948", message, hint="0.31 was the first version to have it")
