"""`tools/mutation.py [--all]`: the mutants of the examples, each checked and run; writes tests/check/mutants.json.

Only examples that have changed since, and with --all every one: that takes half an hour.

A mutant is caught when the checker refutes something of it that it does not refute of the
original. A run tells which of the others are mistakes: those that stop, or hang where the
original does not. What is neither caught nor goes wrong in a run is not counted as a mistake.
"""

from __future__ import annotations

import argparse
import hashlib
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from serq.check import Verdict, run_checks
from serq.diagnostics import format_path
from serq.ir import program as pr
from serq.ir.edit import with_settings
from serq.ir.program import Program
from serq.ir.validate import validate
from tools.examples import ROOT, Example, examples
from tools.incidents import came_to
from tools.mutants import Mutant, mutants
from tools.outcomes import Outcome, Record, records, write

MOST = 1
_SECONDS = 20


class Subject:
    """An example, shorter than it is run elsewhere, and what is known of it as it is."""

    def __init__(self, example: Example, first: int) -> None:
        self.name = example.name
        self.first = first
        program = example.load().program
        # A run of all there is to come is short anyhow.
        share = 1 if isinstance(program.arrival, pr.Batch | pr.Sessions) else 5
        self.program = with_settings(program, horizon=program.horizon / share, warmup=0.0)
        self.known = refuted(self.program)
        self.fate = fate(self.program)

    def mutants(self) -> Iterator[Mutant]:
        """Its mutants; which places they have differs from one example to the next."""
        return mutants(self.program, MOST, self.first)

    def outcome(self, mutant: Mutant) -> Outcome:
        """What becomes of one."""
        place = format_path(mutant.path)
        wrong = validate(mutant.program)
        if wrong:
            return Outcome(self.name, mutant.mutation.name, place, refused=wrong[0].code)
        new = refuted(mutant.program) - self.known
        caught = tuple(sorted({rule for rule, _ in new}))
        came = fate(mutant.program)
        run = "" if came in ("safe", self.fate) else came
        found = Outcome(self.name, mutant.mutation.name, place, caught=caught, run=run)
        return replace(found, answer=answer(mutant.program, found.rules)) if found.missed else found


def refuted(program: Program) -> Counter[tuple[str, str]]:
    """What the checker refutes: rule and message, as places move when a statement goes."""
    report = run_checks(program)
    return Counter((f.rule, f.diagnostic.message) for f in report.findings if f.diagnostic is not None)


def answer(program: Program, rules: tuple[str, ...]) -> str:
    """What the checker says where it refutes nothing: an open question of some rules, or that they are proved."""
    if not rules:
        return "no rule speaks of it"
    findings = run_checks(program, rules=rules).findings
    for verdict in (Verdict.REFUTED, Verdict.UNKNOWN):
        for finding in findings:
            if finding.verdict is verdict:
                late = "not reached within the limits"
                return late if verdict is Verdict.REFUTED else f"unknown: {finding.why}"
    return "proved" if findings else "not asked"


def fate(program: Program) -> str:
    """What a run comes to; `endless` when it takes too long to say."""
    try:
        with _limit():
            return came_to(program)[0]
    except TimeoutError:
        return "endless"


@contextmanager
def _limit() -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def made_of(example: Example) -> str:
    """A digest of what the mutants of an example are made of: its IR, wherever the checkout is, and the mutations."""
    mutations = (ROOT / "tools" / "mutants.py").read_bytes()
    program = example.load().program
    if program.trace is not None:
        trace = Path(program.trace).resolve().relative_to(ROOT)
        program = program.model_copy(update={"trace": trace.as_posix()})
    return hashlib.sha256(program.digest.encode() + mutations).hexdigest()


def record(example: Example, first: int) -> Record:
    """What becomes of the mutants of an example."""
    subject = Subject(example, first)
    return Record(made_of(example), first, tuple(subject.outcome(m) for m in subject.mutants()))


def main(arguments: list[str] | None = None) -> int:
    """Check and run the mutants, and write what became of them."""
    parser = argparse.ArgumentParser(description="Check and run mutants of the examples.")
    parser.add_argument("--all", action="store_true", help="those of examples that have not changed, too")
    everything = parser.parse_args(arguments).all
    known = records()
    found: dict[str, Record | Future[Record]] = {}
    with ProcessPoolExecutor(2) as pool:
        for number, example in enumerate(examples()):
            before = known.get(example.name)
            if before is not None and before.program == made_of(example) and not everything:
                found[example.name] = before
            else:
                first = number if before is None else before.first
                found[example.name] = pool.submit(record, example, first)
        done = {name: one if isinstance(one, Record) else one.result() for name, one in found.items()}
    write(done)
    print(f"{len(done)} examples, {sum(not isinstance(one, Record) for one in found.values())} asked anew")
    return 0


if __name__ == "__main__":
    sys.exit(main())
