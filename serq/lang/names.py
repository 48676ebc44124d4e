"""One word, one thing: names that collide, that the language supplies, or that are words of it (api.md §1, §10.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from serq.lang import tree
from serq.lang.findings import Findings
from serq.lang.resolve import Resolved
from serq.lang.tree import Name
from serq.lang.vocabulary import (
    BUILTINS,
    ENGINE_WORDS,
    PARAMETER_WORDS,
    QUEUE_WORDS,
    RESOURCE_WORDS,
    SUPPLIED,
    WORDS,
)
from serq.lang.walk import find

_CONSTANT, _DEFINITION, _OBSERVATION = "a constant", "a definition", "an observation"
_ATTRIBUTE, _BINDING, _REGISTER = "an attribute", "a binding of an admission", "a register"
_OWN_KINDS = frozenset({"a queue's pool", "a queue's device"})
# How an engine wrote these before.
_OLD_CLAUSES = {
    "memory": "an engine's memory is the pool on its device",
    "budget": "an iteration's budget is `tokens cap e;`",
    "chunk": "a chunk is `each at most (e)` in the schedule",
    "cost": "an iteration's time is `execute (e);`",
}
# Names a queue's own pool or device may not share, being read bare in its body.
_READ_BARE = frozenset({_CONSTANT, _DEFINITION, _ATTRIBUTE, _BINDING})
_UNCHECKED = frozenset({_OBSERVATION, "a gauge", "a device", _DEFINITION, "a claim"})


@dataclass(frozen=True)
class Declared:
    """A name, what it names, and the queue it is read in when it is a queue's own."""

    name: Name
    kind: str
    queue: str | None = None
    local: bool = False


def check_names(resolved: Resolved, findings: Findings, client_tool: tree.Node | None) -> None:
    """Report every name that means two things or is not the program's to give (SQ309-SQ314, SQ325).

    `client_tool` is the `tool` that runs on a stage of the workload's own, if there is one.
    """
    checker = _Checker(findings)
    declared = list(_declared(resolved))
    if client_tool is not None:
        declared.append(Declared(Name(client_tool.span, "tool"), "the stage of the client's tool"))
    declared.sort(key=lambda d: _order(d.name, findings))
    for item in declared:
        checker.word(item)
    for item in declared:
        checker.add(item)
    checker.indices(resolved.indices)
    _check_lists(resolved, findings)


def _check_lists(resolved: Resolved, findings: Findings) -> None:
    """Parameters of one list differ; what a device or an engine lists is no word of the language."""
    for item in resolved.items:
        for node in find(item, tree.Entry, tree.Request, tree.TimeResource, tree.Device, tree.Engine):
            match node:
                case tree.Entry() | tree.Request():
                    _check_twice(node.parameters, findings)
                case tree.TimeResource():
                    _check_twice(node.parameters, findings)
                    _check_time(node, resolved, findings)
                case tree.Device():
                    _check_capacities(node, node.resources, RESOURCE_WORDS, findings)
                case tree.Engine():
                    _check_capacities(node, node.items, WORDS, findings)


def _check_twice(parameters: tuple[Name, ...], findings: Findings) -> None:
    seen: set[str] = set()
    for parameter in parameters:
        if parameter.text in seen:
            message = f"`{parameter.text}` is a parameter twice"
            findings.error("SQ237", message, parameter, hint="name one of them otherwise")
        seen.add(parameter.text)


def _check_capacities(
    owner: tree.Device | tree.Engine, items: tuple[tree.Node, ...], words: frozenset[str], findings: Findings
) -> None:
    """What a device or an engine admits by is no word of the language; an engine's old clauses were."""
    owning = "a device's memory" if isinstance(owner, tree.Device) else "what an engine admits by"
    for item in items:
        if isinstance(item, tree.Capacity) and item.name.text in words - SUPPLIED:
            text = item.name.text
            message = f"`{text}` is a word of the language: {owning} needs another name"
            hint = _OLD_CLAUSES.get(text) if isinstance(owner, tree.Engine) else None
            findings.error("SQ309", message, item.name, hint=hint or "choose another name")


def _check_time(node: tree.TimeResource, resolved: Resolved, findings: Findings) -> None:
    name = node.name
    for parameter in node.parameters:
        if parameter.text in PARAMETER_WORDS | SUPPLIED:
            message = f"`{parameter.text}` is a word of the language: a parameter needs another name"
            findings.error("SQ309", message, parameter, hint="choose another name")
    definition = resolved.definitions.by_name.get(name.text)
    if definition is not None:
        message = f"`{name.text}` is a definition, and a time resource is called the same way"
        note = f"it is defined at {findings.where(definition.node.name)}"
        findings.error("SQ311", message, name, note=note, hint="rename one of them")
    elif name.text in RESOURCE_WORDS:
        message = f"`{name.text}` is a word of the language: a time resource needs another name"
        findings.error("SQ309", message, name, hint="choose another name")


def _order(name: Name, findings: Findings) -> tuple[bool, str, int, int]:
    """Libraries first, then the order of the text."""
    place = findings.place(name)
    own = place.file == findings.file
    return own, place.file or "", name.span.line, name.span.column


def _declared(resolved: Resolved) -> Iterator[Declared]:
    yield from (Declared(name, _CONSTANT) for name in resolved.constants.values())
    yield from (Declared(d.node.name, _DEFINITION) for d in resolved.definitions.by_name.values())
    for item in resolved.items:
        match item:
            case tree.Pool(name=name):
                yield Declared(name, "a pool")
            case tree.Stage(name=name):
                yield Declared(name, "a stage")
            case tree.Device(name=name):
                yield Declared(name, "a device")
            case tree.Gauge(name=name):
                yield Declared(name, "a gauge")
            case tree.Claim(name=name):
                yield Declared(name, "a claim")
            case tree.Engine(name=Name() as name):
                yield Declared(name, "an engine")
                yield from _engine(item)
            case tree.Queue():
                yield from _queue(item)
        yield from _statements(item)


