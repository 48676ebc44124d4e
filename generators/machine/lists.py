"""Operations on lists, as `lean/Serq/Model/Lists.lean` has them: reading and writing by index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from serq.generators.model import Values

T = TypeVar("T")
Naturals = tuple[int, ...]


def nth(default: T, index: int, items: tuple[T, ...]) -> T:
    """The element at an index, or the default beyond the end."""
    return items[index] if index < len(items) else default


def put(item: T, index: int, items: tuple[T, ...]) -> tuple[T, ...]:
    """The list with the element at an index replaced; unchanged beyond the end."""
    if index >= len(items):
        return items
    return (*items[:index], item, *items[index + 1 :])


def assign(value: int, slot: int, store: Naturals) -> Naturals:
    """A store in which everything beyond the end is 0, with a slot set."""
    padded = store + (0,) * (slot - len(store))
    return (*padded[:slot], value, *padded[slot + 1 :])


def assign_all(values: Values, store: Naturals) -> Naturals:
    """Several assignments, in order."""
    for slot, value in values:
        store = assign(value, slot, store)
    return store


def without(number: int, numbers: Naturals) -> Naturals:
    """The list without the first occurrence of a number."""
    if number not in numbers:
        return numbers
    at = numbers.index(number)
    return numbers[:at] + numbers[at + 1 :]


def count(tests: Iterable[bool]) -> int:
    """How many are true."""
    return sum(map(int, tests))
