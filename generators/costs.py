"""The cost of an iteration as a sum of natural multiples (lean-model.md §7).

A cost goes through the normal form {variable: coefficient}, so that terms cancel as in the
interpreter: `(5 - tokens) + tokens` is 5. A tile is a variable, too: `ceil(tokens / 8)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from serq.generators.expressions import described, without_costs
from serq.generators.model import Bin, Lit, Term, Var
from serq.ir import expressions as ex
from serq.ir.validate.constants import constant

_VARIABLES = {
    "Ntok": "tokens",
    "Npre": "prefilled",
    "Ndec": "decoders",
    "Kvb": "kvDecode",
    "Attn": "attention",
}


@dataclass(frozen=True)
class Tile:
    """A sum rounded up to whole tiles, counted in tiles."""

    sum: tuple[tuple[Atom, Fraction], ...]
    size: int


Atom = str | Tile
# The constant stands under "".
Form = dict[Atom, Fraction]


class CostError(Exception):
    """Why a cost is outside the fragment."""


def cost_term(e: ex.Expr, lone_tokens: bool = False) -> Term:
    """A cost as a term; raises `CostError`.

    The constant is at least 1, or, with `lone_tokens`, each token takes time: where nobody is
    preempted, no iteration starts without one.
    """
    form = _form(e)
    constant_part = form.get("", Fraction(0))
    if constant_part < 1 and not (lone_tokens and constant_part == 0 and _takes_time(form)):
        raise CostError(f"the constant part of the cost is {_shown(constant_part)}, not at least 1")
    return _term(form)


def _takes_time(form: Form) -> bool:
    """Whether a single token takes at least 1, be it of a prefill or of a decode."""
    return all(sum(v for k, v in form.items() if _sees(k, kind)) >= 1 for kind in ("prefilled", "decoders"))


def _sees(atom: Atom, kind: str) -> bool:
    if isinstance(atom, Tile):
        return any(_sees(a, kind) and v > 0 for a, v in atom.sum)
    return atom in ("tokens", kind)


def _form(e: ex.Expr) -> Form:
    value = constant(e)
    if value is not None:
        return _constant(value)
    match e:
        case ex.Cost(arg=arg):
            return _form(arg)
        case ex.Ctx(var=var) if var in _VARIABLES:
            return {_VARIABLES[var]: Fraction(1)}
        case ex.Binary(op="Add", left=left, right=right):
            return _sum(_form(left), _form(right), 1)
        case ex.Binary(op="Sub", left=left, right=right):
            return _sum(_form(left), _form(right), -1)
        case ex.Binary(op="Mul", left=left, right=right):
            return _product(_form(left), _form(right))
        case ex.Binary(op="Div", left=left, right=right):
            return _scaled(_form(left), 1 / _divisor(right))
        case ex.Call(fun="Ceil", args=(ex.Expr() as inner,)):
            return _tiles(inner)
        case _:
            raise CostError(f"the cost reads {described(e)}")


def _constant(value: float) -> Form:
    if value - value != 0.0:
        raise CostError(f"the cost has the constant {value:g}")
    return {"": Fraction(value)}


def _divisor(e: ex.Expr) -> Fraction:
    value = constant(e)
    if not value or value - value != 0.0:
        raise CostError("the cost divides by something else than a constant")
    return Fraction(value)


def _sum(a: Form, b: Form, sign: int) -> Form:
    return {
        k: a.get(k, Fraction(0)) + sign * b.get(k, Fraction(0)) for k in (*a, *(x for x in b if x not in a))
    }


def _scaled(a: Form, by: Fraction) -> Form:
    return {k: v * by for k, v in a.items()}


def _product(a: Form, b: Form) -> Form:
    for x, y in ((a, b), (b, a)):
        if not any(v for k, v in x.items() if k):
            return _scaled(y, x.get("", Fraction(0)))
    raise CostError("the cost multiplies two variables")


def _tiles(inner: ex.Expr) -> Form:
    quotient = without_costs(inner)
    if not isinstance(quotient, ex.Binary) or quotient.op != "Div":
        raise CostError("the cost rounds up something else than a quotient")
    size = _divisor(quotient.right)
    if size < 1 or size.denominator != 1:
        raise CostError("the cost has tiles of a size that is not a whole number from 1")
    parts = tuple(sorted(((k, v) for k, v in _form(quotient.left).items() if v), key=lambda p: str(p[0])))
    return {Tile(parts, int(size)): Fraction(1)}


def _term(form: Mapping[Atom, Fraction]) -> Term:
    """A sum: the constant, then the variables in the order of the model."""
    order = {name: i for i, name in enumerate(["", *_VARIABLES.values()])}
    terms: list[Term] = []
    for atom in sorted(form, key=lambda a: (order.get(a, 9) if isinstance(a, str) else 10, str(a))):
        coefficient = _natural(atom, form[atom])
        if coefficient:
            terms.append(_multiple(atom, coefficient))
    total: Term = terms[0] if terms else Lit(0)
    for t in terms[1:]:
        total = Bin("add", total, t)
    return total


def _natural(atom: Atom, coefficient: Fraction) -> int:
    kind = "a natural number"
    if atom == "attention":
        # The model counts attention twice, so that it is a natural number.
        coefficient, kind = coefficient / 2, "an even natural number"
    if coefficient < 0 or coefficient.denominator != 1:
        what = "a tile" if isinstance(atom, Tile) else atom or "1"
        raise CostError(f"the coefficient of {what} in the cost is not {kind}")
    return int(coefficient)


def _multiple(atom: Atom, coefficient: int) -> Term:
    if atom == "":
        return Lit(coefficient)
    value: Term
    if isinstance(atom, Tile):
        value = Bin("ceil", _term(dict(atom.sum)), Lit(atom.size))
    else:
        value = Var(atom)
    return value if coefficient == 1 else Bin("mul", Lit(coefficient), value)


def _shown(x: Fraction) -> str:
    return f"{float(x):g}"
