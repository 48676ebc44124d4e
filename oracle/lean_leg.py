"""The third leg of the comparison: what the Lean model's run of a scenario is at every step.

Lean is asked to prove that its run is the recorded one. A theorem that fails names the first step
that differs, and Lean is asked again for that step of its own run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from serq.generators.recorded import Recording, RunStep, module_name
from serq.generators.recorded_modules import Part, Piece, recorded_module, recorded_parts
from serq.generators.toolchain.results import Judge
from serq.generators.translate import translate
from serq.oracle.lean_bench import Answer, LeanBench
from serq.oracle.lean_recordings import plain_program, recording_of, run_step
from serq.oracle.observer import observe_steps
from serq.oracle.recorded import Step, Trace
from serq.oracle.request import sessions_of
from serq.oracle.scenario import Scenario

_NAMED = re.compile(r"some (\d+) = none")


@dataclass(frozen=True)
class Row:
    """One step on the three sides; None where a side has none, or where Lean was not asked any more."""

    step: int
    recorded: RunStep | None
    program: RunStep | None
    lean: RunStep | None

    @property
    def agrees(self) -> bool:
        """Whether the three are one."""
        return self.recorded == self.program == self.lean


@dataclass(frozen=True)
class ThreeLegs:
    """A scenario on the three sides, step by step, and who judged for Lean.

    `first_difference` is the first step at which they are not one; `problems` kept Lean from judging.
    """

    name: str
    version: str
    judge: Judge
    rows: tuple[Row, ...]
    problems: tuple[str, ...] = ()

    @property
    def first_difference(self) -> int | None:
        """The first step at which a side differs."""
        return next((row.step for row in self.rows if not row.agrees), None)

    @property
    def ok(self) -> bool:
        """Whether the three agree at every step."""
        return self.first_difference is None and not self.problems


def three_legs(bench: LeanBench, cases: Sequence[tuple[Scenario, Trace]]) -> list[ThreeLegs]:
    """Compare scenarios on the three sides; raises `SerqError` for one outside the fragment."""
    recordings = [recording_of(scenario, trace) for scenario, trace in cases]
    answers = bench.ask(
        {
            module_name(r.name): _module(scenario, trace, r)
            for r, (scenario, trace) in zip(recordings, cases, strict=True)
        }
    )
    return [
        _legs(bench, scenario, trace, r, answers[module_name(r.name)])
        for r, (scenario, trace) in zip(recordings, cases, strict=True)
    ]


def _module(scenario: Scenario, trace: Trace, recording: Recording) -> str:
    return recorded_module(_parts(scenario, trace, recording))


def _parts(scenario: Scenario, trace: Trace, recording: Recording) -> list[Part]:
    translated = translate(plain_program(scenario, trace))
    return recorded_parts(translated, replace(recording, published=None))


def _legs(
    bench: LeanBench, scenario: Scenario, trace: Trace, recording: Recording, answer: Answer
) -> ThreeLegs:
    lean: Mapping[int, RunStep] = {s.start: s for s in recording.steps}
    problems = list(answer.problems)
    if answer.refused:
        found = _NAMED.search(answer.messages.get(answer.refused[0], ""))
        if found is None:
            problems.append(f"Lean refuses {answer.refused[0]} and does not say where")
        else:
            lean = _until(bench, scenario, trace, recording, int(found[1]))
    return ThreeLegs(
        scenario.name, trace.version, bench.judge, _rows(scenario, trace, recording, lean), tuple(problems)
    )


def _until(
    bench: LeanBench, scenario: Scenario, trace: Trace, recording: Recording, step: int
) -> Mapping[int, RunStep]:
    """What Lean's run is up to a step, the first that is not as recorded."""
    name = module_name(recording.name)
    parts = _parts(scenario, trace, recording)
    text = recorded_module(parts)
    head = text[: text.index("/-- The recorded steps")]
    pieces = [piece for part in parts for piece in (*part.pieces, *part.last)]
    ask = f"set_option maxRecDepth 1000000\n{_question(pieces, step)}\n"
    answer = bench.ask({name: f"{head}{ask}\nend Serq.Generated.{name}\n"})[name]
    proved = {s.start: s for s in recording.steps if s.start < step}
    return {**proved, **{s.start: s for s in printed_steps("\n".join(answer.printed))}}


