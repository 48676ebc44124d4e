"""The questions, each answered by closed form and by a run of the worst case, and whether the two agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from serq.oracle.questions import closed
from serq.oracle.questions.settings import Settings
from serq.oracle.questions.simulation import MOST_STEPS, horizon_of, patience, seen_fate, simulate
from serq.oracle.scenario import Request

Verdict = Literal["safe", "deadlock", "livelock", "starvation"]
Facts = Mapping[str, int | str | bool]
GRAVE = ("deadlock", "livelock")
# Requests times steps that a run may have.
_MOST_WORK = 2_000_000
# Up to this length requests are run that grow in step; longer ones mostly prefill, and follow each other.
_IN_STEP = 1_000
# The share of the longest prompt for which they surely overlap.
_SURE = 0.97
# Rounds of more urgent requests that a run of the priority policy has.
_ROUNDS = 10


@dataclass(frozen=True)
class Answer:
    """One answer. `simulated` is None when no run was made: it would take too many steps, or none is `runnable`."""

    key: str
    question: str
    verdict: Verdict | None
    text: str
    closed: Facts = field(default_factory=dict)
    simulated: Facts | None = None
    runnable: bool = True

    @property
    def agrees(self) -> bool | None:
        """Whether the run gave what the closed form says; None when no run was made."""
        return None if self.simulated is None else dict(self.closed) == dict(self.simulated)


def answers(s: Settings) -> list[Answer]:
    """Every question, the grave ones first."""
    asked: list[Callable[[Settings], Answer]] = [_prompt, _answer, _queue, _itself, _together, _wait]
    if s.policy == "priority":
        asked.append(_priority)
    return [ask(s) for ask in (*asked, _start, _repair)]


def overall(found: list[Answer]) -> Verdict:
    """The gravest verdict of all."""
    said = {a.verdict for a in found}
    for verdict in ("deadlock", "livelock", "starvation"):
        if verdict in said:
            return verdict
    return "safe"


def _facts(fate: closed.Fate | None) -> Facts | None:
    if fate is None:
        return None
    facts: dict[str, int | str | bool] = {"outcome": fate.outcome, "step": fate.step}
    return facts | ({"period": fate.period} if fate.period else {})


def _told(key: str, question: str, s: Settings, r: Request) -> Answer:
    """What becomes of one request alone."""
    fate = closed.fate(s, r)
    facts = _facts(fate)
    assert facts is not None
    verdict: Verdict = "safe" if fate.outcome == "ends" else fate.outcome
    return Answer(key, question, verdict, _fate_text(s, r, fate), facts, _facts(seen_fate(s, r)))


def _fate_text(s: Settings, r: Request, fate: closed.Fate) -> str:
    tokens, blocks = r.prompt + r.out - 1, s.blocks(r.prompt + r.out - 1)
    what = f"prompt {r.prompt:,}, output {r.out:,}: {_count(blocks, 'block')} of {s.usable_blocks:,} usable"
    match fate.outcome:
        case "ends":
            return f"yes: {what}; alone it ends in step {fate.step:,}"
        case "deadlock" if fate.step == 0:
            return f"no: {what}; from step 0 on it waits for ever for memory that does not exist"
        case "deadlock":
            return (
                f"no: {what}; in step {fate.step:,} it preempts itself, and then waits for ever: "
                f"its {min(tokens, max(r.prompt, s.capacity + 1)):,} tokens never fit"
            )
        case "livelock":
            return (
                f"no: {what}; it fills the memory, preempts itself in step {fate.step:,} and starts again, "
                f"every {_count(fate.period, 'step')}, for ever"
            )


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def _prompt(s: Settings) -> Answer:
    question = "Is a request with the longest allowed prompt ever served?"
    return _told("longest_prompt", question, s, closed.longest_prompt(s))


def _answer(s: Settings) -> Answer:
    question = "Does a request that grows to the allowed length end?"
    return _told("longest_answer", question, s, closed.longest_answer(s))


def _queue(s: Settings) -> Answer:
    question = "Can one request block the queue for ever?"
    blocked = closed.blocked_for_ever(s)
    requests = [closed.longest_prompt(s), Request(prompt=1, out=1)]
    seen: Facts | None = None
    horizon = horizon_of(s, requests[0])
    if horizon <= MOST_STEPS:
        seen = {"blocked": 1 not in simulate(s, requests, horizon).first}
    if not blocked:
        text = "no: a request of one token behind the longest one is served"
        return Answer("queue", question, "safe", text, {"blocked": False}, seen)
    outcome = closed.fate(s, requests[0]).outcome
    assert outcome != "ends"
    others = "everybody behind it" if s.policy == "fcfs" else "everybody behind it in priority and arrival"
    text = f"yes: a prompt of {s.longest:,} tokens at the head of the queue blocks {others}"
    return Answer("queue", question, outcome, text, {"blocked": True}, seen)


def _itself(s: Settings) -> Answer:
    question = "Can a request preempt itself for ever?"
    worst = [closed.longest_prompt(s), closed.longest_answer(s)]
    found = [closed.fate(s, r) for r in worst]
    seen = [seen_fate(s, r) for r in worst]
    loops = any(f.outcome == "livelock" for f in found)
    facts: Facts | None = None
    if None not in seen:
        facts = {"for_ever": any(f is not None and f.outcome == "livelock" for f in seen)}
    if loops:
        text = "yes: admission looks at the first chunk only, and a request over the memory starts again and again"
        return Answer("self_preemption", question, "livelock", text, {"for_ever": True}, facts)
    if s.longest <= s.capacity:
        text = "no: alone, every request fits"
        if not s.scheduler_reserve_full_isl:
            text += " (beside others it may be let in and thrown out several times)"
    elif s.scheduler_reserve_full_isl:
        text = "no: one that came to need more than the memory is not admitted again (it waits for ever)"
    else:
        text = "no: with what it finds in the cache, or its first chunk, it is not admitted again (it waits for ever)"
    return Answer("self_preemption", question, "safe", text, {"for_ever": False}, facts)


def _together(s: Settings) -> Answer:
    question = "How many requests of full length run at once?"
    count = closed.at_once(s)
    text = (
        f"{count:,}: {s.usable_blocks:,} usable blocks, {s.blocks(s.longest):,} for each, "
        f"{s.max_num_seqs:,} at most (max_num_seqs); the server's log says {closed.promised(s):.2f}x. "
        "Shorter ones run in larger numbers: memory is taken as it is needed"
    )
    if s.watermark_blocks and count > 1:
        text += f". With the watermark, {closed.full_prompts_at_once(s):,} that are all prompt"
    facts: dict[str, int | str | bool] = {"fit": count}
    if count and _one_more(s, count):
        facts["one_more_fits"] = False
    return Answer("concurrency", question, None, text, facts, seen_together(s, count))


def _one_more(s: Settings, count: int) -> bool:
    """Whether memory is what keeps one request more out: neither the places nor the watermark do."""
    return count < s.max_num_seqs and count < s.usable_blocks - s.watermark_blocks


def seen_together(s: Settings, count: int) -> Facts | None:
    """Of requests that grow to full length together `count` never need preempting, and one more does."""
    if count == 0:
        seen = seen_fate(s, closed.longest_prompt(s))
        return None if seen is None else {"fit": int(seen.outcome == "ends")}
    fits = _grown_together(s, count)
    if fits is None:
        return None
    facts: dict[str, int | str | bool] = {"fit": count if fits else -1}
    if _one_more(s, count):
        more = _grown_together(s, count + 1)
        if more is None:
            return None
        facts["one_more_fits"] = more
    return facts


def _grown_together(s: Settings, count: int) -> bool | None:
    """Whether so many requests are there at once and none is preempted; None when the run is too long."""
    request = overlapping(s, count)
    steps = count * -(-request.prompt // s.max_num_batched_tokens) + 2 * request.out
    if steps > MOST_STEPS or steps * count > _MOST_WORK:
        return None
    seen = simulate(s, [request] * count, steps + count * (request.out + patience(s)))
    return seen.together == count and not seen.preemptions


def overlapping(s: Settings, count: int) -> Request:
    """A request of full length of which `count` are all there, and too large together, before the first ends.

    Where the prompts fit into one step they grow in step; else they follow each other, and what the
    later ones lack when the first has grown to its length must be less than the room one more would take.
    """
    beside = (s.usable_blocks - s.watermark_blocks) // count
    prompt = min(s.longest, s.max_num_batched_tokens // count, beside * s.block_size)
    if s.max_model_len > _IN_STEP:
        prompt = max(prompt, _following(s, count))
    prompt = max(1, prompt)
    return Request(prompt=prompt, out=s.max_model_len - prompt)


def _following(s: Settings, count: int) -> int:
    """The longest prompt with which requests that follow each other overlap; 0 when only those in step do."""
    budget, fits = s.max_num_batched_tokens, count * s.blocks(s.longest) <= s.usable_blocks
    if s.watermark_blocks and count * s.blocks(s.longest) + s.watermark_blocks > s.usable_blocks:
        return 0
    lacking = float("inf") if fits else max(0, count * s.longest - s.capacity)
    pairs = max(1, count * (count - 1) // 2)
    return int(_SURE * min(s.longest, lacking * budget / pairs, s.longest * budget / (budget + count)))


def _wait(s: Settings) -> Answer:
    question = "How long does a short request wait behind a long prefill?"
    prompt = closed.long_beside_short(s)
    if prompt == 0:
        return Answer("short_wait", question, None, "nothing runs: there is no usable block", runnable=False)
    threshold = s.long_prefill_token_threshold
    other = s.changed(long_prefill_token_threshold=0 if threshold else _suggested(s))
    facts, seen, texts = {}, {}, []
    for which in (s, other):
        name = f"threshold {which.long_prefill_token_threshold}"
        facts[name] = closed.wait_behind_long(which)
        seen[name] = _seen_wait(which, prompt)
        texts.append(f"{_count(facts[name], 'step')} with {_threshold(which)}")
    text = f"behind a prompt of {prompt:,} tokens that comes with it: {texts[0]}; {texts[1]}"
    known = {name: step for name, step in seen.items() if step is not None}
    return Answer("short_wait", question, None, text, facts, known if len(known) == 2 else None)


def _suggested(s: Settings) -> int:
    return max(1, s.max_num_batched_tokens // 2)


def _threshold(s: Settings) -> str:
    threshold = s.long_prefill_token_threshold
    return f"long_prefill_token_threshold {threshold:,}" if threshold else "no long-prefill threshold"


def _seen_wait(s: Settings, prompt: int) -> int | None:
    requests = [Request(prompt=prompt, out=1), Request(prompt=1, out=1)]
    horizon = horizon_of(s, requests[0])
    if horizon > MOST_STEPS:
        return None
    return simulate(s, requests, horizon).first.get(1)


def _priority(s: Settings) -> Answer:
    question = "Can a request wait for ever behind others that come later?"
    urgent = min(s.max_num_seqs, s.usable_blocks)
    text = (
        "yes: the policy is priority, and more urgent requests that keep coming go first. "
        "A more urgent one itself takes no place from those that run: with all places taken it waits until one ends"
    )
    if urgent < 1:
        return Answer("priority", question, "starvation", text, runnable=False)
    late = [Request(1, 1, step, 0) for step in range(_ROUNDS) for _ in range(urgent)]
    seen = simulate(s, [Request(1, 1, 0, 1), *late], len(late) + _ROUNDS + patience(s))
    facts = {"waits for all that come": True}
    behind = all(seen.first[0] >= seen.first[i] for i in range(1, len(late) + 1))
    return Answer("priority", question, "starvation", text, facts, {"waits for all that come": behind})


def _start(s: Settings) -> Answer:
    question = "Does the server's own check at start let these settings through?"
    asks = (
        f"vLLM {s.vllm} asks for {_count(s.blocks(s.max_model_len), 'block')} of {s.usable_blocks:,} usable"
    )
    if closed.starts(s):
        text = f"yes: {asks}"
    elif s.longest <= s.capacity:
        text = f"no: {asks}, although the last token of a request needs none"
    elif s.blocks(s.max_model_len) <= s.num_gpu_blocks:
        text = (
            f"no: {asks}. A server that counts the null block as usable, as older ones do, starts with them"
        )
    else:
        text = f"no: {asks}"
    return Answer("start", question, None, text, {"starts": closed.starts(s)}, runnable=False)


def _repair(s: Settings) -> Answer:
    question = "What is the smallest repair?"
    blocks, length = closed.blocks_for_longest(s), closed.length_for_memory(s)
    if s.longest <= s.capacity:
        spare = s.num_gpu_blocks - blocks
        text = f"none is needed: {blocks:,} blocks are enough, {_count(spare, 'block')} to spare"
        return Answer(
            "repair", question, None, text, {"num_gpu_blocks": blocks}, _seen_repair(s, blocks, None)
        )
    text = f"num_gpu_blocks {blocks:,} (now {s.num_gpu_blocks:,})"
    facts = {"num_gpu_blocks": blocks}
    if length >= 2:
        text += f", or max_model_len {length:,} (now {s.max_model_len:,})"
        facts["max_model_len"] = length
    if not s.scheduler_reserve_full_isl:
        text += "; scheduler_reserve_full_isl does not help: a request over the memory then waits for ever"
    return Answer("repair", question, None, text, facts, _seen_repair(s, blocks, length))


def _seen_repair(s: Settings, blocks: int, length: int | None) -> Facts | None:
    """The repairs that do, where the next smaller one does not."""
    found: dict[str, int | str | bool] = {}
    tried = [("num_gpu_blocks", blocks, blocks - 1)]
    if length is not None and length >= 2:
        tried.append(("max_model_len", length, length + 1))
    for name, enough, short in tried:
        ends = [_all_end(s, name, value) for value in (enough, short)]
        if None in ends:
            return None
        found[name] = enough if ends == [True, False] else -1
    return found


def _all_end(s: Settings, name: str, value: int) -> bool | None:
    """Whether the longest requests end under a changed setting, by runs."""
    if name == "num_gpu_blocks" and value < 2:
        return False
    other = s.changed(**{name: value})
    seen = [seen_fate(other, r) for r in (closed.longest_prompt(other), closed.longest_answer(other))]
    return None if None in seen else all(f is not None and f.outcome == "ends" for f in seen)
