"""The validator as a whole: valid programs, the catalogue of its codes, programs of any depth."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

import serq.ir.validate
from serq.diagnostics import Code, SerqError, all_codes
from serq.ir import expressions as ex
from serq.ir import statements as st
from serq.ir.decode import loads
from serq.ir.program import Program
from serq.ir.validate import check as check_program
from serq.ir.validate import validate
from serq.lang.compile import compile_text
from serq.lang.settings import Settings
from tests.conformance import cases
from tests.ir import (
    test_validate_engines,
    test_validate_holds,
    test_validate_moments,
    test_validate_structure,
    test_validate_types,
)
from tests.ir.builders import (
    MEMORY,
    UNREACHED,
    Case,
    Doc,
    K,
    assign,
    attr,
    binary,
    branch,
    hold,
    num,
    ref,
    run,
)

BAND = re.compile(r"SQ(02\d|4[0-4]\d|5[0-4]\d|6[0-4]\d|7[0-4]\d)")
CODES = [code for code in all_codes() if BAND.fullmatch(code.code)]
CASES: list[Case] = [
    case
    for module in (
        test_validate_structure,
        test_validate_moments,
        test_validate_types,
        test_validate_holds,
        test_validate_engines,
    )
    for case in module.CASES
]


@pytest.mark.parametrize("name", cases())
def test_conformance_programs_are_valid(name: str) -> None:
    assert validate(loads(json.dumps(cases()[name]["ir"]))) == ()


def test_every_code_is_registered_and_broken_by_a_case() -> None:
    source = "".join(p.read_text(encoding="utf-8") for p in Path(serq.ir.validate.__path__[0]).glob("*.py"))
    used = set(re.findall(r'"(SQ\d{3})"', source))
    assert used == {code.code for code in CODES} == {case.code for case in CASES}


@pytest.mark.parametrize("code", CODES, ids=lambda c: c.code)
def test_codes_are_documented(code: Code) -> None:
    assert code.title
    assert code.why.endswith(".")
    assert code.fix.endswith(".")
    assert bool(code.bad) == bool(code.good)


def _compiled(text: str) -> list[str]:
    try:
        compile_text(text, settings=Settings(horizon=10))
    except SerqError as error:
        return [d.code for d in error.diagnostics]
    return []


@pytest.mark.parametrize("code", [c for c in CODES if c.bad], ids=lambda c: c.code)
def test_examples_show_their_code(code: Code) -> None:
    assert _compiled(code.bad) == [code.code]
    assert _compiled(code.good) == []


def test_check_raises_everything_at_once() -> None:
    check_program(Doc().program())
    bad = Doc().put(("horizon",), 0).put(("share",), "MaxMin").program()
    with pytest.raises(SerqError) as caught:
        check_program(bad)
    assert [d.code for d in caught.value.diagnostics] == ["SQ020", "SQ617"]


DEPTH = 4_000


def _left(leaf: ex.Expr) -> ex.Expr:
    e = leaf
    for _ in range(DEPTH):
        e = ex.Binary(op="Add", left=e, right=ex.Num(value=1.0))
    return e


def _timed(program: Program) -> list[str]:
    start = time.monotonic()
    codes = [d.code for d in validate(program)]
    assert time.monotonic() - start < 5
    return codes


def _saying(*statements: st.Stmt) -> Program:
    """The base program with statements of the server's before the session's end."""
    base = Doc().program()
    init, turn, (*session, end), *rest = base.blocks
    sides = list(base.sides)
    sides[2] = (*sides[2][:-1], *("Server" for _ in statements), sides[2][-1])
    blocks = (init, turn, (*session, *statements, end), *rest)
    return base.model_copy(update={"blocks": blocks, "sides": tuple(sides)})


def test_deep_expressions_are_judged() -> None:
    assert _timed(_saying(st.Set(slot=K, value=_left(ex.Attr(slot=K))))) == []
    assert _timed(_saying(st.Set(slot=K, value=_left(ex.Ctx(var="Size"))))) == ["SQ401"]


def test_deep_indices_are_compared() -> None:
    part = [ex.CRef(base=1, count=2, index=_left(leaf)) for leaf in (ex.Attr(slot=K), ex.Attr(slot=K))]
    amount = ex.Cost(target=ex.PoolTarget(base=1, count=2), arg=ex.Num(value=1.0))
    taken = (st.HoldPool(pool=part[0], units=amount),)
    hold = st.Hold(
        pools=taken, body=UNREACHED, lease=st.Lease(pool=part[0], duration=_left(ex.Num(value=0.0)))
    )
    other = ex.CRef(base=1, count=2, index=_left(ex.Num(value=0.0)))
    assert _timed(_saying(hold, st.Release(pool=part[1]))) == []
    assert _timed(_saying(hold, st.Release(pool=other))) == ["SQ603", "SQ027"]


def test_deep_blocks_are_judged() -> None:
    doc = Doc()
    body = doc.block(run())
    for i in range(2_000):
        wrapped = (hold(body, ref(MEMORY)), {"Loop": body}, branch(body, doc.block()))[i % 3]
        body = doc.block(wrapped)
    doc.server({"Loop": body})
    assert set(_timed(doc.program())) == {"SQ609"}


def test_long_programs_are_judged() -> None:
    doc = Doc()
    doc.server(*(assign(K, binary("Add", attr(K), num(i))) for i in range(5_000)))
    assert _timed(doc.program()) == []
