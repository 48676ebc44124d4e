"""Claims as Lean statements: what they say, what is refused, and that Lean notices a wrong one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from serq.cli.main import main
from serq.generators.claims import makes_claims, translate_claims
from serq.generators.claims_text import claim_theorems, claims_module
from serq.generators.draws import is_natural
from serq.generators.membership import membership
from serq.generators.propositions import proposition
from serq.generators.refusals import Rule, rule_of
from serq.generators.toolchain import set_up
from serq.ir import program as pr
from serq.ir.build import assign, observe
from serq.ir.quantity import NOW, Value, call, context, draw, greatest, least, lift, when
from serq.ir.validate import validate
from serq.oracle.lean_bench import LeanBench
from tests.generators.claims_programs import (
    CLAIMS,
    DEMAND,
    KV,
    TOKENS,
    at_end,
    claiming,
    every,
    slots,
    some,
    total,
)

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
GAP = pr.Renewal(gap=lift(10))
ALWAYS = every("always", TOKENS >= 0)


def _says(claim: pr.Claim, **changes: object) -> str:
    (found,) = translate_claims(claiming([claim], **changes)).claims  # type: ignore[arg-type]
    return proposition(found.says, lambda v: v.name if v.index is None else f"{v.name}_{v.index}")


@pytest.mark.parametrize(
    ("says", "text"),
    [
        (TOKENS <= 8, "tokens ≤ 8"),
        (TOKENS > 8, "8 < tokens"),
        ((DEMAND < 8).or_(TOKENS.equals(8)), "(demand < 8) ∨ (tokens = 8)"),
        ((DEMAND < 8).not_(), "¬(demand < 8)"),
        (DEMAND - TOKENS, "(demand : Int) - (tokens : Int) ≠ 0"),
        (DEMAND - TOKENS <= 2 * DEMAND, "(demand : Int) - (tokens : Int) ≤ 2 * (demand : Int)"),
        (8 - DEMAND >= 0, "0 ≤ 8 - (demand : Int)"),
        ((7 - 5) * (DEMAND + TOKENS) < 9, "2 * (demand + tokens) < 9"),
        (call("Floor", TOKENS / 4) * 4 <= TOKENS, "tokens / 4 * 4 ≤ tokens"),
        (call("Ceil", TOKENS / 4) < 9, "((tokens) + 4 - 1) / 4 < 9"),
        (least(TOKENS, DEMAND).equals(greatest(1, TOKENS)), "(min (tokens) (demand)) = (max (1) (tokens))"),
        (when(TOKENS > 3, DEMAND, 0) < 9, "(if 3 < tokens then demand else 0) < 9"),
        ((TOKENS > 3) + 1 < 9, "(if 3 < tokens then 1 else 0) + 1 < 9"),
        (KV.query("Used") <= NOW, "allocated_0 ≤ start"),
    ],
)
def test_a_claim_is_a_proposition(says: Value, text: str) -> None:
    assert _says(every("x", says)) == text


def test_a_claim_at_the_end_reads_what_was_observed() -> None:
    says = total("late") - total("early") <= total("late", "PrefixTotal") * total("early", "Count") + NOW
    text = "(total_1 : Int) - (total_0 : Int) ≤ (prefixTotal_1 : Int) * (count_0 : Int) + (now : Int)"
    assert _says(at_end("x", says)) == text


def test_the_papers_claims_are_what_the_papers_say() -> None:
    expected = {
        "dai_sarathi": ["(demand < 128) ∨ (tokens = 128)", "served * 4675 ≤ 128 * start"],
        "dai_fastertransformer": ["(128 ≤ demand) ∧ (tokens < 128)", "served * 4675 ≤ 128 * start"],
        "bari_rad": ["served * 4640 ≤ 128 * start", "(tokens = 128) ∨ (decoders = residents)"],
    }
    from serq.oracle.lean_files import claiming_programs

    programs = claiming_programs()
    for name, texts in expected.items():
        found = [proposition(c.says, lambda v: v.name) for c in programs[name].claims]
        assert found[:2] == texts, name
    tiling = programs["bari_rad"].claims[1]
    assert tiling.given is not None
    assert proposition(tiling.given, lambda v: "vp") == "vp = 128 * (vp / 128)"
    assert programs["bari_rad"].gap is None and programs["dai_sarathi"].gap == 46750


def test_what_init_computes_is_put_into_a_given() -> None:
    claim = every("x", TOKENS <= 8, slots().both <= 20)
    (found,) = translate_claims(claiming([claim])).claims
    assert found.given is not None
    names = {9: "prompt", 10: "answer"}
    assert proposition(found.given, lambda v: names[v.index or 0]) == "prompt + answer ≤ 20"


def test_an_example_is_given_what_it_needs() -> None:
    claim = every("x", TOKENS <= 8, (slots().prompt > 6).and_(slots().answer.differs(1)))
    (found,) = translate_claims(claiming([claim])).claims
    arrival, prompt, answer = found.example
    assert prompt > 6 and answer != 1 and arrival >= 0


@pytest.mark.parametrize(
    ("value", "natural"),
    [
        (call("Floor", draw("Uniform", 1, 9)), True),
        (4 * call("Ceil", draw("Exp", 3)) + 1, True),
        (least(call("Floor", draw("Erlang", 2, 9)) + 1, 512), True),
        (draw("Bernoulli", 0.5), True),
        (draw("Uniform", 1, 9), False),
        (call("Floor", draw("Uniform", -3, 9)), False),
        (call("Floor", draw("Exp", 3)) - 1, False),
        (call("Floor", draw("Exp", 3)) * 0.5, False),
    ],
)
def test_a_draw_has_to_be_natural(value: Value, natural: bool) -> None:
    assert is_natural(lift(value)) is natural


def _drawn(value: Value) -> Callable[..., list[object]]:
    return lambda s: [assign(s.prompt, value), assign(s.answer, 1)]


REFUSED: dict[str, tuple[Rule, str, Callable[[], pr.Program]]] = {
    "closed arrivals": (
        Rule.WORKLOAD,
        "claims are translated of",
        lambda: claiming([ALWAYS], arrival=pr.Closed(population=3)),
    ),
    "a fractional gap": (
        Rule.WORKLOAD,
        "gap",
        lambda: claiming([ALWAYS], arrival=pr.Renewal(gap=lift(2.5))),
    ),
    "a drawn gap": (
        Rule.WORKLOAD,
        "gap",
        lambda: claiming([ALWAYS], arrival=pr.Renewal(gap=lift(draw("Exp", 3)))),
    ),
    "a large batch": (
        Rule.WORKLOAD,
        "more than 500",
        lambda: claiming([ALWAYS], arrival=pr.Batch(size=501)),
    ),
    "a turn block": (
        Rule.WORKLOAD,
        "turn block",
        lambda: claiming([ALWAYS], turn_block=lambda s: [assign(s.prompt, 2)]),
    ),
    "the number of the turn": (
        Rule.WORKLOAD,
        "`turn_no` is read",
        lambda: claiming([ALWAYS], body=lambda s: [observe("x", s.turn_no)]),
    ),
    "an unrounded draw": (
        Rule.WORKLOAD,
        "not certainly a natural number",
        lambda: claiming([ALWAYS], init=_drawn(draw("Exp", 3))),
    ),
    "a draw after its use": (
        Rule.WORKLOAD,
        "before drawing it",
        lambda: claiming(
            [ALWAYS],
            init=lambda s: [
                assign(s.answer, s.prompt + 1),
                assign(s.prompt, call("Floor", draw("Exp", 3))),
            ],
        ),
    ),
    "a draw set again": (
        Rule.WORKLOAD,
        "again after drawing it",
        lambda: claiming(
            [ALWAYS], init=lambda s: [assign(s.prompt, draw("Bernoulli", 0.5)), assign(s.prompt, 3)]
        ),
    ),
    "an observation in init": (
        Rule.WORKLOAD,
        "`Observe`",
        lambda: claiming([ALWAYS], init=lambda s: [observe("early", 1)]),
    ),
    "some iteration of draws": (
        Rule.CLAIMS,
        "that draws",
        lambda: claiming([some("x", TOKENS > 0)], arrival=GAP),
    ),
    "some iteration of drawn arrivals": (
        Rule.CLAIMS,
        "that draws",
        lambda: claiming([some("x", TOKENS > 0)], init=_drawn(3)),
    ),
    "attention": (Rule.CLAIMS, "`Attn`", lambda: claiming([every("x", context("Attn") > 0)])),
    "memory of prefills": (Rule.CLAIMS, "`Kvp`", lambda: claiming([every("x", context("Kvp") >= 0)])),
    "a largest value": (
        Rule.CLAIMS,
        "`Largest`",
        lambda: claiming([at_end("x", total("late", "Largest") < 9)]),
    ),
    "a quotient that is not rounded": (Rule.CLAIMS, "`Div`", lambda: claiming([every("x", TOKENS / 3 < 2)])),
    "a divisor that varies": (
        Rule.CLAIMS,
        "positive constant",
        lambda: claiming([every("x", call("Floor", 9 / TOKENS) < 9)]),
    ),
    "a negation": (Rule.CLAIMS, "`Neg`", lambda: claiming([every("x", -TOKENS <= 0)])),
    "a fractional constant": (Rule.CLAIMS, "2.5", lambda: claiming([every("x", TOKENS < 2.5)])),
    "a given of nobody": (
        Rule.CLAIMS,
        "no session is found",
        lambda: claiming([every("x", TOKENS < 9, slots().prompt < 0)]),
    ),
    "a given that reads the cache": (
        Rule.CLAIMS,
        "`Attr`",
        lambda: claiming([every("x", TOKENS < 9, slots().cached.equals(0))]),
    ),
    "decodes that take no time": (
        Rule.COST,
        "not at least 1",
        lambda: claiming([ALWAYS], cost=3 * context("Npre")),
    ),
    "no constant time where holds grow": (
        Rule.COST,
        "not at least 1",
        lambda: claiming([ALWAYS], cost=3 * TOKENS, growing=KV),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_outside_is_refused(name: str) -> None:
    rule, words, make = REFUSED[name]
    program = make()
    assert not validate(program) and makes_claims(program)
    found = [d for d in membership(program) if rule_of(d) is rule and words in d.message]
    assert found, membership(program)
    assert all(d.place.path is not None for d in found)


def test_a_cost_without_a_constant_is_in_where_nothing_grows() -> None:
    assert membership(claiming([ALWAYS], cost=3 * TOKENS)) == ()
    assert membership(claiming([ALWAYS], cost=call("Ceil", (context("Npre") + context("Ndec")) / 4))) == ()


def _run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["lean", "claims", *map(str, words)])
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out, err


def test_the_verb_writes_statements_or_says_why_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = _run(capsys, EXAMPLES / "papers" / "ir" / "kong_svf.ir.json")
    committed = EXAMPLES.parent / "lean" / "Serq" / "Generated" / "ClaimsKongSvf.lean"
    assert (code, out, err) == (0, committed.read_text(encoding="utf-8"), "")
    target = tmp_path / "out.lean"
    assert _run(capsys, EXAMPLES / "papers" / "dai_sarathi.sq", "-o", target)[:2] == (0, "")
    assert "theorem Example.bounded_belongs" in target.read_text(encoding="utf-8")
    code, out, err = _run(capsys, EXAMPLES / "engines" / "tgi.sq")
    assert (code, out) == (1, "") and "claims nothing of sessions that arrive" in err
    source = (EXAMPLES / "papers" / "dai_sarathi.sq").read_text(encoding="utf-8")
    odd = tmp_path / "odd.sq"
    odd.write_text(source.replace("renewal(gap)", "renewal(gap + 0.5)"), encoding="utf-8")
    code, out, err = _run(capsys, odd)
    assert (code, out) == (1, "") and "error[SQ981]: the gap between arrivals" in err and "odd.sq:" in err


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> LeanBench:
    """A bench of the tests' own."""
    set_up("auto", tmp_path_factory.getbasetemp(), lambda text: None)
    return LeanBench()


