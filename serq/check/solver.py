"""Questions to z3: answered, or unknown within a limit that does not depend on the machine's load.

Limits, of one question and of all together, are in z3's own resource units, so that an
answer does not depend on how busy the machine is; wall-clock time only stops a question
that has got stuck without using any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import z3
from z3 import z3core as raw

from serq.check.flags import Flag, as_z3, land, lnot
from serq.check.samples import Samples, chance, steady
from serq.check.terms import Values
from serq.check.variables import Variable, Variables, exact_real

# Resource units per second of the time-out, measured on a slow core.
UNITS = 1_500_000
# The same for all questions together: most of them are easy, and use units faster.
_UNITS_OVERALL = 6_000_000
# Milliseconds after which a question is stuck.
_STUCK = 60_000

_COARSE = "the bounds found are too coarse for a proof, and the ways tried show no witness"
_LIMIT = "the solver gave no answer in its limit"
UNCONFIRMED = "no witness was confirmed in double arithmetic"
# A witness that comes up less often than this is told with how often it does.
COMMON = 0.01
# One that comes up less often than this is no finding.
NEVER = 1e-9
# Means that draws may add up to in a witness that is looked for first, and in one that comes up at all.
_NEAR, _FAR = 4.6, 20.7
# Steps of looking for a likelier witness, and their share of the limit.
_STEPS = 4
# Witnesses refused before the search gives up.
_REFUSED = 2
# Witnesses looked for under the same conditions when doubles do not confirm one.
_AGAIN = 3
_SHARE = 0.15


class Verdict(StrEnum):
    """The answer of a rule at a place."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, eq=False)
class Fact:
    """A condition, as a flag for the solver and as a test of witness values."""

    flag: Flag
    test: Callable[[Values], bool]

    def holds(self, values: Values) -> bool:
        """Whether it holds of values; computed once, as conditions of branches share their parts."""
        return values.tested(self, self.test)


@dataclass(frozen=True)
class Answer:
    """A verdict: the witness that refutes, by variable, or why it is unknown.

    `chance` is how often draws are at least as far in their tails as the witness's.
    """

    verdict: Verdict
    witness: tuple[tuple[str, float], ...] = ()
    why: str = ""
    values: Values | None = None
    chance: float = 1.0
    safe: tuple[Safe, ...] = ()


@dataclass(frozen=True)
class Safe:
    """A part of an open input's range in which nothing wrong is left, whatever the other inputs are.

    `tight` says that the value next to it is refuted.
    """

    name: str
    low: float
    high: float
    tight: bool

    def sentence(self) -> str:
        """The part in words: `blocks from 64 to 10000, not 63`."""
        from serq.ir.validate.names import number

        return f"{self.name} from {number(self.low)} to {number(self.high)}"


def both(*facts: Fact) -> Fact:
    """All of the facts."""
    return Fact(land(*(f.flag for f in facts)), lambda v: all(f.holds(v) for f in facts))


def negation(fact: Fact) -> Fact:
    """The contrary."""
    return Fact(lnot(fact.flag), lambda v: not fact.holds(v))


TRUE = Fact(True, lambda v: True)
FALSE = Fact(False, lambda v: False)


class Meter:
    """The resource units that all questions together may use; None for any number."""

    def __init__(self, seconds: float | None = None) -> None:
        self.left = None if seconds is None else int(seconds * _UNITS_OVERALL)
        self._seen = 0

    @property
    def empty(self) -> bool:
        """Whether all is used."""
        return self.left is not None and self.left <= 0

    def limit(self, wanted: int) -> int:
        """What one question may use, of what it wants."""
        return wanted if self.left is None else max(1, min(wanted, self.left))

    def before(self, solver: z3.Solver) -> None:
        """Read z3's count before a question."""
        self._seen = _count(solver)

    def after(self, solver: z3.Solver) -> None:
        """Take off what the question used."""
        if self.left is not None:
            self.left -= max(0, _count(solver) - self._seen)


def _count(solver: z3.Solver) -> int:
    return int(solver.statistics().get_key_value("rlimit count"))


Found = dict[str, z3.RatNumRef]


