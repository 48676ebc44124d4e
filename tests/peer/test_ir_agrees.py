"""Random programs, the conformance programs and the examples compile to the peer's IR, as JSON values.

`SERQ_PEER_N` says how many seeds (40 unless set), `SERQ_PEER_FROM` the first.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pyserq
import pytest

from serq.diagnostics import SerqError
from serq.ir.depth import deep_recursion
from serq.ir.encode import program_data
from serq.lang.compile import compile_file, compile_text
from serq.lang.settings import Settings
from tests.conformance import REPOSITORY
from tests.generators.sq_programs import random_source

COUNT = int(os.environ.get("SERQ_PEER_N", "40"))
FIRST = int(os.environ.get("SERQ_PEER_FROM", "0"))
ENOUGH = 300  # seeds among which no form may be missing
SHOWN = 5
SETTINGS = Settings(horizon=100.0)

FORMS = {
    "arrays": r"pool \w+\[|stage \w+\[",
    "engines": r"engine \w+ on",
    "engine families": r"engine \w+\[",
    "memory admitted by an engine": r"pool \w+ on \w+\.\w+",
    "requests": r"request \(",
    "takings": r"taking",
    "marks": r"mark ",
    "registers": r"state \w+ =",
    "iteration bodies": r"schedule \{[^}]*branch",
    "exclusive prefill": r"exclusive prefill",
    "orders": r"decode first|advance running[^;]* by \(",
    "caps": r"each at most",
    "queues": r"queue \w+.* : (prefill|decode)",
    "gateways": r": gateway",
    "pull": r"\w+ pull \w+",
    "push": r"\w+ push \w+",
    "latencies": r"latency ",
    "self": r"\bself\b",
    "holds of two pools": r"hold [^{]*\), ",
    "bindings": r"at admission",
    "reserve": r"reserve \(",
    "reuse": r"reuse \(",
    "leases": r"\} lease|\) lease",
    "growth": r"grow ",
    "loads": r"load ",
    "releases": r"release ",
    "legs": r"fork \{",
    "choices": r"choose ",
    "drawn branches": r"branch with",
    "loops": r"while \(|loop \{",
    "tools": r"tool on|tool \(|tool \d",
    "flows": r"run \w+[^;(]*, \w+",
    "cost records": r"Cost \w+ = \{",
    "cost attributes": r"Cost \w+ = cost",
    "definitions of expressions": r"def f\d",
    "definitions of statements": r"def d\d",
    "aggregates": r"(sum|min|max) j\d+ in",
    "hidden": r"hidden ",
    "inputs": r"args\.number",
    "claims over iterations": r"iteration of",
    "claims at the end": r"at end",
    "gauges": r"gauge ",
    "spills": r"spill ",
    "traces": r"trace ",
}


def ours(text: str) -> Any:
    """The IR made here, as JSON values."""
    made = compile_text(text, settings=SETTINGS)
    with deep_recursion():
        return json.loads(json.dumps(program_data(made.program)))


def peers(text: str) -> Any:
    """The IR the peer makes."""
    return json.loads(pyserq.compile(source=text, horizon=100).to_json())


def first_difference(here: Any, there: Any, path: str = "") -> str | None:
    """The first place two JSON values differ."""
    if isinstance(here, dict) and isinstance(there, dict):
        if here.keys() != there.keys():
            return f"{path}: the fields {sorted(here.keys() ^ there.keys())}"
        pairs = ((f"{path}.{k}", here[k], there[k]) for k in here)
    elif isinstance(here, list) and isinstance(there, list):
        if len(here) != len(there):
            return f"{path}: {len(here)} and {len(there)} items"
        pairs = ((f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(here, there, strict=True)))
    else:
        return None if here == there else f"{path}: {here!r} and {there!r}"
    return next((d for p, a, b in pairs if (d := first_difference(a, b, p)) is not None), None)


@dataclass
class Comparison:
    """What comparing many programs came to."""

    forms: Counter[str] = field(default_factory=Counter)
    differing: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def compared() -> Comparison:
    """Every program compiled on both sides."""
    found = Comparison()
    for seed in range(FIRST, FIRST + COUNT):
        text = random_source(seed)
        found.forms.update(name for name, form in FORMS.items() if re.search(form, text))
        try:
            there = peers(text)
        except ValueError as error:
            found.refused.append(f"seed {seed}: the peer: {str(error).splitlines()[0]}")
            continue
        try:
            difference = first_difference(ours(text), there)
        except SerqError as error:
            found.refused.append(f"seed {seed}: {error}")
            continue
        if difference is not None:
            found.differing.append(f"seed {seed}: {difference}")
    return found


def test_every_program_is_valid(compared: Comparison) -> None:
    """The generator writes no program either side refuses."""
    assert not compared.refused, "\n".join(compared.refused[:SHOWN])


def test_programs_agree(compared: Comparison) -> None:
    """Every field of the IR is the same."""
    assert not compared.differing, "\n".join(compared.differing[:SHOWN])


def test_every_form_is_written(compared: Comparison) -> None:
    """No form is missing among enough programs."""
    missing = [name for name in FORMS if not compared.forms[name]]
    assert not missing or COUNT < ENOUGH, f"no program among {COUNT} writes {missing}"


EXAMPLES = sorted(
    path for path in (REPOSITORY / "examples").rglob("*.sq") if not {"instances", "lib"} & set(path.parts)
)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_an_example_agrees(path: Any) -> None:
    made = compile_file(path, SETTINGS)
    there = json.loads(pyserq.compile(str(path), horizon=100).to_json())
    assert first_difference(json.loads(json.dumps(program_data(made.program))), there) is None


_ENGINE = (
    "fn main() {{ {before} device g {{ }} engine E on g {{ tokens cap 1; schedule {{ advance running only ({only}) "
    "by (remaining); admit waiting only ({only}) while (!running.preempted); }} execute (1); }} "
    "workload {{ arrive batch(1); }} server {{ }} }}"
)
_SIMPLE = (
    "fn main() {{ pool p {{ cap 9; }} stage s : fifo; {more} workload {{ arrive batch(1); {turn} }} "
    "server {{ {server} }} }}"
)


def _simple(server: str = "", more: str = "", turn: str = "turn { Size n = 1; }") -> str:
    return _SIMPLE.format(server=server, more=more, turn=turn)


# Programs both sides accept and lower apart; each runs the same.
LOWERED_APART = {
    "predicates that call one definition with arguments are one predicate (002, *Engines on devices*)": _ENGINE.format(
        before="def second(x, y) { y }", only="second(1, decoding)"
    ),
}
# Programs the peer accepts and that are refused here.
REFUSED_HERE = {
    "an index of an aggregate that would capture an argument's name": _simple(
        "set z = sum j in 2 (f(n + j));", "def f(x) { sum j in 2 (x * j) }"
    ),
    "a name of an entry that the language supplies (002, *Expressions*)": _simple(
        "Q.decode (n);", "queue Q : decode { serve fifo; decode (k) { set now = k; run (cost(Q, 1)); } }"
    ),
    "an attribute named as the client's tool stage": _simple(
        turn="turn { Size tool = 1; } session { turn; tool 1; }"
    ),
    "a function there is none of, in an entry nothing calls": _simple(
        more="queue Q : decode { serve fifo; decode (k) { run (cost(Q, nope(k))); } }"
    ),
    "a token cap that is not a number": _simple(
        more="device g { } engine E on g { tokens cap 0 / 0; schedule { advance running; } execute (1); }"
    ),
}
# Programs the peer refuses and that are accepted here.
ACCEPTED_HERE = {
    "a cap written as its constant in one place and as the number in another": _simple(
        more="let K = 3; device g { } engine E on g { tokens cap 1; schedule { advance running each at most (3); "
        "admit waiting each at most (K); } execute (1); }"
    ),
    "an argument that no definition reads and that is another queue's": _simple(
        more="def f(x) { 1 } queue Q : decode { serve fifo; decode (k) { set y = f(n); run (cost(Q, k)); } }"
    ),
    "a definition that names a pool, where a query reads one": _simple(
        "observe u = used(f(p));", "def f(x) { x }"
    ),
}


@pytest.mark.parametrize("text", LOWERED_APART.values(), ids=LOWERED_APART.keys())
def test_a_declared_difference_still_differs(text: str) -> None:
    assert first_difference(ours(text), peers(text)) is not None


@pytest.mark.parametrize("text", REFUSED_HERE.values(), ids=REFUSED_HERE.keys())
def test_a_program_only_the_peer_accepts(text: str) -> None:
    assert peers(text)
    with pytest.raises(SerqError):
        ours(text)


@pytest.mark.parametrize("text", ACCEPTED_HERE.values(), ids=ACCEPTED_HERE.keys())
def test_a_program_only_accepted_here(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        peers(text)
    assert ours(text)
