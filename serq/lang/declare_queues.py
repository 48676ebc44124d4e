"""Queues and relations put into the tables: members in order, roles and their entries (api.md §7.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serq.lang import tree
from serq.lang.constants import evaluate, shown
from serq.lang.definitions import bound_names
from serq.lang.model import Entry, Latency, PoolFamily, Queue, Relation, StageFamily, size_of

if TYPE_CHECKING:
    from serq.lang.declare import Declarer

# Verb, parameters, whether an entry may take a source.
ROLES: dict[str, tuple[str, int, bool]] = {
    "gateway": ("route", 0, False),
    "prefill": ("prefill", 1, False),
    "decode": ("decode", 1, True),
    "link": ("transfer", 1, False),
}
_ROLE_OF = {verb: role for role, (verb, _, _) in ROLES.items()}


def declare_queue(declarer: Declarer, node: tree.Queue) -> None:
    """Add a queue with its pools, stages and entries; reports members out of order (SQ780-SQ789)."""
    model, findings = declarer.model, declarer.findings
    name = node.name.text
    if name in model.queues:
        findings.error("SQ310", f"`{name}` is declared twice", node.name)
        return
    roles = frozenset(r.text for r in node.roles)
    queue = Queue(name, node, declarer.order, *size_of(node), roles)
    model.queues[name] = queue
    _check_roles(declarer, queue)
    _Members(declarer, queue).declare()
    _check_entries(declarer, queue)


def _check_roles(declarer: Declarer, queue: Queue) -> None:
    seen: set[str] = set()
    for role in queue.node.roles:
        if role.text in seen:
            declarer.findings.error("SQ781", f"the role `{role.text}` is written twice", role)
        seen.add(role.text)
    if queue.is_gateway and queue.indexed:
        message = "a gateway is one queue, not a family: requests enter it"
        declarer.findings.error("SQ781", message, queue.node.size, hint="remove the size")


class _Members:
    """Declares the members of one queue in order."""

    def __init__(self, declarer: Declarer, queue: Queue) -> None:
        self.declarer = declarer
        self.findings = declarer.findings
        self.queue = queue
        self.served: tree.Node | None = None
        self.wait: tree.Expr | None = None

    def declare(self) -> None:
        """Every member; a link's latency stage comes after all of them."""
        for member in self.queue.node.members:
            match member:
                case tree.Device():
                    self._device(member)
                case tree.Pool():
                    self._pool(member)
                case tree.Engine():
                    self._engine(member)
                case tree.Serve():
                    self._serve(member)
                case tree.Nic():
                    self._nic(member)
                case tree.Entry():
                    self._entry(member)
        if self.wait is not None:
            self.queue.latency = latency(self.declarer, self.queue, f"{self.queue.name}.latency", self.wait)

    def _late(self, member: tree.Node, what: str, *, after_stage: bool) -> None:
        """Refuse a member below one it belongs above."""
        if self.queue.entries or (after_stage and self.served is not None):
            below = "entries" if self.queue.entries else "stage"
            message = f"a queue declares its {what} above its {below}"
            self.findings.error("SQ780", message, member, hint="move it up")

    def _device(self, member: tree.Device) -> None:
        self._late(member, "device", after_stage=True)
        queue, text = self.queue, member.name.text
        if text in queue.devices:
            self.findings.error("SQ310", f"`{text}` is declared twice in queue `{queue.name}`", member.name)
            return
        size = queue.count, queue.indexed
        queue.devices[text] = self.declarer.device(member, f"{queue.name}.{text}", size)

    def _pool(self, member: tree.Pool) -> None:
        if member.owner is None:
            self._late(member, "pools", after_stage=True)
        queue, text = self.queue, member.name.text
        if text in queue.pools:
            message = f"the pool `{text}` is declared twice in queue `{queue.name}`"
            self.findings.error("SQ310", message, member.name)
            return
        owner = member.owner
        if owner is not None and not self._owns(owner):
            message = f"`{owner.name.text}` is no device of queue `{queue.name}`, nor its engine"
            hint = f"a queue's pool is on its own device, or on `{queue.name}`"
            self.findings.error("SQ306", message, owner.name, hint=hint)
            queue.pools[text] = PoolFamily(f"{queue.name}.{text}", member, queue.count, queue.indexed)
            return
        queue.pools[text] = self.declarer.pool(member, queue.node, queue.devices)

    def _owns(self, owner: tree.Owner) -> bool:
        if owner.device is not None:
            return owner.name.text == self.queue.name and owner.device.text in self.queue.devices
        return owner.name.text == self.queue.name or owner.name.text in self.queue.devices

    def _engine(self, member: tree.Engine) -> None:
        if member.name is not None:
            message = "a queue's engine has no name of its own: it is named after the queue"
            hint = f"write `engine on {member.device.text} {{ ... }}`"
            self.findings.error("SQ783", message, member.name, hint=hint)
        if not self._first_stage(member):
            return
        engine = self.declarer.engine(member, self.queue.node, self.queue.devices)
        if engine is not None:
            self.queue.engine = engine
            self.queue.stage = engine.stage

    def _serve(self, member: tree.Serve) -> None:
        if not self._first_stage(member):
            return
        queue = self.queue
        stage = StageFamily(queue.name, member, queue.count, queue.indexed, kind=member.kind)
        queue.stage = self.declarer.add_stage(stage)
        if member.latency is not None:
            if "link" not in queue.roles:
                message = "`latency` belongs to the `serve` of a link: its fixed wait"
                self.findings.error("SQ784", message, member.latency, hint="declare the queue `: link`")
                return
            self.wait = member.latency

    def _first_stage(self, member: tree.Node) -> bool:
        self._late(member, "stage", after_stage=False)
        if self.served is not None:
            message = f"queue `{self.queue.name}` has two stages"
            self.findings.error("SQ785", message, member, hint="keep one `serve` or engine")
            return False
        self.served = member
        return True

    def _nic(self, member: tree.Nic) -> None:
        self._late(member, "NIC", after_stage=False)
        queue = self.queue
        if queue.nic is not None:
            self.findings.error("SQ785", f"queue `{queue.name}` has two NICs", member, hint="keep one `nic`")
            return
        stage = StageFamily(f"{queue.name}.nic", member, queue.count, queue.indexed, kind=member.kind)
        queue.nic = self.declarer.add_stage(stage)

    def _entry(self, member: tree.Entry) -> None:
        if self._fits(member):
            self.queue.entries.append(Entry(self.queue, member, bound_names(member.body)))
        else:
            self.queue.refused.add(member.verb.text)

    def _fits(self, member: tree.Entry) -> bool:
        """Whether an entry is one its role has."""
        queue, verb = self.queue, member.verb.text
        role = _ROLE_OF.get(verb)
        if role is None:
            message = f"`{verb}` is not an entry of any role"
            verbs = ", ".join(f"`{v}`" for v, _, _ in ROLES.values())
            self.findings.error("SQ786", message, member.verb, hint=f"the entries are {verbs}")
            return False
        if role not in queue.roles:
            message = f"`{verb}` is an entry of a {role} queue, and `{queue.name}` does not play that role"
            hint = f"declare `queue {queue.name} : {role}`"
            self.findings.error("SQ786", message, member.verb, hint=hint)
            return False
        _, wanted, may_take = ROLES[role]
        if len(member.parameters) != wanted:
            count = f"{wanted} parameter" + ("" if wanted == 1 else "s")
            message = f"`{queue.name}.{verb}` takes {count}, not {len(member.parameters)}"
            self.findings.error("SQ787", message, member.verb, note=f"the role `{role}` says so")
            return False
        if member.source is not None and not may_take:
            message = f"`{verb}` takes no `from`"
            self.findings.error(
                "SQ787", message, member.source, hint="only `decode` reads another queue's KV"
            )
            return False
        if queue.entry(verb, member.source is not None) is not None:
            self.findings.error("SQ787", f"queue `{queue.name}` has `{verb}` twice", member.verb)
            return False
        return True


