"""The word list: what a source may not say, because no other check would see its effect.

Lean's messages do not show an axiom or a silenced `sorry`; the audit does not show a kernel that was
switched off (`debug.skipKernelTC` leaves no trace), nor what a metaprogram did while it ran.
Words that exist in Lean only are refused everywhere, also in comments, so that no trick with
comment marks hides them; words that are English as well are refused outside comments.
The one way to give a definition other code is a theorem that the two are equal (`@[csimp] theorem`).
The list is a net of words, not a proof; the kernel and the audit stand behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from serq.diagnostics import Diagnostic, Place, Span


@dataclass(frozen=True)
class Rule:
    """Words with one reason. `runs`: they make code run while the file is checked."""

    words: str
    reason: str
    in_comments: bool = False
    runs: bool = False


@dataclass(frozen=True)
class Finding:
    """A refused word at an offset of the text."""

    offset: int
    word: str
    rule: Rule


RULES = (
    Rule(r"skipKernelTC", "it switches the kernel off and leaves no trace", in_comments=True),
    Rule(
        r"\b(?:warningAsError|warn\.sorry|doc\.verso)\b",
        "it changes what the checker reports",
        in_comments=True,
    ),
    Rule(
        r"\b(?:run_cmd|run_elab|run_meta|run_tac|by_elab|elab_rules|macro_rules|builtin_initialize|simproc"
        r"|implemented_by|(?<!@\[)csimp|csimp(?!\] theorem\b)"
        r"|addDecl\w*|mkIdent|(?:term|command|tactic|macro)_(?:elab|parser)|init_quot)\b|#eval\b",
        "it runs code while the file is checked, or swaps the code of a definition",
        in_comments=True,
        runs=True,
    ),
    Rule(
        r"\b(?:elab|macro|syntax|meta|unsafe|initialize|extern)\b|(?:@|\battribute\s*)\[[^\]\n]*\b(?:init|tactic|macro)\b",
        "it runs code while the file is checked, or swaps the code of a definition",
        runs=True,
    ),
    Rule(r"\b(?:sorry|sorryAx)\b", "it stands for a proof that is not there"),
    Rule(r"\baxiom\b", "an axiom is assumed, not proved"),
    Rule(
        r"\b(?:native_decide|ofReduceBool|ofReduceNat|trustCompiler)\b|\+native\b|\bnative\s*:=\s*true\b",
        "it trusts the compiler instead of the kernel",
    ),
    Rule(r"#exit\b", "what follows it is not checked"),
    Rule(
        r"\b(?:notation|infix[lr]?|prefix|postfix)\b(?:(?!=>).)*?\"[^\"\n]*(?:/-|-/|--)[^\"\n]*\"",
        "a notation with a comment mark hides code from this scan",
    ),
)
_PATTERNS = tuple((rule, re.compile(rule.words, re.DOTALL)) for rule in RULES)


def scan(text: str, code: str) -> list[Finding]:
    """The refused words of a file, in order; `code` is its text without comments."""
    found = [
        Finding(match.start(), match.group().split("\n")[0], rule)
        for rule, pattern in _PATTERNS
        for match in pattern.finditer(text if rule.in_comments else code)
    ]
    return sorted(found, key=lambda f: (f.offset, f.word))


def runs_code(findings: list[Finding]) -> bool:
    """Whether one of the findings makes code run while the file is checked."""
    return any(f.rule.runs for f in findings)


def as_diagnostics(file: str, text: str, findings: list[Finding]) -> list[Diagnostic]:
    """The findings as SQ957."""
    return [
        Diagnostic(
            "SQ957",
            f"`{finding.word}` is not allowed in a source",
            Place(file, _span(text, finding)),
            note=finding.rule.reason,
            hint="prove it, or write it without this word",
        )
        for finding in findings
    ]


def _span(text: str, finding: Finding) -> Span:
    line = text.count("\n", 0, finding.offset) + 1
    column = finding.offset - (text.rfind("\n", 0, finding.offset) + 1) + 1
    return Span(line, column, line, column + len(finding.word))
