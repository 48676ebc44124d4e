"""Terms of the model as Lean text, with named constants for slots, pools and observations (generators.md §4, §8)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from serq.generators import model as m
from serq.generators.dense_slots import slots_of

# Infix operators with how tightly they bind; all associate to the left.
_INFIX = {"add": ("+", 65), "sub": ("-", 65), "mul": ("*", 70), "div": ("/", 70)}
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_']*")
_RESERVED = frozenset(
    [
        "abbrev",
        "at",
        "attribute",
        "axiom",
        "by",
        "calc",
        "class",
        "def",
        "deriving",
        "do",
        "else",
        "end",
        "example",
        "export",
        "extends",
        "for",
        "forall",
        "from",
        "fun",
        "have",
        "if",
        "import",
        "in",
        "include",
        "inductive",
        "infix",
        "instance",
        "let",
        "local",
        "macro",
        "match",
        "meta",
        "mut",
        "mutual",
        "namespace",
        "noncomputable",
        "notation",
        "open",
        "opaque",
        "partial",
        "prefix",
        "private",
        "protected",
        "public",
        "rec",
        "return",
        "section",
        "set_option",
        "show",
        "structure",
        "syntax",
        "termination_by",
        "then",
        "theorem",
        "this",
        "unsafe",
        "universe",
        "variable",
        "where",
        "while",
        "with",
        "sorry",
        "Type",
        "Prop",
        "Sort",
        "mk",
    ]
)


@dataclass(frozen=True)
class Constant:
    """A named number."""

    name: str
    value: int


def mangled(name: str) -> str:
    """A name of a program as a Lean identifier."""
    plain = re.sub(r"[^A-Za-z0-9_']", "_", name).strip("_") or "x"
    if not _IDENTIFIER.fullmatch(plain):
        plain = f"n{plain}"
    return f"«{plain}»" if plain in _RESERVED else plain


def constants(names: Sequence[str], used: Iterable[int]) -> dict[int, Constant]:
    """A constant for each index that is used; names that collide get their number."""
    chosen = sorted(set(used))
    made = {i: mangled(names[i]) for i in chosen}
    taken = list(made.values())
    return {
        i: Constant(name if taken.count(name) == 1 else f"{name.strip('«»')}_{i}", i)
        for i, name in made.items()
    }


class LeanText:
    """Writes the parts of one translated program."""

    def __init__(self, t: m.Translated, named: Iterable[int] = ()) -> None:
        """`named` are slots that get a name although the program does not speak of them."""
        self.t = t
        self.slots = constants(t.attrs, {*named, *slots_of(t)})
        self.pools = constants(t.pool_names, range(len(t.pool_names)))
        self.observes = constants(t.observes, range(len(t.observes)))
        self.shapes = _shapes(t.clients)

    # Terms

    def term(self, t: m.Term) -> str:
        """A term, without parentheses around it."""
        match t:
            case m.Lit(value=value):
                return str(value)
            case m.Var():
                return self._variable(t)
            case m.Not(arg=arg):
                return f".not {self.atom(arg)}"
            case m.If(test=a, yes=b, no=c):
                return f".cond {self.atom(a)} {self.atom(b)} {self.atom(c)}"
            case m.Bin(op=op, left=a, right=b) if op in _INFIX:
                sign, binding = _INFIX[op]
                return f"{self._operand(a, binding)} {sign} {self._operand(b, binding + 1)}"
            case m.Bin(op=op, left=a, right=b):
                return f".{op} {self.atom(a)} {self.atom(b)}"

    def atom(self, t: m.Term) -> str:
        """A term as an argument."""
        text = self.term(t)
        return text if isinstance(t, m.Lit) else f"({text})"

    def _operand(self, t: m.Term, binding: int) -> str:
        text = self.term(t)
        loose = isinstance(t, m.Bin) and t.op in _INFIX and _INFIX[t.op][1] < binding
        return f"({text})" if loose else text

    def _variable(self, v: m.Var) -> str:
        match v.name, v.index:
            case "attr", int(slot):
                return f"attr Slot.{self.slots[slot].name}"
            case "residentAttr", int(slot):
                return f".var (.attr Slot.{self.slots[slot].name})"
            case name, int(pool):
                return f".var (.{name} Pools.{self.pools[pool].name})"
            case name, _:
                return f".var .{name}"

    # Programs

    @property
    def code(self) -> str:
        """The session program, a statement a line."""
        return self.block(self.t.code)

    def block(self, block: m.Block) -> str:
        """A position in the program, a statement a line."""
        return "\n".join(self._block(block, "  "))

    def header(self, needs: Sequence[m.Need], reuse: m.Term | None, cache: m.Term | None) -> str:
        """The clauses of a hold."""
        return "\n".join(self._header(m.Hold(tuple(needs), (), reuse, cache), "  "))

    def _block(self, block: m.Block, pad: str) -> list[str]:
        lines: list[str] = []
        for s in block:
            lines += self._statement(s, pad)
            if isinstance(s, m.Finish | m.Forever):
                return lines
            lines[-1] += " <|"
        return [*lines, f"{pad}.done"]

    def _statement(self, s: m.Statement, pad: str) -> list[str]:
        match s:
            case m.Finish():
                return [f"{pad}.finish"]
            case m.NextTurn():
                return [f"{pad}.turn"]
            case m.Assign(slot=slot, value=value):
                return [f"{pad}.set Slot.{self.slots[slot].name} {self.atom(value)}"]
            case m.See(name=name, value=value):
                return [f"{pad}.observe Seen.{self.observes[name].name} {self.atom(value)}"]
            case m.Work(place=place, work=work, grows=grows):
                where = ".delay" if place == "delay" else f"(.{place} {str(grows).lower()})"
                return [f"{pad}.run {where} {self.atom(work)}"]
            case m.Forever(body=body):
                return [f"{pad}.loop", *self._nested(body, pad)]
            case m.Repeat(test=test, body=body):
                return [f"{pad}.while {self.atom(test)}", *self._nested(body, pad)]
            case m.Choice(test=test, yes=yes, no=no):
                return [f"{pad}.branch {self.atom(test)}", *self._nested(yes, pad), *self._nested(no, pad)]
            case m.Hold(body=body):
                return [f"{pad}.hold", *self._header(s, pad + "  "), *self._nested(body, pad)]

    def _nested(self, block: m.Block, pad: str) -> list[str]:
        lines = self._block(block, pad + "    ")
        lines[0] = f"{pad}  ({lines[0].strip()}"
        lines[-1] += ")"
        return lines

    def _header(self, h: m.Hold, pad: str) -> list[str]:
        needs = [self._need(n, pad + "    ") for n in h.needs]
        lines = [f"{pad}{{ needs := [", *_separated(needs)]
        lines[-1] += "]"
        for name, value in (("reuse", h.reuse), ("cache", h.cache)):
            if value is not None:
                lines.append(f"{pad}  {name} := some {self.atom(value)}")
        lines[-1] += " }"
        return lines

    def _need(self, n: m.Need, pad: str) -> list[str]:
        pool, units = f"pool := Pools.{self.pools[n.pool].name}", f"units := {self.term(n.units)}"
        if n.reserve is None:
            return [f"{pad}{{ {pool}, {units} }}"]
        return [f"{pad}{{ {pool}", f"{pad}  {units}", f"{pad}  reserve := {self.term(n.reserve)} }}"]

    # Deployments

    @property
    def deployment(self) -> list[str]:
        """The fields of the deployment, one a line."""
        d = self.t.deployment
        pools = [self._pool(p) for p in d.pools]
        fields = ["pools := [", *_separated([[f"  {p}"] for p in pools])]
        fields[-1] += "]"
        fields.append(f"budget := {d.budget}")
        if d.chunk != m.Lit(0):
            fields.append(f"chunk := {self.term(d.chunk)}")
        if d.memory is not None:
            fields.append(f"memory := some Pools.{self.pools[d.memory].name}")
        fields.append(f"cost := {self.term(d.cost)}")
        if d.only is not None:
            fields.append(f"only := some {self.atom(d.only)}")
        return fields

    def _pool(self, p: m.PoolSpec) -> str:
        parts = [f"cap := {p.cap}"]
        if p.block != 1:
            parts.append(f"block := {p.block}")
        if p.by_engine:
            parts.append("byEngine := true")
        if p.key is not None:
            parts.append(f"key := some {self.atom(p.key)}")
        return "{ " + ", ".join(parts) + " }"

    # Workloads

    @property
    def givers(self) -> list[str]:
        """Functions that pair values with slots, one for each set of slots that a workload gives."""
        made = []
        for shape, name in self.shapes.items():
            names = [self.slots[s].name for s in shape]
            args = " ".join(f"{n.strip('«»')}_" for n in names)
            pairs = ", ".join(f"(Slot.{n}, {n.strip('«»')}_)" for n in names)
            made.append(f"def {name} ({args} : Nat) : List (Nat × Nat) := [{pairs}]")
        return made

    @property
    def clients(self) -> list[str]:
        """The sessions, one a line, up to the end of their list."""
        lines = _separated([[self._client(c)] for c in self.t.clients]) or [""]
        lines[-1] += "]"
        return lines

    def _client(self, c: m.Client) -> str:
        parts = []
        if c.presets:
            parts.append(f"presets := {self._given(c.presets)}")
        if c.turns:
            parts.append(f"turns := [{', '.join(self._given(t) for t in c.turns)}]")
        return "{ " + ", ".join(parts) + " }" if parts else "{}"

    def _given(self, values: m.Values) -> str:
        if not values:
            return "[]"
        name = self.shapes[tuple(slot for slot, _ in values)]
        return " ".join([name, *(str(v) for _, v in values)])

    @property
    def machine_slots(self) -> list[str]:
        """The slots the machine writes."""
        s = self.t.slots
        return [
            f"turnSlot := some Slot.{self.slots[s.turn].name}",
            f"moreSlot := some Slot.{self.slots[s.more].name}",
            f"computedSlot := some Slot.{self.slots[s.computed].name}",
        ]


def _shapes(clients: Iterable[m.Client]) -> dict[tuple[int, ...], str]:
    given = (v for c in clients for v in (c.presets, *c.turns) if v)
    shapes = dict.fromkeys(tuple(slot for slot, _ in v) for v in given)
    return {shape: "given" if i == 0 else f"given{i + 1}" for i, shape in enumerate(shapes)}


def _separated(items: Sequence[list[str]]) -> list[str]:
    """The lines of items with a comma after each but the last."""
    lines: list[str] = []
    for item in items:
        if lines:
            lines[-1] += ","
        lines += item
    return lines
