"""Findings the source expects: set apart with reasons, counted, never proved; and mistakes in saying so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from serq.lang.format import format_source
from tests.cli.conftest import Done, serq

__all__ = ["serq"]

Serq = Callable[..., Done]

# Sessions may have negative work (SQ860, an error), and may be overtaken for ever (SQ868, a warning).
PROGRAM = """fn main() {
ABOVE_POOL
  pool slots { cap 1; queue by (job); } TRAILS_POOL
  stage desk : fifo;
  workload { arrive poisson(0.9); turn { Size job = ~uniform(-0.5, 1.5); } }
  server {
ABOVE_HOLD
    hold slots (cost(slots, 1)) {
ABOVE_RUN
      run desk (cost(desk, job)); TRAILS_RUN
    } TRAILS_HOLD
  }
}
"""
WORK = "// serq: allow(amount-negative) because a refund is work too"
QUEUE = "// serq: allow(starvation) because the load is below one"
BOTH = {"ABOVE_RUN": WORK, "ABOVE_POOL": QUEUE}


def program(**comments: str) -> str:
    text = PROGRAM
    for line in PROGRAM.split("\n"):
        for word in line.split():
            if word.startswith(("ABOVE", "TRAILS")):
                text = text.replace(word, comments.get(word, ""))
    return text


@pytest.fixture
def check(serq: Serq, tmp_path: Path) -> Callable[..., Done]:
    def run(text: str, *options: str) -> Done:
        path = tmp_path / "p.sq"
        path.write_text(text)
        return serq("check", path, "--horizon", "10", *options)

    return run


Check = Callable[..., Done]


def row(out: str, rule: str) -> list[int]:
    """The counts of a rule in the summary."""
    line = next(line for line in out.splitlines() if line.startswith(rule))
    return [int(cell) for cell in line.split()[1:]]


def test_without_suppressions_both_are_found(check: Check) -> None:
    done = check(program())
    assert done.status == 1 and "SQ860" in done.err and "SQ868" in done.err
    assert "suppressed" not in done.out


def test_suppressed_findings_are_counted_and_not_proved(check: Check) -> None:
    done = check(program(**BOTH))
    assert done.status == 0 and done.err == ""
    assert row(done.out, "starvation") == [0, 0, 0, 1]
    assert row(done.out, "amount-negative") == [1, 0, 0, 1]
    assert "valid, 2 suppressed" in done.out


@pytest.mark.parametrize("place", ["ABOVE_RUN", "TRAILS_RUN"])
@pytest.mark.parametrize("name", ["amount-negative", "SQ860", "hold-never-fits, amount-negative"])
def test_above_or_on_the_line_by_name_or_code(check: Check, place: str, name: str) -> None:
    text = program(**{place: WORK.replace("amount-negative", name)})
    assert "SQ860" not in check(text).err
    assert "SQ860" not in check(format_source(text)).err


@pytest.mark.parametrize("place", ["ABOVE_POOL", "TRAILS_POOL"])
def test_a_pool_is_spoken_of_with_its_options(check: Check, place: str) -> None:
    long = ", ".join(f"job + {i} - {i}" for i in range(12))
    text = program(**{place: QUEUE}).replace("by (job)", f"by ({long})")
    assert "SQ868" not in check(text).err
    laid_out = format_source(text)
    assert laid_out.count("\n") > text.count("\n")
    assert "SQ868" not in check(laid_out).err


@pytest.mark.parametrize("place", ["ABOVE_HOLD", "TRAILS_HOLD"])
def test_a_statement_is_spoken_of_without_those_in_its_braces(check: Check, place: str) -> None:
    done = check(program(**{place: WORK}))
    assert "SQ860" in done.err and "SQ898" in done.err and done.status == 1


def test_comments_between_stand_aside(check: Check) -> None:
    stack = f"// Refunds.\n{WORK}\n\n// serq: allow(unset-read) because of nothing\n// Go on.\n"
    done = check(program(ABOVE_RUN=stack))
    assert "SQ860" not in done.err and done.err.count("SQ898") == 1


def test_one_in_braces_of_a_comment(check: Check) -> None:
    assert "SQ860" not in check(program(ABOVE_RUN=f"/* {WORK[3:]}\n   to us */")).err


def test_the_other_rule_is_not_suppressed(check: Check) -> None:
    done = check(program(ABOVE_RUN=WORK.replace("amount-negative", "unset-read")))
    assert "SQ860" in done.err and done.status == 1


@pytest.mark.parametrize(
    ("comment", "code", "help_"),
    [
        ("// serq: allow(amount-negative)", "SQ896", "because"),
        ("// serq: allow(amount-negative) because", "SQ896", "because"),
        ("// serq: allow(amount-negative) for luck", "SQ896", "because"),
        ("// serq: allow() because", "SQ896", "allow(RULE)"),
        ("// serq: alow(amount-negative) because", "SQ896", "allow(RULE)"),
        ("// serq: allow(amount-negatif) because of it", "SQ897", "did you mean `amount-negative`?"),
        ("// serq: allow(amount-negative, zzz) because of it", "SQ897", "--explain"),
    ],
)
def test_a_mistaken_suppression_is_an_error_and_suppresses_nothing(
    check: Check, comment: str, code: str, help_: str
) -> None:
    done = check(program(ABOVE_RUN=comment, ABOVE_POOL=QUEUE))
    assert done.status == 1 and f"error[{code}]" in done.err and help_ in done.err
    assert "SQ860" in done.err


def test_one_that_suppresses_nothing_is_a_warning(check: Check) -> None:
    done = check(program(**BOTH).replace("-0.5", "0.5"))
    assert done.status == 0 and "warning[SQ898]" in done.err and ":9:" in done.err


def test_a_rule_that_was_not_asked_is_not_said_to_suppress_nothing(check: Check) -> None:
    done = check(program(**BOTH), "--rule", "unset-read")
    assert done.status == 0 and done.err == ""


def test_json_has_the_reason(check: Check) -> None:
    found = json.loads(check(program(**BOTH), "--format", "json").out)
    assert {d["code"]: d["suppressed"] for d in found} == {
        "SQ860": "a refund is work too",
        "SQ868": "the load is below one",
    }


def test_sarif_says_in_source_for_the_suppressed_and_nothing_for_the_others(check: Check) -> None:
    done = check(program(ABOVE_POOL=QUEUE), "--format", "sarif")
    results = json.loads(done.out)["runs"][0]["results"]
    said = {r["ruleId"]: r["suppressions"] for r in results}
    assert said["SQ868"] == [{"kind": "inSource", "justification": "the load is below one"}]
    assert said["SQ860"] == [] and done.status == 1
    results = json.loads(check(program(), "--format", "sarif").out)["runs"][0]["results"]
    assert not any("suppressions" in r for r in results)


def test_github_shows_nothing_of_what_is_suppressed(check: Check) -> None:
    assert check(program(**BOTH), "--format", "github").out == ""


def test_explain_says_why(check: Check) -> None:
    out = check(program(**BOTH), "--explain").out
    assert ": refuted, suppressed because the load is below one" in out


def test_the_layout_keeps_them(check: Check) -> None:
    laid_out = format_source(program(**BOTH))
    assert WORK in laid_out and QUEUE in laid_out
    assert check(laid_out).out == check(program(**BOTH)).out


def test_a_library_has_its_own(serq: Serq, tmp_path: Path) -> None:
    unused = "// serq: allow(unset-read) because other programs need it"
    text = f"def chore(n) {{\n  {unused}\n  {WORK}\n  run desk (cost(desk, n));\n}}\n"
    (tmp_path / "lib.sq").write_text(text)
    path = tmp_path / "p.sq"
    path.write_text(
        'use "lib.sq";\n' + program(ABOVE_POOL=QUEUE).replace("run desk (cost(desk, job))", "chore(job)")
    )
    done = serq("check", path, "--horizon", "10")
    assert done.status == 0 and done.err == "" and "2 suppressed" in done.out


def test_an_ir_file_has_none(serq: Serq, tmp_path: Path) -> None:
    path = tmp_path / "p.sq"
    path.write_text(program(**BOTH))
    ir = tmp_path / "p.ir.json"
    ir.write_text(serq("ir", path, "--horizon", "10").out)
    done = serq("check", ir)
    assert done.status == 1 and "SQ860" in done.err and "suppressed" not in done.out
