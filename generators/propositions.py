"""Claims as Lean propositions.

A comparison is one of natural numbers, unless something in it is subtracted: then it is one of
integers, because a difference of natural numbers stops at 0 (generators.md §6).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from serq.generators.model import Bin, If, Lit, Not, Term, Var

Reader = Callable[[Var], str]
_RELATIONS = {"lt": "<", "le": "≤", "eq": "=", "ne": "≠"}
_ARITHMETIC = {"add": ("+", 65), "sub": ("-", 65), "mul": ("*", 70), "div": ("/", 70)}
_JUNCTIONS = {"and": "∧", "or": "∨"}
_SIGNS = {**_RELATIONS, **_JUNCTIONS}


def proposition(t: Term, read: Reader) -> str:
    """A term as a proposition: it is not 0."""
    match t:
        case Bin(op=op, left=a, right=b) if op in _SIGNS:
            left, right = _sides(op, a, b, read)
            return f"{left} {_SIGNS[op]} {right}"
        case Not(arg=a):
            return f"¬({proposition(a, read)})"
        case If(test=a, yes=b, no=c):
            return f"if {proposition(a, read)} then {proposition(b, read)} else {proposition(c, read)}"
        case _:
            return f"{_number(t, read, _subtracts(t))} ≠ 0"


def lines(t: Term, read: Reader) -> tuple[str, ...]:
    """A proposition, in two lines if one would be long."""
    whole = proposition(t, read)
    match t:
        case Bin(op=op, left=a, right=b) if len(whole) > 100 and op in _SIGNS:
            left, right = _sides(op, a, b, read)
            return f"{left} {_SIGNS[op]}", f"  {right}"
        case _:
            return (whole,)


def _sides(op: str, a: Term, b: Term, read: Reader) -> tuple[str, str]:
    if op in _JUNCTIONS:
        return f"({proposition(a, read)})", f"({proposition(b, read)})"
    whole = _subtracts(a) or _subtracts(b)
    return _number(a, read, whole), _number(b, read, whole)


def _number(t: Term, read: Reader, whole: bool) -> str:
    """A term as a number: an integer if `whole`, else a natural number."""
    match t:
        case Lit(value=value):
            return str(value)
        case Var():
            return f"({read(t)} : Int)" if whole else read(t)
        case Bin(op=op, left=a, right=b) if op in _ARITHMETIC:
            sign, binding = _ARITHMETIC[op]
            left, right = _number(a, read, whole), _number(b, read, whole)
            return f"{_within(a, left, binding)} {sign} {_within(b, right, binding + 1)}"
        case Bin(op="ceil", left=a, right=b):
            left, right = _number(a, read, whole), _number(b, read, whole)
            return f"(({left}) + {right} - 1) / {right}"
        case Bin(op="min" | "max", left=a, right=b):
            return f"({t.op} ({_number(a, read, whole)}) ({_number(b, read, whole)}))"
        case If(test=a, yes=b, no=c):
            yes, no = _number(b, read, whole), _number(c, read, whole)
            return f"(if {proposition(a, read)} then {yes} else {no})"
        case _:
            return f"(if {proposition(t, read)} then 1 else 0)"


def _within(t: Term, text: str, binding: int) -> str:
    op = t.op if isinstance(t, Bin) else ""
    own = _ARITHMETIC[op][1] if op in _ARITHMETIC else 70 if op == "ceil" else 100
    return f"({text})" if own < binding else text


def _subtracts(t: Term) -> bool:
    """Whether something is subtracted in a number, outside of the propositions in it."""
    match t:
        case Bin(op=op, left=a, right=b):
            return (
                op not in _RELATIONS
                and op not in _JUNCTIONS
                and (op == "sub" or _subtracts(a) or _subtracts(b))
            )
        case If(yes=b, no=c):
            return _subtracts(b) or _subtracts(c)
        case _:
            return False


def holds(t: Term, attributes: Mapping[int, int]) -> bool:
    """Whether a `given` holds of a session with these attributes."""
    return value(t, attributes) != 0


def value(t: Term, attributes: Mapping[int, int]) -> int:
    """The value of a term over attributes, in the integers."""
    match t:
        case Lit(value=n):
            return n
        case Var(index=int(slot)):
            return attributes[slot]
        case Not(arg=a):
            return int(value(a, attributes) == 0)
        case If(test=a, yes=b, no=c):
            return value(b if value(a, attributes) else c, attributes)
        case Bin(op=op, left=a, right=b):
            return _operation(op, value(a, attributes), value(b, attributes))
        case _:
            raise AssertionError(f"not a term over attributes: {t}")


def _operation(op: str, x: int, y: int) -> int:
    found: dict[str, Callable[[], int]] = {
        "add": lambda: x + y,
        "sub": lambda: x - y,
        "mul": lambda: x * y,
        "div": lambda: x // y,
        "ceil": lambda: -(-x // y),
        "min": lambda: min(x, y),
        "max": lambda: max(x, y),
        "lt": lambda: int(x < y),
        "le": lambda: int(x <= y),
        "eq": lambda: int(x == y),
        "ne": lambda: int(x != y),
        "and": lambda: int(x != 0 and y != 0),
        "or": lambda: int(x != 0 or y != 0),
    }
    return found[op]()