def _engine(engine: tree.Engine) -> Iterator[Declared]:
    for item in engine.items:
        if isinstance(item, tree.State):
            yield Declared(item.name, _REGISTER)
        elif isinstance(item, tree.Schedule):
            yield from (Declared(let.name, "a schedule's let") for let in item.lets)
        elif isinstance(item, tree.Request):
            yield from _parameters(item)


def _parameters(node: tree.Request | tree.Entry) -> Iterator[Declared]:
    return (Declared(p, "a parameter") for p in node.parameters)


def _queue(queue: tree.Queue) -> Iterator[Declared]:
    name = queue.name.text
    yield Declared(queue.name, "a queue")
    for member in queue.members:
        match member:
            case tree.Pool(name=own):
                yield Declared(own, "a queue's pool", name)
            case tree.Device(name=own):
                yield Declared(own, "a queue's device", name)
            case tree.Engine():
                yield from _engine(member)
            case tree.Entry():
                yield from _parameters(member)


def _statements(item: tree.Item) -> Iterator[Declared]:
    """The names statements assign, observe and bind."""
    gateway = isinstance(item, tree.Queue) and any(r.text == "gateway" for r in item.roles)
    is_local = isinstance(item, tree.Queue) and not gateway
    of_registers = {
        id(n) for schedule in find(item, tree.Schedule) for n in find(schedule, *tree.ASSIGNMENTS)
    }
    for node in find(item, *tree.ASSIGNMENTS):
        if id(node) not in of_registers:
            yield Declared(node.name, _ATTRIBUTE, local=is_local)
    for observe in find(item, tree.Observe):
        yield Declared(observe.name, _OBSERVATION)
    for binding in find(item, tree.Binding):
        yield Declared(binding.name, _BINDING)


class _Checker:
    """The names met so far, by their text."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.seen: dict[str, list[Declared]] = {}

    # Words and supplied names

    def word(self, item: Declared) -> None:
        """A name that is not the program's to give."""
        text, kind = item.name.text, item.kind
        if text in SUPPLIED:
            message = f"`{text}` is a name the language supplies: {kind} needs another name"
            self.findings.error("SQ312", message, item.name, hint="choose another name")
        elif text in BUILTINS and kind not in (_ATTRIBUTE, "a parameter", "a schedule's let"):
            self._built_in(item)
        elif text in _WORDS.get(kind, frozenset()):
            message = f"`{text}` is a word of the language: {kind} needs another name"
            self.findings.error("SQ309", message, item.name, hint="choose another name")

    def _built_in(self, item: Declared) -> None:
        message = f"`{item.name.text}` is an attribute every session has: {item.kind} needs another name"
        self.findings.error("SQ313", message, item.name, hint="choose another name")

    # Collisions

    def add(self, item: Declared) -> None:
        """A name and everything of its text declared before it."""
        if item.kind == "a parameter":
            return
        earlier = self.seen.setdefault(item.name.text, [])
        for other in earlier:
            if _collide(item, other):
                self._collision(item, other)
                break
        if not any(o.kind == item.kind and o.queue == item.queue and o.local == item.local for o in earlier):
            earlier.append(item)

    def _collision(self, item: Declared, other: Declared) -> None:
        text = item.name.text
        note = f"it is {other.kind} at {self.findings.where(other.name)}"
        if {item.kind, other.kind} == {_CONSTANT, _ATTRIBUTE}:
            message = f"`{text}` is both a constant and an attribute the program sets"
            self.findings.error("SQ314", message, item.name, note=note, hint="rename one of them")
        else:
            message = f"`{text}` names {item.kind} here and {other.kind} elsewhere"
            self.findings.error("SQ311", message, item.name, note=note, hint="rename one of them")

    def indices(self, indices: Mapping[str, Name]) -> None:
        """An aggregate's index is a name the program does not have (SQ325)."""
        for text, name in indices.items():
            others = [o.kind for o in self.seen.get(text, ()) if o.kind not in _UNCHECKED and not o.local]
            others = [k for k in others if k not in _OWN_KINDS and k not in (_BINDING, _REGISTER)]
            kind = others[0] if others else _AN_ATTRIBUTE if text in BUILTINS else None
            if text in SUPPLIED:
                kind = "a name the language supplies"
            if kind is not None:
                message = f"the index `{text}` is also {kind}"
                self.findings.error("SQ325", message, name, hint="give the index a name of its own")


_AN_ATTRIBUTE = "an attribute every session has"
_WORDS = {
    "a parameter": frozenset({"self"}),
    "an engine": ENGINE_WORDS,
    "a device": ENGINE_WORDS,
    "a queue": QUEUE_WORDS,
}


def _collide(item: Declared, other: Declared) -> bool:
    """Whether two declarations of one text may not stand beside each other."""
    kinds = {item.kind, other.kind}
    own = [d for d in (item, other) if d.kind in _OWN_KINDS]
    if "a schedule's let" in kinds:
        return bool(kinds & {_CONSTANT, _DEFINITION})
    if len(own) == 2:
        return item.queue == other.queue and item.kind != other.kind
    if own:
        return bool(kinds & _READ_BARE)
    if kinds == {_CONSTANT, _ATTRIBUTE}:
        return not (item.local or other.local)
    if _REGISTER in kinds:
        return not kinds & (_UNCHECKED - {_REGISTER})
    return item.kind != other.kind
