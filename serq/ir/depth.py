"""How deep programs may nest, and room on the interpreter's stack to walk that deep."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

# An aggregate over an index may write out 4 096 terms one inside the other (api.md §2.5).
MAX_DEPTH = 4_500
MAX_JSON_DEPTH = 3 * MAX_DEPTH + 100
_FRAMES = 4 * MAX_JSON_DEPTH


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise the recursion limit while a nested program is walked."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
