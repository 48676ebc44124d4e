"""Checks for every value of a program's inputs.

The program is compiled at a sample of the inputs with numbers that keep their expressions;
what was decided by comparing them bounds the region in which that program is the right one.
Samples from outside the regions so far are taken until the ranges are covered. So a proof
holds for every value, and a program whose shape depends on its inputs is either asked in
all of its shapes or unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import z3

from serq.check import rule_named, run_checks
from serq.check.encoder import Encoder
from serq.check.flags import as_z3
from serq.check.model import Ranges
from serq.check.report import CheckReport, Finding
from serq.check.solver import UNITS, Safe, Verdict
from serq.check.terms import Term, Values, truth
from serq.check.variables import Variables, exact_real
from serq.diagnostics import Diagnostic, IrPath, SerqError
from serq.ir.build import Builder
from serq.ir.expressions import Binary, walk
from serq.ir.program import Program
from serq.ir.symbolic import Input, Log, Symbolic
from serq.ir.validate.names import Names, number

Inputs = Mapping[str, float]
Compile = Callable[[Inputs], Program]
# So many shapes of a program are asked.
_SHAPES = 8
Key = tuple[str, IrPath]


@dataclass(frozen=True)
class Invalid:
    """Inputs for which the program is not valid, and what is wrong with it there."""

    inputs: tuple[tuple[str, float], ...]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class Answered:
    """The answers for all values: one finding for each place; the inputs that give no program.

    `shaping` are the inputs of which more shapes of the program are left than were asked.
    """

    report: CheckReport
    invalid: tuple[Invalid, ...]
    shaping: tuple[str, ...]
    shapes: int


def check_for(
    compile_at: Compile,
    inputs: Ranges,
    *,
    rules: tuple[str, ...] | None = None,
    ranges: Ranges | None = None,
    timeout: float = 2.0,
    overall: float | None = 10.0,
) -> Answered:
    """Ask the rules for every value of inputs in their ranges, and of attributes in `ranges`.

    Raises `SerqError` when the program is valid for no sample.
    """
    space = _Space(inputs)
    reports: list[CheckReport] = []
    invalid: list[Invalid] = []
    for _ in range(_SHAPES):
        sample = space.sample()
        if sample is None:
            break
        log = Log()
        try:
            program = compile_at(symbols(sample, log))
        except SerqError as error:
            invalid.append(Invalid(tuple(sample.items()), tuple(error.diagnostics)))
            space.cover(log, sample)
            continue
        report = run_checks(
            program,
            rules=rules,
            timeout=timeout,
            overall=overall,
            ranges=ranges,
            inputs=inputs,
            log=log,
        )
        region = space.cover(log, sample)
        reports.append(replace(report, findings=tuple(region.judged(f) for f in report.findings)))
    if not reports:
        raise SerqError(list(invalid[0].diagnostics))
    shaping = space.shaping() if space.sample() is not None else ()
    joined = _joined(reports, inputs, shaping)
    return Answered(joined, tuple(invalid), shaping, len(reports))


def symbols(sample: Inputs, log: Log) -> dict[str, float]:
    """Inputs at a sample that keep their names."""
    return {name: Symbolic(value, Input(name=name), log) for name, value in sample.items()}


@dataclass
class _Region:
    """The inputs for which one compiled program is the right one."""

    holds: Callable[[Inputs], bool]

    def judged(self, finding: Finding) -> Finding:
        """A finding whose witness lies in the region; one from outside shows nothing."""
        if finding.verdict is not Verdict.REFUTED or self.holds(dict(finding.witness)):
            return finding
        why = "the inputs shape the program, and the witness is of another shape"
        return Finding(finding.rule, finding.code, finding.path, Verdict.UNKNOWN, (), why)


@dataclass
class _Space:
    """The ranges of the inputs, and what of them is covered."""

    inputs: Ranges
    variables: Variables = field(default_factory=Variables)
    solver: z3.Solver = field(default_factory=z3.Solver)
    _asked: bool = False
    _pinned: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, (low, high) in self.inputs.items():
            self.variables.open(name, low, high)
        program = Builder().build(horizon=1.0)

        def none(slot: int) -> Term:
            raise TypeError("a number is made of inputs alone")

        self.variables.encode = Encoder(program, Names(program), self.variables, none).encode
        terms = self.variables.inputs.values()
        for term in terms:
            self.solver.add(term.num >= exact_real(term.low), term.num <= exact_real(term.high))
        self.solver.set("rlimit", UNITS)

    def sample(self) -> dict[str, float] | None:
        """Values that are not covered, in the middle of the ranges at first; None when all are."""
        if not self._asked:
            self._asked = True
            return {name: _middle(*bounds) for name, bounds in self.inputs.items()}
        result = self.solver.check()
        if result == z3.unsat:
            return None
        if result == z3.unknown:
            return {name: bounds[0] for name, bounds in self.inputs.items()}
        model = self.solver.model()
        found = {}
        for name, term in self.variables.inputs.items():
            value = model.eval(term.num, model_completion=True)
            assert z3.is_rational_value(value)
            found[name] = float(value.as_fraction())
        return found

    def cover(self, log: Log, sample: Inputs) -> _Region:
        """Take the inputs that give the answers of a log as covered."""
        flags: list[z3.BoolRef] = []
        tests: list[tuple[Term, bool]] = []
        assert self.variables.encode is not None
        for question, answer in log.answers.items():
            term = self.variables.encode(question)
            tests.append((term, answer))
            flag = as_z3(truth(term))
            flags.append(flag if answer else z3.Not(flag))
            self._note(question, answer)
        self.solver.add(*self.variables.rounding.relevant(flags), z3.Not(z3.And(*flags)))
        names = {name: list(self.variables.table)[i] for i, name in enumerate(self.inputs)}

        def holds(given: Inputs) -> bool:
            values = Values({names[n]: given.get(n, sample[n]) for n in self.inputs})
            return all((values.of(term) != 0.0) is answer for term, answer in tests)

        return _Region(holds)

    def _note(self, question: Binary, answer: bool) -> None:
        if question.op == "Eq" and answer:
            for x in walk(question):
                if isinstance(x, Input):
                    self._pinned[x.name] = self._pinned.get(x.name, 0) + 1

    def shaping(self) -> tuple[str, ...]:
        """The inputs that are read as numbers, or all when none is."""
        return tuple(n for n in self.inputs if n in self._pinned) or tuple(self.inputs)


def _middle(low: float, high: float) -> float:
    whole = low == low // 1 and high == high // 1
    return float((low + high) // 2) if whole else (low + high) / 2


def _joined(reports: list[CheckReport], inputs: Ranges, shaping: tuple[str, ...]) -> CheckReport:
    """One report: refuted where one is, proved where all are and nothing is left."""
    places: dict[Key, list[Finding | None]] = {}
    for i, report in enumerate(reports):
        for f in report.findings:
            found = places.setdefault((f.rule, f.path), [None] * len(reports))
            found[i] = f if found[i] is None else _worse(found[i], f, inputs)
    findings = [_of(key, found, inputs, shaping) for key, found in places.items()]
    seconds = [s for report in reports for s in report.seconds]
    order = {rule: i for i, rule in enumerate(reports[0].rules)}
    findings.sort(key=lambda f: order[f.rule])
    assumptions = tuple(sorted({a for report in reports for a in report.assumptions}))
    return CheckReport(tuple(findings), reports[0].rules, assumptions, tuple(seconds))


_RANK = {Verdict.PROVED: 0, Verdict.UNKNOWN: 1, Verdict.REFUTED: 2}


def _worse(a: Finding | None, b: Finding | None, inputs: Ranges) -> Finding | None:
    if a is None or b is None:
        return a or b
    if a.verdict is b.verdict is Verdict.REFUTED:
        return min(a, b, key=lambda f: _size(f, inputs))
    return max(a, b, key=lambda f: _RANK[f.verdict])


def _size(f: Finding, inputs: Ranges) -> list[float]:
    shown = dict(f.witness)
    return [shown.get(name, low) for name, (low, _) in inputs.items()]


def _of(key: Key, found: list[Finding | None], inputs: Ranges, shaping: tuple[str, ...]) -> Finding:
    worst: Finding | None = None
    for f in found:
        worst = _worse(worst, f, inputs)
    assert worst is not None
    if worst.verdict is Verdict.REFUTED:
        return _told(replace(worst, safe=() if shaping else tuple(_common(found, inputs))), inputs)
    if worst.verdict is Verdict.PROVED and rule_named(worst.rule).some:
        why = "it is shown for some values of the inputs, not for each"
        return Finding(key[0], worst.code, key[1], Verdict.UNKNOWN, (), why)
    if worst.verdict is Verdict.PROVED and shaping:
        names = " and ".join(f"`{n}`" for n in shaping)
        why = f"{names} shapes the program: it holds in the {len(found)} forms asked, and there are more"
        return Finding(key[0], worst.code, key[1], Verdict.UNKNOWN, (), why)
    if worst.verdict is Verdict.UNKNOWN and not shaping:
        safe = tuple(_common(found, inputs))
        parts = " and for ".join(_part(s, inputs) for s in safe)
        return replace(worst, safe=safe, why=f"{worst.why}; it holds for {parts}" if parts else worst.why)
    return worst


def _common(found: list[Finding | None], inputs: Ranges) -> Iterator[Safe]:
    """The parts of the ranges that are safe in every shape."""
    open_ones = [f for f in found if f is not None and f.verdict is not Verdict.PROVED]
    for name, (low, high) in inputs.items():
        above = [[s for s in f.safe if s.name == name and s.high == high] for f in open_ones]
        if all(above):
            edge = max((s for options in above for s in options), key=lambda s: s.low)
            yield edge
        below = [[s for s in f.safe if s.name == name and s.low == low] for f in open_ones]
        if all(below):
            yield min((s for options in below for s in options), key=lambda s: s.high)


def _told(f: Finding, inputs: Ranges) -> Finding:
    """The finding with the parts of the ranges that are safe in its note."""
    if f.diagnostic is None:
        return f
    parts = [_part(s, inputs) for s in f.safe]
    where = f"it holds for {' and for '.join(parts)}" if parts else "no part of a range was proved to be safe"
    note = f"{f.diagnostic.note}; {where}" if f.diagnostic.note else where
    return replace(f, diagnostic=replace(f.diagnostic, note=note))


def _part(s: Safe, inputs: Ranges) -> str:
    high = inputs[s.name][1]
    edge = s.low - 1 if s.high == high else s.high + 1
    sign = f">= {number(s.low)}" if s.high == high else f"<= {number(s.high)}"
    return f"{s.name} {sign}" + (f", not for {number(edge)}" if s.tight else "")
