"""What operators ask: public reports with their numbers, closed forms against runs, and against recordings."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import pytest

from serq.oracle.questions import closed
from serq.oracle.questions.answers import answers, overall, overlapping, seen_together
from serq.oracle.questions.closed import Fate, fate, longest_answer, longest_prompt, wait_behind_long
from serq.oracle.questions.settings import VERSIONS as RELEASES
from serq.oracle.questions.settings import Settings
from serq.oracle.questions.simulation import MOST_STEPS, Seen, recomputed, seen_fate, simulate
from serq.oracle.recorded import RECORDED, SCENARIOS, Step, read_trace
from serq.oracle.scenario import SUFFIX, Request, Scenario, read_scenario

VERSIONS = ("0.31.0", "0.33.0")


class Recording:
    """What the real scheduler did: each request's first and last step, its preemptions, who waits at the end."""

    def __init__(self, name: str, version: str) -> None:
        self.vllm = version.rpartition(".")[0]
        self.scenario: Scenario = read_scenario(SCENARIOS / f"{name}{SUFFIX}")
        self.steps: tuple[Step, ...] = read_trace(RECORDED / version / f"{name}.trace.json.gz").steps
        self.first: dict[int, int] = {}
        for step in self.steps:
            for request, _ in step.scheduled:
                self.first.setdefault(request, step.step)
        self.ended = {r: s.step for s in self.steps for r in s.finished}
        self.preempted = [(s.step, r) for s in self.steps for r in s.preempted]
        self.waiting = self.steps[-1].waiting
        self.together = max(len(s.running) for s in self.steps)

    @property
    def recomputed(self) -> int:
        """Tokens computed more than once, all requests having ended."""
        done = sum(n for s in self.steps for _, n in s.scheduled)
        return done - sum(r.prompt + r.out - 1 for r in self.scenario.requests)

    @property
    def settings(self) -> Settings:
        """The scenario's settings, with a context of its longest request."""
        s = self.scenario
        return Settings(
            num_gpu_blocks=s.num_blocks,
            max_model_len=max(r.prompt + r.out for r in s.requests),
            block_size=s.block_size,
            max_num_seqs=s.max_seqs,
            max_num_batched_tokens=s.budget,
            long_prefill_token_threshold=s.chunk,
            policy=s.policy,
            enable_prefix_caching=s.prefix_caching,
            scheduler_reserve_full_isl=s.reserve_full_isl,
            watermark=s.watermark,
            long_prefill_token_threshold_adaptive=s.chunk_adaptive,
            vllm=self.vllm,
        )

    def simulated(self) -> Seen:
        """The same requests in the program."""
        return simulate(self.settings, self.scenario.requests, len(self.steps) + 1)


@cache
def recording(name: str, version: str) -> Recording:
    """A recording of a scenario that ships with serq."""
    return Recording(name, version)


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """Each version of the real scheduler."""
    return str(request.param)


def both(r: Recording) -> Seen:
    """The program's run, which agrees with the recording on first steps, ends and preemptions."""
    seen = r.simulated()
    assert seen.first == r.first and seen.ended == r.ended
    preempted = [(s, v) for v, steps in seen.preempted.items() for s in steps if s < len(r.steps)]
    assert sorted(preempted) == sorted(r.preempted)
    return seen


def by_key(s: Settings) -> dict[str, str | None]:
    """The verdict of each question; every answer agrees with its run."""
    found = answers(s)
    assert [a.key for a in found if a.agrees is False] == []
    return {a.key: a.verdict for a in found}


def plain(blocks: int, length: int, **more: object) -> Settings:
    """Settings without the prefix cache."""
    return Settings(blocks, length).changed(**{"enable_prefix_caching": False, **more})


# Public reports, by the number of docs/capacity.md.


