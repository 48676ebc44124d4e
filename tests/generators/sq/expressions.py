"""Random expressions, by what they may read where they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tests.generators.sq.world import Resource, World


@dataclass(frozen=True)
class Scope:
    """What an expression may read: names, the state, the clock, draws, variables of its moment."""

    names: tuple[str, ...] = ()
    live: bool = False
    clock: bool = False
    draws: bool = False
    variables: tuple[str, ...] = ()
    pools: tuple[Resource, ...] = ()
    stages: tuple[Resource, ...] = ()
    engines: tuple[Resource, ...] = ()
    index: tuple[str, ...] = ()
    own_prefix: bool = True
    definitions: bool = True
    work: bool = True
    estimates: bool = True

    def plain(self) -> Scope:
        """The same names without anything that moves."""
        return replace(self, live=False, clock=False, draws=False)

    def reading(self, *names: str) -> Scope:
        """The same with more names."""
        return replace(self, names=self.names + names)


@dataclass
class Expressions:
    """Writes expressions of a world."""

    world: World
    depth: int = 3
    _indices: list[str] = field(default_factory=list)

    def number(self, scope: Scope, depth: int | None = None) -> str:
        """Any number."""
        depth = self.depth if depth is None else depth
        dice = self.world.dice
        if depth <= 0 or dice.chance(0.3):
            return self._leaf(scope)
        forms: dict[Callable[[Scope, int], str], float] = {
            self._arithmetic: 4.0,
            self._comparison: 1.2,
            self._unary: 0.6,
            self._conditional: 0.8,
            self._function: 1.2,
        }
        if scope.live:
            forms[self._query] = 1.5
        if scope.draws:
            forms[self._draw] = 0.8
        if scope.definitions and self.world.expressions:
            forms[self._definition] = 1.0
        if dice.chance(self.world.knobs.aggregates):
            forms[self._aggregate] = 0.6
        return dice.weighted(forms)(scope, depth - 1)

    def amount(self, scope: Scope) -> str:
        """A number that is no constant, or a small literal."""
        if not scope.names or self.world.dice.chance(0.25):
            return str(self.world.dice.randint(0, 4))
        name = self.world.dice.choice(scope.names)
        form = self.world.dice.choice(
            ("{n}", "{n} + {e}", "max({n}, {e})", "{n} * 2 + ({e})", "min({n} + 1, {e})")
        )
        return form.format(n=name, e=self.number(scope, 1))

    def argument(self, scope: Scope) -> str:
        """A number that is no constant, so that no arithmetic over it is an amount below 0."""
        return f"{self.world.dice.choice(scope.names)} + {self.number(scope, 1)}"

    def test(self, scope: Scope) -> str:
        """A number that is 0 or 1."""
        return self._comparison(scope, 1)

    def reference(self, resource: Resource, scope: Scope) -> str:
        """A pool or stage, one of its members when it is an array."""
        if not resource.count:
            return resource.name
        literal = str(self.world.dice.randrange(resource.count))
        if scope.index and self.world.dice.chance(0.6):
            return f"{resource.name}[{self.world.dice.choice(scope.index)}]"
        return f"{resource.name}[{literal}]"

    # Forms

    def _leaf(self, scope: Scope) -> str:
        dice = self.world.dice
        leaves = [*scope.names, *scope.variables, *self._indices]
        if scope.clock:
            leaves.append("now")
        if leaves and dice.chance(0.65):
            return dice.choice(leaves)
        constants = list(self.world.constants)
        if constants and dice.chance(0.3):
            return dice.choice(constants)
        return dice.choice(("0", "1", "2", "0.5", "10", "1_000", ".25", "1e3", str(dice.randint(1, 99))))

    def _arithmetic(self, scope: Scope, depth: int) -> str:
        op = self.world.dice.choice(("+", "-", "*", "/", "^", "+", "*"))
        return f"({self.number(scope, depth)}) {op} ({self.number(scope, depth)})"

    def _comparison(self, scope: Scope, depth: int) -> str:
        dice = self.world.dice
        left, right = self.number(scope, depth), self.number(scope, depth)
        text = f"({left}) {dice.choice(('<', '<=', '>', '>=', '==', '!='))} ({right})"
        if depth > 0 and dice.chance(0.3):
            return f"{text} {dice.choice(('&&', '||'))} {self._comparison(scope, depth - 1)}"
        return text

    def _unary(self, scope: Scope, depth: int) -> str:
        return f"{self.world.dice.choice('-!')}({self.number(scope, depth)})"

    def _conditional(self, scope: Scope, depth: int) -> str:
        parts = (self.test(scope), self.number(scope, depth), self.number(scope, depth))
        return "({} ? {} : {})".format(*parts)

    def _function(self, scope: Scope, depth: int) -> str:
        name, count = self.world.dice.choice(
            (
                ("min", 2),
                ("max", 2),
                ("abs", 1),
                ("floor", 1),
                ("ceil", 1),
                ("sqrt", 1),
                ("exp", 1),
                ("ln", 1),
                ("pow", 2),
            )
        )
        return f"{name}({', '.join(self.number(scope, depth) for _ in range(count))})"

    def _draw(self, scope: Scope, depth: int) -> str:
        name, count = self.world.dice.choice(
            (("exp", 1), ("det", 1), ("uniform", 2), ("erlang", 2), ("h2", 2), ("bernoulli", 1))
        )
        return f"(~{name}({', '.join(self.number(scope, depth) for _ in range(count))}))"

    def _query(self, scope: Scope, depth: int) -> str:
        dice = self.world.dice
        choices = []
        if scope.pools:
            choices += ["used", "free", "holders", "queued"] + (["cachedin"] if scope.own_prefix else [])
        if scope.stages:
            choices += ["queue", "busy"] + (["work"] if scope.work else [])
            choices += ["est_lambda", "est_rho", "est_wait", "price"] if scope.estimates else []
        if scope.engines:
            choices += ["budget_left"]
        if not choices:
            return self._leaf(scope)
        name = dice.choice(choices)
        if name in ("used", "free", "holders", "queued", "cachedin"):
            blocks = [p for p in scope.pools if p.block]
            if blocks and dice.chance(0.2):
                return f"blocksize({self.reference(dice.choice(blocks), scope)})"
            return f"{name}({self.reference(dice.choice(scope.pools), scope)})"
        if name == "budget_left":
            return f"budget_left({self.reference(dice.choice(scope.engines), scope)})"
        stage = self.reference(dice.choice(scope.stages), scope)
        if name == "price":
            return f"price({stage}, {self.number(scope, depth)}, {self.number(scope, depth)})"
        return f"{name}({stage})"

    def _definition(self, scope: Scope, depth: int) -> str:
        definition = self.world.dice.choice(self.world.expressions)
        arguments = []
        for kind in definition.parameters:
            if kind == "number":
                arguments.append(self.number(replace(scope, draws=False), depth))
                continue
            found = scope.pools if kind == "pool" else scope.stages
            if not scope.live or not found:
                return self._leaf(scope)
            arguments.append(self.reference(self.world.dice.choice(found), scope))
        return f"{definition.name}({', '.join(arguments)})"

    def _aggregate(self, scope: Scope, depth: int) -> str:
        index = self.world.fresh("j")
        families = [p for p in scope.pools if p.count > 1] if scope.live else []
        if families and self.world.dice.chance(0.6):
            pool = self.world.dice.choice(families)
            count, body = str(pool.count), f"used({pool.name}[{index}])"
        else:
            count = self.world.dice.choice(("2", "3", "(1 + 1)"))
            self._indices.append(index)
            body = self.number(replace(scope, draws=False), max(0, depth - 1))
            self._indices.pop()
        return f"{self.world.dice.choice(('sum', 'min', 'max'))} {index} in {count} ({body})"
