"""Runs that stop: every cause, with its code and the statement it points at."""

from __future__ import annotations

from typing import Any

import pytest

from serq.diagnostics import SerqError, format_path
from serq.ir.validate import validate
from serq.lang.compile import Compiled, compile_text
from serq.lang.settings import Settings
from serq.sim import RunError, run
from tests.conformance import rejects

CODES = {
    "rt-guard": "SQ801",
    "rt-nan": "SQ802",
    "rt-renewal": "SQ803",
    "rt-cost0": "SQ807",
    "rt-ready": "SQ804",
    "rt-load": "SQ814",
    "rt-end-with-leg": "SQ809",
    "rt-choose-count": "SQ815",
}


def compiled(source: str, **settings: Any) -> Compiled:
    return compile_text(source, settings=Settings(**{"horizon": 20.0, **settings}))


def stopped(source: str, **settings: Any) -> tuple[str, str]:
    """The code of the error and the text it points at."""
    made = compiled(source, **settings)
    assert validate(made.program) == ()
    with pytest.raises(RunError) as caught:
        run(made.program)
    (found,) = caught.value.diagnostics
    assert found.hint and "at time" in (found.note or "")
    place = made.source_map.place(found.place.path)
    if place.span is None:
        return found.code, format_path(found.place.path)
    line = source.split("\n")[place.span.line - 1]
    return found.code, line[place.span.column - 1 :]


@pytest.mark.parametrize("name", sorted(n for n, c in rejects().items() if c["phase"] == "run"))
def test_the_reference_run_errors(name: str) -> None:
    case = rejects()[name]
    code, _ = stopped(case["source"], horizon=case["horizon"], seed=case["seed"])
    assert code == CODES[name]


def server(
    body: str, declarations: str = "", workload: str = "arrive batch(1); turn { Size w = ~exp(1); }"
) -> str:
    return f"""fn main() {{
  stage d : delay; stage t[2] : fifo; pool m {{ cap 4; }} pool a[2] {{ cap 4; }}
  {declarations}
  workload {{ {workload} }}
  server {{
{body}
  }}
}}"""


@pytest.mark.parametrize(
    ("body", "code", "points_at"),
    [
        ("set x = 1;\nbranch (w + 2) { run d (cost(d, 1)); }", "SQ801", "branch"),
        ("run d (cost(d, 0 - w));", "SQ802", "run d"),
        ("hold m (cost(m, 0 - w)) { run d (cost(d, 1)); }", "SQ802", "hold m"),
        ("hold m (cost(m, 1)) reserve (cost(m, 0 - w)) { run d (cost(d, 1)); }", "SQ802", "hold m"),
        ("hold m (cost(m, 1)) { grow m (cost(m, 0 - w)); run d (cost(d, 1)); }", "SQ802", "grow m"),
        ("set k = 1 + w;\nrun t[k] (cost(t, 1));", "SQ805", "run t"),
        ("set x = 2 + w;\nset y = queue(t[x]);", "SQ805", "set y"),
        (
            "set i = 0; set j = 0;\nhold a[i] (cost(a, 1)), a[j] (cost(a, 1)) { run d (cost(d, 1)); }",
            "SQ805",
            "hold a",
        ),
        (
            "hold m (cost(m, 1)) {\nrelease m;\ngrow m (cost(m, 1));\nrun d (cost(d, 1)); }",
            "SQ806",
            "grow m",
        ),
        ("hold m (cost(m, 1)) {\nload m (cost(m, 2)); run d (cost(d, 1)); }", "SQ814", "load m"),
        ("choose k in 0 - 1 by (queue(t[k]));\nrun d (cost(d, 1));", "SQ815", "choose"),
        ("choose k in w by (queue(d));\nrun d (cost(d, 1));", "SQ815", "choose"),
    ],
)
def test_a_stop_points_at_its_statement(body: str, code: str, points_at: str) -> None:
    found, text = stopped(server(body))
    assert found == code
    assert text.startswith(points_at)


def test_a_register_must_stay_finite() -> None:
    source = """fn main() {
  device gpu { kv cap 40; }
  engine e on gpu {
    reqs cap 4; tokens cap 8; state r = 1;
    request (p) { prefill (p); }
    schedule { set r = r / (r - r); advance running; admit waiting taking reqs (1), kv (p); }
    execute (1);
  }
  pool kv on gpu { } pool reqs on e { }
  workload { arrive batch(1); turn { Size p = 3; } }
  server { e (p); }
}"""
    assert stopped(source)[0] == "SQ808"


def test_sessions_and_legs_that_wait_only_for_each_other() -> None:
    body = """hold m (cost(m, 4)) { run d (cost(d, 1)); } lease m (inf)
fork { hold m (cost(m, 1)) { run d (cost(d, 1)); } }
join; release m;"""
    assert stopped(server(body))[0] == "SQ810"
    assert run(compiled(server(body.replace("inf", "3"))).program).data["ended"] == 1


def test_those_that_only_a_reserve_keeps_apart_are_noted() -> None:
    """The units would fit, so that it is no error (as measured at the peer); nobody ever goes on all the same."""
    body = """hold m (cost(m, 1)) { run d (cost(d, 1)); } lease m (inf)
fork { hold m (cost(m, 1)) reserve (cost(m, 4)) { run d (cost(d, 1)); } }
join; release m;"""
    report = run(compiled(server(body)).program)
    assert report.data["ended"] == 0
    (note,) = report.notes
    assert "session 0, a leg of session 0 waiting only for each other, counting reserves" in note
    assert not run(compiled(server(body.replace("inf", "3"))).program).notes


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"horizon": 5.0, "arrivals": 1000}, "SQ811"),
        ({"horizon": 6.0, "arrivals": 3}, "SQ812"),
        ({"horizon": 500.0, "arrivals": 1, "warmup": 400.0}, "SQ813"),
    ],
)
def test_a_limited_run_must_get_its_arrivals_and_drain(settings: dict[str, Any], code: str) -> None:
    source = server("run d (cost(d, 10));", workload="arrive renewal(1);")
    assert stopped(source, **settings)[0] == code


def test_a_million_readies_are_stopped_not_run() -> None:
    body = "set k = 0;\nwhile (1) { run d (cost(d, 0 * w)); set k = k + 1; }"
    assert stopped(server(body))[0] == "SQ804"


def test_the_first_error_ends_the_run_without_a_report() -> None:
    with pytest.raises(SerqError) as caught:
        run(
            compiled(
                server("run d (cost(d, 0 - w));", workload="arrive poisson(3); turn { Size w = ~exp(1); }")
            ).program
        )
    assert len(caught.value.diagnostics) == 1
