"""Programs as numbers: what the verb writes, and that the kernel reads it back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from serq.cli.main import main
from serq.generators.encoding import encoded, encoded_module, encoded_theorems
from serq.generators.toolchain import set_up
from serq.generators.translate import translate
from serq.ir.build import assign, branch, end, loop, observe, run, while_
from serq.ir.encode import dumps
from serq.ir.quantity import NOW, call, context, greatest, when
from serq.oracle.lean_bench import LeanBench
from serq.oracle.lean_regressions import Regression, stored
from tests.generators.fragment_programs import DECODES, ENGINE, KV, REQS, WAIT, Attributes, member, only_body


def _everything() -> Regression:
    """A program with every statement, variable and clause; its outcome is not asked for."""

    def statements(a: Attributes) -> list[object]:
        count = while_(a.left < 3, [assign(a.left, a.left + 1), run(WAIT, a.left)])
        values = (
            greatest(a.prompt - 3, call("Ceil", a.prompt / 4)),
            call("Floor", a.prompt / 2) * KV.query("CachedIn"),
            ENGINE.query("BudgetLeft"),
            when((NOW > 3).or_(a.serial.equals(1)).and_((a.left <= 2).not_()), a.cached, 7),
        )
        again = branch(a.prompt.differs(6), [run(WAIT, 1), end()], [run(WAIT, 1)])
        return [count, *(observe("x", v) for v in values), again, loop([run(WAIT, 2)])]

    program = member(
        statements,
        engine={
            "chunk": when(context("Nres") + REQS.query("Queued") > 1, 4, 0),
            "iteration": only_body(DECODES.or_((context("Remaining") < 9).and_(context("Admission") <= 9))),
            "cost": 2 + context("Npre") + 3 * context("Ndec") + context("Kvb") + 2 * context("Attn"),
        },
        header={"reuse": 4, "cache": NOW},
        turns=[[{"prompt": 5, "answer": 3}, {"prompt": 9, "answer": 1}], None],
        sessions=[{}, {"prompt": 7, "answer": 2}],
    )
    # The builder ends every session; after an endless loop that end is never reached.
    blocks, sides = list(program.blocks), list(program.sides)
    blocks[program.session], sides[program.session] = (
        blocks[program.session][:-1],
        sides[program.session][:-1],
    )
    program = program.model_copy(update={"blocks": tuple(blocks), "sides": tuple(sides)})
    return Regression("everything", "every construct", program, stored()[0].outcome)


def test_the_kernel_reads_what_is_written(tmp_path_factory: pytest.TempPathFactory) -> None:
    set_up("auto", tmp_path_factory.getbasetemp(), lambda text: None)
    whole = _everything()
    # The program alone, without a statement about what a run of it gives.
    defined = whole.text.split("theorem outcome_agrees")[0] + f"end Serq.Generated.{whole.module}.Run\n"
    right = encoded_module([whole.encoded])
    wrong = right.replace("namespace Serq.Generated.Encoded", "namespace Serq.Generated.Wrong")
    wrong = wrong.replace("end Serq.Generated.Encoded", "end Serq.Generated.Wrong")
    # The budget is another one.
    wrong, count = re.subn(r"(Encoding\.task\n\s+\[.*?), 8, ", r"\1, 9, ", wrong, count=1, flags=re.S)
    assert count == 1
    answers = LeanBench().ask({whole.module: defined, "Encoded": right, "Wrong": wrong})
    assert answers[whole.module].proved, answers[whole.module]
    assert answers["Encoded"].proved, answers["Encoded"]
    assert answers["Wrong"].refused == ("Serq.Generated.Wrong.everything_is_read",)


def test_programs_that_differ_are_written_differently() -> None:
    written = [tuple(encoded(translate(r.program), 9)) for r in [*stored(), _everything()]]
    assert len(set(written)) == len(written)
    budget = translate(member(engine={"budget": 9}))
    assert encoded(budget, 9) != encoded(translate(member()), 9)


def test_every_theorem_is_obligatory() -> None:
    kept = stored()
    text = encoded_module([r.encoded for r in kept])
    names = encoded_theorems([r.name for r in kept])
    assert all(f"theorem {n.rsplit('.', 1)[1]} :" in text for n in names)
    assert text.count("\ntheorem ") == len(names) == len(kept)


def _run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["lean", "encode", *map(str, words)])
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out, err


def test_the_verb_writes_numbers_or_says_why_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    program = member()
    path = tmp_path / "member.ir.json"
    path.write_text(dumps(program), encoding="utf-8")
    code, out, err = _run(capsys, path)
    assert (code, err) == (0, "") and json.loads(out) == encoded(translate(program), 100)
    code, out, _ = _run(capsys, path, "--until", 12)
    assert code == 0 and json.loads(out)[1] == 12
    path.write_text(dumps(member(engine={"budget": 2.5})), encoding="utf-8")
    code, out, err = _run(capsys, path)
    assert (code, out) == (1, "") and "SQ986" in err
