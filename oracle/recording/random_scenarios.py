"""Random scenarios by class, valid by construction: the same class and seed give the same scenario.

Each class aims at one thing the scheduler does; `shows` says whether a trace has it. Except in
`oversize`, every request fits into the memory alone, so that every scenario ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

Scenario = dict[str, Any]
Row = dict[str, Any]


def draw(kind: str, seed: int) -> Scenario:
    """A scenario of a class; KeyError for a class that is not in `CLASSES`."""
    make, _ = CLASSES[kind]
    about = f"Drawn at random: class {kind}, seed {seed}."
    return {"version": 1, "class": kind, "about": about, **make(Random(f"{kind}:{seed}"))}


def shows(kind: str, trace: Mapping[str, Any]) -> bool:
    """Whether a trace shows what its class is about; a few draws of each class do not."""
    _, shown = CLASSES[kind]
    return shown(trace)


def classes_of(version: str) -> tuple[str, ...]:
    """The classes whose settings a version of vLLM has."""
    key = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    return tuple(kind for kind in CLASSES if key >= _SINCE.get(kind, ()))


def _blocks(tokens: int, size: int) -> int:
    return -(-tokens // size)


def _needs(row: Row, size: int) -> int:
    """The most blocks a request ever holds: the last token of its answer is never computed."""
    return _blocks(row["prompt"] + row["out"] - 1, size)


def _rows(
    r: Random, count: tuple[int, int], prompt: tuple[int, int], out: tuple[int, int], gaps: tuple[int, ...]
) -> list[Row]:
    rows: list[Row] = []
    time = 0
    for _ in range(r.randint(*count)):
        time += r.choice(gaps)
        rows.append({"prompt": r.randint(*prompt), "out": r.randint(*out), "arrive": time})
    return rows


def _scenario(r: Random, rows: list[Row], size: int, share: tuple[float, float], **settings: Any) -> Scenario:
    """A scenario whose memory is a share of what all requests together need, never less than the largest needs."""
    needs = [_needs(row, size) for row in rows]
    usable = max(max(needs), round(sum(needs) * r.uniform(*share)))
    seqs = settings.pop("max_seqs", r.randint(2, 8))
    return {
        "budget": settings.pop("budget", r.randint(max(8, seqs), 160)),
        "max_seqs": seqs,
        "block_size": size,
        "num_blocks": usable + 1,
        **settings,
        "requests": rows,
    }


def _plain(r: Random) -> Scenario:
    return _scenario(r, _rows(r, (3, 12), (1, 150), (1, 40), (0, 0, 1, 3)), r.choice((8, 16)), (1.0, 1.5))


def _tight(r: Random) -> Scenario:
    return _scenario(r, _rows(r, (4, 12), (10, 150), (1, 40), (0, 0, 1, 2)), r.choice((8, 16)), (0.2, 0.5))


def _preempting(r: Random) -> Scenario:
    rows = _rows(r, (3, 8), (8, 48), (24, 80), (0, 0, 0, 1, 3))
    return _scenario(r, rows, r.choice((4, 8, 16)), (0.45, 0.65), max_seqs=8)


def _threshold(r: Random) -> Scenario:
    rows = _rows(r, (3, 10), (20, 300), (1, 20), (0, 0, 1, 5, 20))
    budget = r.randint(32, 128)
    chunk = r.randint(1, budget // 2) if r.random() < 0.8 else r.randint(budget // 2, 2 * budget)
    return _scenario(r, rows, 16, (0.4, 1.2), budget=budget, chunk=chunk)


def _adaptive(r: Random) -> Scenario:
    """A threshold below the fair share of a few requests, and above that of many; some decode beside."""
    rows = _rows(r, (2, 10), (5, 300), (1, 30), (0, 0, 1, 5, 20))
    budget = r.randint(32, 160)
    chunk = r.randint(1, budget // 3)
    return _scenario(r, rows, r.choice((8, 16)), (0.4, 1.2), budget=budget, chunk=chunk, chunk_adaptive=True)


def _staggered(r: Random) -> Scenario:
    rows = _rows(r, (6, 14), (1, 120), (1, 30), (0, 1, 2, 4, 7, 40))
    return _scenario(r, rows, 16, (0.3, 1.0), chunk=r.choice((0, 0, 24)))


def _conversation(r: Random) -> Scenario:
    """A few sessions of a few turns: each turn's prompt goes on from the whole of the turn before."""
    rows: list[Row] = []
    last = []
    for _ in range(r.randint(1, 4)):
        rows.append({"prompt": r.randint(5, 80), "out": r.randint(1, 30), "arrive": r.randint(0, 12)})
        last.append(len(rows) - 1)
    for _ in range(r.randint(2, 8)):
        session = r.randrange(len(last))
        before = last[session]
        known = rows[before]["prompt"] + rows[before]["out"]
        rows.append(
            {
                "prompt": known + r.randint(1, 50),
                "out": r.randint(1, 30),
                "after": [before, r.choice((0, 0, 1, 3, 10, 40))],
                "share": [before, known],
            }
        )
        last[session] = len(rows) - 1
    return _scenario(r, rows, r.choice((8, 16)), (0.15, 0.6), prefix_caching=True, max_seqs=r.randint(1, 6))


