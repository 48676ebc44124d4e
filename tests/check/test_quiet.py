"""Where nothing is wrong the checker is quiet; and what it says of other programs, a run of the values shows."""

from __future__ import annotations

import pytest

from serq.check import Finding, Verdict, run_checks
from serq.check.suppress import suppress
from serq.ir import expressions as ex
from serq.ir import program as pr
from serq.ir import statements as st
from serq.ir.program import Program
from serq.lang.suppressions import suppressions
from tests.conformance import cases, program
from tools.examples import Example, examples
from tools.incidents import came_to


@pytest.mark.parametrize("example", list(examples()), ids=lambda e: e.name)
def test_an_example_has_no_finding_that_it_does_not_expect(example: Example) -> None:
    loaded = example.load()
    said, wrong = suppressions(loaded.sources)
    report, mistakes = suppress(run_checks(loaded.program), said, loaded.located)
    assert not wrong and not mistakes
    unexpected = [f.sentence() for f in report.findings if f.diagnostic is not None and not f.suppressed]
    assert not unexpected, unexpected
    assert any(f.verdict is Verdict.PROVED for f in report.findings)


# The conformance programs draw from distributions without a bound, and pools are small on purpose:
# requests that do not fit are there. Each is shown by a run of one session of the values.
SHOWN_BY_A_RUN = ("hold-never-fits", "outgrows-pool")
# Alone, nothing of it is ever scheduled.
NOT_ALONE = {"eng-register-undo"}


def drawn(p: Program) -> set[str]:
    """What the workload draws."""
    return {p.attrs[s.slot] for b in (p.init, p.turn) for s in p.blocks[b] if isinstance(s, st.Set)}


def alone(p: Program, finding: Finding) -> Program | None:
    """One session that draws the witness's values; None when the witness names none of them."""
    values = {k: x for k, x in finding.witness if k in drawn(p)}
    if not values:
        return None

    def fixed(stmt: st.Stmt) -> st.Stmt:
        if isinstance(stmt, st.Set) and p.attrs[stmt.slot] in values:
            return stmt.model_copy(update={"value": ex.Num(value=values[p.attrs[stmt.slot]])})
        return stmt

    blocks = tuple(
        tuple(map(fixed, block)) if b in (p.init, p.turn) else block for b, block in enumerate(p.blocks)
    )
    update = {"blocks": blocks, "arrival": pr.Batch(size=1), "arrivals": None, "warmup": 0.0}
    return p.model_copy(update=update)


def test_requests_that_do_not_fit_do_not_fit_in_a_run() -> None:
    shown = 0
    for name in cases():
        p = program(name)
        report = run_checks(p, rules=SHOWN_BY_A_RUN)
        for finding in report.findings:
            one = alone(p, finding) if finding.verdict is Verdict.REFUTED else None
            # The rest of what is drawn is up to the seed, and may make the request fit after all.
            if one is not None and name not in NOT_ALONE and drawn(p) <= {k for k, _ in finding.witness}:
                shown += 1
                assert came_to(one)[0] != "safe", (name, finding.sentence())
    assert shown > 10
