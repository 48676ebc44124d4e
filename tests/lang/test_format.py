"""The formatter: one layout, comments kept, the same tree, and nothing to do the second time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serq.diagnostics import SerqError
from serq.lang.format import WIDTH, format_source
from serq.lang.parser import parse
from serq.lang.scanner import scan
from tests.lang.sources import SOURCES, bare, mutated, rewritten

SEEDS = st.integers(0, 2**32)


def _shape(text: str) -> object:
    program = parse(text)
    return bare(program.prelude), bare(program.main) if program.main else None, bare(program.rest)


def _comments(text: str) -> list[str]:
    lines = [c.text.replace("\r\n", "\n").split("\n") for c in scan(text).comments]
    return ["\n".join(line.rstrip() for line in parts) for parts in lines]


def _holds(text: str) -> str:
    formatted = format_source(text)
    assert _shape(formatted) == _shape(text)
    assert _comments(formatted) == _comments(text)
    assert format_source(formatted) == formatted
    return formatted


@pytest.mark.parametrize("number", range(len(SOURCES)))
def test_programs(number: int) -> None:
    formatted = _holds(SOURCES[number])
    assert not any(line != line.rstrip() for line in formatted.split("\n"))


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(SOURCES), SEEDS)
def test_programs_with_other_blanks_and_comments(text: str, seed: int) -> None:
    _holds(rewritten(text, seed))


@settings(deadline=None, max_examples=60)
@given(st.sampled_from([s for s in SOURCES if "//" not in s and "/*" not in s]), SEEDS)
def test_line_breaks_do_not_matter_but_for_empty_lines(text: str, seed: int) -> None:
    def packed(source: str) -> str:
        return "\n".join(line for line in format_source(source).split("\n") if line)

    assert packed(rewritten(text, seed, comments=False)) == packed(text)


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(SOURCES), SEEDS)
def test_what_does_not_parse_is_refused_and_what_does_is_formatted(text: str, seed: int) -> None:
    changed = mutated(text, seed)
    try:
        parse(changed)
    except SerqError:
        with pytest.raises(SerqError):
            format_source(changed)
    else:
        _holds(changed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("// only a comment", "// only a comment\n"),
        ("fn main(){}", "fn main() { }\n"),
        ("let a=-(1+2)*3^-x;", "let a = -(1 + 2) * 3 ^ -x;\n"),
        ("let a=b-c;let d=!e&&f;", "let a = b - c;\nlet d = !e && f;\n"),
        ("def f (x,y){x?y:~exp (1)}", "def f(x, y) { x ? y : ~exp(1) }\n"),
        ('fn main(){let a=args . number ("x",1);}', 'fn main() {\n  let a = args.number("x", 1);\n}\n'),
        ("fn main(){stage s[2]:fifo (3);}", "fn main() {\n  stage s[2] : fifo(3);\n}\n"),
        ("fn main(){claim c :at end(1);}", "fn main() {\n  claim c: at end (1);\n}\n"),
        (
            "fn main(){workload{arrive poisson (1);}server{run s(cost (s,1));}}",
            "fn main() {\n  workload { arrive poisson(1); }\n  server { run s (cost(s, 1)); }\n}\n",
        ),
        (
            "fn main(){server{branch(a){end;}else{join;}D [j].decode(x)from P[i];g.route( );}}",
            "fn main() {\n  server {\n    branch (a) { end; } else { join; }\n"
            "    D[j].decode (x) from P[i];\n    g.route();\n  }\n}\n",
        ),
        ("run{horizon 10;seed 1;}", "run { horizon 10; seed 1; }\n"),
        (
            "fn main(){server{hold p(1){};hold p(1){}cache(2)hold p(1){}lease p(3);}}",
            "fn main() {\n  server {\n    hold p (1) { }\n    hold p (1) { } cache (2);\n"
            "    hold p (1) { } lease p (3);\n  }\n}\n",
        ),
        (
            "fn main(){server{Cost c={s:1,t:2};}}",
            "fn main() {\n  server { Cost c = { s : 1, t : 2 }; }\n}\n",
        ),
    ],
)
def test_layout(text: str, expected: str) -> None:
    assert _holds(text) == expected


def test_comments_keep_their_places() -> None:
    text = """// first
let a = 1; // trailing


// before b
/* block
     kept */
let b = 2;
fn main() { // opens
  // inside

  pool p { cap 1; /* one */ block 2; }
  server {
    set x = // why
      1;
    run s (1); } // closes
}
// last"""
    assert (
        _holds(text)
        == """// first
let a = 1;  // trailing

// before b
/* block
     kept */
let b = 2;
fn main() {  // opens
  // inside

  pool p {
    cap 1;  /* one */
    block 2;
  }
  server {
    set x = // why
        1;
    run s (1);
  }  // closes
}
// last
"""
    )


def test_long_lines_are_broken_at_clauses_first() -> None:
    long = "min(aaaaaaaaaaaaaaaaaaaa + bbbbbbbbbbbbbbbbbbbb, cccccccccccccccccccc)"
    clauses = f"hold p ({long}) reserve ({long}) at admission (x = {long})"
    text = "fn main() { server { " + clauses + " { end; } } }"
    formatted = _holds(text)
    assert all(len(line) <= WIDTH for line in formatted.split("\n"))
    assert [line.split()[0] for line in formatted.split("\n")[2:5]] == ["hold", "reserve", "at"]


def test_a_long_sum_is_broken_at_its_operators() -> None:
    formatted = _holds("let a = " + " + ".join(f"term{i} * factor{i}" for i in range(20)) + ";")
    lines = formatted.rstrip("\n").split("\n")
    assert all(len(line) <= WIDTH for line in lines)
    assert all(line.startswith("    + ") for line in lines[1:])
