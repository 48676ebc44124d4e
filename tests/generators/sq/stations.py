"""Random engines with their requests, and queues with their entries and relations."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.generators.sq.expressions import Expressions, Scope
from tests.generators.sq.statements import Place, Statements
from tests.generators.sq.world import Resource, Station, World

_GATES = ("running.preempted == 0", "0 == running.preempted", "!running.preempted")
_RESIDENTS = ("running.count", "running.decoding", "running.kv_decode", "running.kv_prefill")
_PLAN = (*_RESIDENTS, "running.preempted", "waiting.admitted", "batch.tokens", "batch.prefilled")
_BATCH = (
    "running.count",
    "batch.tokens",
    "batch.prefilled",
    "batch.decoding",
    "batch.kv_decode",
    "batch.kv_prefill",
    "batch.attention",
)
_RESIDENT = ("decoding", "admission", "remaining")


def pool_options(world: World, expressions: Expressions, *, preempts: bool) -> tuple[list[str], bool]:
    """Options of a pool besides its capacity, and whether it has a block."""
    dice = world.dice
    options, block = [], dice.chance(0.4)
    keys = Scope(names=tuple(n for n in world.sizes if n not in world.hidden))
    if block:
        options.append(f"block {dice.choice(('2', '4', '16'))};")
    if dice.chance(0.3):
        entry = replace(keys, variables=("size", "age", "last", "waiting"), clock=True)
        options.append(f"evict by ({expressions.number(entry, 1)});" if dice.chance(0.7) else "evict lru;")
    if preempts:
        victim = replace(keys, variables=("position", "decoding", "admission"))
        by = f"preempt by ({expressions.number(victim, 1)}){dice.choice(('', ' requeue tail', ' requeue head'))};"
        options.append(dice.choice(("preempt lifo;", by)))
    if dice.chance(0.3):
        waiting = replace(keys, variables=("waited",), clock=True)
        options.append(f"queue by ({expressions.number(waiting, 1)}, {expressions.number(waiting, 1)});")
    if dice.chance(0.15):
        options.append("reserve held;")
    return options, block


@dataclass
class Stations:
    """Writes the declarations an engine or a queue is made of."""

    world: World
    expressions: Expressions

    # Engines

    def engine(self) -> None:
        """A device, an engine on it, and its pools."""
        world, dice = self.world, self.world.dice
        size, count = world.size_of_array() if dice.chance(0.25) else ("", 0)
        device, name = world.fresh("gpu"), world.fresh("E")
        kv, reqs = world.fresh("kv"), world.fresh("reqs")
        memory = dice.chance(0.8)
        times = self._times()
        capacity = f"{kv} cap {world.whole(32, 128)};" if memory else ""
        world.items.append(f"device {device}{size} {{ {' '.join(t for t, _ in times)} {capacity} }}")
        engine = Resource(name, count)
        request = not count and dice.chance(world.knobs.requests)
        pools = [Resource(reqs, count)] + ([Resource(kv, count, preempts=True)] if memory else [])
        parameters = [world.fresh("p") for _ in range(dice.randint(1, 2))]
        taking = self._taking(parameters, kv, reqs, memory, name) if request else ""
        clauses = [f"{reqs} cap {world.whole(1, 8)};", f"tokens cap {self._tokens(bool(count))};"]
        clauses += self._registers(engine, taking, memory, bool(count))
        if request:
            clauses.append(self._request(engine, parameters, pools, memory))
        clauses.append(f"execute ({self._cost(times, bool(count))});")
        dice.shuffle(clauses)
        world.items.append(f"engine {name}{size} on {device} {{ {' '.join(clauses)} }}")
        if memory:
            self._memory(kv, device, name, count)
        options, _ = pool_options(world, self.expressions, preempts=False)
        slots = [o for o in options if not o.startswith("block")]
        world.items.append(f"pool {reqs} on {name} {{ {' '.join(slots)} }}")
        world.engines.append(engine)

    def _memory(self, kv: str, device: str, engine: str, count: int) -> None:
        dice = self.world.dice
        owner = dice.choice((device, device, f"{engine}.{device}"))
        options, block = pool_options(self.world, self.expressions, preempts=dice.chance(0.8))
        self.world.items.append(f"pool {kv} on {owner} {{ {' '.join(options)} }}")
        del block

    def _times(self) -> list[tuple[str, str]]:
        """Time resources of a device; a later one may use an earlier one."""
        found: list[tuple[str, str]] = []
        for _ in range(self.world.dice.randint(0, 2)):
            name, parameter = self.world.fresh("f"), self.world.fresh("y")
            body = self.expressions.number(Scope(names=(parameter,)), 1)
            if found and self.world.dice.chance(0.5):
                body += f" + {found[-1][1]}({parameter})"
            found.append((f"{name} ({parameter}) = {body};", name))
        return found

    def _cost(self, times: list[tuple[str, str]], family: bool) -> str:
        batch = Scope(variables=_BATCH, clock=self.world.dice.chance(0.2))
        cost = self.expressions.number(batch, 2)
        for _, name in times:
            cost += f" + {name}({self.expressions.number(batch, 1)})"
        return cost

    def _tokens(self, family: bool) -> str:
        if self.world.dice.chance(0.6):
            return self.world.whole(4, 64)
        variables = _RESIDENTS if family else (*_RESIDENTS, "waiting.count")
        return f"max(8, {self.expressions.number(Scope(variables=variables), 1)})"

    def _registers(self, engine: Resource, taking: str, memory: bool, family: bool) -> list[str]:
        """Registers, a granule and the schedule that goes with them."""
        dice = self.world.dice
        kind = dice.weighted({"default": 3.0, "only": 1.0, "exclusive": 0.7, "body": 3.0})
        cap = self._cap(family)
        lets = ""
        if cap and dice.chance(0.5):
            name = self.world.fresh("t")
            lets, cap = f"let {name} = {cap};", name
        at_most = f" each at most ({cap})" if cap else ""
        if kind == "body":
            registers = [] if family or dice.chance(0.5) else [self.world.fresh("r")]
            body = self._body(registers, at_most, taking)
            states = [f"state {r} = {self.world.whole(0, 5)};" for r in registers]
            return [*states, f"schedule {{ {lets} {body} }}"]
        gate = f" while ({dice.choice(_GATES)})"
        admit = f"admit waiting{{only}}{gate}{at_most} {taking};"
        if kind == "exclusive":
            return [f"schedule {{ {lets} exclusive prefill{at_most}; {admit.format(only='')} }}"]
        only = ""
        if kind == "only":
            # A definition with arguments in both is a declared difference (tests/peer/test_ir_agrees.py).
            read = Scope(variables=(*_RESIDENT, *_RESIDENTS), definitions=False)
            only = f" only ({self.expressions.test(read)})"
        advance = f"advance running{only}{self._order()}{at_most};"
        granule = ["granule inf;"] if not cap and dice.chance(0.15) else []
        return [*granule, f"schedule {{ {lets} {advance} {admit.format(only=only)} }}"]

    def _order(self) -> str:
        keys = Scope(
            names=tuple(n for n in self.world.sizes if n not in self.world.hidden), variables=_RESIDENT
        )
        by = f" by ({self.expressions.number(keys, 1)}, {self.expressions.number(keys, 1)})"
        return self.world.dice.choice(("", "", " admission", " decode first", by))

    def _cap(self, family: bool) -> str:
        variables = _RESIDENTS if family else (*_RESIDENTS, "waiting.count")
        test = self.expressions.test(Scope(variables=variables))
        value = self.expressions.number(Scope(variables=variables), 1)
        return self.world.dice.choice(("", "", "16", "inf", f"{test} ? 8 : inf", f"max(2, {value})", "2 * 4"))

    def _body(self, registers: list[str], at_most: str, taking: str) -> str:
        dice = self.world.dice
        plan = Scope(variables=(*_PLAN, *registers))
        sets = " ".join(f"set {r} = {self.expressions.number(plan, 1)};" for r in registers)
        gate = f" while ({self.expressions.test(plan)})" if dice.chance(0.6) else ""
        keys = f" only ({self.expressions.test(Scope(variables=_RESIDENT))})" if dice.chance(0.4) else ""
        advance = f"advance running{keys}{self._order()}{at_most};"
        admit = f"admit waiting{gate}{at_most} {taking};"
        test = self.expressions.test(plan)
        shapes = (
            f"{sets} {advance} {admit}",
            f"{admit} {sets} {advance}",
            f"{advance} {sets} {advance} {admit}",
            f"branch ({test}) {{ {advance} {sets} {admit} }} else {{ {admit} {advance} {sets} }}",
            f"{sets} {admit} branch ({test}) {{ {advance} }}",
        )
        return dice.choice(shapes)

    # Requests

    def _taking(self, parameters: list[str], kv: str, reqs: str, memory: bool, engine: str) -> str:
        if self.world.dice.chance(0.15):
            return ""
        text = f"taking {reqs} (1)"
        if memory:
            units = self.world.dice.choice((parameters[0], f"min({parameters[0]}, budget_left({engine}))"))
            text += f", {kv} ({units})"
            if self.world.dice.chance(0.5):
                text += f" reserve ({parameters[0]} + 1)"
        return text

    def _request(self, engine: Resource, parameters: list[str], pools: list[Resource], memory: bool) -> str:
        """A request over what its engine takes; `taking` is written in the schedule before it."""
        world, dice = self.world, self.world.dice
        own = Scope(names=tuple(parameters))
        before = ""
        if dice.chance(0.4):
            name = world.fresh("y")
            before = f"set {name} = {self.expressions.number(own, 1)};"
            own = own.reading(name)
        inner = replace(own, clock=True, names=own.names + tuple(world.hidden))
        first = self.expressions.amount(inner)
        lines = [before, f"prefill ({first});"]
        marks = []
        if dice.chance(0.5):
            mark = world.fresh("m")
            marks.append(f"{engine.name}.{mark}")
            lines.append(f"mark {mark};")
        if dice.chance(0.5):
            seen = world.fresh("o")
            world.observes.append(seen)
            lines.append(f"observe {seen} = {self.expressions.number(inner, 1)};")
        lines.append(f"decode ({self.expressions.amount(inner)});")
        station = Station(engine.name, 0, len(parameters), tuple(marks))
        world.requests.append(station)
        return f"request ({', '.join(parameters)}) {{ {' '.join(x for x in lines if x)} }}"

    # Queues

    def queue(self, statements: Statements) -> None:
        """A queue with entries; with a relation, one that reads from another."""
        if self.world.dice.chance(self.world.knobs.relations):
            self._pair(statements)
        elif self.world.dice.chance(0.3):
            self._gateway(statements)
        else:
            self._pod(statements)

    def _place(
        self, name: str, parameter: str, pools: tuple[Resource, ...], own_run: str, count: int
    ) -> Place:
        """What an entry sees: its parameter, its pools and stage, the hidden attributes in its body."""
        names = (parameter, *(("self",) if count else ()))
        stage = (Resource(name, 0),)
        header = Scope(names=names, pools=pools, stages=stage, definitions=False)
        body = replace(header, live=True, clock=True, work=True)
        secret = replace(body, names=names + tuple(self.world.hidden), draws=True)
        return Place(header, body, secret, pools=pools, own_run=own_run, unseen=tuple(self.world.hidden))

    def _pod(self, statements: Statements) -> None:
        world, dice = self.world, self.world.dice
        size, count = world.size_of_array()
        name, kv, parameter = world.fresh("Q"), world.fresh("kv"), world.fresh("p")
        options, block = pool_options(world, self.expressions, preempts=False)
        kind = dice.choice(("fifo", "fifo(2)", "ps(2)", "delay"))
        pools = (Resource(kv, 0, block=block),)
        place = self._place(name, parameter, pools, "run (cost(" + name + ", {work}));", count)
        statements.budget = 5
        body, _ = statements.block(place, dice.randint(1, 4), 2)
        mark = world.fresh("m")
        role, verb = dice.choice((("prefill", "prefill"), ("decode", "decode")))
        members = f"pool {kv} {{ cap 64; {' '.join(options)} }} serve {kind};"
        world.items.append(
            f"queue {name}{size} : {role} {{ {members} {verb} ({parameter}) {{ {body} mark {mark}; }} }}"
        )
        world.entries.append(Station(f"{name}.{verb}", count, 1, (f"{name}.{mark}",)))

    def _gateway(self, statements: Statements) -> None:
        world = self.world
        name = world.fresh("gw")
        open_sizes = tuple(n for n in world.sizes if n not in world.hidden)
        known = Scope(names=open_sizes, definitions=False)
        place = Place(
            known, replace(known, clock=True), replace(known, clock=True), stages=tuple(world.stages[:1])
        )
        statements.budget = 4
        body, _ = statements.block(place, world.dice.randint(1, 3), 1)
        world.items.append(f"queue {name} : gateway {{ route {{ {body} }} }}")
        world.entries.append(Station(f"{name}.route", 0, 0))

    def _pair(self, statements: Statements) -> None:
        """A source that leases and a reader that copies, over their NICs."""
        world, dice = self.world, self.world.dice
        size, count = world.size_of_array()
        source, reader = world.fresh("P"), world.fresh("D")
        kv, parameter = world.fresh("kv"), world.fresh("p")
        lease = dice.choice(("inf", "3"))
        run = f"run (cost({source}, {parameter} + 1));"
        cache = dice.choice(("", f"cache (cost({kv}, {parameter}))"))
        prefill = f"hold {kv} (cost({kv}, 1)) {{ {run} }} {cache} lease {kv} ({lease})"
        members = f"pool {kv} {{ cap 64; block 4; }} serve fifo; nic ps({world.whole(1, 9)});"
        world.items.append(
            f"queue {source}{size} : prefill {{ {members} prefill ({parameter}) {{ {prefill} }} }}"
        )
        mark = world.fresh("m")
        wait = dice.choice(("", f" latency {dice.choice(('0.5', '0', '2 * 3'))}"))
        policy = "maxmin"
        transfer = f"transfer ({parameter}) from {source} to {kv} ({parameter} - 1);"
        observed = f"observe {statements._seen()} = used({kv}){' + self' if count else ''};"
        inner = f"hold {kv} (cost({kv}, {parameter})) {{ {transfer} mark {mark}; {observed} }}"
        if dice.chance(0.5):
            inner += f" cache (cost({kv}, {parameter}))"
        world.items.append(
            f"queue {reader}{size} : decode {{ pool {kv} {{ cap 64; }} nic ps(3); "
            f"decode ({parameter}) from {source} {{ {inner} }} }}"
        )
        relation = dice.choice((f"{reader} pull {source}", f"{source} push {reader}"))
        world.items.append(f"{relation}{wait} share {policy};")
        first = Station(f"{source}.prefill", count, 1)
        second = Station(f"{reader}.decode", count, 1, (f"{reader}.{mark}",), first)
        world.pairs.append((first, second))
