"""Steps a scheduler through a scenario and writes down what it did in each step."""

from __future__ import annotations

import sys
from collections import deque
from typing import Any

from vllm.v1.outputs import KVConnectorOutput, ModelRunnerOutput  # type: ignore[import-not-found]
from vllm.v1.request import RequestStatus  # type: ignore[import-not-found]

from .build import VERSION, Scenario, build, has_connector, in_flight, in_force, make_request
from .tokens import answer_token

TRACE_VERSION = 1
MAX_STEPS = 100_000
# Empty steps in a row, with nothing running and nobody to come, after which nothing will ever happen.
_PATIENCE = 3
# Queues beside `waiting`; filled only with adapters, structured output, connectors or streamed input.
_SIDE_QUEUES = ("skipped_waiting", "kv_holding_waiting", "deferred_waiting")


def answer(output: Any, scheduler: Any) -> Any:
    """The faked model runner: one token for each request all of whose known tokens are now computed.

    Called after `schedule()`, which has already advanced the computed tokens, and made room for
    the token that a step in flight will give.
    """
    ids = list(output.num_scheduled_tokens)
    tokens = []
    for name in ids:
        request = scheduler.requests[name]
        coming = max(0, request.num_output_placeholders - 1)
        known = request.num_tokens + coming
        assert request.num_computed_tokens <= known
        whole = request.num_computed_tokens == known
        tokens.append([answer_token(int(name), request.num_output_tokens + coming)] if whole else [])
    return ModelRunnerOutput(
        req_ids=ids, req_id_to_index={name: k for k, name in enumerate(ids)}, sampled_token_ids=tokens
    )


