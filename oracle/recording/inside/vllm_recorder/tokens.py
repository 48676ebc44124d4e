"""Token ids of prompts and answers: every request has its own range, so that only `share` makes prefixes equal."""

from __future__ import annotations

from typing import Any

_RANGE = 1_000_000
_ANSWERS = 500_000


def answer_token(index: int, position: int) -> int:
    """The token a request generates at a position of its answer; known in advance."""
    return (index + 1) * _RANGE + _ANSWERS + position


def prompt_tokens(requests: list[dict[str, Any]], index: int) -> list[int]:
    """A request's prompt: its own tokens, of which `share` replaces the first by another's prompt and answer."""
    request = requests[index]
    own = [(index + 1) * _RANGE + k for k in range(request["prompt"])]
    if request.get("share"):
        other, count = request["share"]
        answer = (answer_token(other, k) for k in range(requests[other]["out"]))
        whole = [*prompt_tokens(requests, other), *answer]
        if other >= index or count > min(len(whole), len(own)):
            raise ValueError(f"request {index} cannot share {count} tokens of request {other}")
        own[:count] = whole[:count]
    return own
