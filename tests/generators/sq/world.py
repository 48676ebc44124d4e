"""What a program being written has declared: the names its statements may use, and for what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.generators.ir.dice import Dice


@dataclass
class Knobs:
    """How likely each part of the language is."""

    engines: float = 0.6
    requests: float = 0.7
    queues: float = 0.5
    relations: float = 0.6
    legs: float = 0.3
    leases: float = 0.3
    definitions: float = 0.7
    aggregates: float = 0.3
    serving: float = 0.4
    hidden: float = 0.5
    flows: float = 0.25
    records: float = 0.2
    claims: float = 0.6
    inputs: float = 0.3


@dataclass(frozen=True)
class Resource:
    """A pool or stage: `count` is 0 for a single one."""

    name: str
    count: int = 0
    block: bool = False
    preempts: bool = False
    cap: int = 1_000_000
    flows: bool = False


@dataclass(frozen=True)
class Definition:
    """A definition: the kinds of its parameters, `number`, `pool` or `stage`."""

    name: str
    parameters: tuple[str, ...]


@dataclass
class Station:
    """An engine's request or a queue's entry, as a call names it."""

    call: str
    count: int
    arguments: int
    marks: tuple[str, ...] = ()
    source: Station | None = None


@dataclass
class World:
    """The program so far."""

    dice: Dice
    knobs: Knobs
    items: list[str] = field(default_factory=list)
    constants: dict[str, float] = field(default_factory=dict)
    pools: list[Resource] = field(default_factory=list)
    stages: list[Resource] = field(default_factory=list)
    engines: list[Resource] = field(default_factory=list)
    expressions: list[Definition] = field(default_factory=list)
    blocks: list[Definition] = field(default_factory=list)
    requests: list[Station] = field(default_factory=list)
    entries: list[Station] = field(default_factory=list)
    pairs: list[tuple[Station, Station]] = field(default_factory=list)
    sizes: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    observes: list[str] = field(default_factory=list)
    share: bool = False
    shared: bool = False
    inputs: bool = False
    _taken: set[str] = field(default_factory=set)

    def fresh(self, stem: str) -> str:
        """A name nothing else has."""
        number = len(self._taken)
        self._taken.add(f"{stem}{number}")
        return f"{stem}{number}"

    def whole(self, low: int, high: int) -> str:
        """A whole number, sometimes under the name of a constant."""
        value = self.dice.randint(low, high)
        if self.dice.chance(0.25):
            name = self.fresh("K")
            self.constants[name] = value
            if self.dice.chance(self.knobs.inputs):
                self.inputs = True
                self.items.append(f'let {name} = args.number("{name}_in", {value});')
            else:
                self.items.append(f"let {name} = {value};")
            return name
        return str(value)

    def size_of_array(self) -> tuple[str, int]:
        """`[n]` and n, or nothing and 0 for a single declaration."""
        if self.dice.chance(0.55):
            return "", 0
        count = self.dice.randint(1, 3)
        if self.dice.chance(0.3):
            name = self.fresh("N")
            self.constants[name] = count
            self.items.append(f"let {name} = {count};")
            return f"[{name}]", count
        return f"[{count}]", count


Arguments = Mapping[str, str]