def _fixed(name: str, budget: int = 8) -> str:
    """A program of which a claim of some iteration is proved by a run, in a module of that name."""
    program = claiming(
        [some("full", (DEMAND > TOKENS).and_(TOKENS.equals(8)))],
        arrival=GAP,
        init=lambda s: [assign(s.prompt, 30), assign(s.answer, 2), assign(s.both, 32)],
        budget=budget,
    )
    text = claims_module(name, translate_claims(program))
    return text.replace(
        "Theorems.Claims\n", "Theorems.Claims\npublic import Serq.Theorems.Reaching\n"
    ) + _PROOF.format(name)


_PROOF = """
namespace Serq.Proof.{0}

open Serq.Generated.Claims{0}

def fills (m : Option Machine) : Bool :=
  match m with
  | none => false
  | some m =>
    match m.current with
    | none => false
    | some r => r.tokens < r.demand && r.tokens == 8

theorem run_fills : fills (run deployment Example.full program 10) = true := by decide +kernel

theorem full : Claim.full := by
  have h := run_fills
  unfold fills at h
  split at h
  · cases h
  · rename_i m hm
    split at h
    · cases h
    · rename_i r hr
      simp only [Bool.and_eq_true, decide_eq_true_eq, beq_iff_eq] at h
      exact ⟨Example.full, Example.full_belongs, m, run_reaches hm, r, hr, h⟩

end Serq.Proof.{0}
"""


