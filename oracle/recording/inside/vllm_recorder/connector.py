"""A KV connector that loads what a scenario says, in the steps it says; nothing is moved, since nothing is computed."""

from __future__ import annotations

from typing import Any

from vllm.distributed.kv_transfer.kv_connector.v1.base import (  # type: ignore[import-not-found]
    KVConnectorBase_V1,
    KVConnectorMetadata,
)


class Loads(KVConnectorBase_V1):  # type: ignore[misc]
    """The scheduler's side of a connector. `planned` has each request's tokens; a request loads once.

    `started` has the requests whose load began since the drive last looked.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.planned: dict[str, int] = {}
        self.started: list[str] = []

    def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int) -> tuple[int, bool]:
        """The tokens a request loads beyond what it has, and that the load is asynchronous."""
        more = self.planned.get(request.request_id, 0) - num_computed_tokens
        return (more, True) if more > 0 else (0, False)

    def update_state_after_alloc(self, request: Any, blocks: Any, num_external_tokens: int) -> None:
        """The blocks are there: the load begins."""
        if num_external_tokens:
            self.started.append(request.request_id)
            del self.planned[request.request_id]

    def build_connector_meta(self, scheduler_output: Any) -> Any:
        """Nothing for a worker to do."""
        return KVConnectorMetadata()

    def start_load_kv(self, forward_context: Any, **named: Any) -> None:
        """Of the worker's side, which is not there."""

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Of the worker's side, which is not there."""

    def save_kv_layer(self, layer_name: str, kv_layer: Any, attn_metadata: Any, **named: Any) -> None:
        """Of the worker's side, which is not there."""

    def wait_for_save(self) -> None:
        """Of the worker's side, which is not there."""
