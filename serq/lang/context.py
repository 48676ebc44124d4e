"""Where a statement stands while it is rewritten to the kernel: its side, its scope, what encloses it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from serq.lang.model import Engine, Entry
from serq.lang.scopes import Scope
from serq.lang.tree import Expr

Side = Literal["init", "turn", "session", "server"]


@dataclass(frozen=True)
class Context:
    """The surroundings of a statement; `order` is the item of `fn main()` it stands in."""

    scope: Scope
    side: Side
    order: int
    entry: Entry | None = None
    member: Expr | None = None
    engine: Engine | None = None
    holding: bool = False
    forked: bool = False
    calls: tuple[str, ...] = ()

    @property
    def in_server(self) -> bool:
        """Whether the statement is the server's."""
        return self.side == "server"

    def inside_hold(self) -> Context:
        """The same surroundings inside a hold's body."""
        return replace(self, holding=True)

    def inside_fork(self) -> Context:
        """The same surroundings inside a leg."""
        return replace(self, forked=True)
