"""Random statements of a server, a session, an entry or a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tests.generators.sq.expressions import Expressions, Scope
from tests.generators.sq.world import Resource, Station, World


@dataclass(frozen=True)
class Place:
    """Where statements stand: what they read, hold and call.

    `known` reads sizes and what is set from them, `any` everything but live state in headers.
    """

    known: Scope
    any: Scope
    secret: Scope
    pools: tuple[Resource, ...] = ()
    stages: tuple[Resource, ...] = ()
    calls: bool = False
    legs: bool = False
    serving: bool = False
    own_run: str = ""
    end: bool = False
    held: frozenset[str] = frozenset()
    preemptible: bool = False
    unseen: tuple[str, ...] = ()

    def after(self, name: str, *, live: bool) -> Place:
        """The same once a statement has set a name."""
        if live:
            return replace(self, any=self.any.reading(name), secret=self.secret.reading(name))
        return replace(
            self, known=self.known.reading(name), any=self.any.reading(name), secret=self.secret.reading(name)
        )


@dataclass
class Statements:
    """Writes blocks of statements."""

    world: World
    expressions: Expressions
    budget: int = 14
    _legs: int = field(default=0)

    def block(self, place: Place, length: int, depth: int = 2) -> tuple[str, Place]:
        """Statements one after the other, and the place after them."""
        lines = []
        for _ in range(length):
            if self.budget <= 0:
                break
            self.budget -= 1
            line, place = self._statement(place, depth)
            lines.append(line)
        return " ".join(lines), place

    def _statement(self, place: Place, depth: int) -> tuple[str, Place]:
        knobs = self.world.knobs
        forms: dict[Callable[[Place, int], tuple[str, Place]], float] = {
            self._set: 2.0,
            self._observe: 1.5,
            self._choose: 0.7,
        }
        if place.stages or place.own_run:
            forms[self._run] = 2.5
        if self.world.blocks and place.calls:
            forms[self._definition] = 0.8
        if depth > 0:
            forms[self._branch] = 1.0
            if place.stages:
                forms[self._while] = 0.6
            if [p for p in place.pools if p.name not in place.held]:
                forms[self._hold] = 2.5
            if place.legs and not place.preemptible:
                forms[self._fork] = knobs.legs * 2
        if place.calls and not place.preemptible and not place.held:
            if self.world.requests:
                forms[self._request] = 2.0
            if self.world.entries:
                forms[self._entry] = 1.5
            if self.world.pairs:
                forms[self._pair] = 2.0
        if place.serving and place.stages:
            forms[self._tool] = knobs.serving
        if self.world.share and place.calls:
            forms[self._flow] = knobs.flows * 4
        if place.calls and place.stages:
            forms[self._record] = knobs.records
        return self.world.dice.weighted(forms)(place, depth)

    # Assignments

    def _set(self, place: Place, depth: int) -> tuple[str, Place]:
        name = self.world.fresh("x")
        live = self.world.dice.chance(0.5)
        if live:
            # Set from live state or from what is hidden: headers and decisions do not read it.
            return f"set {name} = {self.expressions.number(place.secret)};", replace(
                place, secret=place.secret.reading(name)
            )
        return f"set {name} = {self.expressions.number(place.known)};", place.after(name, live=False)

    def _observe(self, place: Place, depth: int) -> tuple[str, Place]:
        if self.world.observes and self.world.dice.chance(0.3):
            name = self.world.dice.choice(self.world.observes)
        else:
            name = self.world.fresh("o")
            self.world.observes.append(name)
        return f"observe {name} = {self.expressions.number(place.secret)};", place

    def _choose(self, place: Place, depth: int) -> tuple[str, Place]:
        name = self.world.fresh("k")
        inner = place.any.reading(name)
        keys = [self.expressions.number(inner, 2) for _ in range(self.world.dice.randint(1, 2))]
        count = self.world.dice.choice(("2", "3", self.world.whole(1, 3)))
        return f"choose {name} in {count} by ({', '.join(keys)});", place.after(name, live=True)

    def _record(self, place: Place, depth: int) -> tuple[str, Place]:
        stage = self.world.dice.choice(place.stages)
        name = self.world.fresh("c")
        ref = self.expressions.reference(stage, place.any)
        if self.world.dice.chance(0.5):
            fields = f"{stage.name} : {self.expressions.amount(place.secret)}"
            return f"Cost {name} = {{ {fields} }}; run {ref} ({name}.{stage.name});", place
        cost = f"cost({stage.name}, {self.expressions.amount(place.secret)})"
        return f"Cost {name} = {cost}; run {ref} ({self._scaled(name)});", place

    def _scaled(self, name: str) -> str:
        return self.world.dice.choice(
            (name, f"2 * {name}", f"{name} / 2", f"max({name}, {name})", f"{name} + {name}")
        )

    # Resources

    def _run(self, place: Place, depth: int) -> tuple[str, Place]:
        work = self.expressions.amount(place.secret)
        if place.own_run and (not place.stages or self.world.dice.chance(0.6)):
            return place.own_run.format(work=work), place
        stage = self.world.dice.choice(place.stages)
        ref = self.expressions.reference(stage, place.any)
        return f"run {ref} (cost({stage.name}, {work}));", place

    def _tool(self, place: Place, depth: int) -> tuple[str, Place]:
        stage = self.world.dice.choice(place.stages)
        work = self.expressions.amount(place.secret)
        form = self.world.dice.choice(("tool on {s} ({w});", "tool on {s} {w} + 1;"))
        return form.format(s=self.expressions.reference(stage, place.any), w=work), place

    def _flow(self, place: Place, depth: int) -> tuple[str, Place]:
        first, second = self.world.dice.sample([s for s in self.world.stages if s.flows], 2)
        refs = ", ".join(self.expressions.reference(s, place.any) for s in (first, second))
        names = [first.name, second.name]
        self.world.dice.shuffle(names)
        self.world.shared = True
        work = self.expressions.amount(place.secret)
        return f"run {refs} (cost({', '.join(names)}, {work}));", place

    def _hold(self, place: Place, depth: int) -> tuple[str, Place]:
        dice = self.world.dice
        free = [p for p in place.pools if p.name not in place.held]
        pools = dice.sample(free, min(len(free), dice.choice((1, 1, 1, 2))))
        header, bound = place.known.plain(), {}
        if dice.chance(0.35):
            bound = {
                self.world.fresh("b"): self.expressions.number(header, 1) for _ in range(dice.randint(1, 2))
            }
        inner = header.reading(*bound)
        refs = {
            p.name: self.expressions.reference(p, replace(place.known, index=self._stable(place)))
            for p in pools
        }
        takes = []
        for pool in pools:
            units = f"min({self.expressions.amount(inner)}, 1)"
            text = f"{refs[pool.name]} (cost({pool.name}, {units}))"
            if dice.chance(0.25):
                text += f" reserve (cost({pool.name}, min({self.expressions.amount(inner)}, 1)))"
            takes.append(text)
        joint = ", ".join(p.name for p in dice.sample(pools, len(pools)))
        caches = dice.chance(0.5)
        head = f"hold {', '.join(takes)}"
        if caches and dice.chance(0.3):
            head += f" reuse (cost({joint}, {self.expressions.amount(inner)}))"
        if bound:
            head += f" at admission ({', '.join(f'{n} = {e}' for n, e in bound.items())})"
        body = replace(
            place,
            held=place.held | set(refs),
            preemptible=place.preemptible or any(p.preempts for p in pools),
            end=False,
        )
        lines = [self._inside(pool, refs[pool.name], place) for pool in pools]
        if caches:
            name = self.world.fresh("c")
            lines.insert(0, f"set {name} = cached;")
            body = replace(body, secret=body.secret.reading(name))
        read = [n for n in bound if dice.chance(0.5)]
        lines += [f"observe {self._seen()} = {n};" for n in read]
        inside, after = self.block(body, dice.randint(0, 3), depth - 1)
        # What a body leaves may be hidden, and is not what was read before it queued.
        kept = place.known.reading(*bound, *place.unseen)
        tail = f" cache (cost({joint}, {self.expressions.amount(kept)}))" if caches else ""
        if dice.chance(self.world.knobs.leases):
            tail += f" lease {refs[pools[0].name]} ({dice.choice(('inf', '2.5', '10'))})"
        known = replace(place, known=after.known, any=after.any, secret=after.secret)
        return f"{head} {{ {' '.join(x for x in lines if x)} {inside} }}{tail}", known

    def _seen(self) -> str:
        name = self.world.fresh("o")
        self.world.observes.append(name)
        return name

    def _stable(self, place: Place) -> tuple[str, ...]:
        """Indices whose value does not change while the hold lasts."""
        return tuple(n for n in place.known.index if n in self.world.sizes)

    def _inside(self, pool: Resource, ref: str, place: Place) -> str:
        dice = self.world.dice
        if dice.chance(0.25):
            return f"grow {ref} (cost({pool.name}, {self.expressions.amount(place.known)}));"
        if dice.chance(0.1):
            return f"load {ref} (cost({pool.name}, {self.expressions.amount(place.known)}));"
        if dice.chance(0.15):
            return f"release {ref};"
        return f"drop {ref};" if dice.chance(0.1) else ""

    # Control

    def _branch(self, place: Place, depth: int) -> tuple[str, Place]:
        dice = self.world.dice
        drawn = dice.chance(0.25)
        test = self.expressions.number(place.known, 1) if drawn else self.expressions.test(place.any)
        then, _ = self.block(replace(place, end=False), dice.randint(0, 3), depth - 1)
        if place.end and not place.held and dice.chance(0.2):
            then += " end;"
        text = f"branch{' with' if drawn else ''} ({test}) {{ {then} }}"
        if dice.chance(0.5):
            other, _ = self.block(replace(place, end=False), dice.randint(0, 2), depth - 1)
            text += f" else {{ {other} }}"
        return text, place

    def _while(self, place: Place, depth: int) -> tuple[str, Place]:
        stage = self.world.dice.choice(place.stages)
        ref = self.expressions.reference(stage, replace(place.any, index=self._stable(place)))
        work = f"1 + {self.world.dice.choice(place.known.names)}" if place.known.names else "1"
        inner, _ = self.block(replace(place, end=False), self.world.dice.randint(0, 2), depth - 1)
        text = f"while ({self.expressions.test(place.any)}) {{ run {ref} (cost({stage.name}, {work})); {inner} }}"
        return text, place

    def _fork(self, place: Place, depth: int) -> tuple[str, Place]:
        leg = replace(place, legs=False, end=False, held=frozenset(), calls=False)
        inner, _ = self.block(leg, self.world.dice.randint(0, 3), depth - 1)
        self._legs += 1
        return f"fork {{ {inner} }} join;", place

    # Calls

    def _definition(self, place: Place, depth: int) -> tuple[str, Place]:
        definition = self.world.dice.choice(self.world.blocks)
        arguments = []
        for kind in definition.parameters:
            if kind == "number":
                arguments.append(self.expressions.argument(replace(place.known.plain(), definitions=False)))
            else:
                arguments.append(
                    self.expressions.reference(self.world.dice.choice(place.stages), place.known)
                )
        return f"{definition.name}({', '.join(arguments)});", place

    def _request(self, place: Place, depth: int) -> tuple[str, Place]:
        station = self.world.dice.choice(self.world.requests)
        return self._called(station.call, station.arguments, place) + ";", self._marked(place, station.marks)

    def _entry(self, place: Place, depth: int) -> tuple[str, Place]:
        station = self.world.dice.choice(self.world.entries)
        queue, _, verb = station.call.partition(".")
        call = f"{self._member(queue, station.count, place)}.{verb}"
        return self._called(call, station.arguments, place) + ";", self._marked(place, station.marks)

    def _pair(self, place: Place, depth: int) -> tuple[str, Place]:
        pair = self.world.dice.choice(self.world.pairs)
        return self.read(pair, place), self._marked(place, pair[1].marks)

    def read(self, pair: tuple[Station, Station], place: Place) -> str:
        """A request goes through a source, then through its reader."""
        source, reader = pair
        first = self._member(source.call.partition(".")[0], source.count, place)
        second = self._member(reader.call.partition(".")[0], reader.count, place)
        calls = self._called(f"{first}.prefill", 1, place) + "; "
        return calls + self._called(f"{second}.decode", 1, place) + f" from {first};"

    def _member(self, queue: str, count: int, place: Place) -> str:
        return self.expressions.reference(Resource(queue, count), place.known)

    def _called(self, call: str, arguments: int, place: Place) -> str:
        values = [self.expressions.argument(place.known.plain()) for _ in range(arguments)]
        return f"{call} ({', '.join(values)})"

    def _marked(self, place: Place, marks: tuple[str, ...]) -> Place:
        return replace(place, secret=place.secret.reading(*marks)) if marks else place
