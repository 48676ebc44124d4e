"""The tables of `docs/checker.md`: the rules from their files, the gallery and the mutants as they come out."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from serq.check import RULES
from serq.check.report import told
from serq.check.rule import Rule
from tools.examples import ROOT
from tools.generated.file import Generated, relative, table, with_part
from tools.incidents import FOLDER, Incident, incidents
from tools.mutants import MUTATIONS
from tools.outcomes import RESULT, Outcome, recorded

PAGE = ROOT / "docs" / "checker.md"
_RULES = ROOT / "serq" / "check" / "rules"


def files() -> Iterator[Generated]:
    """The page with its tables written anew."""
    yield Generated(PAGE, page)


def page() -> str:
    """The page as it stands, with every table between its markers made anew."""
    text = PAGE.read_text(encoding="utf-8")
    for name, (what, inputs, part) in _PARTS.items():
        text = with_part(text, name, what, inputs, part())
    return text


# The rules


def _rules() -> str:
    rows = ((r.code, f"`{r.name}`", str(r.severity), *_documented(r)) for r in RULES)
    return table(("code", "rule", "severity", "what it finds", "soundness"), rows)


def _documented(rule: Rule) -> tuple[str, str]:
    """The first sentence of a rule's documentation, and what it says of its verdicts."""
    text = importlib.import_module(rule.module).__doc__ or ""
    soundness = text.split("\nSoundness\n")[1]
    return text.split("\n")[0].rstrip("."), " ".join(soundness.split())


# The gallery


def _gallery() -> str:
    columns = ("report", "what was reported", "numbers", "it is", "the checker says", "the repair")
    return table(columns, (_row(one) for one in incidents()))


def _row(one: Incident) -> tuple[str, ...]:
    data = one.data
    numbers = "<br>".join(f"{k.replace('_', ' ')}: {_number(x)}" for k, x in data["numbers"].items())
    repairs = "<br>or ".join(r["words"] for r in one.repairs)
    return (
        f"[{data['report']}]({data['link']})<br>[{data['program']}](../examples/incidents/{data['program']})",
        data["gist"],
        numbers,
        data["verdict"],
        _said(one),
        repairs,
    )


def _said(one: Incident) -> str:
    """What the checker says of it; of a safe one, what a run shows besides."""
    extra = [one.data["note"]] if "note" in one.data else []
    if one.data["rule"] is not None:
        finding = one.refuted[0]
        assert finding.diagnostic is not None
        values = [(k, x) for k, x in finding.witness if k in one.data.get("ranges", {})]
        witness = f", for example with {told(values)}" if values else ""
        return "<br>".join([f"`{finding.rule}`: {finding.diagnostic.message}{witness}", *extra])
    costs = [one.shown(), one.shown(one.repairs[0]["inputs"])]
    again = [_number(round(c.recomputed)) for c in costs]
    computed = f"a run computes {again[0]} tokens again where {_number(round(costs[0].needed))} are needed; "
    computed += f"repaired: {again[1]}"
    proved = "every rule that speaks of a hang is proved"
    return "<br>".join([proved, *([computed] if costs[0].recomputed else []), *extra])


def _number(x: float) -> str:
    return f"{x:,}".replace(",", " ")


# The mutants

_OTHERS = {"starvation": "a queue that only grows"}


def _by_rule() -> str:
    outcomes = recorded()
    rows = []
    for rule in RULES:
        caught = sum(rule.name in o.caught for o in outcomes)
        missed = sum(o.missed and o.rule == rule.name for o in outcomes)
        rows.append((f"`{rule.name}`", f"{caught}/{caught + missed}"))
    other = Counter(o.run for o in outcomes if o.missed and o.rule == "other")
    told_others = ", ".join(f"{_OTHERS.get(how, how)}: {n}" for how, n in sorted(other.items()))
    rows.append(("no rule speaks of it", f"0/{sum(other.values())}" + (f" ({told_others})" if other else "")))
    return table(("rule", "caught/total"), rows)


def _by_mutation() -> str:
    outcomes = recorded()
    columns = ("mutation", "made", "refused", "caught", "missed", "no mistake seen", "because")
    rows = []
    for m in MUTATIONS:
        counts = _counts(o for o in outcomes if o.mutation == m.name)
        rows.append((m.name, *counts, m.harmless if counts[-1] != "0" else ""))
    return table(columns, (*rows, ("all", *_counts(outcomes), "")))


def _counts(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    found = list(outcomes)
    refused = sum(bool(o.refused) for o in found)
    caught = sum(bool(o.caught) for o in found)
    missed = sum(o.missed for o in found)
    return tuple(
        str(n) for n in (len(found), refused, caught, missed, len(found) - refused - caught - missed)
    )


def _mutants() -> str:
    return _by_rule() + "\n" + _by_mutation() + "\n" + _missed()


def _missed() -> str:
    """The mutants that go wrong without a finding."""
    rows = sorted(
        (o.mutation, o.example, re.sub(r"\.args\b.*", " …", o.place), o.run or o.rule, o.answer)
        for o in recorded()
        if o.missed
    )
    return table(("missed", "in", "at", "a run shows, or it is", "the checker"), rows)


_PARTS: dict[str, tuple[str, list[Path], Callable[[], str]]] = {
    "rules": (f"{relative(_RULES)}", sorted(_RULES.glob("*.py")), _rules),
    "gallery": (
        f"{relative(FOLDER)}",
        sorted(p for p in FOLDER.iterdir() if p.suffix in (".sq", ".json")),
        _gallery,
    ),
    "mutants": (f"{relative(RESULT)}", [RESULT], _mutants),
}
