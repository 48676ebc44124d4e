"""Truth values that fold: a plain `bool` where the answer is known, a z3 term where it is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import z3

Flag: TypeAlias = "bool | z3.BoolRef"


def lnot(a: Flag) -> Flag:
    """Not a."""
    return not a if isinstance(a, bool) else z3.Not(a)


def land(*parts: Flag) -> Flag:
    """All of them."""
    open_parts = _open(parts, True)
    if open_parts is None:
        return False
    return _join(open_parts, True)


def lor(*parts: Flag) -> Flag:
    """Any of them."""
    open_parts = _open(parts, False)
    if open_parts is None:
        return True
    return _join(open_parts, False)


def choose(test: Flag, then: Flag, other: Flag) -> Flag:
    """`then` where the test holds, else `other`."""
    if isinstance(test, bool):
        return then if test else other
    if then is other:
        return then
    return lor(land(test, then), land(lnot(test), other))


def same(a: Flag, b: Flag) -> Flag:
    """Both or neither."""
    return choose(a, b, lnot(b))


def as_z3(a: Flag) -> z3.BoolRef:
    """The truth value as a z3 term."""
    return z3.BoolVal(a) if isinstance(a, bool) else a


def _open(parts: Iterable[Flag], neutral: bool) -> list[z3.BoolRef] | None:
    """The parts that are not the neutral value; None when one is the other value."""
    result: list[z3.BoolRef] = []
    for part in parts:
        if not isinstance(part, bool):
            result.append(part)
        elif part is not neutral:
            return None
    return result


def _join(parts: list[z3.BoolRef], conjunction: bool) -> Flag:
    if not parts:
        return conjunction
    if len(parts) == 1:
        return parts[0]
    joined: Flag = z3.And(*parts) if conjunction else z3.Or(*parts)
    return joined
