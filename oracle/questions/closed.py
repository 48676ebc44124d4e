"""What becomes of requests under a deployment's settings, by closed form, under the rules of a version.

Steps count from 0, the step in which the requests arrive.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from serq.oracle.questions.settings import Settings
from serq.oracle.scenario import Request

Outcome = Literal["ends", "deadlock", "livelock"]


@dataclass(frozen=True)
class Fate:
    """What becomes of a request alone.

    `step` is that of its last token, the one from which it waits for ever, or that of its first
    preemption; `period` is the steps from one preemption to the next, once it only repeats.
    """

    outcome: Outcome
    step: int
    period: int = 0


def longest_prompt(s: Settings) -> Request:
    """The request with the longest prompt that the server lets in."""
    return Request(prompt=s.longest, out=1)


def longest_answer(s: Settings) -> Request:
    """The longest request whose prompt fits in memory, if one does: it outgrows memory as it decodes."""
    prompt = max(1, min(s.capacity, s.max_model_len - 2))
    return Request(prompt=prompt, out=s.max_model_len - prompt)


def fate(s: Settings, r: Request) -> Fate:
    """What becomes of a request alone: nobody shares the budget, and a threshold holds in old versions only."""
    chunk, capacity = s.chunk_alone, s.capacity
    first = r.prompt if s.scheduler_reserve_full_isl else min(r.prompt, chunk)
    if first > capacity:
        return Fate("deadlock", 0)
    prefilled = -(-r.prompt // chunk) - 1
    if r.prompt + r.out - 1 <= capacity:
        return Fate("ends", prefilled + r.out - 1)
    if r.prompt > capacity:
        # The chunks that fit, and the step that finds no room for one more.
        step, position, known = capacity // chunk, capacity // chunk * chunk, r.prompt
    else:
        step, position, known = prefilled + capacity + 1 - r.prompt, capacity, capacity + 1
    if s.scheduler_reserve_full_isl:
        return Fate("deadlock", step)
    return _again(s, step, position, known)


def _again(s: Settings, first: int, position: int, known: int) -> Fate:
    """What becomes of a request that has preempted itself and is let in with a chunk again."""
    chunk, capacity, step = s.chunk_alone, s.capacity, first
    while True:
        found = position // s.block_size * s.block_size if s.enable_prefix_caching else 0
        chunks = (capacity - found) // chunk
        if found + min(known - found, chunk) > capacity:
            return Fate("deadlock", step)
        reached = found + chunks * chunk
        same = not s.enable_prefix_caching or reached // s.block_size * s.block_size == found
        if same:
            return Fate("livelock", first, chunks + 1)
        position, step = reached, step + chunks + 1


def blocked_for_ever(s: Settings) -> bool:
    """Whether a request that comes with the longest one, and after it in line, never runs."""
    if fate(s, longest_prompt(s)).outcome == "ends":
        return False
    beside = s.max_num_seqs > 1 and s.chunk < s.max_num_batched_tokens and _room_beside(s, s.chunk)
    return s.scheduler_reserve_full_isl or not beside


def _room_beside(s: Settings, tokens: int) -> bool:
    """Whether one block more is given when a request of the step holds so many tokens."""
    return s.blocks(tokens) + 1 + s.watermark_blocks <= s.usable_blocks


def at_once(s: Settings) -> int:
    """How many requests of full length have room at the same time; each was let in with a block at least."""
    let_in = max(1, s.usable_blocks - s.watermark_blocks)
    return min(s.max_num_seqs, s.usable_blocks // s.blocks(s.longest), let_in)


def full_prompts_at_once(s: Settings) -> int:
    """How many of them are let in beside each other when their length is all prompt."""
    beside = (s.usable_blocks - s.watermark_blocks) // s.blocks(s.longest)
    return min(at_once(s), max(1, beside))


def starts(s: Settings) -> bool:
    """Whether the server's own check at start lets the settings through: it asks for a full context of usable blocks.

    So do all versions known here (`check_enough_kv_cache_memory`); older ones counted the null block as usable.
    """
    return s.blocks(s.max_model_len) <= s.usable_blocks


def promised(s: Settings) -> float:
    """The concurrency that the server's log promises, which counts the null block as memory."""
    return s.num_gpu_blocks / s.blocks(s.max_model_len)


def long_beside_short(s: Settings) -> int:
    """The longest prompt that leaves room for a short request, or that fits at all; 0 if none does."""
    beside = (s.usable_blocks - 1 - s.watermark_blocks) * s.block_size
    return max(0, min(s.longest, beside if beside > 0 else s.capacity))


def wait_behind_long(s: Settings) -> int:
    """The steps that one token waits which comes with a long prompt, after it in line."""
    prompt, chunk = long_beside_short(s), s.chunk
    alone_steps = -(-prompt // chunk)
    if s.max_num_seqs == 1:
        return alone_steps
    if chunk < s.max_num_batched_tokens:
        return 0 if _room_beside(s, min(prompt, chunk)) else alone_steps
    leaves_budget = prompt % chunk != 0 and _room_beside(s, prompt)
    return alone_steps - 1 if leaves_budget else alone_steps


def blocks_for_longest(s: Settings) -> int:
    """The fewest blocks, the null block among them, with which every request ends."""
    return s.blocks(s.longest) + 1


def length_for_memory(s: Settings) -> int:
    """The longest max_model_len with which every request ends; below 2 there is none."""
    return s.capacity + 1
