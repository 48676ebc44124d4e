"""Values tried without the solver, and how believable a witness is: how often it comes up, whether it is one point."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from serq.check.terms import INF, Values
from serq.check.variables import Variable, Variables

# So many choices of values are tried, and so many that show something wrong are offered.
_TRIED = 48
_OFFERED = 6
# Draws are moved by this share of their size to see whether a witness is a single point.
_MOVE = 1e-7
_MOVES = 8
_TAIL = 4.6

Holds = Callable[[Values], bool]


@dataclass(eq=False)
class _Sample(Values):
    """Values chosen as they are read, from the number of the sample and the name of the variable."""

    number: int = 0
    variables: Variables = field(default_factory=Variables)
    hints: Sequence[float] = ()

    def variable(self, name: str, default: float = 0.0) -> float:
        if name not in self.read:
            known = self.variables.table.get(name)
            self.read[name] = default if known is None or not known.exact else self._choose(known)
        return self.read[name]

    def _choose(self, v: Variable) -> float:
        dice = random.Random(f"{self.number} {v.name}")
        for _ in range(4):
            value = self._from(v, dice)
            if v.allows(value):
                return value
        return v.low if math.isfinite(v.low) and v.allows(v.low) else 0.0

    def _from(self, v: Variable, dice: random.Random) -> float:
        if v.mean is not None:
            size = v.mean * (1.0, 0.0, _TAIL)[self.number] if self.number < 3 else self._tail(v.mean, dice)
            size = float(round(size)) if v.mean >= 2 else size
            return size if v.high > 0 else -size
        low, high = max(v.low, -1e6), min(v.high, 1e6)
        if self.number < 3:
            return ((low + high) / 2 if not v.whole else float(round((low + high) / 2)), low, high)[
                self.number
            ]
        near = [h + d for h in self.hints for d in (-1.0, 0.0, 1.0) if low <= h + d <= high]
        pick = dice.random()
        if near and pick < 0.4:
            return float(dice.choice(near))
        if pick < 0.6:
            return dice.choice((low, high, min(max(0.0, low), high), min(max(1.0, low), high)))
        value = dice.uniform(low, high)
        return float(round(value)) if v.whole or (high - low > 4 and pick < 0.9) else value

    def _tail(self, mean: float, dice: random.Random) -> float:
        near = [h for h in self.hints if 0 < h <= _TAIL * mean]
        return (
            dice.choice(near) if near and dice.random() < 0.3 else mean * dice.choice((0.1, 0.5, 1, 2, 3, 4))
        )


class Samples:
    """A fixed set of choices for all variables; what terms come to under each is kept."""

    def __init__(self, variables: Variables, hints: Sequence[float] = ()) -> None:
        self.hints = hints
        self._variables = variables
        self._all: list[_Sample] = []

    def showing(self, holds: Holds) -> Iterator[dict[str, float]]:
        """Values under which something holds, a few at most."""
        if not self._all:
            self._all = [
                _Sample({}, number=i, variables=self._variables, hints=self.hints) for i in range(_TRIED)
            ]
        offered = 0
        for sample in self._all:
            if holds(sample):
                yield dict(sample.read)
                offered += 1
                if offered == _OFFERED:
                    return


def chance(read: Sequence[Variable], values: Values) -> float:
    """How often draws are all at least as far in their tails as these."""
    result = 1.0
    for v in read:
        if v.draw is not None and v.draw.mean is not None:
            result *= v.draw.exceeds(abs(values.read[v.name]))
    return result


def steady(holds: Holds, read: Sequence[Variable], values: Values) -> bool:
    """Whether something still holds when the continuous draws move a little: a single point comes up never."""
    drawn = [v for v in read if v.draw is not None and v.low < v.high]
    if not drawn:
        return True
    dice = random.Random(0)
    for number in range(_MOVES):
        moved = dict(values.read)
        for v in drawn:
            sign = (1.0, -1.0)[number] if number < 2 else dice.choice((-1.0, 1.0))
            moved[v.name] = _moved(v, moved[v.name], sign * (1.0 + dice.random()))
        if holds(Values(moved)):
            return True
    return False


def _moved(v: Variable, value: float, by: float) -> float:
    width = v.high - v.low if v.high - v.low < INF else 1.0
    size = max(abs(value), v.mean or 0.0, width if v.mean is None else 0.0)
    step = by * _MOVE * size
    return value + step if v.low <= value + step <= v.high else value - step
