"""Random programs of the text language, valid by construction.

`random_source(seed)` writes the same program everywhere; `Knobs` say how likely each part of the
language is. A program is typed while it is written: every expression reads what its place supplies,
every hold is released where it may be, nothing hidden is decided on.
"""

from __future__ import annotations

from dataclasses import replace

from tests.generators.ir.dice import Dice
from tests.generators.sq.expressions import Expressions, Scope
from tests.generators.sq.statements import Place, Statements
from tests.generators.sq.stations import Stations, pool_options
from tests.generators.sq.world import Definition, Knobs, Resource, World

__all__ = ["Knobs", "random_source"]


def random_source(seed: int, knobs: Knobs | None = None) -> str:
    """A random program as text."""
    return _Program(World(Dice(seed), knobs or Knobs())).text()


class _Program:
    """One program, its parts written in an order in which each knows what it may name."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.expressions = Expressions(world)
        self.statements = Statements(world, self.expressions)
        self.stations = Stations(world, self.expressions)
        self.recorded: list[str] = []

    def text(self) -> str:
        """The whole program."""
        world, dice = self.world, self.world.dice
        self._attributes()
        for _ in range(dice.randint(0, 2)):
            world.items.append(f"let {self._constant()};")
        if dice.chance(world.knobs.definitions):
            self._expression_definitions()
        for _ in range(dice.randint(1, 3)):
            self._stage()
        for _ in range(dice.randint(0, 3)):
            self._pool()
        if dice.chance(world.knobs.flows):
            self._flows()
        if dice.chance(world.knobs.definitions):
            self._block_definition()
        if dice.chance(world.knobs.engines):
            self.stations.engine()
            if dice.chance(0.2):
                self.stations.engine()
        if dice.chance(world.knobs.queues):
            self.stations.queue(self.statements)
        server = self._server()
        workload = self._workload()
        self._readers()
        if world.pairs or not world.shared:
            # A relation says the policy; without a run over several stages there is none.
            world.items = [i for i in world.items if i != "share maxmin;"]
        parts = [*world.items, workload, server] if dice.chance(0.7) else [*world.items, server, workload]
        before = 'use "std/args";\n' if world.inputs else ""
        return before + "fn main() {\n" + "".join(f"  {p}\n" for p in parts) + "}\n"

    # Declarations

    def _attributes(self) -> None:
        """The sizes a turn draws, some of them hidden."""
        world = self.world
        world.sizes = [world.fresh("n") for _ in range(world.dice.randint(1, 4))]
        if world.dice.chance(world.knobs.hidden):
            world.hidden = world.dice.some(world.sizes[1:], 0) if len(world.sizes) > 1 else []

    def _constant(self) -> str:
        name = self.world.fresh("A")
        value = self.world.dice.choice(("2 * 3", "1 / 4", "inf", "max(2, 3) ^ 2", "sum j9 in 3 (j9 + 1)"))
        self.world.constants[name] = 1.0
        return f"{name} = {value}"

    def _expression_definitions(self) -> None:
        world = self.world
        for _ in range(world.dice.randint(1, 2)):
            name = world.fresh("f")
            kinds = world.dice.choice((("number",), ("number", "number"), ("pool",), ("number", "stage")))
            parameters = [world.fresh("a") for _ in kinds]
            numbers = tuple(p for p, k in zip(parameters, kinds, strict=True) if k == "number")
            body = self.expressions.number(Scope(names=numbers, definitions=True), 2)
            for parameter, kind in zip(parameters, kinds, strict=True):
                if kind != "number":
                    body += f" + {'used' if kind == 'pool' else 'queue'}({parameter})"
            world.items.append(f"def {name}({', '.join(parameters)}) {{ {body} }}")
            world.expressions.append(Definition(name, kinds))

    def _block_definition(self) -> None:
        world = self.world
        name, stage, amount = world.fresh("d"), world.fresh("a"), world.fresh("a")
        seen = world.fresh("o")
        world.observes.append(seen)
        lead = world.stages[0]
        work = self.expressions.number(Scope(names=(amount,), definitions=False), 1)
        run = f"run {lead.name if not lead.count else lead.name + '[0]'} (cost({lead.name}, {amount} + 1));"
        world.items.append(
            f"def {name}({amount}, {stage}) {{ {run} observe {seen} = {work} + queue({stage}); }}"
        )
        world.blocks.append(Definition(name, ("number", "stage")))

    def _stage(self) -> None:
        world = self.world
        size, count = world.size_of_array()
        name = world.fresh("s")
        capacity = self.expressions.number(Scope(variables=("present",)), 1)
        kind = world.dice.choice(("fifo", f"fifo({world.whole(1, 4)})", "delay", f"ps({capacity})", "ps(2)"))
        world.items.append(f"stage {name}{size} : {kind};")
        world.stages.append(Resource(name, count))

    def _pool(self) -> None:
        world = self.world
        size, count = world.size_of_array()
        name = world.fresh("q")
        preempts = world.dice.chance(0.3)
        options, block = pool_options(world, self.expressions, preempts=preempts)
        cap = world.dice.choice(("", f"cap {world.whole(40, 90)};"))
        if world.pools and world.dice.chance(0.15):
            to, via = world.pools[0].name, world.stages[0].name
            options.append(f"spill {to} via {via} (size * 2) when (age > 1);")
        parts = [cap, *options]
        world.dice.shuffle(parts)
        world.items.append(f"pool {name}{size} {{ {' '.join(p for p in parts if p)} }}")
        world.pools.append(Resource(name, count, block=block, preempts=preempts))

    def _flows(self) -> None:
        """Stages that runs may hold at once, and the policy that divides them."""
        world = self.world
        for _ in range(2):
            size, count = world.size_of_array()
            name = world.fresh("e")
            world.items.append(f"stage {name}{size} : ps({world.dice.choice(('1', '2.5', '10'))});")
            world.stages.append(Resource(name, count, flows=True))
        world.items.append("share maxmin;")
        world.share = True

    # The server and the workload

    def _place(self) -> Place:
        world = self.world
        names = tuple(n for n in world.sizes if n not in world.hidden)
        # A size that is an index is drawn as one.
        known = Scope(names=(*names, "serial"), index=tuple(names[:1]))
        pools, stages = tuple(world.pools), tuple(world.stages)
        seen = replace(known, live=True, clock=True, pools=pools, stages=stages, engines=tuple(world.engines))
        secret = replace(seen, names=(*seen.names, *world.hidden), draws=True)
        return Place(
            known,
            seen,
            secret,
            pools=pools,
            stages=tuple(s for s in stages if not s.flows),
            calls=True,
            legs=True,
            serving=True,
            end=True,
            unseen=tuple(world.hidden),
        )

    def _server(self) -> str:
        self.statements.budget = 14
        elsewhere = set(self.world.observes)
        body, after = self.statements.block(self._place(), self.world.dice.randint(2, 8))
        for pair in self.world.pairs:
            # A policy needs a run over several stages.
            body += " " + self.statements.read(pair, after)
        self.recorded = [o for o in self.world.observes if o not in elsewhere]
        return f"server {{ {body} }}"

    def _workload(self) -> str:
        world, dice = self.world, self.world.dice
        law = dice.choice(
            ("poisson({r})", "renewal(~exp({r}))", "renewal(2)", "closed({n})", "batch({n})", "none")
        )
        law = law.format(r=dice.choice(("0.5", "2", "1 / 4")), n=world.whole(1, 5))
        parts = [f"arrive {law};"]
        if dice.chance(0.2):
            parts.append(f'trace "t.csv"{dice.choice(("", " ordered"))};')
        more = world.fresh("more")
        sizes = [f"{dice.choice(('Size', 'set'))} {n} = {self._drawn(i)};" for i, n in enumerate(world.sizes)]
        inits = ""
        if dice.chance(0.5):
            kept = world.fresh("K")
            inits = f"init {{ Size {kept} = {self.expressions.number(Scope(draws=True), 1)}; }}"
        parts.append(inits)
        parts.append(f"turn {{ {' '.join(sizes)} Size {more} = ~bernoulli(0.5); }}")
        if world.hidden:
            parts.append(f"hidden {', '.join(world.hidden)};")
        parts.append(self._session(more))
        dice.shuffle(parts)
        return f"workload {{ {' '.join(p for p in parts if p)} }}"

    def _drawn(self, position: int) -> str:
        if position == 0:
            return "floor(~uniform(0, 2))"
        return self.expressions.number(Scope(names=("serial", "turn_no"), draws=True, definitions=False), 2)

    def _session(self, more: str) -> str:
        """A session of several turns, with the client's own tool between them."""
        dice = self.world.dice
        tool = dice.choice(("", "tool (~exp(1));", "tool 2;", f"tool {self.world.sizes[0]} + 1;"))
        wait = tool or "tool 1;"
        return dice.choice(
            (
                "",
                "",
                f"session {{ turn; {tool} turn; }}",
                f"session {{ turn; while ({more} == 1) {{ {wait} turn; }} }}",
                f"session {{ loop {{ turn; {wait} branch ({more} == 0) {{ end; }} }} }}",
                f"session {{ turn; branch ({more} == 1) {{ {tool} turn; }} else {{ }} end; }}",
            )
        )

    def _readers(self) -> None:
        """Gauges and claims over what the program has."""
        world, dice = self.world, self.world.dice
        if not dice.chance(world.knobs.claims):
            return
        state = Scope(
            live=True, pools=tuple(world.pools), stages=tuple(world.stages), own_prefix=False, work=False
        )
        world.items.append(f"gauge {world.fresh('g')} = {self.expressions.number(state, 2)};")
        given = Scope(names=tuple(world.sizes), definitions=False)
        test = self.expressions.test(given)
        if world.engines:
            engine = world.engines[0]
            index = "[0]" if engine.count else ""
            variables = (
                "tokens",
                "residents",
                "decoders",
                "demand",
                "served",
                "arrived",
                "prefilled",
                "attention",
            )
            over = Scope(variables=variables, clock=True, definitions=False)
            form = dice.choice(("every", "some"))
            world.items.append(
                f"claim {world.fresh('c')} given ({test}): {form} iteration of {engine.name}{index} "
                f"({self.expressions.test(over)});"
            )
        if self.recorded:
            name = self.recorded[0]
            function = dice.choice(("total", "count", "largest", "smallest", "prefix_total"))
            world.items.append(f"claim {world.fresh('c')}: at end ({function}({name}) <= now + 1);")
