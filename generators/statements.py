"""Statements of the IR as the session program of the model, a tree (lean-model.md §4, §11)."""

from __future__ import annotations

from dataclasses import dataclass

from serq.diagnostics import IrPath
from serq.generators.expressions import Expressions, refuse_unnatural
from serq.generators.model import (
    Assign,
    Block,
    Choice,
    Finish,
    Forever,
    Hold,
    Lit,
    Need,
    NextTurn,
    Repeat,
    See,
    Statement,
    Term,
    Work,
)
from serq.generators.refusals import Refusals, Rule
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.validate.constants import feeding_guards

Held = frozenset[int]
_ENDING = (st.Loop, st.End)


@dataclass
class Statements:
    """Translates the blocks a session executes. `memory` is the engine's memory pool."""

    program: pr.Program
    expressions: Expressions
    refusals: Refusals
    memory: int | None

    def session(self) -> Block:
        """The session program."""
        return self.block(self.program.session, frozenset())

    def block(self, index: int, held: Held) -> Block:
        """A block, executed while the pools `held` are held."""
        stmts = self.program.blocks[index]
        for k, stmt in enumerate(stmts[:-1]):
            if isinstance(stmt, _ENDING):
                path = ("blocks", index, k + 1)
                message = f"a statement after a {type(stmt).__name__} is never reached"
                self.refusals.refuse(Rule.STRUCTURE, path, message, "remove it")
        found = (self.statement(s, ("blocks", index, k, type(s).__name__), held) for k, s in enumerate(stmts))
        return tuple(s for s in found if s is not None)

    def statement(self, stmt: st.Stmt, path: IrPath, held: Held) -> Statement | None:
        """One statement; None when it is refused."""
        self.refusals.know(stmt, path)
        match stmt:
            case st.Turn():
                return NextTurn()
            case st.End():
                return Finish()
            case st.Set(slot=slot, value=value):
                self._assignable(slot, path)
                return Assign(slot, self._term(value, (*path, 1)))
            case st.Observe(observe=name, value=value):
                return See(name, self._term(value, (*path, 1)))
            case st.Branch(guard=guard, then=then, other=other):
                test = self._term(guard, (*path, 0))
                return Choice(test, self.block(then, held), self.block(other, held))
            case st.Loop(body=body):
                return Forever(self._repeated(body, path, held))
            case st.While(guard=guard, body=body):
                return Repeat(self._guard(guard, (*path, 0)), self._repeated(body, path, held))
            case st.Run():
                return self._run(stmt, path, held)
            case st.Hold():
                return self._hold(stmt, path, held)
            case _:
                word = type(stmt).__name__
                self.refusals.refuse(Rule.STATEMENTS, path, f"the statement `{word}` is not modelled")
                return None

    def _term(self, e: ex.Expr, path: IrPath) -> Term:
        return self.expressions.term(e, path, self.expressions.session)

    def _assignable(self, slot: int, path: IrPath) -> None:
        if slot in (self.program.slot_cached, self.program.slot_serial):
            name = self.program.attrs[slot]
            self.refusals.refuse(Rule.STATEMENTS, path, f"`{name}` is assigned, which only the machine may")

    # Loops and guards

    def _repeated(self, body: int, path: IrPath, held: Held) -> Block:
        made = self.block(body, held)
        if not runs(made):
            message = "a pass through the loop may not reach a run"
            self.refusals.refuse(Rule.STRUCTURE, path, message, "put a run on every path through the body")
        return made

    def _guard(self, guard: ex.Expr, path: IrPath) -> Term:
        if not self._is_truth(guard):
            hint = "write a comparison, or read `more` where nothing sets it and every turn gives it 0 or 1"
            self.refusals.refuse(Rule.GUARDS, path, "the guard of a while is not certainly 0 or 1", hint)
        refuse_unnatural(self.refusals, Rule.GUARDS, guard, path, "the guard of a while")
        return self._term(guard, path)

    def _is_truth(self, e: ex.Expr) -> bool:
        match e:
            case ex.Num(value=value):
                return value in (0.0, 1.0)
            case ex.Attr(slot=slot):
                return slot == self.program.slot_more and self._gives_truths(slot)
            case ex.Unary(op="Not"):
                return True
            case ex.Binary(op=op):
                return op in ("Lt", "Le", "Gt", "Ge", "Eq", "Ne", "And", "Or")
            case ex.Cond(then=then, other=other):
                return self._is_truth(then) and self._is_truth(other)
            case _:
                return False

    def _gives_truths(self, slot: int) -> bool:
        """Whether nothing sets a slot and every value the workload gives it is 0 or 1."""
        blocks = (s for block in self.program.blocks for s in block)
        if any(st.assigned(s) == slot for s in blocks) or not isinstance(self.program.arrival, pr.Sessions):
            return False
        given = (p for s in self.program.arrival.sessions for p in (s.attrs, *(s.turns or ())))
        return all(v in (0.0, 1.0) for preset in given for k, v in preset if k == slot)

    # Runs and holds

    def _run(self, run: st.Run, path: IrPath, held: Held) -> Statement:
        stage = self.refusals.single(run.stage, (*path, "stage"), "stage")
        if run.also:
            self.refusals.refuse(Rule.STATEMENTS, (*path, "also"), "a run over several stages")
        if (run.mode == "Plain") != (stage != 0):
            where = "on the engine" if stage == 0 else "off the engine"
            self.refusals.refuse(Rule.STATEMENTS, path, f"a run of mode {run.mode} {where}")
        work = self._term(run.work, (*path, "work"))
        if run.mode == "Plain":
            return Work("delay", work)
        grows = run.growing is not None and self._grows(run.growing, (*path, "growing"), held)
        return Work("prefill" if run.mode == "Prefill" else "decode", work, grows)

    def _grows(self, ref: ex.CRef, path: IrPath, held: Held) -> bool:
        pool = self.refusals.single(ref, path, "pool")
        if pool != self.memory:
            self.refusals.refuse(Rule.STATEMENTS, path, "a run grows another pool than the engine's memory")
        elif pool not in held:
            self.refusals.refuse(Rule.STRUCTURE, path, "a run grows a pool outside a hold of it")
        return True

    def _hold(self, hold: st.Hold, path: IrPath, held: Held) -> Statement:
        if hold.lease is not None:
            self.refusals.refuse(Rule.STATEMENTS, (*path, "lease"), "a lease is not modelled")
        needs = tuple(self._need(part, (*path, "pools", i)) for i, part in enumerate(hold.pools))
        taken = [n.pool for n in needs]
        if len(set(taken)) < len(taken) or held.intersection(taken):
            message = "a pool is held twice by one session"
            self.refusals.refuse(Rule.STRUCTURE, (*path, "pools"), message, "hold each pool once")
        body = self.block(hold.body, held.union(taken))
        reuse = None if hold.reuse is None else self._term(hold.reuse, (*path, "reuse"))
        cache = None if hold.cache is None else self._term(hold.cache, (*path, "cache"))
        if cache is not None:
            for i, need in enumerate(needs):
                self._caches(need, (*path, "pools", i))
        return Hold(needs, body, reuse, cache)

    def _caches(self, need: Need, path: IrPath) -> None:
        """A pool without blocks evicts a cached prefix as a whole (interp.md §8.7), the model unit by unit."""
        blocks = self.program.pools[need.pool].block is not None
        one = isinstance(need.units, Lit) and need.units.value <= 1 and need.pool != self.memory
        if not blocks and not one:
            name = self.program.pools[need.pool].name
            message = f"a prefix of several units is cached in `{name}`, which has no blocks"
            self.refusals.refuse(Rule.POOLS, path, message, "give the pool a block")

    def _need(self, part: st.HoldPool, path: IrPath) -> Need:
        self.refusals.know(part, path)
        pool = self.refusals.single(part.pool, (*path, 0), "pool")
        units = self._term(part.units, (*path, 1))
        reserve = None if part.reserve is None else self._term(part.reserve, (*path, 2))
        return Need(pool, units, None if reserve == Lit(0) else reserve)


def runs(block: Block) -> bool:
    """Whether every way through a block passes a run, or ends the session."""
    return any(_runs(s) for s in block)


def _runs(s: Statement) -> bool:
    match s:
        case Work() | Finish() | Forever():
            return True
        case Choice(yes=yes, no=no):
            return runs(yes) and runs(no)
        case Hold(body=body):
            return runs(body)
        case _:
            return False


def check_feeding(program: pr.Program, refusals: Refusals) -> None:
    """What feeds the guard of a while through assignments is neither subtracted nor divided by a variable."""
    sets = [
        (("blocks", b, k, "Set", 1), s)
        for b, block in enumerate(program.blocks)
        for k, s in enumerate(block)
        if isinstance(s, st.Set)
    ]
    fed = feeding_guards(program)
    for path, s in sets:
        if s.slot in fed:
            where = f"a value of `{program.attrs[s.slot]}`, which feeds the guard of a while"
            refuse_unnatural(refusals, Rule.GUARDS, s.value, path, where)
