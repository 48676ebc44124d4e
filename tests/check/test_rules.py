"""Every rule: documented, refuting its bad program with a witness, quiet on its good one."""

from __future__ import annotations

import importlib

import pytest

from serq.check import RULES, Verdict, run_checks
from serq.check.rule import Rule
from serq.diagnostics import lookup
from serq.ir.program import Program
from serq.lang.compile import compile_text
from serq.lang.settings import Settings

HEADINGS = ("What it does", "Why it matters", "Example", "Use instead", "Soundness")
EACH = pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)


def compiled(text: str, rule: Rule) -> Program:
    program = compile_text(text, settings=Settings(horizon=100.0)).program
    hidden = tuple(program.attrs.index(name) for name in rule.hide)
    return program.model_copy(update={"hidden": hidden}) if hidden else program


@EACH
def test_the_bad_program_is_refuted(rule: Rule) -> None:
    report = run_checks(compiled(rule.bad, rule), rules=[rule.name])
    refuted = [f for f in report.findings if f.verdict is Verdict.REFUTED]
    assert refuted, report.summary()
    assert all(f.diagnostic is not None and f.diagnostic.code == rule.code for f in refuted)
    assert any(f.diagnostic.severity is rule.severity for f in refuted if f.diagnostic is not None)


@EACH
def test_the_good_program_is_proved(rule: Rule) -> None:
    report = run_checks(compiled(rule.good, rule), rules=[rule.name])
    assert report.findings
    assert {f.verdict for f in report.findings} == {Verdict.PROVED}, [f.sentence() for f in report.findings]


@EACH
def test_the_good_program_has_no_error_of_any_rule(rule: Rule) -> None:
    report = run_checks(compiled(rule.good, rule))
    assert not report.errors, [f.sentence() for f in report.errors]


@EACH
def test_the_rule_is_documented(rule: Rule) -> None:
    text = importlib.import_module(rule.module).__doc__ or ""
    places = [text.find(f"\n{heading}\n") for heading in HEADINGS]
    assert -1 not in places and places == sorted(places)
    row = lookup(rule.code)
    assert row is not None and row.title and row.why and row.fix


def test_codes_and_names_are_unique() -> None:
    assert len({r.code for r in RULES}) == len({r.name for r in RULES}) == len(RULES)
    assert all(r.code.startswith(("SQ86", "SQ87", "SQ88", "SQ89")) for r in RULES)


def test_reports_repeat() -> None:
    program = compiled(RULES[0].bad, RULES[0])
    assert run_checks(program).findings == run_checks(program).findings
