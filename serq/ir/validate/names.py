"""The program's own words for its slots, pools, stages and expressions, as messages print them."""

from __future__ import annotations

from collections.abc import Sequence

from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import tables

_DEEPEST = 5
_LONGEST = 80


class Names:
    """Names of what an index means; an index that names nothing is printed as such."""

    def __init__(self, program: pr.Program) -> None:
        self._attrs = program.attrs
        self._observes = program.observes
        self._pools = tuple(p.label for p in program.pools)
        self._stages = tuple(s.label for s in program.stages)
        self._pool_families = tuple(p.name for p in program.pools)
        self._stage_families = tuple(s.name for s in program.stages)
        self._registers = tuple(r.name for r in program.registers)

    def attr(self, slot: int) -> str:
        """An attribute's name."""
        return _name(self._attrs, slot, "attribute")

    def observe(self, index: int) -> str:
        """An observation's name."""
        return _name(self._observes, index, "observation")

    def pool(self, index: int) -> str:
        """A pool's label."""
        return _name(self._pools, index, "pool")

    def stage(self, index: int) -> str:
        """A stage's label."""
        return _name(self._stages, index, "stage")

    def register(self, index: int) -> str:
        """A register's name."""
        return _name(self._registers, index, "register")

    def pools(self, ref: ex.CRef) -> str:
        """A pool reference as text writes it: `kv`, `kv[i]`."""
        return self._ref(ref, self._pools, self._pool_families, "pool")

    def stages(self, ref: ex.CRef) -> str:
        """A stage reference as text writes it."""
        return self._ref(ref, self._stages, self._stage_families, "stage")

    def _ref(self, ref: ex.CRef, labels: Sequence[str], families: Sequence[str], kind: str) -> str:
        if ref.index is not None:
            return f"{_name(families, ref.base, kind)}[{self.expr(ref.index)}]"
        return _name(labels if ref.count == 1 else families, ref.base, kind)

    def target(self, target: ex.CostTarget) -> str:
        """A cost's resources, as `cost(…)` lists them."""
        match target:
            case ex.PoolTarget(base=base):
                return _name(self._pool_families, base, "pool")
            case ex.StageTarget(base=base):
                return _name(self._stage_families, base, "stage")
            case ex.JointTarget(targets=parts):
                return ", ".join(self.target(t) for t in parts)
        return "nothing"

    def expr(self, e: ex.Expr) -> str:
        """An expression as text writes it, shortened when it is long."""
        text = self._expr(e, _DEEPEST)
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

    def _expr(self, e: ex.Expr, depth: int) -> str:
        if depth == 0:
            return "…"
        down = depth - 1
        match e:
            case ex.Num(value=v):
                return number(v)
            case ex.Attr(slot=slot):
                return self.attr(slot)
            case ex.Ctx(var=var):
                return tables.CONTEXT[var].text
            case ex.Reg(index=index):
                return self.register(index)
            case ex.Agg(fun=fun, observe=index):
                return f"{tables.AGGREGATE[fun].text}({self.observe(index)})"
            case ex.Unary(op=op, arg=arg):
                return tables.UNARY[op].text + self._operand(arg, down)
            case ex.Binary(op=op, left=left, right=right):
                return f"{self._operand(left, down)} {tables.BINARY[op].text} {self._operand(right, down)}"
            case ex.Cond(test=test, then=then, other=other):
                parts = [self._operand(x, down) for x in (test, then, other)]
                return f"{parts[0]} ? {parts[1]} : {parts[2]}"
            case ex.Sample(dist=dist, args=args):
                return f"~{tables.DISTRIBUTION[dist].text}({', '.join(self._expr(a, down) for a in args)})"
            case ex.Call(fun=fun, args=args):
                return f"{tables.FUNCTION[fun].text}({', '.join(self._argument(a, down) for a in args)})"
            case ex.Cost(target=target, arg=arg):
                return f"cost({self.target(target)}, {self._expr(arg, down)})"
        return "…"

    def _operand(self, e: ex.Expr, depth: int) -> str:
        text = self._expr(e, depth)
        return f"({text})" if isinstance(e, ex.Binary | ex.Cond) else text

    def _argument(self, arg: ex.Expr | ex.PoolArg | ex.StageArg, depth: int) -> str:
        if isinstance(arg, ex.Expr):
            return self._expr(arg, depth)
        families = self._pool_families if isinstance(arg, ex.PoolArg) else self._stage_families
        labels = self._pools if isinstance(arg, ex.PoolArg) else self._stages
        kind = "pool" if isinstance(arg, ex.PoolArg) else "stage"
        if arg.ref.index is None:
            return _name(labels if arg.ref.count == 1 else families, arg.ref.base, kind)
        return f"{_name(families, arg.ref.base, kind)}[{self._expr(arg.ref.index, depth)}]"


def _name(names: Sequence[str], index: int, kind: str) -> str:
    return names[index] if index < len(names) else f"{kind} {index}"


def number(x: float) -> str:
    """A number as text writes it: `3`, `0.5`, `inf`, `NaN`; a symbolic one as at its sample."""
    x = getattr(x, "sample", x)
    if x != x:
        return "NaN"
    if x in (float("inf"), float("-inf")):
        return "inf" if x > 0 else "-inf"
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x)


def and_list(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