def _priority(r: Random) -> Scenario:
    rows = _rows(r, (4, 12), (4, 80), (4, 50), (0, 0, 1, 2, 6))
    for row in rows:
        row["priority"] = r.randint(0, 3)
    scenario = _scenario(r, rows, r.choice((8, 16)), (0.25, 0.6), policy="priority")
    return {**scenario, "chunk": r.choice((0, 0, 16))}


def _watermark(r: Random) -> Scenario:
    rows = _rows(r, (4, 10), (10, 100), (5, 50), (0, 0, 1, 3))
    return _scenario(r, rows, 16, (0.3, 0.6), watermark=r.choice((0.05, 0.1, 0.2, 0.3)))


def _no_full_isl(r: Random) -> Scenario:
    rows = _rows(r, (3, 8), (60, 200), (2, 30), (0, 0, 1, 4))
    scenario = _scenario(r, rows, 16, (0.3, 0.55), budget=r.randint(16, 64), reserve_full_isl=False)
    return {**scenario, "chunk": r.choice((0, 0, 12))}


def _block_sizes(r: Random) -> Scenario:
    rows = _rows(r, (3, 9), (1, 120), (1, 50), (0, 0, 1, 3))
    return _scenario(r, rows, r.choice((1, 2, 4, 8, 32, 64)), (0.3, 0.9))


def _single_token(r: Random) -> Scenario:
    rows = _rows(r, (5, 16), (1, 150), (1, 1), (0, 0, 0, 1, 4))
    return _scenario(r, rows, 16, (0.2, 1.0), chunk=r.choice((0, 0, 20)))


def _exact_blocks(r: Random) -> Scenario:
    """Prompts that fill their blocks; answers that end just before, at and just after a boundary."""
    size = r.choice((4, 8, 16))
    rows = _rows(r, (4, 10), (1, 6), (1, 3), (0, 0, 1, 2))
    for row in rows:
        row["prompt"] *= size
        row["out"] = max(1, row["out"] * size + r.choice((-1, 0, 1)))
    budget = size * r.randint(2, 8)
    return _scenario(r, rows, size, (0.3, 0.8), budget=budget, max_seqs=r.randint(2, 8))


def _oversize(r: Random) -> Scenario:
    """One request that never fits, by its prompt or by its answer, among others that do."""
    rows = _rows(r, (3, 8), (4, 60), (2, 30), (0, 0, 1, 3))
    scenario = _scenario(r, rows, 16, (0.3, 0.6), max_seqs=r.randint(2, 6))
    room = (scenario["num_blocks"] - 1) * 16
    victim = rows[r.randrange(len(rows))]
    if r.random() < 0.5:
        victim["prompt"] = room + r.randint(1, 40)
    else:
        victim["prompt"] = r.randint(1, min(room, 80))
        victim["out"] = room - victim["prompt"] + r.randint(2, 20)
    return {**scenario, "max_steps": 2000}


def _ends(trace: Mapping[str, Any]) -> bool:
    return bool(trace["summary"]["ended"] == "done")