class Oracle:
    """Asks whether something wrong can happen, for all values of a model's variables.

    After `patience` questions without an answer the others get a tenth of the limit.
    """

    def __init__(
        self, variables: Variables, timeout: float, meter: Meter | None = None, patience: int = 4
    ) -> None:
        self.variables = variables
        self.timeout = timeout
        self.meter = meter or Meter()
        self.samples = Samples(variables)
        self._patience = patience
        self._unanswered = 0
        self._known: dict[tuple[int, ...], tuple[object, z3.CheckSatResult, Found | None]] = {}

    def never(self, wrong: Fact, share: float = 1.0) -> bool:
        """Whether something is proved never to happen; no when it is not decided in a share of the limit."""
        if isinstance(wrong.flag, bool):
            return not wrong.flag
        return bool(self._check([wrong.flag], share)[0] == z3.unsat)

    def ask(
        self, wrong: Fact, *, proof: bool = True, witness: bool = True, known: Answer | None = None
    ) -> Answer:
        """Refuted when it can happen (a witness confirms it in doubles), proved when it never does.

        `proof` false leaves out "proved": the variables enclose only some of what happens.
        `known` is a refutation found otherwise: only a plainer witness is looked for.
        """
        if known is not None:
            return _Search(self, wrong).best(None, known)
        if wrong.flag is False:
            return Answer(Verdict.PROVED) if proof else Answer(Verdict.UNKNOWN, why=_COARSE)
        result, model = self._check([as_z3(wrong.flag)])
        if result == z3.unsat:
            return Answer(Verdict.PROVED) if proof else Answer(Verdict.UNKNOWN, why=_COARSE)
        if not witness:
            why = "it may happen for values that only enclose what occurs" if result == z3.sat else _LIMIT
            return Answer(Verdict.UNKNOWN, why=why)
        return _Search(self, wrong).best(model)

    def likelier(self, wrong: Fact, answer: Answer) -> Answer:
        """A refutation by rare draws with the likeliest witness that a short search finds."""
        return _Search(self, wrong).nearer(answer)

    def smallest(self, wrong: Fact, answer: Answer) -> Answer:
        """A refutation with the least values of what is asked for ranges of, the first first."""
        return _Search(self, wrong).smallest(answer)

    def sample(self, wrong: Fact) -> Answer | None:
        """A witness among values tried without the solver."""
        if wrong.flag is False:
            return None
        for given in self.samples.showing(wrong.holds):
            found = self.confirm(wrong, given)
            if isinstance(found, Answer):
                return found
        return None

    def _check(
        self, parts: Sequence[z3.BoolRef], share: float = 1.0
    ) -> tuple[z3.CheckSatResult, Found | None]:
        key = tuple(p.get_id() for p in parts)
        if key not in self._known:
            # The parts are kept beside the answer, so that no other takes their identity.
            self._known[key] = tuple(parts), *self._asked(parts, share)
        return self._known[key][1:]

    def _asked(self, parts: Sequence[z3.BoolRef], share: float) -> tuple[z3.CheckSatResult, Found | None]:
        if self.meter.empty:
            return z3.unknown, None
        self.variables.settle()
        # A context of its own: an answer does not depend on what was asked before.
        solver = z3.Solver(ctx=z3.Context())
        if self._unanswered >= self._patience:
            share = min(share, 0.1)
        solver.set("rlimit", self.meter.limit(int(self.timeout * UNITS * share)))
        solver.set("timeout", _STUCK)
        solver.set("random_seed", 0)
        self.meter.before(solver)
        for part in (*self.variables.rounding.relevant(parts), *parts):
            # What `solver.add` does, without its inspection of sorts.
            moved = raw.Z3_translate(part.ctx_ref(), part.as_ast(), solver.ctx.ref())
            raw.Z3_solver_assert(solver.ctx.ref(), solver.solver, moved)
        result = solver.check()
        self.meter.after(solver)
        self._unanswered += result == z3.unknown
        return result, _values(solver.model()) if result == z3.sat else None

    def model(self, wrong: Fact, *more: z3.BoolRef) -> Found | None:
        """Values the solver finds for something wrong under further conditions."""
        return self._check([as_z3(wrong.flag), *more], _SHARE)[1]

    def reached(self, wrong: Fact) -> list[Variable]:
        """The variables a question depends on."""
        return [
            self.variables.table[n]
            for n in self.variables.rounding.names([as_z3(wrong.flag)])
            if n in self.variables.table
        ]

    def confirm(self, wrong: Fact, given: dict[str, float]) -> Answer | str:
        """The refutation that values show, computed in doubles; else why they show none."""
        values = Values(given)
        if not wrong.holds(values):
            return UNCONFIRMED
        read = [self.variables.table[n] for n in sorted(values.read, key=lambda n: int(n[1:]))]
        loose = [v for v in read if not v.exact]
        if loose and not self._whatever(wrong, read, values):
            return f"it depends on {loose[0].what}"
        read = [v for v in read if v.exact]
        for variable in read:
            if not variable.allows(values.read[variable.name]):
                return f"{variable.what} does not take the witness's value"
        often = chance(read, values) if steady(wrong.holds, read, values) else 0.0
        shown = tuple((v.what, values.read[v.name]) for v in read)
        return Answer(Verdict.REFUTED, shown, values=values, chance=often)

    def _whatever(self, wrong: Fact, read: Sequence[Variable], values: Values) -> bool:
        """Whether the witness's exact values alone make it happen, whatever the others are."""
        held = [v.num == exact_real(values.read[v.name]) for v in read if v.exact]
        return bool(self._check([as_z3(lnot(wrong.flag)), *held])[0] == z3.unsat)


