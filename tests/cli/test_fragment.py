"""`serq fragment`: in or out, every reason with its rule and place, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from serq.cli.main import main
from serq.ir.build import assign, run, while_
from serq.ir.encode import dumps
from serq.ir.program import Program
from serq.ir.quantity import Quantity
from tests.conformance import REPOSITORY
from tests.generators.fragment_programs import WAIT, Attributes, member


def _said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["fragment", *arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_a_member_is_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "member.json"
    file.write_text(dumps(member()))
    assert _said([str(file)], capsys) == (0, f"{file}: in the fragment\n", "")
    status, out, _ = _said(["--json", str(file)], capsys)
    assert status == 0 and json.loads(out) == {
        "file": str(file),
        "in": True,
        "reasons": [],
        "proved": [],
    }


def test_ir_that_is_out_says_why_and_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out.json"
    file.write_text(dumps(member(engine={"budget": 2.5})))
    status, _, err = _said([str(file)], capsys)
    assert status == 1
    assert "error[SQ986]: the budget is 2.5, not a natural number" in err
    assert "rule 7 of the Lean fragment" in err and "stages[0].kind.Step.budget" in err


def test_source_that_is_out_points_into_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(REPOSITORY / "examples" / "single-turn" / "mg1.sq")
    status, out, _ = _said(["--json", file], capsys)
    data = json.loads(out)
    assert status == 1 and not data["in"]
    first = data["reasons"][0]
    assert (first["rule"], first["code"], first["path"]) == (2, "SQ981", "arrival")
    assert first["file"] == file and first["span"]["line"] > 0


def test_a_program_that_is_not_valid_is_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "invalid.json"
    file.write_text(dumps(member(update={"horizon": -1.0})))
    status, out, _ = _said(["--json", str(file)], capsys)
    assert status == 1
    assert [r["rule"] for r in json.loads(out)["reasons"]] == [None]


def _guarded(test: Callable[[Attributes], Quantity]) -> Program:
    """A session of 3 or 2 answers that waits while a test holds, then has none."""
    return member(lambda a: [while_(test(a), [run(WAIT, 1), assign(a.answer, 0)])])


def test_a_difference_proved_not_to_go_below_0_is_no_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "guarded.json"
    file.write_text(dumps(_guarded(lambda a: 9 - a.answer < 7)))
    status, out, err = _said([str(file)], capsys)
    assert (status, err) == (0, "")
    assert "proved not to go below 0" in out and ".While[0]" in out
    status, out, _ = _said(["--json", str(file)], capsys)
    assert status == 0 and len(json.loads(out)["proved"]) == 1


@pytest.mark.parametrize(
    "test",
    [
        lambda a: 2 - a.answer < 1,  # -1 of 3 answers
        lambda a: a.answer - 1 > 0,  # -1 once there are none
    ],
)
def test_a_difference_that_goes_below_0_stays_a_reason(
    test: Callable[[Attributes], Quantity], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "guarded.json"
    file.write_text(dumps(_guarded(test)))
    status, _, err = _said([str(file)], capsys)
    assert status == 1 and "a difference in the guard of a while" in err
