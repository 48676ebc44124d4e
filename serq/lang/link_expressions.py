"""The last pass, expressions: names to slots, indices and variables of the IR (api.md §2.3, §2.6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from serq.diagnostics import suggestion
from serq.ir import expressions as ex
from serq.ir.depth import MAX_DEPTH
from serq.ir.symbolic import number
from serq.ir.tables import Param
from serq.lang import tree
from serq.lang.constants import NotConstant, plural, shown, value_of
from serq.lang.findings import Findings
from serq.lang.model import Family, Model
from serq.lang.poison import POISON
from serq.lang.rewrite import draws
from serq.lang.sourcemap import Spans
from serq.lang.tree import Expr, Ref
from serq.lang.unknown import no_function
from serq.lang.vocabulary import (
    AGGREGATE_BY_NAME,
    BLOCK_SIZE,
    CONTEXT_BY_DOTTED,
    CONTEXT_BY_NAME,
    DISTRIBUTION_BY_NAME,
    FUNCTION_BY_NAME,
    RETIRED_CONTEXT,
)

_UNARY = {"-": "Neg", "!": "Not"}
_BINARY = {
    "+": "Add",
    "-": "Sub",
    "*": "Mul",
    "/": "Div",
    "^": "Pow",
    "<": "Lt",
    "<=": "Le",
    ">": "Gt",
    ">=": "Ge",
    "==": "Eq",
    "!=": "Ne",
    "&&": "And",
    "||": "Or",
}


class ExpressionLinker:
    """Turns expressions into the IR's; a name it does not know is reported and stands for 1."""

    def __init__(self, model: Model, blocks: Mapping[str, float | None], spans: Spans) -> None:
        self.model = model
        self.findings: Findings = model.findings
        self.block_sizes = blocks
        self.spans = spans
        self.attributes: dict[str, int] = {}
        self.observes: dict[str, int] = {}
        self.registers = {name: i for i, name in enumerate(model.registers)}
        # Resources whose absence is reported where a statement names them.
        self.unknown: set[str] = set()
        self.records: Mapping[str, tuple[str, ...]] = {}
        # By identity: the nodes are kept, so that an identity stays one node's.
        self._done: dict[int, tuple[Expr, ex.Expr]] = {}
        self._level = 0
        self._rules: dict[type, Callable[[Any], ex.Expr]] = {
            tree.Ref: self._name,
            tree.Call: self._call,
            tree.CostOf: self._cost,
            tree.Draw: self._draw,
            tree.Unary: self._unary,
            tree.Binary: self._binary,
            tree.Cond: self._cond,
        }

    def expr(self, node: Expr) -> ex.Expr:
        """The IR of an expression; one written once and read twice is linked once."""
        done = self._done.get(id(node))
        if done is not None:
            return done[1]
        if self._level >= MAX_DEPTH:
            return self._too_deep(node)
        self._level += 1
        rule = self._rules.get(type(node))
        linked = rule(node) if rule is not None else self._number(node)
        self._level -= 1
        self._done[id(node)] = node, linked
        self.spans.add(linked, node.span)
        return linked

    def exprs(self, nodes: Iterable[Expr]) -> tuple[ex.Expr, ...]:
        """The IR of several expressions."""
        return tuple(self.expr(n) for n in nodes)

    def maybe(self, node: Expr | None) -> ex.Expr | None:
        """The IR of an expression or nothing."""
        return None if node is None else self.expr(node)

    def _too_deep(self, node: Expr) -> ex.Expr:
        message = f"with its definitions written out, an expression is more than {MAX_DEPTH} levels deep here"
        self.findings.error("SQ008", message, node, hint="name parts of it with attributes set before it")
        return self._poison()

    # Operators

    def _number(self, node: Expr) -> ex.Expr:
        return number(node.value if isinstance(node, tree.Num) else 1.0)

    def _unary(self, node: tree.Unary) -> ex.Expr:
        return ex.Unary(op=_UNARY[node.op], arg=self.expr(node.operand))

    def _binary(self, node: tree.Binary) -> ex.Expr:
        return ex.Binary(op=_BINARY[node.op], left=self.expr(node.left), right=self.expr(node.right))

    def _cond(self, node: tree.Cond) -> ex.Expr:
        return ex.Cond(test=self.expr(node.test), then=self.expr(node.then), other=self.expr(node.otherwise))

    def _draw(self, node: tree.Draw) -> ex.Expr:
        name = node.distribution.text
        row = DISTRIBUTION_BY_NAME.get(name)
        if row is None:
            hint = (
                suggestion(name, DISTRIBUTION_BY_NAME)
                or f"the distributions: {', '.join(DISTRIBUTION_BY_NAME)}"
            )
            self.findings.error("SQ305", f"there is no distribution `{name}`", node.distribution, hint=hint)
            return self._poison()
        if len(node.arguments) != len(row.params):
            wanted = plural(len(row.params), "argument")
            message = f"`~{name}` takes {wanted} ({', '.join(row.params)}), not {len(node.arguments)}"
            self.findings.error("SQ319", message, node)
            return self._poison()
        return ex.Sample(dist=row.ir, args=self.exprs(node.arguments))

    # Names

    def _name(self, ref: Ref) -> ex.Expr:
        name = ref.name.text
        slot = self.attributes.get(name)
        if slot is not None and ref.index is None:
            return ex.Attr(slot=slot)
        if name in self.registers:
            return ex.Reg(index=self.registers[name])
        row = CONTEXT_BY_NAME.get(name) or CONTEXT_BY_DOTTED.get(name)
        if row is not None:
            return ex.Ctx(var=row.ir)
        if name == "inf":
            return ex.Num(value=math.inf)
        if name != POISON:
            self._unknown(ref)
        return self._poison()

    def _poison(self) -> ex.Expr:
        return ex.Num(value=1.0)

    def _unknown(self, ref: Ref) -> None:
        name = ref.name.text
        family = self.model.family(name)
        if family is not None:
            self._not_a_number(ref, family)
        elif name in self.records:
            fields = ", ".join(f"`{name}.{f}`" for f in self.records[name])
            message = f"`{name}` is a record of costs, not one cost"
            self.findings.error("SQ554", message, ref, hint=f"read one of its fields: {fields}")
        elif name in RETIRED_CONTEXT:
            message = f"`{name}` is a word of an earlier version"
            self.findings.error("SQ324", message, ref, hint=f"it is now `{RETIRED_CONTEXT[name]}`")
        else:
            self._no_name(ref, name)

    def _not_a_number(self, ref: Ref, family: Family) -> None:
        pool = family.name in self.model.pools
        what, query = ("pool", "used") if pool else ("stage", "queue")
        hint = f"read one of its values, as `{query}({family.name})`"
        self.findings.error("SQ307", f"`{family.name}` is a {what}, not a number", ref, hint=hint)

    def _no_name(self, ref: Ref, name: str) -> None:
        if "." in name:
            owner, _, rest = name.partition(".")
            message = (
                f"`{name}`: nothing marks or sets `{rest}` there, and `{owner}` has no pool of that name"
            )
            hint = suggestion(name, [*self.attributes, *self.model.pools])
            self.findings.error("SQ301", message, ref, hint=hint)
            return
        known = [*self.attributes, *CONTEXT_BY_NAME, *self.registers]
        hint = suggestion(name, known) or "declare it with `let`, or assign it with `set`"
        self.findings.error("SQ301", f"`{name}` is not a name of this program", ref, hint=hint)

    # Functions

    def _call(self, node: tree.Call) -> ex.Expr:
        name = node.function.text
        if name in AGGREGATE_BY_NAME:
            return self._aggregate(node)
        if name == BLOCK_SIZE:
            return self._block_size(node)
        row = FUNCTION_BY_NAME.get(name)
        if row is None:
            no_function(self.model, node)
            return self._poison()
        if len(node.arguments) != len(row.params):
            wanted = plural(len(row.params), "argument")
            self.findings.error("SQ319", f"`{name}` takes {wanted}, not {len(node.arguments)}", node)
            return self._poison()
        arguments = [self._argument(name, p, a) for p, a in zip(row.params, node.arguments, strict=True)]
        if any(a is None for a in arguments):
            return self._poison()
        return ex.Call(fun=row.ir, args=tuple(a for a in arguments if a is not None))

    def _argument(self, function: str, param: Param, node: Expr) -> ex.Expr | ex.PoolArg | ex.StageArg | None:
        if param is Param.NUMBER:
            return self.expr(node)
        what = "pool" if param is Param.POOL else "stage"
        if not isinstance(node, Ref):
            self.findings.error("SQ320", f"`{function}` reads a {what}, and this is a value", node)
            return None
        ref = self.pool(node) if param is Param.POOL else self.stage(node)
        if ref is None:
            return None
        return ex.PoolArg(ref=ref) if param is Param.POOL else ex.StageArg(ref=ref)

    def _aggregate(self, node: tree.Call) -> ex.Expr:
        name = node.function.text
        observe = node.arguments[0] if len(node.arguments) == 1 else None
        if not isinstance(observe, Ref) or observe.index is not None:
            message = f"`{name}` takes the name of an observation, as `{name}(latency)`"
            self.findings.error("SQ320", message, node)
            return self._poison()
        index = self.observes.get(observe.name.text)
        if index is None:
            known = suggestion(observe.name.text, self.observes)
            message = f"nothing observes `{observe.name.text}`"
            hint = known or f"record it: `observe {observe.name.text} = e;`"
            self.findings.error("SQ303", message, observe, hint=hint)
            return self._poison()
        return ex.Agg(fun=AGGREGATE_BY_NAME[name].ir, observe=index)

    def _block_size(self, node: tree.Call) -> ex.Expr:
        argument = node.arguments[0] if len(node.arguments) == 1 else None
        if not isinstance(argument, Ref):
            self.findings.error("SQ320", "`blocksize` reads one pool, as `blocksize(kv)`", node)
            return self._poison()
        if self.pool(argument) is None:
            return self._poison()
        name = argument.name.text
        declared = self.block_sizes.get(name)
        if name not in self.block_sizes:
            message = f"the pool `{name}` has no `block`"
            self.findings.error("SQ327", message, node, hint=f"declare it: `pool {name} {{ block b; }}`")
            return self._poison()
        return number(math.inf if declared is None else declared)

    # Resources

    def pool(self, ref: Ref) -> ex.CRef | None:
        """A reference to a pool, or None once its mistake is reported (SQ302)."""
        return self._reference(ref, self.model.pools, "pool", "SQ302")

    def stage(self, ref: Ref) -> ex.CRef | None:
        """A reference to a stage, or None once its mistake is reported (SQ304)."""
        return self._reference(ref, self.model.stages, "stage", "SQ304")

    def _reference(self, ref: Ref, table: Mapping[str, Family], what: str, code: str) -> ex.CRef | None:
        name = ref.name.text
        if name == POISON:
            return None
        family = table.get(name)
        if family is None:
            other = self.model.family(name)
            note = None
            if other is not None:
                note = f"`{name}` is a {'stage' if what == 'pool' else 'pool'}"
            hint = suggestion(name, table) or (f"declare it: `{what} {name} ...`" if other is None else None)
            self.findings.error(code, f"there is no {what} `{name}`", ref, note=note, hint=hint)
            self.unknown.add(name)
            return None
        index = self._index(ref, family)
        if index is None and family.indexed:
            return None
        made = ex.CRef(base=family.base, count=family.count, index=index)
        self.spans.add(made, ref.span)
        return made

    def _index(self, ref: Ref, family: Family) -> ex.Expr | None:
        """The index of a reference, a number when it is constant (SQ316, SQ318)."""
        if ref.index is None:
            if family.indexed:
                message = f"`{family.name}` is a family of {family.count}: say which member"
                self.findings.error("SQ316", message, ref, hint=f"write `{family.name}[i]`")
            return None
        try:
            value = value_of(ref.index)
        except NotConstant:
            return self.expr(ref.index)
        if (
            not (value == math.floor(value) if math.isfinite(value) else False)
            or not 0 <= value < family.count
        ):
            members = plural(family.count, "member")
            message = f"`{family.name}[{shown(value)}]` is no member: `{family.name}` has {members}, from 0"
            self.findings.error("SQ318", message, ref.index)
            value = 0.0
        folded = number(value)
        self.spans.add(folded, ref.index.span)
        return folded

    def _cost(self, node: tree.CostOf) -> ex.Expr:
        targets = [t for r in node.resources if (t := self._target(r)) is not None]
        amount = self.expr(node.amount)
        if len(targets) < len(node.resources):
            return self._poison()
        return ex.Cost(target=joint(targets), arg=amount)

    def _target(self, ref: Ref) -> ex.PoolTarget | ex.StageTarget | None:
        name = ref.name.text
        family = self.model.family(name)
        if name == POISON:
            return None
        if family is None and name in self.unknown:
            return None
        if family is None:
            known = [*self.model.pools, *self.model.stages]
            hint = suggestion(name, known) or "a cost names declared pools and stages"
            self.findings.error("SQ308", f"there is no pool or stage `{name}`", ref, hint=hint)
            return None
        if ref.index is not None and not self._judge_index(ref, family):
            return None
        if name in self.model.pools:
            return ex.PoolTarget(base=family.base, count=family.count)
        return ex.StageTarget(base=family.base, count=family.count)

    def _judge_index(self, ref: Ref, family: Family) -> bool:
        """The index of a cost's resource says nothing, and is judged all the same (SQ555)."""
        before = len(self.findings.found)
        assert ref.index is not None
        drawn = draws(ref.index)
        if drawn is not None:
            message = "a cost is of a whole family: the index of its resource cannot draw"
            self.findings.error("SQ555", message, drawn, hint=f"write `cost({family.name}, e)`")
        else:
            self._index(ref, family)
        return len(self.findings.found) == before


def joint(targets: list[ex.PoolTarget | ex.StageTarget]) -> ex.CostTarget:
    """The target of a cost of some resources: each once, pools first, in the order of the IR."""
    if len(targets) == 1:
        return targets[0]
    distinct = sorted(set(targets), key=lambda t: (isinstance(t, ex.StageTarget), t.base))
    return distinct[0] if len(distinct) == 1 else ex.JointTarget(targets=tuple(distinct))