class _Search:
    """The search for a witness that is easy to believe: whole numbers, and draws out of their tails."""

    def __init__(self, oracle: Oracle, wrong: Fact) -> None:
        self.oracle = oracle
        self.wrong = wrong
        self.last = _LIMIT
        self.refused = 0
        self.reached = oracle.reached(wrong)
        self.whole = [z3.IsInt(v.num) for v in self.reached if v.exact and not v.whole]
        self.empty = [v.num == exact_real(v.start) for v in self.reached if not v.exact]
        unrounded = oracle.variables.rounding.unrounded
        names = oracle.variables.rounding.names([as_z3(wrong.flag)])
        # Whole values, the system empty, and no rounding: a witness is then what it is computed from.
        self.plain = [*self.whole, *self.empty, *(unrounded[n] for n in names if n in unrounded)]
        tails = [v for v in self.reached if v.mean]
        sizes = [z3.If(v.num >= 0, v.num, -v.num) if v.low < 0 else v.num for v in tails]
        self.means = (
            sum(
                (s / exact_real(v.mean) for s, v in zip(sizes, tails, strict=True) if v.mean),
                start=z3.RealVal(0),
            )
            if tails
            else None
        )

    def best(self, any_model: Found | None, known: Answer | None = None) -> Answer:
        """The likeliest witness found; unknown where none is, or none that comes up."""
        best = known
        for way in self._ways():
            best = _likelier(best, self._found(way))
            if best is not None and best.chance >= COMMON:
                return best
            if self.refused == _REFUSED:
                break
        if self.means is None or best is None:
            best = _likelier(best, self._try(any_model))
        if best is None or best.chance < COMMON:
            best = _likelier(best, self.oracle.sample(self.wrong))
        if best is None:
            return Answer(Verdict.UNKNOWN, why=self.last)
        if best.chance < NEVER:
            told = _rarest(best)
            return Answer(Verdict.UNKNOWN, why=f"it takes draws that practically never come, such as {told}")
        return best

    def _ways(self) -> Iterable[list[z3.BoolRef]]:
        """Conditions of plain witnesses, the plainest first; the state reads as in an empty system."""
        if self.means is not None:
            near, far = self.means <= exact_real(_NEAR), self.means <= exact_real(_FAR)
            yield from ([*self.plain, near], [*self.empty, near], [*self.plain, far])
        else:
            yield from (self.plain, [*self.whole, *self.empty])

    def _found(self, way: list[z3.BoolRef]) -> Answer | None:
        """A witness under conditions; one that only rounding in the solver's terms shows is left for the next."""
        others: list[z3.BoolRef] = []
        for _ in range(_AGAIN):
            model = self.oracle.model(self.wrong, *way, *others)
            found = self._try(model)
            if found is not None or model is None or self.last != UNCONFIRMED:
                return found
            free = [v.num != model[v.name] for v in self.reached if v.exact and v.name in model]
            if not free:
                return None
            others.append(z3.Or(*free))
        return None

    def _try(self, model: Found | None) -> Answer | None:
        if model is None:
            return None
        given = {v.name: float(model[v.name].as_fraction()) for v in self.reached if v.name in model}
        found = self.oracle.confirm(self.wrong, given)
        if isinstance(found, str):
            self.last = found
            self.refused += found != UNCONFIRMED
            return None
        return found

    def nearer(self, best: Answer) -> Answer:
        """A likelier witness, by halving how far its draws may lie in their tails."""
        if self.means is None or best.chance >= COMMON or best.values is None:
            return best
        tails = [v for v in self.reached if v.mean]
        low, high = _NEAR, sum(abs(best.values.read.get(v.name, 0.0)) / (v.mean or 1.0) for v in tails)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            near = self.means <= exact_real(middle)
            found = self._found([*self.plain, near])
            if found is None:
                low = middle
            else:
                high, best = middle, _likelier(best, found) or best
        return best

    def smallest(self, best: Answer) -> Answer:
        """The witness with the least values of the asked variables, found by halving."""
        held: list[z3.BoolRef] = []
        if self.means is not None and best.chance >= COMMON:
            held.append(self.means <= exact_real(_NEAR))
        for v in [v for v in self.oracle.variables.table.values() if v.asked and v.whole]:
            assert best.values is not None
            low, high = v.low, best.values.read.get(v.name, v.start)
            while low < high:
                middle = (low + high) // 2
                found = self._found([*held, v.num <= exact_real(middle)])
                if found is None or found.chance < min(best.chance, COMMON) or found.values is None:
                    low = middle + 1
                else:
                    best, high = found, found.values.read.get(v.name, middle)
            held.append(v.num == exact_real(high))
        return best


def _likelier(a: Answer | None, b: Answer | None) -> Answer | None:
    if a is None or b is None:
        return a or b
    return b if b.chance > a.chance else a


def _rarest(answer: Answer) -> str:
    from serq.check.report import told

    draws = [pair for pair in answer.witness if pair[0].startswith("the draw")]
    return told(draws[:3])


def _values(model: z3.ModelRef) -> Found:
    """The numbers of a model by name; those that are no fractions are rounded."""
    found = {}
    for name in model.decls():
        value = model[name]
        if z3.is_algebraic_value(value):
            value = value.approx(20)
        if z3.is_int_value(value) or z3.is_rational_value(value):
            found[name.name()] = z3.RealVal(str(value))
    return found
