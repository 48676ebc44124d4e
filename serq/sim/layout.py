"""Blocks to a flat program: a session is a program counter over statically known scopes (001 §5).

The program has no procedures, so the holds open at a point are the scopes around
it, and a preemption is a jump to the instruction that opens its scope.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from serq.diagnostics import IrPath
from serq.ir import statements as st
from serq.ir.program import Program

Kind = Literal[
    "Straight",
    "Branch",
    "Jump",
    "Open",
    "Close",
    "Run",
    "Grow",
    "Drop",
    "Release",
    "Load",
    "Choose",
    "Fork",
    "Join",
    "End",
    "Finish",
    "LegEnd",
]


@dataclass
class Scope:
    """A hold statement: where it opens, what encloses it."""

    stmt: st.Hold
    path: IrPath
    number: int
    parent: Scope | None
    opens: int = -1
    closes: int = -1


@dataclass(frozen=True)
class Answer:
    """The point where the server's statements of a turn are done; it stands in no block."""


@dataclass
class Instruction:
    """One step of a session. `target` is where a branch, a jump or a fork leads.

    A `Straight` instruction is a run of assignments, observations, turns and answers.
    """

    kind: Kind
    path: IrPath
    stmt: st.Stmt | None = None
    target: int = -1
    scope: Scope | None = None
    straight: list[tuple[st.Stmt | Answer, IrPath]] = field(default_factory=list)


@dataclass
class Layout:
    """The instructions of the session program, its scopes, and where it starts."""

    code: list[Instruction]
    scopes: list[Scope]


def lay_out(program: Program) -> Layout:
    """Compile the session block and every body reached from it."""
    builder = _Builder(program)
    builder.block(program.session, None)
    builder.emit(Instruction("Finish", ("blocks", program.session)))
    return Layout(builder.code, builder.scopes)


class _Builder:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.code: list[Instruction] = []
        self.scopes: list[Scope] = []
        self._landing = 0

    def here(self) -> int:
        """The next instruction's place, as the target of a jump: nothing before it runs on into it."""
        self._landing = len(self.code)
        return self._landing

    def emit(self, instruction: Instruction) -> int:
        self.code.append(instruction)
        return len(self.code) - 1

    def block(self, index: int, scope: Scope | None) -> None:
        """Instructions of one block; a turn's answer stands where the workload takes over again."""
        unanswered = False
        sides = self.program.sides[index]
        for k, stmt in enumerate(self.program.blocks[index]):
            path: IrPath = ("blocks", index, k)
            if unanswered and sides[k] == "Workload":
                self.straight(Answer(), path)
                unanswered = False
            if isinstance(stmt, st.Turn):
                unanswered = True
            self.statement(stmt, path, scope)
        if unanswered:
            self.straight(Answer(), ("blocks", index))

    def statement(self, stmt: st.Stmt, path: IrPath, scope: Scope | None) -> None:
        match stmt:
            case st.Set() | st.Observe() | st.Turn():
                self.straight(stmt, path)
            case st.Branch(then=then, other=other):
                self.branch(stmt, path, then, other, scope)
            case st.While(body=body):
                top = self.emit(Instruction("Branch", path, stmt))
                self.block(body, scope)
                self.emit(Instruction("Jump", path, target=top))
                self.code[top].target = self.here()
            case st.Loop(body=body):
                top = self.here()
                self.block(body, scope)
                self.emit(Instruction("Jump", path, target=top))
            case st.Hold(body=body):
                self.hold(stmt, path, body, scope)
            case st.Fork(body=body):
                fork = self.emit(Instruction("Fork", path, stmt))
                self.block(body, scope)
                self.emit(Instruction("LegEnd", path))
                self.code[fork].target = self.here()
            case _:
                kind: Kind = type(stmt).__name__  # type: ignore[assignment]
                self.emit(Instruction(kind, path, stmt, scope=scope))

    def straight(self, stmt: st.Stmt | Answer, path: IrPath) -> None:
        last = self.code[-1] if len(self.code) > self._landing else None
        if last is not None and last.kind == "Straight":
            last.straight.append((stmt, path))
        else:
            self.emit(Instruction("Straight", path, straight=[(stmt, path)]))

    def branch(self, stmt: st.Stmt, path: IrPath, then: int, other: int, scope: Scope | None) -> None:
        top = self.emit(Instruction("Branch", path, stmt))
        self.block(then, scope)
        if not self.program.blocks[other]:
            self.code[top].target = self.here()
            return
        leave = self.emit(Instruction("Jump", path))
        self.code[top].target = self.here()
        self.block(other, scope)
        self.code[leave].target = self.here()

    def hold(self, stmt: st.Hold, path: IrPath, body: int, parent: Scope | None) -> None:
        scope = Scope(stmt, path, len(self.scopes), parent)
        self.scopes.append(scope)
        scope.opens = self.emit(Instruction("Open", path, stmt, scope=scope))
        self.block(body, scope)
        scope.closes = self.emit(Instruction("Close", path, stmt, scope=scope))