def _question(pieces: Sequence[Piece], step: int) -> str:
    """What Lean is asked about a step: its run from the start, or from the machine before the step's piece."""
    at = next((k for k, p in enumerate(pieces) if p.window.first <= step < p.window.end), 0)
    if at == 0:
        return f"#reduce within {step} {step + 1}"
    first = pieces[at].window.first
    machine = "\n".join(f"  {line}" for line in pieces[at - 1].machine)
    return (
        f"def at_{first} : Machine where\n{machine}\n\n"
        f"#reduce ({pieces[at].run}).map fun r => r.2.filter fun s => s.start == {step}"
    )


def printed_steps(text: str) -> list[RunStep]:
    """The steps that Lean printed."""
    return [_printed_step(part) for part in re.findall(r"\{([^{}]*)\}", text)]


def _printed_step(text: str) -> RunStep:
    def numbers(field: str) -> tuple[int, ...]:
        found = re.search(rf"{field}\s*:=\s*\[([^\]]*)\]", text)
        return tuple(int(n) for n in re.findall(r"\d+", found[1])) if found else ()

    def number(field: str) -> int:
        found = re.search(rf"{field}\s*:=\s*(\d+)", text)
        return int(found[1]) if found else 0

    flat = numbers("tokens")
    pairs = tuple(zip(flat[::2], flat[1::2], strict=True))
    came = numbers("admitted"), numbers("resumed"), numbers("preempted"), numbers("finished")
    return RunStep(number("start"), pairs, *came, number("allocated"))


def _rows(
    scenario: Scenario, trace: Trace, recording: Recording, lean: Mapping[int, RunStep]
) -> tuple[Row, ...]:
    session = {r: i for i, chain in enumerate(sessions_of(scenario)) for r in chain}
    steps, _ = observe_steps(plain_program(scenario, trace), sessions_of(scenario))
    program = {s.step: run_step(scenario, s, session) for s in _within(steps, recording.length)}
    recorded = {s.start: s for s in recording.steps}
    return tuple(
        Row(n, recorded.get(n), program.get(n), lean.get(n)) for n in sorted({*recorded, *program, *lean})
    )


def _within(steps: Sequence[Step], length: int) -> list[Step]:
    return [s for s in steps if s.step < length and not s.empty]


def legs_text(legs: ThreeLegs, most: int = 40) -> str:
    """The steps side by side: tokens by request; `+` admitted, `!` preempted, `.` finished."""
    rows = [("step", f"vLLM {legs.version}", "Python", "Lean")]
    at = legs.first_difference
    from_row = next((k for k, r in enumerate(legs.rows) if r.step == at), 0)
    shown = legs.rows[max(0, from_row - 4) :][:most]
    for r in shown:
        rows.append((str(r.step), _step(r.recorded), _step(r.program), _step(r.lean)))
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = [f"{a:>{widths[0]}}  {b:<{widths[1]}}  {c:<{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
    return "\n".join([f"{legs.name}: {_verdict(legs)}", *lines, *_left_out(legs, len(shown)), *legs.problems])


def _verdict(legs: ThreeLegs) -> str:
    if legs.problems:
        return "Lean gives no verdict"
    if legs.first_difference is not None:
        return f"the three differ first at step {legs.first_difference}"
    return f"the three agree at every one of {len(legs.rows)} steps; proved by {legs.judge.version} ({legs.judge.kind})"


def _left_out(legs: ThreeLegs, shown: int) -> list[str]:
    more = len(legs.rows) - shown
    return [f"... {more} other steps"] if more else []


def _step(s: RunStep | None) -> str:
    if s is None:
        return "-"
    marked = [f"+{r}" if r in s.admitted else str(r) for r, _ in s.tokens]
    parts = [f"{name}:{n}" for name, (_, n) in zip(marked, s.tokens, strict=True)]
    parts += [f"!{r}" for r in s.preempted]
    parts += [f".{r}" for r in s.finished]
    return " ".join([*parts, f"[{s.allocated}]"])