def test_lean_accepts_what_is_generated_and_refuses_what_is_spoiled(bench: LeanBench) -> None:
    tiles = CLAIMS[1]
    late = at_end("late", total("late") - total("early") <= 9)
    right = claims_module("right", translate_claims(claiming([tiles, late])))
    batch = claims_module("batch", translate_claims(claiming([late], arrival=pr.Batch(size=3))))
    # No example of what is given, and a run that is cut off.
    wrong = right.replace("ClaimsRight", "ClaimsWrong")
    given = wrong.replace("(prompt_ = 4 * (prompt_ / 4))", "(prompt_ = 4 * (prompt_ / 4) + 3)")
    ended = wrong.replace("program 1000000000 = true", "program 0 = true")
    assert given != wrong != ended
    assert "sessionsThat" in batch and "n ≤ mostSessions" in batch
    answers = bench.ask(
        {
            "ClaimsRight": right,
            "ClaimsBatch": batch,
            "ClaimsGiven": given.replace("ClaimsWrong", "ClaimsGiven"),
            "ClaimsEnded": ended.replace("ClaimsWrong", "ClaimsEnded"),
            "ClaimsA": _fixed("A"),
            "ClaimsB": _fixed("B", budget=7),
        }
    )
    assert answers["ClaimsRight"].proved and answers["ClaimsBatch"].proved
    assert answers["ClaimsGiven"].refused == ("Serq.Generated.ClaimsGiven.Example.tiles_belongs",)
    assert answers["ClaimsEnded"].refused == ("Serq.Generated.ClaimsEnded.Example.late_ends",)
    assert answers["ClaimsA"].proved, answers["ClaimsA"]
    # The proof is of another program than this one, whose batches are smaller.
    assert answers["ClaimsB"].refused == ("Serq.Proof.B.run_fills",)


def test_every_theorem_of_a_module_is_obligatory() -> None:
    claimed = translate_claims(claiming([*CLAIMS, at_end("late", total("late") <= 9)]))
    text = claims_module("x", claimed)
    names = claim_theorems("x", claimed)
    assert text.count("\ntheorem ") == len(names) == 9
    assert all(
        f"theorem {n.removeprefix('Serq.Generated.ClaimsX.')} :" in text for n in names if "ends" not in n
    )
