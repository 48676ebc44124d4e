"""The second pass: pools, stages, devices, engines, queues and relations put into tables (api.md §7.3-§7.5, §7.10).

Families are numbered in the order of the IR: declarations in the order of the text, a queue's at its
place, a client's tool stage last.
"""

from __future__ import annotations

from collections.abc import Mapping

from serq.lang import tree
from serq.lang.declare_queues import declare_queue, declare_relation
from serq.lang.definitions import bound_names
from serq.lang.findings import Findings
from serq.lang.model import Device, Engine, F, Model, PoolFamily, StageFamily, size_of
from serq.lang.tree import Item


def declare(items: tuple[Item, ...], findings: Findings) -> Model:
    """The tables of a resolved program; reports repeated and misplaced declarations (SQ310, SQ75x)."""
    declarer = Declarer(Model(findings))
    for order, item in enumerate(items):
        declarer.order = order
        declarer.item(item)
    declarer.finish()
    return declarer.model


class Declarer:
    """Adds declarations to a model one by one."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.findings = model.findings
        self.order = 0
        # Engines that were refused: what stands on them is not judged.
        self.refused: set[str] = set()

    def item(self, item: Item) -> None:
        """Add one item of `fn main()`."""
        model = self.model
        match item:
            case tree.Pool():
                self.pool(item, None, {})
            case tree.Stage():
                count, indexed = size_of(item)
                self.add_stage(StageFamily(item.name.text, item, count, indexed, kind=item.kind))
            case tree.Device():
                self.device(item, item.name.text, size_of(item))
            case tree.Engine():
                self.engine(item, None)
            case tree.Queue():
                declare_queue(self, item)
            case tree.Relation():
                declare_relation(self, item)
            case tree.Share():
                model.shares.append(item)
            case tree.Gauge():
                model.gauges.append(item)
            case tree.Claim():
                model.claims.append(item)
            case tree.Workload() if model.workload is None:
                model.workload, model.workload_order = item, self.order
            case tree.Server() if model.server is None:
                model.server, model.server_order = item, self.order
            case _:
                pass  # misplaced items are reported by `serq.lang.structure`

    # Pools and stages

    def add_stage(self, family: StageFamily) -> StageFamily:
        """Number a stage after those declared so far."""
        return self._add(self.model.stages, family, "stage")

    def _add(self, table: dict[str, F], family: F, what: str) -> F:
        first = table.get(family.name)
        if first is not None:
            note = f"first declared at {self.findings.where(first.node)}"
            at = getattr(family.node, "name", None) or family.node
            self.findings.error("SQ310", f"`{family.name}` is declared twice", at, note=note)
            return first
        family.order = self.order
        return self.model.add(table, family)

    def pool(self, node: tree.Pool, queue: tree.Queue | None, devices: Mapping[str, Device]) -> PoolFamily:
        """Add a pool: one of its own, or a capacity of a device or an engine."""
        count, indexed = size_of(node)
        name = node.name.text
        if queue is not None:
            count, indexed = size_of(queue)
            name = f"{queue.name.text}.{name}"
        family = PoolFamily(name, node, count, indexed, declaration=node)
        family.queue = queue.name.text if queue is not None else None
        if node.owner is None:
            caps = [o.value for o in node.options if isinstance(o, tree.Cap)]
            family.cap = caps[-1] if caps else None
            return self._add(self.model.pools, family, "pool")
        return self._owned(family, node, node.owner, devices)

    def _owned(
        self, family: PoolFamily, node: tree.Pool, owner: tree.Owner, devices: Mapping[str, Device]
    ) -> PoolFamily:
        device = self._device(owner.device or owner.name, devices)
        engine = self.model.engines.get(owner.name.text)
        if owner.device is not None:
            engine = self._engine_on(owner, device)
        elif device is not None:
            engine = None
        holder: Device | Engine | None = device or engine
        if holder is None or (owner.device is not None and engine is None):
            self._no_owner(owner)
            return self._add(self.model.pools, family, "pool")
        capacity = holder.caps.get(node.name.text)
        if capacity is None:
            message = f"`{owner.name.text}` has no capacity `{node.name.text}`"
            hint = f"write `{node.name.text} cap c;` in `{owner.name.text}`"
            self.findings.error("SQ756", message, node.name, hint=hint)
        else:
            family.cap = capacity.cap
        family.count, family.indexed = self._owner_size(holder, capacity)
        family.admitted_by = engine
        family = self._add(self.model.pools, family, "pool")
        if engine is not None:
            engine.admits.append(family)
        if device is not None and capacity is not None:
            device.pools.append(family)
        return family

    def _owner_size(self, holder: Device | Engine, capacity: tree.Capacity | None) -> tuple[int, bool]:
        own = (holder.count, holder.indexed) if isinstance(holder, Device) else _stage_size(holder)
        single = isinstance(holder, Engine) and holder.queue is None and not holder.stage.indexed
        if capacity is not None and capacity.size is not None and single:
            return size_of(capacity)
        return own

    def _device(self, name: tree.Name, devices: Mapping[str, Device]) -> Device | None:
        return devices.get(name.text) or self.model.devices.get(name.text)

    def _engine_on(self, owner: tree.Owner, device: Device | None) -> Engine | None:
        engine = self.model.engines.get(owner.name.text)
        return engine if engine is not None and engine.device is device else None

    def _no_owner(self, owner: tree.Owner) -> None:
        name = owner.name.text
        if name in self.refused:
            return
        if owner.device is None:
            message, hint = (
                f"no device or engine `{name}` is declared above",
                "a pool is on one declared before it",
            )
        else:
            message = f"no engine `{name}` runs on a device `{owner.device.text}` above"
            hint = "write `pool X on ENGINE.DEVICE`"
        self.findings.error("SQ306", message, owner.name, hint=hint)

    # Devices and engines

    def device(self, node: tree.Device, name: str, size: tuple[int, bool]) -> Device:
        """Add a device under the name it has for engines."""
        device = Device(name, node, *size)
        for resource in node.resources:
            table: dict[str, tree.TimeResource] | dict[str, tree.Capacity]
            table = device.times if isinstance(resource, tree.TimeResource) else device.caps
            text = resource.name.text
            if text in device.times or text in device.caps:
                message = f"`{text}` is declared twice on `{node.name.text}`"
                self.findings.error("SQ757", message, resource.name, hint="name one of them otherwise")
                continue
            table[text] = resource  # type: ignore[assignment]
        first = self.model.devices.get(name)
        if first is not None:
            note = f"first declared at {self.findings.where(first.node.name)}"
            self.findings.error("SQ310", f"`{node.name.text}` is declared twice", node.name, note=note)
            return first
        self.model.devices[name] = device
        return device

    def engine(
        self, node: tree.Engine, queue: tree.Queue | None, devices: Mapping[str, Device] | None = None
    ) -> Engine | None:
        """Add an engine: its stage, and its clauses by kind."""
        device = self._device(node.device, devices or {})
        name = queue.name.text if queue is not None else node.name.text if node.name is not None else ""
        if device is None or (queue is not None and node.device.text not in (devices or {})):
            message = f"no device `{node.device.text}` is declared above"
            self.findings.error("SQ306", message, node.device, hint="a device is declared above its engine")
            self.refused.add(name)
            return None
        count, indexed = size_of(queue if queue is not None else node)
        stage = StageFamily(name, node.name or node, count, indexed)
        engine = Engine(name, node, device, stage, queue.name.text if queue is not None else None)
        engine.order = self.order
        self._check_pairing(engine)
        stage = self.add_stage(stage)
        if stage.engine is None and stage.kind is None:
            stage.engine = engine
            self.model.engines[name] = engine
        self._clauses(engine)
        return engine

    def _check_pairing(self, engine: Engine) -> None:
        """One engine a device, and families of one size (SQ752, SQ753)."""
        device, node = engine.device, engine.node
        if device.engine is not None:
            message = f"`{device.node.name.text}` already runs `{device.engine.name}`"
            self.findings.error("SQ752", message, node.device, hint="an engine is one per device")
            return
        device.engine = engine
        if _stage_size(engine) != (device.count, device.indexed):
            size = f"[{device.count}]" if device.indexed else ""
            message = f"an engine is one per device, and `{device.node.name.text}` is "
            message += f"a family of {device.count}" if device.indexed else "one device"
            hint = f"write `engine {engine.name}{size} on {device.node.name.text}`"
            self.findings.error("SQ753", message, node.size or node.device, hint=hint)

    def _clauses(self, engine: Engine) -> None:
        for item in engine.node.items:
            match item:
                case tree.Capacity():
                    self._capacity(engine, item)
                case tree.State():
                    self._state(engine, item)
                case tree.Tokens():
                    self._once(engine, "tokens", item)
                case tree.Granule():
                    self._once(engine, "granule", item)
                case tree.Schedule():
                    self._once(engine, "schedule", item)
                case tree.Execute():
                    self._once(engine, "execute", item)
                case tree.Request():
                    self._request(engine, item)
        wanted = (("tokens", "tokens cap e;"), ("schedule", "schedule { ... }"), ("execute", "execute (e);"))
        for clause, form in wanted:
            if getattr(engine, clause) is None:
                at = engine.node.name or engine.node.device
                message = f"the engine `{engine.name}` has no `{clause}`"
                self.findings.error("SQ750", message, at, hint=f"write `{form}`")

    def _once(self, engine: Engine, clause: str, item: tree.Node) -> None:
        if getattr(engine, clause) is not None:
            message = f"the engine `{engine.name}` has `{clause}` twice"
            self.findings.error("SQ751", message, item, hint="keep one of them")
            return
        setattr(engine, clause, item)

    def _capacity(self, engine: Engine, item: tree.Capacity) -> None:
        text = item.name.text
        if text in engine.caps:
            message = f"`{text}` is declared twice in `{engine.name}`"
            self.findings.error("SQ757", message, item.name, hint="keep one of them")
            return
        if item.size is not None and engine.queue is not None:
            message = f"`{text}[...]` in a queue's engine: its entries name their pools without an index"
            self.findings.error("SQ758", message, item.name, hint=f"write `{text} cap c;`")
        elif item.size is not None and engine.stage.indexed:
            message = f"`{text}[...]` in an engine family: every member would admit so many queues"
            self.findings.error(
                "SQ758", message, item.name, hint=f"`{text} cap c;` gives each member its own"
            )
        engine.caps[text] = item

    def _state(self, engine: Engine, item: tree.State) -> None:
        name = item.name.text
        if name in self.model.registers:
            self.findings.error("SQ310", f"the register `{name}` is declared twice", item.name)
            return
        self.model.registers[name] = (engine, item)
        engine.states[name] = item

    def _request(self, engine: Engine, item: tree.Request) -> None:
        if engine.queue is not None:
            message = "a queue's engine has no `request`: its entries say what it does with one"
            self.findings.error("SQ770", message, item, hint="write the statements in an entry")
        elif engine.stage.indexed:
            message = "an engine family has no `request`: a call would not say which member runs it"
            self.findings.error(
                "SQ770", message, item, hint="declare a queue, whose entries are called on a member"
            )
        self._once(engine, "request", item)
        engine.locals = bound_names(item)

    # What can be judged once everything is declared

    def finish(self) -> None:
        """Check that every capacity is a pool and that a device has one memory (SQ755, SQ754)."""
        for engine in self.model.engines.values():
            self._check_capacities(engine)
            self._check_memory(engine)
        for device in self.model.devices.values():
            for capacity in device.caps.values():
                if capacity.name.text not in {p.bare for p in device.pools}:
                    self._no_pool(capacity, device.node.name.text)

    def _check_memory(self, engine: Engine) -> None:
        pools = engine.device.pools
        if len(pools) > 1:
            first, second = pools[0], pools[1]
            device = engine.device.node.name.text
            message = f"`{first.bare}` and `{second.bare}` are both on `{device}`"
            note = f"which of them is the memory of `{engine.name}` would be a guess"
            self.findings.error("SQ754", message, second.node, note=note, hint="keep one pool on the device")

    def _check_capacities(self, engine: Engine) -> None:
        for name, capacity in engine.caps.items():
            owned = {p.bare for p in engine.admits if p not in engine.device.pools}
            if name not in owned:
                self._no_pool(capacity, engine.name)

    def _no_pool(self, capacity: tree.Capacity, owner: str) -> None:
        name = capacity.name.text
        message = f"`{name}` of `{owner}` is declared as no pool, so nothing can hold it"
        self.findings.error("SQ755", message, capacity.name, hint=f"declare `pool {name} on {owner} {{ }}`")


def _stage_size(engine: Engine) -> tuple[int, bool]:
    return engine.stage.count, engine.stage.indexed