def _preempts(trace: Mapping[str, Any]) -> bool:
    return _ends(trace) and trace["summary"]["preemptions"] > 0


def _memory_waits(trace: Mapping[str, Any]) -> bool:
    """In some step somebody waits although a place and budget are left."""
    forced = trace["in_force"]
    return _ends(trace) and any(
        s["waiting"] and s["total"] < forced["budget"] and len(s["running"]) < forced["max_seqs"]
        for s in trace["steps"]
    )


def _cut_at_threshold(trace: Mapping[str, Any]) -> bool:
    """In some step a prefill gets the threshold although more of it and of the budget is left."""
    chunk, rows = trace["in_force"]["chunk"], trace["scenario"]["requests"]
    return any(
        count == chunk
        and s["computed"][str(i)] < rows[i]["prompt"]
        and s["total"] < trace["in_force"]["budget"]
        for s in trace["steps"]
        for i, count in s["sched"]
    )


def _fair_share(trace: Mapping[str, Any]) -> bool:
    """In some step a prefill gets more than the threshold, and exactly its share of the budget."""
    forced, rows = trace["in_force"], trace["scenario"]["requests"]
    return any(
        forced["chunk"] < count == forced["budget"] // (len(s["running"]) + len(s["waiting"]))
        and s["computed"][str(i)] < rows[i]["prompt"]
        for s in trace["steps"]
        if len(s["running"]) + len(s["waiting"]) > 1
        for i, count in s["sched"]
    )


def _late_arrivals(trace: Mapping[str, Any]) -> bool:
    return sum(1 for s in trace["steps"] if s["added"]) > 2


def _hits(trace: Mapping[str, Any]) -> bool:
    return _ends(trace) and any(hit > 0 for s in trace["steps"] for hit in s["hit"].values())


def _out_of_order(trace: Mapping[str, Any]) -> bool:
    """Somebody waits ahead of an earlier one."""
    rows = trace["scenario"]["requests"]

    def came(index: int) -> tuple[int, int]:
        return rows[index].get("arrive", 0), index

    return any(
        [came(i) for i in s["waiting"]] != sorted(came(i) for i in s["waiting"]) for s in trace["steps"]
    )


def _kept_free(trace: Mapping[str, Any]) -> bool:
    """In some step the head of the waiting line would fit, but not beside the watermark."""
    forced, rows = trace["in_force"], trace["scenario"]["requests"]
    size, kept = forced["block_size"], forced["watermark_blocks"] or 0
    for s in trace["steps"]:
        if not s["waiting"] or s["preempted"] or len(s["running"]) >= forced["max_seqs"]:
            continue
        needs = _blocks(rows[s["waiting"][0]]["prompt"], size)
        if s["total"] < forced["budget"] and needs <= s["free"] < needs + kept:
            return True
    return False


def _preempts_in_prefill(trace: Mapping[str, Any]) -> bool:
    rows = trace["scenario"]["requests"]
    return any(
        computed < rows[i]["prompt"]
        for s in trace["steps"]
        for i, computed in zip(s["preempted"], s["preempted_computed"], strict=True)
    )


def _hangs(trace: Mapping[str, Any]) -> bool:
    return bool(trace["summary"]["stuck"] and trace["summary"]["oversize"])


CLASSES: dict[str, tuple[Callable[[Random], Scenario], Callable[[Mapping[str, Any]], bool]]] = {
    "plain": (_plain, _ends),
    "tight": (_tight, _memory_waits),
    "preempting": (_preempting, _preempts),
    "threshold": (_threshold, _cut_at_threshold),
    "adaptive": (_adaptive, _fair_share),
    "staggered": (_staggered, _late_arrivals),
    "conversation": (_conversation, _hits),
    "priority": (_priority, _out_of_order),
    "watermark": (_watermark, _kept_free),
    "no_full_isl": (_no_full_isl, _preempts_in_prefill),
    "block_sizes": (_block_sizes, _ends),
    "single_token": (_single_token, _ends),
    "exact_blocks": (_exact_blocks, _ends),
    "oversize": (_oversize, _hangs),
}
# The first version that has a class's settings, where not every recorded one does.
_SINCE = {"adaptive": (0, 31)}
