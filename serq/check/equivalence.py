"""Whether two programs decide alike: every expression of the one against that of the other.

Two programs of one shape (the same statements, pools and stages) differ only in
expressions. Each pair is proved equal for all values of what it reads, or separated by a
state. Draws of the two sides count as independent, so an expression that draws is equal
only to itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from serq.check.encoder import Encoder
from serq.check.flags import lnot
from serq.check.report import told
from serq.check.solver import Answer, Fact, Oracle, Verdict
from serq.check.terms import Term, Values, identical
from serq.check.variables import Variables
from serq.diagnostics import IrPath, format_path
from serq.ir.depth import deep_recursion
from serq.ir.expressions import Expr
from serq.ir.program import Program
from serq.ir.traverse import expressions_of
from serq.ir.validate.names import Names
from serq.ir.validate.paths import same


@dataclass(frozen=True)
class Pair:
    """Two expressions at one place: proved equal, separated by values, or unknown."""

    path: IrPath
    verdict: Verdict
    state: tuple[tuple[str, float], ...] = ()
    why: str = ""

    def sentence(self) -> str:
        """The comparison in one line."""
        where = format_path(self.path)
        if self.verdict is Verdict.PROVED:
            return f"{where}: the same for every state"
        if self.verdict is Verdict.REFUTED:
            return f"{where}: different when {told(self.state)}"
        return f"{where}: unknown ({self.why})"


def equivalent(program: Program, a: Expr, b: Expr, *, timeout: float = 2.0, path: IrPath = ()) -> Pair:
    """Compare two expressions that read one program's names, for any finite values of what they read.

    Proved: equal in double arithmetic for all values within ±2^40. Refuted: the state's
    values, confirmed in doubles, give different results.
    """
    with deep_recursion():
        if same(a, b):
            return Pair(path, Verdict.PROVED)
        variables, names = Variables(), Names(program)
        attributes: dict[int, Term] = {}

        def attribute(slot: int) -> Term:
            if slot not in attributes:
                what = names.attr(slot)
                attributes[slot] = variables.term(what, float("-inf"), float("inf"), exact=True, assumed=True)
            return attributes[slot]

        encoder = Encoder(program, names, variables, attribute)
        answer = _differ(variables, encoder.encode(a), encoder.encode(b), timeout)
    return Pair(path, answer.verdict, answer.witness, answer.why)


def _differ(variables: Variables, x: Term, y: Term, timeout: float) -> Answer:
    # Any values of the state are allowed here: the question is about all states.
    variables.free()

    def holds(v: Values) -> bool:
        left, right = v.of(x), v.of(y)
        return left != right and not (left != left and right != right)

    return Oracle(variables, timeout).ask(Fact(lnot(identical(x, y)), holds))


def compare(a: Program, b: Program, *, timeout: float = 2.0) -> tuple[Pair, ...]:
    """Compare two programs of one shape, place by place; raises ValueError when their shapes differ."""
    with deep_recursion():
        ours = {path: e for path, _, e in expressions_of(a)}
        theirs = {path: e for path, _, e in expressions_of(b)}
    if list(ours) != list(theirs) or a.attrs != b.attrs:
        odd = next(iter(set(ours) ^ set(theirs)), ())
        raise ValueError(f"the programs differ in shape, first at {odd}")
    return tuple(equivalent(a, e, theirs[path], timeout=timeout, path=path) for path, e in ours.items())
