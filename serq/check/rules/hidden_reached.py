"""A scheduler decision that reads a hidden attribute through assignments.

What it does
    Follows assignments of the server from hidden attributes to what headers of holds,
    indices there, and the keys of queues, evictions, preemptions and services read.
Why it matters
    A scheduler that knows the length of an answer before it is generated is better than any
    real one; the run does not tell.
Example
    `set len = o;` with `hidden o;`, and `hold kv (cost(kv, prompt + len))`
Use instead
    What the scheduler may know: a bound, such as `max_tokens`.
Soundness
    Proved: no value assigned by the server from a hidden attribute reaches the decision.
    Refuted: one does, whatever else it is combined with. Assignments of the workload do not
    count: the client knows its own answers. What a branch or the time of a run tells is not followed.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.check.model import Model
from serq.check.report import Finding
from serq.check.rule import Rule
from serq.check.solver import Answer, Verdict
from serq.diagnostics import Severity
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.moments import SCHEDULER_MOMENTS
from serq.ir.traverse import expressions_of


def check(model: Model) -> Iterator[Finding]:
    """One verdict for each decision that reads an attribute."""
    program = model.program
    if not program.hidden:
        return
    reached = _reached(program)
    for path, moment, e in expressions_of(program):
        read = {x.slot for x in ex.walk(e) if isinstance(x, ex.Attr)}
        if moment not in SCHEDULER_MOMENTS or not read:
            continue
        bad = sorted(read & set(reached))
        if not bad:
            yield RULE.finding(path, Answer(Verdict.PROVED), "")
            continue
        slot = bad[0]
        names = model.names
        message = f"`{names.attr(slot)}`, made from the hidden `{names.attr(reached[slot])}`, is read by the scheduler"
        yield RULE.finding(path, Answer(Verdict.REFUTED), message, hint="read what the scheduler may know")


def _reached(program: pr.Program) -> dict[int, int]:
    """The slots hidden attributes reach by assignments of the server, with one they come from."""
    reached = {slot: slot for slot in program.hidden}
    grew = True
    while grew:
        grew = False
        for block, sides in zip(program.blocks, program.sides, strict=True):
            for stmt, side in zip(block, sides, strict=True):
                if isinstance(stmt, st.Set) and side == "Server" and stmt.slot not in reached:
                    source = next(
                        (reached[x.slot] for x in _attributes(stmt.value) if x.slot in reached), None
                    )
                    if source is not None:
                        reached[stmt.slot] = source
                        grew = True
    return reached


def _attributes(e: ex.Expr) -> list[ex.Attr]:
    return [x for x in ex.walk(e) if isinstance(x, ex.Attr)]


_PROGRAM = """fn main() {
  let max_tokens = 40;
  pool kv { cap 64; }
  stage desk : fifo;
  workload { arrive batch(9); turn { Size n = 4; Size o = min(max_tokens, 1 + floor(~exp(9))); } }
  server {
    set length = n + KNOWN;
    hold kv (cost(kv, length)) { run desk (cost(desk, o)); }
  }
}
"""

RULE = Rule(
    code="SQ878",
    name="hidden-reached",
    severity=Severity.ERROR,
    check=check,
    bad=_PROGRAM.replace("KNOWN", "o"),
    good=_PROGRAM.replace("KNOWN", "max_tokens"),
    hide=("o",),
)