class Drive:
    """One run of a scenario. `trace()` gives the recording in the trace format."""

    def __init__(self, scenario: Scenario, blocks: bool = True, max_steps: int | None = None) -> None:
        self.scenario = {**scenario, "requests": [dict(r) for r in scenario["requests"]]}
        self.scheduler, self.hasher = build(scenario)
        self.blocks = blocks
        self.max_steps = max_steps or scenario.get("max_steps") or MAX_STEPS
        self.steps: list[dict[str, Any]] = []
        self.first: dict[int, int] = {}
        self.done: dict[int, int] = {}
        self.preempted: list[tuple[int, int, int | None]] = []
        self.coming = set(range(len(scenario["requests"])))
        # Steps that are scheduled and not processed yet, oldest first; loads, with the step that ends them.
        self.flying: deque[tuple[Any, Any]] = deque()
        self.depth = in_flight(scenario)
        self.loading: dict[str, int] = {}
        self.aborted: set[int] = set()
        if has_connector(scenario):
            rows = enumerate(scenario["requests"])
            self.scheduler.connector.planned = {str(i): r["load"][0] for i, r in rows if "load" in r}
        self._watch_preemptions()

    def _watch_preemptions(self) -> None:
        """Note the order of preemptions, of which vLLM's output has only the set; changes nothing."""
        real = self.scheduler._preempt_request

        def watched(request: Any, *rest: Any, **named: Any) -> Any:
            # The caller is `schedule()`; its local `request` is the one that needs the block.
            needs = sys._getframe(1).f_locals.get("request")
            self.preempted.append(
                (
                    int(request.request_id),
                    request.num_computed_tokens,
                    None if needs is None else int(needs.request_id),
                )
            )
            return real(request, *rest, **named)

        self.scheduler._preempt_request = watched

    def run(self) -> str:
        """Step until every request is done, nothing will ever happen, or the limit: `done`, `stuck` or `limit`."""
        idle = 0
        while self.coming or self.loading or self.scheduler.has_unfinished_requests():
            if len(self.steps) >= self.max_steps:
                return "limit"
            loading = bool(self.loading)
            record = self._step()
            active = record["sched"] or record["added"] or record["preempted"] or loading
            idle = 0 if active else idle + 1
            waits = self._expected() or self.loading or self.scheduler.running
            if idle > _PATIENCE and not waits:
                return "stuck"
        return "done"

    def _expected(self) -> bool:
        """Whether a request that has not come yet will: by the clock, or after one that still runs."""
        rows = self.scenario["requests"]
        return any("after" not in rows[i] or rows[i]["after"][0] in self.done for i in self.coming)

    def _due(self, step: int) -> list[int]:
        """The requests to add before this step, by arrival and index; `after` becomes a time once it is known."""
        rows = self.scenario["requests"]
        for index in self.coming:
            row = rows[index]
            if "after" in row and row["after"][0] in self.done:
                other, pause = row.pop("after")
                row["arrive"] = self.done[other] + 1 + pause
        due = [i for i in self.coming if "after" not in rows[i] and rows[i].get("arrive", 0) <= step]
        return sorted(due, key=lambda i: (rows[i].get("arrive", 0), i))

    def _step(self) -> dict[str, Any]:
        scheduler, step = self.scheduler, len(self.steps)
        added = self._due(step)
        for index in added:
            scheduler.add_request(make_request(self.scenario, index, self.hasher))
        self.coming -= set(added)
        aborted = self._abort(step)
        self.preempted.clear()
        status = {name: request.status for name, request in scheduler.requests.items()}
        output = scheduler.schedule()
        record = {"step": step, "added": added, **self._scheduled(output, status), **self._state()}
        self.flying.append((output, self._outcome(output, step)))
        outputs, outcome = self._process(idle=not record["total"])
        record["sampled"] = [
            int(name)
            for name, tokens in zip(outcome.req_ids, outcome.sampled_token_ids, strict=True)
            if tokens
        ]
        record["finished"] = _finished(outputs)
        record["free_end"] = scheduler.kv_cache_manager.block_pool.get_num_free_blocks()
        record["running_end"] = [int(r.request_id) for r in scheduler.running]
        record["waiting_end"] = self._waiting()
        if aborted:
            record["aborted"] = aborted
        if has_connector(self.scenario):
            record["loading"] = sorted(map(int, self.loading))
        for index in record["sampled"]:
            self.first.setdefault(index, step)
        for index in record["finished"]:
            self.done[index] = step
        self.steps.append(record)
        return record

    def _abort(self, step: int) -> list[int]:
        """The clients that go away before this step."""
        rows = enumerate(self.scenario["requests"])
        gone = [i for i, row in rows if row.get("abort") == step and i not in self.coming]
        self.scheduler.finish_requests([str(i) for i in gone], RequestStatus.FINISHED_ABORTED)
        self.aborted |= set(gone)
        return gone

    def _outcome(self, output: Any, step: int) -> Any:
        """What the runner will say of a step: its tokens, and the loads that end with it."""
        outcome = answer(output, self.scheduler)
        connector = self.scheduler.connector
        if connector is None:
            return outcome
        for name in connector.started:
            self.loading[name] = step + self.scenario["requests"][int(name)]["load"][1] - 1
        connector.started.clear()
        ended = {name for name, last in self.loading.items() if last <= step}
        self.loading = {name: last for name, last in self.loading.items() if name not in ended}
        outcome.kv_connector_output = KVConnectorOutput(finished_recving=ended)
        return outcome

    def _process(self, idle: bool) -> tuple[Any, Any]:
        """Process the oldest step once as many are in flight as may be, or when there is nothing else to do."""
        if len(self.flying) < self.depth and not idle:
            return {}, ModelRunnerOutput(req_ids=[], req_id_to_index={}, sampled_token_ids=[])
        output, outcome = self.flying.popleft()
        return self.scheduler.update_from_output(output, outcome), outcome

    def _scheduled(self, output: Any, status: dict[str, Any]) -> dict[str, Any]:
        """What one call of `schedule()` decided, checked against vLLM's own account of it."""
        counts = [[int(name), count] for name, count in output.num_scheduled_tokens.items()]
        total = sum(count for _, count in counts)
        assert output.total_num_scheduled_tokens == total
        assert {i for i, _, _ in self.preempted} == {int(x) for x in (output.preempted_req_ids or ())}
        fresh = (RequestStatus.WAITING, RequestStatus.WAITING_FOR_REMOTE_KVS)
        new = [i for i, _ in counts if status[str(i)] in fresh]
        resumed = [i for i, _ in counts if status[str(i)] == RequestStatus.PREEMPTED]
        requests = self.scheduler.requests
        admitted = {*new, *resumed}
        hit = {str(i): requests[str(i)].num_computed_tokens - n for i, n in counts if i in admitted}
        for row in output.scheduled_new_reqs:
            assert row.num_computed_tokens == hit[row.req_id]
        return {
            "sched": counts,
            "total": total,
            "new": new,
            "resumed": resumed,
            "preempted": [i for i, _, _ in self.preempted],
            "preempted_computed": [computed for _, computed, _ in self.preempted],
            "preempted_for": [needs for _, _, needs in self.preempted],
            "hit": hit,
        }

    def _state(self) -> dict[str, Any]:
        """The queues and the memory after `schedule()`."""
        scheduler = self.scheduler
        manager = scheduler.kv_cache_manager
        holders = [r.request_id for r in scheduler.running]
        if has_connector(self.scenario):
            # Who loads holds blocks and waits, also after its client has gone.
            waiting = [name for name in scheduler.requests if name not in holders]
            holders += [name for name in waiting if manager.get_block_ids(name)[0]]
        held = {name: list(manager.get_block_ids(name)[0]) for name in holders}
        state = {
            "running": [int(r.request_id) for r in scheduler.running],
            "waiting": self._waiting(),
            "free": manager.block_pool.get_num_free_blocks(),
            "computed": {name: r.num_computed_tokens for name, r in scheduler.requests.items()},
            "blocks": {name: len(ids) for name, ids in held.items()},
        }
        if has_connector(self.scenario):
            state["pending"] = sum(len(blocks) for _, blocks in scheduler.deferred_frees)
        return {**state, "block_ids": held} if self.blocks else state

    def _waiting(self) -> list[int]:
        """The waiting requests in the order the scheduler will try them."""
        scheduler = self.scheduler
        if not has_connector(self.scenario):
            for side in _SIDE_QUEUES:
                assert not getattr(scheduler, side, ()), side
            return [int(r.request_id) for r in scheduler.waiting]
        # `kv_holding_waiting` goes first; before 0.31 `skipped_waiting` did, but the better head by priority.
        side = (
            scheduler.kv_holding_waiting
            if hasattr(scheduler, "kv_holding_waiting")
            else scheduler.skipped_waiting
        )
        both = [*side, *scheduler.waiting]
        if side is getattr(scheduler, "skipped_waiting", None) and self.scenario.get("policy") == "priority":
            both.sort(key=lambda r: (r.priority, r.arrival_time))
        return [int(r.request_id) for r in both]

    def trace(self) -> dict[str, Any]:
        """Run the scenario and give its recording."""
        forced = in_force(self.scheduler)
        ended = self.run()
        summary = self._summary(ended, forced)
        self.scheduler.shutdown()
        return {
            "version": TRACE_VERSION,
            "vllm": VERSION,
            "scenario": self.scenario,
            "in_force": forced,
            "summary": summary,
            "steps": self.steps,
        }

    def _summary(self, ended: str, forced: dict[str, Any]) -> dict[str, Any]:
        rows = self.scenario["requests"]
        size, usable = forced["block_size"], forced["usable_blocks"]
        summary = {
            "first": {str(i): step for i, step in self.first.items()},
            "done": {str(i): step for i, step in self.done.items()},
            "preemptions": sum(len(record["preempted"]) for record in self.steps),
            "steps": len(self.steps),
            "ended": ended,
            "stuck": ended == "stuck",
            "unfinished": [i for i in range(len(rows)) if i not in self.done and i not in self.aborted],
            # The last token of an answer is never computed, so it needs no memory.
            "oversize": [i for i, r in enumerate(rows) if -(-(r["prompt"] + r["out"] - 1) // size) > usable],
            "has_requests_after": bool(self.scheduler.has_requests()),
        }
        if ended == "done" and summary["has_requests_after"] and not has_connector(self.scenario):
            # The engine makes one more, empty, step to hand over the finished requests.
            output = self.scheduler.schedule()
            assert output.total_num_scheduled_tokens == 0
            self.scheduler.update_from_output(output, answer(output, self.scheduler))
            assert not self.scheduler.has_requests()
            summary["steps_with_flush"] = len(self.steps) + 1
        return summary


def _finished(outputs: Any) -> list[int]:
    """The requests that finished in a step, in vLLM's order."""
    rows = (row for group in outputs.values() for row in group.outputs)
    return [int(row.request_id) for row in rows if row.finish_reason is not None]
