"""Random expressions over small natural numbers, as records that can be shrunk (generators.md §10).

No intermediate value is negative and nothing is divided by 0: a difference is of the larger and the
lesser, a divisor is at least 1. What a term reads is a name; who writes the program says what it means.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from serq.ir.quantity import Quantity, Value, call, greatest, least, lift, when

Read = Callable[[str], Quantity]


@dataclass(frozen=True)
class Term:
    """An expression: a number, a name that is read, or an operation on terms."""

    kind: str
    args: tuple[Term, ...] = ()
    number: int = 0
    name: str = ""


_BINARY: dict[str, Callable[[Quantity, Quantity], Quantity]] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "min": least,
    "max": greatest,
    "gap": lambda a, b: greatest(a, b) - least(a, b),
    "share": lambda a, b: call("Floor", a / (b + 1)),
}
_TESTS: dict[str, Callable[[Quantity, Quantity], Quantity]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a.equals(b),
    "ne": lambda a, b: a.differs(b),
}
_JOINED: dict[str, Callable[[Quantity, Quantity], Quantity]] = {
    "and": lambda a, b: a.and_(b),
    "or": lambda a, b: a.or_(b),
}
_ROUNDED = {"floor": "Floor", "ceil": "Ceil"}
# What has the same value over the reals and over the naturals wherever a decision rests on it.
_PLAIN = ("add", "mul", "min", "max")


def number(n: int) -> Term:
    """A constant."""
    return Term("number", number=n)


def reading(name: str) -> Term:
    """What a name stands for."""
    return Term("read", name=name)


def quantity(value: Value) -> Quantity:
    """A value as a quantity, to calculate with."""
    return value if isinstance(value, Quantity) else Quantity(lift(value))


def written(term: Term, read: Read) -> Quantity:
    """A term as an expression of the IR."""
    if term.kind == "number":
        return quantity(term.number)
    if term.kind == "read":
        return read(term.name)
    args = [written(a, read) for a in term.args]
    if term.kind == "if":
        return when(*args)
    if term.kind == "not":
        return args[0].not_()
    if term.kind in _ROUNDED:
        return call(_ROUNDED[term.kind], args[0] / term.number)
    return {**_BINARY, **_TESTS, **_JOINED}[term.kind](*args)


def random_amount(d: random.Random, names: Sequence[str], depth: int = 2, plain: bool = False) -> Term:
    """A natural number; a plain one subtracts nothing and divides by constants only."""
    if depth == 0 or d.random() < 0.35:
        return number(d.randint(0, 5)) if d.random() < 0.3 else reading(d.choice(names))

    def inner() -> Term:
        return random_amount(d, names, depth - 1, plain)

    chance = d.random()
    if chance < 0.2:
        return Term("if", (random_test(d, names, depth - 1, plain), inner(), inner()))
    if chance < 0.35:
        return Term(d.choice(tuple(_ROUNDED)), (inner(),), d.randint(1, 4))
    return Term(d.choice(_PLAIN if plain else tuple(_BINARY)), (inner(), inner()))


def random_test(d: random.Random, names: Sequence[str], depth: int = 1, plain: bool = False) -> Term:
    """A value that is 0 or 1."""
    if depth > 0 and d.random() < 0.25:
        if d.random() < 0.4:
            return Term("not", (random_test(d, names, depth - 1, plain),))
        pair = (random_test(d, names, depth - 1, plain), random_test(d, names, depth - 1, plain))
        return Term(d.choice(tuple(_JOINED)), pair)
    depth = max(depth, 0)
    pair = (random_amount(d, names, depth, plain), random_amount(d, names, 0, plain))
    return Term(d.choice(tuple(_TESTS)), pair)


def simpler_amounts(term: Term) -> Iterator[Term]:
    """Simpler terms in the place of one that is an amount."""
    if term.kind == "number":
        if term.number:
            yield number(term.number // 2)
        return
    yield number(1)
    arms = term.args[1:] if term.kind == "if" else term.args
    yield from (a for a in arms if not is_test(a))
    yield from _inside(term)


def simpler_tests(term: Term) -> Iterator[Term]:
    """Simpler terms in the place of one that is a test."""
    yield from (a for a in term.args if is_test(a))
    yield from _inside(term)


def is_test(term: Term) -> bool:
    """Whether a term is certainly 0 or 1 by its form."""
    return term.kind in _TESTS or term.kind in _JOINED or term.kind == "not"


def _inside(term: Term) -> Iterator[Term]:
    for i, arg in enumerate(term.args):
        for less in simpler_tests(arg) if is_test(arg) else simpler_amounts(arg):
            yield replace(term, args=(*term.args[:i], less, *term.args[i + 1 :]))
    if term.kind in _ROUNDED and term.number > 1:
        yield replace(term, number=term.number // 2)
