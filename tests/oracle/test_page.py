"""The HTML page of a comparison."""

from __future__ import annotations

import re
from dataclasses import replace

from serq.oracle.compare import compare_file, first_difference
from serq.oracle.page import MOST_STEPS, render
from serq.oracle.recorded import SCENARIOS

ONE = compare_file(SCENARIOS / "01_published.scenario.json")[0]
LONG = compare_file(SCENARIOS / "17_mixed_60_prefix.scenario.json")[0]


def test_a_grid_has_every_request_and_step() -> None:
    page = render([ONE])
    assert page.count('<th class="row">request') == 4
    assert len(re.findall(r"<th>\d+</th>", page)) == ONE.steps
    assert page.count('class="preempted"') == ONE.preemptions
    assert '"other"' not in page and " other" not in page.split("<body>")[1]


def test_a_difference_is_outlined_with_both_values() -> None:
    wrong = replace(ONE.program[2], scheduled=((2, 99),), free=7)
    program = (*ONE.program[:2], wrong, *ONE.program[3:])
    difference = first_difference(list(ONE.recorded), list(program))
    page = render([replace(ONE, program=program, difference=difference, status="differs")])
    body = page.split("<body>")[1]
    assert " other" in body and "4|99" in body and "2|7" in body
    assert "first difference at step 2" in body


def test_several_recordings_have_an_index() -> None:
    page = render([ONE, LONG])
    assert page.count("<tr><td><a href=") == 2
    assert "not covered" in page


def test_versions_that_did_the_same_share_a_grid() -> None:
    outcomes = compare_file(SCENARIOS / "01_published.scenario.json")
    page = render(outcomes)
    # 0.30.0 cuts a prefill that the two others do not.
    assert page.count('<table class="grid">') == 2 and page.count("<tr><td><a href=") == 3
    assert "vLLM 0.33.0, 0.31.0" in page and "vLLM 0.30.0" in page
    assert len(set(re.findall(r'href="#([^"]+)"', page))) == 2
    assert set(re.findall(r'href="#([^"]+)"', page)) == set(re.findall(r'<h2 id="([^"]+)"', page))


def test_a_long_recording_is_cut_around_its_first_difference() -> None:
    many = tuple(replace(s, step=s.step + k * 1_000) for k in range(12) for s in ONE.recorded)
    page = render([replace(ONE, recorded=many, steps=len(many))])
    assert len(re.findall(r"<th>\d+</th>", page)) == MOST_STEPS
    assert "Shown: steps" in page
