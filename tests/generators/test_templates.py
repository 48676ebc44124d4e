"""What every template writes, byte for byte. `SERQ_WRITE_GOLDEN=1` writes the expected files anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from serq.generators.claims import translate_claims
from serq.generators.claims_text import Proved, claims_module, proved_module
from serq.generators.encoding import encoded_module
from serq.generators.outcomes import Iterated, Outcome, Statement, batch_module
from serq.generators.recorded import Published, Recording, RunStep, Window, windows
from serq.generators.recorded_modules import Part, recorded_module, recorded_parts
from serq.generators.render import TEMPLATES, environment, render
from serq.generators.translate import translate
from serq.ir.build import assign, branch, observe, run, while_
from serq.ir.expressions import Attr
from serq.ir.quantity import Quantity, context, when
from tests.generators.claims_programs import CLAIMS, at_end, claiming, total
from tests.generators.fragment_programs import DECODES, REQS, WAIT, Attributes, member, only_body

PROMPT = Attr(slot=9)
PROMPT_IS_SHORT = Quantity(PROMPT) + 1 < 9
GOLDEN = Path(__file__).parent / "golden"
CUTS = ((0, 1), (1, 3), (3, 6))


def _recording(length: int = 6) -> Recording:
    steps = (
        RunStep(0, ((0, 5), (1, 3)), (0, 1), (), (), (), 16),
        RunStep(1, ((0, 1),), (), (), (1,), (0,), 8),
        RunStep(3, ((1, 7),), (1,), (1,), (), (), 8),
    )
    return Recording("01_demo", "a demonstration", 3, length, steps, Published(((1,), (4,)), ((2,), ()), 1))


def _parts() -> list[Part]:
    """The recording in three windows, and in one."""
    recording = _recording()
    cut = [Window(a, b, tuple(s for s in recording.steps if a <= s.start < b)) for a, b in CUTS]
    t = translate(member(turns=[[{"prompt": 5, "answer": 3}], [{"prompt": 9, "answer": 2}]]))
    return [*recorded_parts(t, recording, cut), *recorded_parts(translate(member()), recording)]


def _every_construct() -> str:
    def statements(a: Attributes) -> list[object]:
        count = while_(a.left < 3, [assign(a.left, a.left + 1), run(WAIT, a.left)])
        return [count, branch(a.prompt > 6, [observe("long", a.prompt - 1)], [run(WAIT, 1)])]

    chunk = when(context("Nres") + REQS.query("Queued") > 1, 4, 0)
    program = member(
        statements,
        engine={
            "chunk": chunk,
            "iteration": only_body(DECODES.or_(PROMPT_IS_SHORT)),
            "cost": 2 + context("Npre"),
        },
        pools={"aux": {"queue": [PROMPT]}},
        turns=[[{"prompt": 5, "answer": 3}, {"prompt": 9, "answer": 1}], None],
        sessions=[{}, {"prompt": 7, "answer": 2}],
    )
    outcome = Outcome(
        (((1, 2), (3,)), ((), ())), (Iterated(0, ((0, 5),), 1, ()),), 0, ((0, 0), (0, 8), (0, 0))
    )
    return batch_module("Batch", "a demonstration", [Statement("Case0", translate(program), outcome)])


def _claims() -> str:
    difference = total("late") - total("early")
    return claims_module("a_program", translate_claims(claiming((*CLAIMS, at_end("late", difference <= 9)))))


TEXTS = {
    "claims.lean": _claims,
    "claims_proved.lean": lambda: proved_module(
        ["Serq.Theorems.Papers.A"], [Proved("A", "first"), Proved("A", "second")]
    ),
    "encoded.lean": lambda: encoded_module(
        [
            ("first", "RegressionFirst.Run", 100, translate(member())),
            ("second", "Other.Run", 9, translate(member())),
        ]
    ),
    "recorded.lean": lambda: recorded_module(_parts(), ["Before"]),
    "outcomes.lean": _every_construct,
    "statements.lean": lambda: render("statements.lean"),
    "root.lean": lambda: render("root.lean", modules=["Serq.Generated.A", "Serq.Generated.B"]),
    "obligatory.txt": lambda: render("obligatory.txt", kind="recorded", names=_parts()[0].theorems),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_template_writes_what_is_expected(name: str) -> None:
    text = TEXTS[name]()
    golden = GOLDEN / f"{name}.golden"
    if os.environ.get("SERQ_WRITE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    assert text.endswith("\n") and not text.endswith("\n\n\n") and "\t" not in text


def test_every_template_is_tested() -> None:
    parts = {p.name for p in TEMPLATES.glob("*.j2") if not p.name.startswith("_")}
    assert parts == {f"{name}.j2" for name in TEXTS}


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.j2")), ids=lambda p: p.name)
def test_templates_have_no_logic_beyond_loops(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tags = re.findall(r"\{[%{].*?[%}]\}", text)
    assert all(re.match(r"\{\{ [\w.()]+ \}\}|\{% (for|endfor|include|with|endwith)\b", tag) for tag in tags)


def test_a_missing_name_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        environment().get_template("root.lean.j2").render(command="x")


def test_windows_cover_every_step_once() -> None:
    found = windows(_recording(600), most=1000.0, size=250)
    assert [w.first for w in found] == [0, *(w.end for w in found[:-1])]
    assert found[-1].end == 600 and len(found) == 3
    assert all(w.end - w.first <= 250 for w in found)
    assert sum(len(w.steps) for w in found) == 3
    assert found[0].theorem == f"steps_0_to_{found[0].end - 1}_agree"


@given(st.lists(st.integers(0, 30), min_size=1, max_size=80), st.integers(1, 70), st.integers(20, 400))
def test_windows_have_about_equal_work(residents: list[int], sessions: int, most: int) -> None:
    steps = tuple(
        RunStep(i, tuple((r, 1) for r in range(n)), (), (), (), (), 0) for i, n in enumerate(residents) if n
    )
    found = windows(Recording("a", "", sessions, len(residents), steps), most=float(most))
    assert [s for w in found for s in w.steps] == list(steps)
    assert all(w.first < w.end for w in found)
    heaviest = 32 * (1 + sessions / 30)
    for w in found[1:]:
        assert sum((1 + len(s.tokens)) * (1 + sessions / 30) for s in w.steps) <= most + 2 * heaviest
