"""Why a token does not fit, as a diagnostic: the one place that words syntax errors.

The most particular explanation that applies is taken; the last says what was expected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from serq.diagnostics import Diagnostic, Place, Span, suggestion
from serq.lang import expected, retired
from serq.lang import tree as t
from serq.lang.machine import STATEMENT, Machine
from serq.lang.tokens import AGGREGATE, END, NAME, NUMBER, OPERATORS, STRING, Token

_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
_CLOSERS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True)
class Misfit:
    """A token that does not fit, and what is known around it.

    `accepted` are the kinds that fit. `element` is what the list is of when a new element was
    to begin at the token. `word` is the word with which an element of a list of
    `word_element` begins: the token, or the one before it when that was read as a name.
    """

    machine: Machine
    index: int
    file: str | None
    token: Token
    before: Token | None
    accepted: frozenset[str]
    element: str | None
    word: Token | t.Name | None
    word_element: str | None

    def says(self, code: str, message: str, hint: str | None = None, at: Span | None = None) -> Diagnostic:
        """A diagnostic at the token, or at another place."""
        return Diagnostic(code, message, Place(self.file, at or self.token.span), hint=hint)


def misfit(machine: Machine, index: int, file: str | None) -> Misfit:
    """Look around the token the machine stopped at."""
    tokens, values = machine.tokens, machine.values
    token, element = tokens[index], machine.element()
    word: Token | t.Name | None = token if token.kind in (NAME, AGGREGATE) else None
    word_element = element
    if values and isinstance(values[-1], t.Name) and machine.element_at(machine.states[-2]):
        word, word_element = values[-1], machine.element_at(machine.states[-2])
    if word_element is None:
        word = None
    before = tokens[index - 1] if index else None
    accepted = frozenset(machine.accepted())
    return Misfit(machine, index, file, token, before, accepted, element, word, word_element)


def explain(m: Misfit) -> Diagnostic:
    """The diagnostic of a misfit; never fails to give one."""
    for explanation in _EXPLANATIONS:
        found = explanation(m)
        if found is not None:
            return found
    return _expected(m)


# Particular explanations, most particular first


def _unclosed(m: Misfit) -> Diagnostic | None:
    if m.token.kind != END:
        return None
    open_token = next(
        (v for v in reversed(m.machine.values) if isinstance(v, Token) and v.kind in _CLOSERS.values()), None
    )
    if open_token is None:
        return None
    closer = next(c for c, o in _CLOSERS.items() if o == open_token.kind)
    hint = f"the file ends before its `{closer}`"
    return m.says("SQ112", f"this `{open_token.kind}` is never closed", hint, open_token.span)


def _comparison_chain(m: Misfit) -> Diagnostic | None:
    if m.token.kind not in _COMPARISONS or "&&" not in m.accepted:
        return None
    return m.says("SQ109", "comparisons do not chain", "compare in pairs: `a < b && b < c`")


def _drawn_base(m: Misfit) -> Diagnostic | None:
    if m.token.kind != "^" or "*" not in m.accepted:
        return None
    return m.says("SQ110", "a draw cannot be raised to a power as it stands", "write `(~d(...)) ^ e`")


def _trailing_comma(m: Misfit) -> Diagnostic | None:
    if m.before is None or m.before.kind != "," or m.token.kind not in _CLOSERS:
        return None
    return m.says("SQ111", f"a list does not end with a comma before `{m.token.text}`", at=m.before.span)


def _old_definition(m: Misfit) -> Diagnostic | None:
    values = m.machine.values
    if m.token.kind != "=" or len(values) < 3 or not _is(values[-3], "def"):
        return None
    hint = "write `def f(x) { e }`, without `=` and without `;`"
    return m.says("SQ108", "a definition is no longer written with `=`", hint)


def _definition_body(m: Misfit) -> Diagnostic | None:
    """`def f() { e; }`, and statements followed by an expression."""
    values = m.machine.values
    brace = next((i for i in range(len(values) - 1, -1, -1) if _is(values[i], "{")), 0)
    if brace < 3 or not _is(values[brace - 3], "def"):
        return None
    hint = "an expression alone is `def f(x) { e }`, without `;`; statements each end with theirs"
    alone = len(values) == brace + 2 and isinstance(values[-1], t.Node)
    if m.token.kind == ";" and alone:
        return m.says("SQ117", "the expression of a definition has no `;`", hint)
    ends = m.token.kind == "}" or m.token.kind in OPERATORS
    if m.word is not None and ends and len(values) > brace + 2:
        return m.says("SQ117", "a definition holds one expression or statements, not both", hint, m.word.span)
    return None


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, Token) and value.text == kind


def _else_branch(m: Misfit) -> Diagnostic | None:
    if m.before is None or m.before.text != "else" or m.token.text not in ("branch", "if"):
        return None
    return m.says("SQ108", "`else` takes a block", "write `else { branch (...) { ... } }`")


def _retired_kind(m: Misfit) -> Diagnostic | None:
    if m.token.text != "step" or "fifo" not in m.accepted:
        return None
    hint = "write `device D { ... }` and `engine NAME on D { tokens cap B; schedule { ... } execute (T); }`"
    return m.says("SQ108", "a stage that runs iterations is an engine", hint)


def _retired_option(m: Misfit) -> Diagnostic | None:
    if m.element != "pool_option" or m.token.text != "admit":
        return None
    hint = "write `pool NAME on ENGINE { ... }` or `pool NAME on ENGINE.DEVICE { ... }`"
    return m.says("SQ108", "who admits a pool is said by its `on`", hint)


def _retired_statement(m: Misfit) -> Diagnostic | None:
    if m.word is None or m.word_element != STATEMENT or m.word.text not in retired.STATEMENTS:
        return None
    hint = retired.STATEMENTS[m.word.text]
    return m.says("SQ108", f"`{m.word.text}` is no longer a statement", hint, m.word.span)


def _retired_if(m: Misfit) -> Diagnostic | None:
    """`if (e) {`, read as a call up to its brace."""
    values = m.machine.values
    if m.token.kind != "{" or not values or not _is(values[-1], ")"):
        return None
    head = next((v for v in reversed(values) if isinstance(v, t.Name)), None)
    if head is None or head.text != "if":
        return None
    return m.says("SQ108", "a test is written `branch`", "write `branch (e) { ... } else { ... }`", head.span)


def _retired_clause(m: Misfit) -> Diagnostic | None:
    if m.token.kind != NAME or m.token.text not in retired.CLAUSES or not {"at", "{"} <= m.accepted:
        return None
    hint = retired.CLAUSES[m.token.text]
    return m.says("SQ108", f"`{m.token.text}` is no longer a clause of a hold", hint)


def _late_let(m: Misfit) -> Diagnostic | None:
    if m.element != "schedule_item" or m.token.text != "let":
        return None
    hint = "its value is read as the iteration starts: write it at the top of the `schedule`"
    return m.says("SQ107", "a schedule's `let` stands before its statements", hint)


def _misplaced_clause(m: Misfit) -> Diagnostic | None:
    """`at admission` and `cache` where a statement begins."""
    if m.word is None or m.word_element != STATEMENT:
        return None
    if m.word.text == "at":
        hint = "a request is admitted once; in a hold write `at admission (x = e)` before its block"
        return m.says("SQ107", "`at admission` is not a statement here", hint, m.word.span)
    if m.word.text == "cache":
        hint = "a hold's stands right after its block, before its `lease`; a request's is its last item"
        return m.says("SQ107", "`cache` is not a statement here", hint, m.word.span)
    return None


def _after_request_cache(m: Misfit) -> Diagnostic | None:
    values = m.machine.values
    if len(values) < 3 or not _is(values[-1], ";") or not _is(values[-3], "cache"):
        return None
    return m.says("SQ107", "a request's `cache (e);` is its last item", "move what follows above it")


def _misplaced_declaration(m: Misfit) -> Diagnostic | None:
    if m.word is None or m.word_element is None or m.word_element in ("item", "instance"):
        return None
    if m.word.text not in expected.DECLARATIONS:
        return None
    what = expected.noun(m.word_element)
    hint = "declarations stand in `fn main() { ... }`: a `}` may be missing above"
    message = f"`{m.word.text}` starts a declaration, where {what} is expected"
    return m.says("SQ115", message, hint, m.word.span)


def _stray_brace(m: Misfit) -> Diagnostic | None:
    if m.token.kind != "}" or m.element not in ("item", "instance") or "}" in m.accepted:
        return None
    return m.says("SQ113", "this `}` closes nothing", "remove it, or open its block above")


def _unknown_word(m: Misfit) -> Diagnostic | None:
    """A word where a statement, an option, ... begins that is none."""
    word, element = m.word, m.word_element
    if word is None or element is None or element in expected.OPEN_LISTS:
        return None
    code = "SQ106" if element == STATEMENT else "SQ107"
    hint = (
        expected.HABITS.get(word.text)
        or suggestion(word.text, expected.words(element))
        or expected.belongs(word.text, element)
        or _spelling(m)
        or expected.listed(element)
    )
    return m.says(code, f"`{word.text}` is not {expected.noun(element)}", hint, word.span)


def _missing_semicolon(m: Misfit) -> Diagnostic | None:
    if ";" not in m.accepted or m.before is None or not starts_anew(m):
        return None
    end = m.before.span
    at = Span(end.end_line, end.end_column, end.end_line, end.end_column + 1)
    return m.says("SQ116", f"expected `;` after `{_shown(m.before)}`", at=at)


def starts_anew(m: Misfit) -> bool:
    """Whether the token looks like the start of something else: another line, or a closing brace."""
    if m.token.kind == "}" or m.before is None:
        return True
    return m.token.span.line > m.before.span.end_line and m.token.kind == NAME


def _expected(m: Misfit) -> Diagnostic:
    what = expected.phrase(m.accepted, m.element, m.before)
    found = "the end of the file" if m.token.kind == END else f"`{_shown(m.token)}`"
    hint = _spelling(m) or _hint(m)
    code = "SQ107" if _is_choice(m) else "SQ105"
    return m.says(code, f"expected {what}, found {found}", hint)


def _is_choice(m: Misfit) -> bool:
    """Whether the grammar asks for one of a few words and found another."""
    return m.token.kind == NAME and all(k in m.machine.tables.words for k in m.accepted)


def _spelling(m: Misfit) -> str | None:
    if m.token.kind != NAME:
        return None
    return suggestion(m.token.text, sorted(k for k in m.accepted if k in m.machine.tables.words))


def _hint(m: Misfit) -> str | None:
    kind, before = m.token.kind, m.before
    adjacent = before is not None and before.kind == NUMBER and before.span.end_column == m.token.span.column
    if adjacent and kind == NAME:
        return "a number takes no unit or size suffix, and an exponent has digits"
    if kind == "=" and "==" in m.accepted:
        return "equality is written `==`"
    if kind == "+" and NUMBER in m.accepted:
        return "there is no unary `+`"
    if kind == STRING and NUMBER in m.accepted:
        return "strings name files and inputs only"
    if m.element is not None:
        return expected.listed(m.element)
    if {"prefill", "("} <= m.accepted:
        return "the work is in parentheses: `run STAGE (e);`, `run ENGINE prefill (e);`"
    return next((text for word, text in expected.FORMS.items() if word in m.accepted), None)


def _shown(token: Token) -> str:
    text = f'"{token.text}"' if token.kind == STRING else token.text
    text = text.split("\n")[0]
    return text if len(text) <= 40 else text[:37] + "..."


Explanation = Callable[[Misfit], Diagnostic | None]
_EXPLANATIONS: tuple[Explanation, ...] = (
    _unclosed,
    _comparison_chain,
    _drawn_base,
    _trailing_comma,
    _old_definition,
    _else_branch,
    _retired_kind,
    _retired_option,
    _retired_statement,
    _retired_if,
    _retired_clause,
    _late_let,
    _misplaced_clause,
    _after_request_cache,
    _misplaced_declaration,
    _stray_brace,
    _definition_body,
    _unknown_word,
    _missing_semicolon,
)
