"""The one source of chance of the generators: a seeded generator with the choices they make."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice(random.Random):
    """A reproducible generator: the same seed makes the same choices everywhere."""

    def chance(self, p: float) -> bool:
        """True with probability `p`."""
        return self.random() < p

    def weighted(self, table: dict[T, float]) -> T:
        """A key of `table`, as often as its weight says."""
        keys = list(table)
        return self.choices(keys, [table[k] for k in keys])[0]

    def some(self, items: Sequence[T], low: int = 1) -> list[T]:
        """A random selection of at least `low` items, in a random order."""
        count = self.randint(min(low, len(items)), len(items))
        return self.sample(list(items), count)

    def quantity(self, low: float, high: float, integral: bool) -> float:
        """A number in [low, high]: whole, or with up to three decimals."""
        if integral:
            return float(self.randint(round(low), max(round(low), round(high))))
        return self.weighted(
            {round(self.uniform(low, high), 3): 3.0, round(self.uniform(low, high) * 2) / 2: 1.0}
        )