def test_report_1_a_prompt_over_a_low_override_hangs(version: str) -> None:
    low = plain(50, 2048)
    first_round = simulate(low, [Request(6, 50)] * 10, 100)
    assert len(first_round.ended) == 10 and not first_round.preemptions
    assert fate(low, Request(1002, 6)) == seen_fate(low, Request(1002, 6)) == Fate("deadlock", 0)
    r = recording("40_incident_low_override", version)
    both(r)
    assert set(r.ended) == set(range(10)) and r.waiting == (10, 11)


def test_report_1_its_smallest_repairs() -> None:
    assert closed.blocks_for_longest(plain(50, 1003)) == 64
    assert closed.length_for_memory(plain(50, 2048)) == 785
    for length, verdict in ((784, "safe"), (785, "safe"), (786, "deadlock")):
        assert overall(answers(plain(50, length))) == verdict


@pytest.mark.parametrize(
    ("name", "outcome"), [("70_exact_memory", "ends"), ("71_over_memory_by_one", "deadlock")]
)
def test_report_1_the_last_token_needs_no_memory(name: str, outcome: str, version: str) -> None:
    r = recording(name, version)
    first = r.scenario.requests[0]
    assert first.prompt + first.out - 1 == r.settings.capacity + (outcome == "deadlock")
    expected = fate(r.settings, first)
    assert expected.outcome == outcome
    assert expected.step == (r.ended[0] if outcome == "ends" else r.preempted[0][0])


def test_report_2_memory_of_exactly_one_context(version: str) -> None:
    exactly = plain(128, 2048)
    assert f"{closed.promised(exactly):.2f}" == "1.00"
    assert exactly.capacity == 2032
    assert by_key(exactly)["longest_prompt"] == by_key(exactly)["longest_answer"] == "deadlock"
    assert overall(answers(plain(129, 2048))) == "safe"
    assert fate(exactly, Request(2032, 2)).outcome == "deadlock"
    # A sum of 2033 tokens still ends: the last is never computed. So it is recorded.
    assert fate(exactly, Request(2000, 33)) == Fate("ends", 32)
    hangs = recording("41_incident_null_block", version)
    both(hangs)
    assert hangs.ended == {0: 32} and hangs.waiting == (1, 2)
    repaired = recording("42_incident_null_block_repaired", version)
    both(repaired)
    assert len(repaired.ended) == 3


