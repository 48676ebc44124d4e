"""The conformance programs: each compiles to exactly the recorded IR, and each reject is refused."""

from __future__ import annotations

import pytest

from serq.diagnostics import SerqError, lookup
from serq.ir.encode import program_data
from serq.lang.compile import Compiled, compile_file, compile_text
from serq.lang.settings import Settings
from tests.conformance import DATA, REPOSITORY, cases, rejects

WRITTEN = [name for name, case in cases().items() if case["source"]]
REFUSED = [name for name, case in rejects().items() if case["phase"] == "compile"]
EXAMPLES = sorted(
    path for path in (REPOSITORY / "examples").rglob("*.sq") if not {"instances", "lib"} & set(path.parts)
)


def compiled(name: str) -> Compiled:
    case = cases()[name]
    settings = Settings(
        horizon=case["horizon"],
        warmup=case.get("warmup", 0.0),
        seed=case.get("seed", 1),
        arrivals=case.get("arrivals"),
        trace=case["ir"]["trace"],
    )
    return compile_text(case["source"], settings=settings)


@pytest.mark.parametrize("name", WRITTEN)
def test_compiles_to_the_recorded_ir(name: str) -> None:
    assert program_data(compiled(name).program) == cases()[name]["ir"]


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_with_a_documented_code(name: str) -> None:
    case = rejects()[name]
    settings = Settings(
        horizon=case.get("horizon", 100.0), warmup=case.get("warmup", 0.0), arrivals=case.get("arrivals")
    )
    with pytest.raises(SerqError) as refused:
        compile_text(case["source"], settings=settings)
    for diagnostic in refused.value.diagnostics:
        assert lookup(diagnostic.code) is not None
        assert diagnostic.place.span is not None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_example_compiles(path: object) -> None:
    made = compile_file(str(path), Settings(horizon=100.0))
    assert made.program.stages


def test_there_are_conformance_programs() -> None:
    assert DATA.exists()
    assert len(WRITTEN) >= 70 and len(REFUSED) >= 30 and EXAMPLES