def _check_entries(declarer: Declarer, queue: Queue) -> None:
    findings, node = declarer.findings, queue.node
    verbs = {m.verb.text for m in node.members if isinstance(m, tree.Entry)}
    for role in node.roles:
        verb = ROLES[role.text][0] if role.text in ROLES else None
        if verb is None or role.text == "link":
            continue
        if verb not in verbs:
            message = f"queue `{queue.name}` plays `{role.text}` and has no `{verb}` entry"
            findings.error("SQ788", message, role, hint=f"write `{verb} ... {{ ... }}` in it")
    if "link" not in queue.roles:
        return
    if "transfer" in verbs and queue.latency is not None:
        message = f"queue `{queue.name}` has a `transfer` entry and a `latency`"
        findings.error("SQ788", message, node.name, hint="write the wait in the entry's body")
    elif "transfer" not in verbs and queue.stage is None:
        message = f"queue `{queue.name}` plays `link` and nothing says what a transfer over it costs"
        findings.error("SQ788", message, node.name, hint="write a `serve` or a `transfer (n) { ... }` entry")


def latency(declarer: Declarer, queue: Queue, name: str, time: tree.Expr) -> Latency | None:
    """The delay stage of a fixed wait; reports a time that is no amount (SQ789)."""
    value = evaluate(time, declarer.findings, "a latency")
    if value is None:
        return None
    if value < 0:
        message = f"a latency is not negative: this is {shown(value)}"
        declarer.findings.error("SQ789", message, time)
        return None
    stage = StageFamily(name, time, queue.count, queue.indexed, kind=tree.Delay(time.span))
    return Latency(declarer.add_stage(stage), tree.Num(time.span, value, shown(value)))


def declare_relation(declarer: Declarer, node: tree.Relation) -> None:
    """Add `D pull P` or `P push D`; reports sides that cannot be related (SQ790-SQ793)."""
    model, findings = declarer.model, declarer.findings
    sides = []
    for name in (node.reader, node.source):
        queue = model.queues.get(name.text)
        if queue is None:
            message = f"no queue `{name.text}` is declared above"
            findings.error("SQ790", message, name, hint="both queues of a relation are declared above it")
        elif queue.nic is None:
            message = f"queue `{name.text}` has no NIC for the copy to cross"
            findings.error("SQ791", message, name, hint=f"write `nic ps(e);` in `{name.text}`")
        else:
            sides.append(queue)
    model.shares.append(node)
    named = model.queues.get(node.reader.text)
    if named is not None:
        named.unrelated = len(sides) < 2
    if len(sides) < 2:
        return
    reader, source = sides
    if reader is source:
        findings.error("SQ792", "a queue reads from another one, not from itself", node.source)
        reader.unrelated = True
        return
    if reader.pulls is not None:
        note = f"`{reader.name}` reads from `{reader.pulls.source.name}` already"
        findings.error("SQ792", f"`{reader.name}` has two sources", node.reader, note=note)
        return
    relation = Relation(node, reader, source)
    reader.pulls = relation
    model.relations.append(relation)
    if node.latency is not None:
        poster = relation.poster
        relation.latency = latency(declarer, poster, f"{poster.name}.nic.latency", node.latency)