def test_report_4_within_the_context_and_over_the_memory(version: str) -> None:
    large = plain(76_640 // 16, 262_144, max_num_batched_tokens=8192)
    assert large.capacity == 76_624
    assert fate(large, Request(100_000, 10)) == seen_fate(large, Request(100_000, 10)) == Fate("deadlock", 0)
    assert fate(large, Request(76_624, 1)).outcome == "ends"
    assert by_key(large)["queue"] == "deadlock"
    r = recording("43_incident_over_memory", version)
    both(r)
    assert set(r.ended) == {0} and r.waiting == (1, 2)


def test_report_4_the_printed_capacity_is_a_block_too_long() -> None:
    """The workaround of a context as long as the printed memory still hangs: the null block is counted in it."""
    large = plain(76_640 // 16, 76_640, max_num_batched_tokens=8192)
    assert overall(answers(large)) == "deadlock"
    assert closed.length_for_memory(large) == 76_625
    assert overall(answers(large.changed(max_model_len=76_625))) == "safe"


def test_report_5_without_the_full_check_it_starts_again_for_ever(version: str) -> None:
    large = plain(4790, 262_144, max_num_batched_tokens=8192, scheduler_reserve_full_isl=False)
    assert by_key(large) == {
        "longest_prompt": "livelock",
        "longest_answer": "livelock",
        "queue": "livelock",
        "self_preemption": "livelock",
        "concurrency": None,
        "short_wait": None,
        "start": None,
        "repair": None,
    }
    assert fate(large, longest_prompt(large)) == Fate("livelock", 9, 10)
    r = recording("44_incident_over_memory_no_full_isl", version)
    both(r)
    assert set(r.ended) == {0} and 2 not in r.first
    assert len(r.preempted) > 20 and {victim for _, victim in r.preempted} == {1}


def test_report_5_with_the_prefix_cache_it_mostly_waits_for_ever() -> None:
    """It finds its own blocks, and they and one chunk more are over the memory: it is never let in again."""
    cached = Settings(49, 4096, max_num_seqs=4, max_num_batched_tokens=80, scheduler_reserve_full_isl=False)
    prompt = Request(828, 3)
    assert fate(cached, prompt) == seen_fate(cached, prompt) == Fate("deadlock", 9)
    tiny = cached.changed(max_num_batched_tokens=10)
    found = fate(tiny, prompt)
    assert found == seen_fate(tiny, prompt)
    assert (found.outcome, found.period) == ("livelock", 2)


def test_report_6_one_block_is_none(version: str) -> None:
    one = plain(1, 16)
    assert one.usable_blocks == 0
    assert fate(one, Request(1, 1)) == seen_fate(one, Request(1, 1)) == Fate("deadlock", 0)
    assert overall(answers(one)) == "deadlock"
    r = recording("45_incident_one_block", version)
    both(r)
    assert r.first == {} and r.waiting == (0, 1)


def test_report_7_thrashing_only_without_the_full_check(version: str) -> None:
    without = recording("46_incident_thrash_no_full_isl", version)
    assert both(without).preemptions == len(without.preempted) > 10
    assert recomputed(both(without), without.scenario.requests) == without.recomputed > 0
    with_check = recording("47_incident_thrash_full_isl", version)
    assert both(with_check).preemptions == 0 == with_check.recomputed
    assert without.ended == with_check.ended


def test_report_8_two_long_prompts_of_which_one_fits(version: str) -> None:
    without = recording("48_incident_two_long_no_full_isl", version)
    seen = both(without)
    assert seen.preemptions > 10
    assert recomputed(seen, without.scenario.requests) == without.recomputed > 0
    serial = recording("49_incident_two_long_full_isl", version)
    assert both(serial).preemptions == 0 == serial.recomputed
    assert serial.first[1] == serial.ended[0] + 1


def test_report_8_the_full_check_reserves_nothing() -> None:
    """With a threshold the second is admitted while the first has taken little, and thrown out later."""
    s = plain(81, 1240, max_num_seqs=8, max_num_batched_tokens=48, long_prefill_token_threshold=16)
    requests = [Request(1200, 40), Request(1200, 10)]
    seen = simulate(s, requests, 2000)
    assert (seen.first[1], seen.preemptions) == (0, 1)
    assert recomputed(seen, requests) > 500
    assert simulate(s.changed(long_prefill_token_threshold=0), requests, 2000).preemptions == 0


def test_report_15_places_taken_by_less_urgent_requests(version: str) -> None:
    r = recording("50_incident_priority_inversion", version)
    both(r)
    assert not r.preempted
    assert r.first[3] == r.ended[0] + 1 == 30
    urgent = plain(100, 64, policy="priority", max_num_seqs=2)
    assert by_key(urgent)["priority"] == "starvation" and overall(answers(urgent)) == "starvation"


def test_report_16_priority_without_pressure(version: str) -> None:
    r = recording("51_incident_priority_no_pressure", version)
    both(r)
    assert not r.preempted and r.together == 4
    assert all(r.ended[k] - r.first[k] == 11 for k in r.first)


def test_report_18_a_short_one_behind_a_long_prefill(version: str) -> None:
    waits = recording("52_incident_short_behind_long", version)
    both(waits)
    starts = recording("53_incident_short_behind_long_threshold", version)
    both(starts)
    assert (waits.first[1], starts.first[1]) == (10, 1)
    s = plain(41, 642, max_num_seqs=8, max_num_batched_tokens=64)
    assert closed.long_beside_short(s) == 624
    assert wait_behind_long(s.changed(num_gpu_blocks=200, max_model_len=641)) == 10
    assert (
        wait_behind_long(s.changed(num_gpu_blocks=200, max_model_len=641, long_prefill_token_threshold=32))
        == 0
    )


@pytest.mark.parametrize(
    ("prompt", "budget", "steps"),
    [(100_000, 8192, 13), (180_000, 8192, 22), (100_000, 16_384, 7), (180_000, 16_384, 11)],
)
def test_report_19_long_contexts_at_the_head(prompt: int, budget: int, steps: int) -> None:
    """The short one starts in the last step of the long prefill, with what that leaves of the budget."""
    s = plain(20_000, prompt + 1, max_num_batched_tokens=budget)
    assert fate(s, Request(prompt, 1)) == seen_fate(s, Request(prompt, 1)) == Fate("ends", steps - 1)
    assert wait_behind_long(s) == steps - 1
    assert simulate(s, [Request(prompt, 1), Request(1, 1)], 2 * steps).first[1] == steps - 1
    assert wait_behind_long(s.changed(long_prefill_token_threshold=budget // 2)) == 0


@pytest.mark.parametrize(
    ("name", "steps"),
    [("109_incident_long_context", 13), ("110_incident_long_context_large_budget", 11)],
)
def test_report_19_the_prefills_are_as_recorded(name: str, steps: int, version: str) -> None:
    r = recording(name, version)
    both(r)
    long = r.scenario.requests[0]
    assert fate(r.settings, Request(long.prompt, 1)) == Fate("ends", steps - 1)
    assert r.first[1] == steps - 1 and r.ended[0] == steps
    assert wait_behind_long(r.settings.changed(max_model_len=long.prompt + 1)) == steps - 1


def test_report_19_a_threshold_lets_the_short_one_start_at_once(version: str) -> None:
    r = recording("111_incident_long_context_threshold", version)
    both(r)
    assert r.first[1] == 0 and r.ended[0] == 14
    # In 0.30 the threshold goes on holding when the short one has ended.
    older = recording("111_incident_long_context_threshold", "0.30.0")
    both(older)
    assert older.first[1] == 0 and older.ended[0] == 25


def test_report_22_preemptions_of_one_request_are_few(version: str) -> None:
    r = recording("16_mixed_60", version)
    counts = [sum(1 for _, victim in r.preempted if victim == k) for k in range(60)]
    seen = r.simulated()
    assert [len(seen.preempted.get(k, [])) for k in range(60)] == counts
    assert len(r.ended) == 60 and max(counts) == 4


def test_report_23_the_oldest_progresses(version: str) -> None:
    r = recording("54_incident_oldest_progresses", version)
    both(r)
    assert len(r.ended) == 5 and len(r.preempted) > 3
    assert all(victim != 0 for _, victim in r.preempted)


def test_report_24_an_admission_preempts_nobody(version: str) -> None:
    for name in (
        "47_incident_thrash_full_isl",
        "54_incident_oldest_progresses",
        "55_incident_concurrency_is_no_cap",
    ):
        for step in recording(name, version).steps:
            assert not (step.preempted and (step.admitted or step.resumed))


def test_report_38_what_the_printed_concurrency_means(version: str) -> None:
    assert f"{closed.promised(Settings(1381, 2048)):.2f}" == "10.79"
    assert closed.at_once(Settings(1381, 2048)) == 10
    r = recording("55_incident_concurrency_is_no_cap", version)
    both(r)
    assert closed.at_once(r.settings.changed(max_model_len=256)) == 2
    assert r.together == 8


# Versions.


@pytest.mark.parametrize(
    "name",
    ["07_threshold_alone_or_not", "53_incident_short_behind_long_threshold", "76_threshold_waiting_counts"],
)
def test_before_0_31_a_threshold_holds_for_a_request_alone(name: str) -> None:
    older, newer = recording(name, "0.30.0"), recording(name, "0.31.0")
    both(older)
    both(newer)
    assert max(older.ended.values()) > max(newer.ended.values())


def test_a_prefill_alone_takes_as_long_as_its_version_says() -> None:
    s = plain(20, 200, max_num_batched_tokens=64, max_num_seqs=4, long_prefill_token_threshold=16)
    for version, step in (("0.30", 9), ("0.31", 2), ("0.33", 2)):
        of = s.changed(vllm=version)
        assert fate(of, Request(160, 1)) == seen_fate(of, Request(160, 1)) == Fate("ends", step)


def test_a_verdict_can_depend_on_the_version() -> None:
    """Of three blocks two are usable: a first chunk of the whole prompt never fits, one of a block does."""
    s = plain(
        3, 48, max_num_batched_tokens=64, max_num_seqs=4, long_prefill_token_threshold=16,
        scheduler_reserve_full_isl=False,
    )  # fmt: skip
    assert by_key(s.changed(vllm="0.33"))["longest_prompt"] == "deadlock"
    assert by_key(s.changed(vllm="0.31"))["longest_prompt"] == "deadlock"
    assert by_key(s.changed(vllm="0.30"))["longest_prompt"] == "livelock"


@pytest.mark.parametrize("name", ["12_priority", "92_priority_self_preempt_others_after"])
def test_a_self_preemption_under_priority_is_that_of_the_version(name: str, version: str) -> None:
    r = recording(name, version)
    both(r)
    other = simulate(
        r.settings.changed(vllm="0.31" if r.vllm == "0.33" else "0.33"), r.scenario.requests, len(r.steps) + 9
    )
    assert other.ended != r.ended


def said(s: Settings) -> list[tuple[object, ...]]:
    """What the answers say, by question, without the words."""
    return [(a.key, a.verdict, dict(a.closed), a.simulated and dict(a.simulated)) for a in answers(s)]


@pytest.mark.parametrize("seed", range(300, 330))
def test_no_answer_differs_between_0_31_and_0_33(seed: int) -> None:
    s = drawn(seed).changed(vllm="0.31")
    assert said(s) == said(s.changed(vllm="0.33"))


def test_some_answers_differ_between_0_30_and_0_31() -> None:
    made = [drawn(seed).changed(long_prefill_token_threshold_adaptive=False) for seed in range(300, 330)]
    differ = [s for s in made if said(s.changed(vllm="0.30")) != said(s.changed(vllm="0.31"))]
    assert len(differ) > 3 and all(s.long_prefill_token_threshold for s in differ)


def test_an_adaptive_threshold_is_half_the_budget_beside_one_other() -> None:
    s = plain(60, 400, max_num_batched_tokens=64, max_num_seqs=8, long_prefill_token_threshold=8)
    adaptive = s.changed(long_prefill_token_threshold_adaptive=True)
    assert (s.chunk, adaptive.chunk, s.changed(long_prefill_token_threshold=48).chunk) == (8, 32, 48)
    long_and_short = [Request(384, 1), Request(1, 1)]
    assert simulate(adaptive, long_and_short, 99).first == {0: 0, 1: 0}
    assert wait_behind_long(adaptive) == 0


@pytest.mark.parametrize(
    ("blocks", "length", "starts"),
    [
        (128, 2048, False),
        (129, 2048, True),
        (128, 2032, True),
        (128, 2033, False),
        (2, 16, True),
        (1, 16, False),
    ],
)
def test_the_check_at_start_asks_for_a_full_context_of_usable_blocks(
    blocks: int, length: int, starts: bool
) -> None:
    for release in RELEASES:
        (answer,) = [a for a in answers(plain(blocks, length, vllm=release)) if a.key == "start"]
        assert answer.closed == {"starts": starts} and answer.agrees is None
    # It refuses one length that every request would be served in.
    assert overall(answers(plain(128, 2033))) == "safe"


# Closed forms against runs.


def drawn(seed: int) -> Settings:
    """Settings of every kind, small enough to run."""
    rng = random.Random(seed)
    block_size, seqs = rng.choice([1, 2, 4, 8, 16, 32]), rng.choice([1, 2, 4, 8])
    length = rng.randint(2, 700)
    near = (length - 1) // block_size * rng.randint(1, 4) + rng.randint(1, 4)
    return Settings(
        num_gpu_blocks=rng.choice([rng.randint(1, 40), near]),
        max_model_len=length,
        block_size=block_size,
        max_num_seqs=seqs,
        max_num_batched_tokens=max(seqs, rng.choice([4, 8, 10, 16, 33, 64, 100, 300, 2000])),
        long_prefill_token_threshold=rng.choice([0, 0, 5, 16, 40, 200]),
        policy=rng.choice(["fcfs", "priority"]),
        enable_prefix_caching=rng.random() < 0.5,
        scheduler_reserve_full_isl=rng.random() < 0.5,
        watermark=rng.choice([0.0, 0.0, 0.1, 0.5]),
        vllm=(release := rng.choice(RELEASES)),
        long_prefill_token_threshold_adaptive=release != "0.30" and rng.random() < 0.5,
    )


@pytest.mark.parametrize("seed", range(40))
def test_every_answer_agrees_with_its_run(seed: int) -> None:
    s = drawn(seed)
    for a in answers(s):
        assert a.agrees is not False, (s, a)
        assert a.agrees or (a.key, a.simulated) != ("longest_prompt", None)


@pytest.mark.parametrize("seed", range(100, 250))
def test_what_becomes_of_a_request_agrees_with_its_run(seed: int) -> None:
    s = drawn(seed)
    for r in (longest_prompt(s), longest_answer(s)):
        assert fate(s, r) == seen_fate(s, r), (s, r)


def test_every_outcome_is_drawn() -> None:
    found = {fate(s, longest_prompt(s)).outcome for s in map(drawn, range(100, 250))}
    assert found == {"ends", "deadlock", "livelock"}


@pytest.mark.parametrize(("blocks", "length"), [(1200, 6180), (234, 1480), (4422, 6972), (40_001, 131_072)])
def test_long_requests_that_follow_each_other(blocks: int, length: int) -> None:
    s = plain(blocks, length, max_num_seqs=16)
    count = closed.at_once(s)
    assert seen_together(s, count) in (None, {"fit": count, "one_more_fits": False})
    assert overlapping(s, count).prompt + overlapping(s, count).out == length


@pytest.mark.parametrize(("full", "caching"), list(product((True, False), repeat=2)))
def test_both_repairs_repair(full: bool, caching: bool) -> None:
    broken = Settings(40, 1000, scheduler_reserve_full_isl=full, enable_prefix_caching=caching)
    assert overall(answers(broken)) in ("deadlock", "livelock")
    for repaired in (broken.changed(num_gpu_blocks=64), broken.changed(max_model_len=625)):
        assert overall(answers(repaired)) == "safe"
    for too_little in (broken.changed(num_gpu_blocks=63), broken.changed(max_model_len=626)):
        assert overall(answers(too_little)) != "safe"


def test_a_threshold_lets_others_past_a_livelock() -> None:
    s = plain(
        40,
        1000,
        scheduler_reserve_full_isl=False,
        long_prefill_token_threshold=64,
        max_num_batched_tokens=256,
    )
    assert by_key(s)["longest_prompt"] == "livelock" and by_key(s)["queue"] == "safe"
    assert by_key(s.changed(long_prefill_token_threshold=0))["queue"] == "livelock"
    assert by_key(s.changed(max_num_seqs=1))["queue"] == "livelock"


def test_a_run_that_is_too_long_is_not_made() -> None:
    slow = plain(70_000, 1_000_000, max_num_batched_tokens=16, max_num_seqs=4)
    assert slow.max_model_len / slow.max_num_batched_tokens > MOST_STEPS
    assert all(a.agrees is None for a in answers(slow) if a.key in ("longest_prompt", "queue", "short_wait"))
    assert overall(answers(slow)) == "safe"
