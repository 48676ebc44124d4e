"""Positions in a session program: what is left of a block, and how the block ends.

A block of `serq.generators.model` is a tuple of statements; in the Lean model each statement carries what
follows it, so a position there is the rest of a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from serq.generators.model import Block, Finish, Forever, Statement


@dataclass(frozen=True)
class Code:
    """What is left of a block. Equal positions are equal: a `Finish` is never among the statements."""

    statements: Block
    ends: Literal["done", "finish"] = "done"

    @property
    def block(self) -> Block:
        """The position as a block of the program."""
        return self.statements if self.ends == "done" else (*self.statements, Finish())

    @property
    def after(self) -> Code:
        """What follows the first statement."""
        return Code(self.statements[1:], self.ends)

    def preceded(self, statement: Statement) -> Code:
        """The position with a statement before it."""
        return Code((statement, *self.statements), self.ends)


DONE = Code(())
FINISH = Code((), "finish")


def code_of(block: Block) -> Code:
    """The start of a block; what stands after an endless loop or the session's end is not part of it."""
    for k, statement in enumerate(block):
        if isinstance(statement, Finish):
            return Code(block[:k], "finish")
        if isinstance(statement, Forever):
            return Code(block[: k + 1])
    return Code(block)
