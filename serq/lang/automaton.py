"""The grammar as tables: `grammar.lark` turned once into the moves of an LALR(1) parser.

Lark reads the grammar and computes the tables; here they are laid out for the parser's loop,
with the literal text of a word or an operator as its token kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Any, NamedTuple

from lark import Lark
from lark.grammar import Rule
from lark.lexer import PatternStr
from lark.parsers.lalr_analysis import Shift

from serq.lang.build import BUILDERS

Build = Callable[[list[Any]], Any]
STARTS = ("program", "instance", "expression")


class Reduction(NamedTuple):
    """Replace `size` symbols by a `symbol` whose value `build` makes; None keeps the single value."""

    symbol: str
    size: int
    build: Build | None


class Collapsed(dict[tuple[int, int, str], int]):
    """Where a chain of reductions that keep their value ends: by the state below, the one on top, the next token.

    Half the moves of an expression are such chains; each is followed once.
    """

    def __init__(self, reduce: Sequence[Mapping[str, Reduction]], goto: Sequence[Mapping[str, int]]) -> None:
        self._reduce = reduce
        self._goto = goto

    def __missing__(self, key: tuple[int, int, str]) -> int:
        below, top, kind = key
        while (reduction := self._reduce[top].get(kind)) is not None and reduction.build is None:
            top = self._goto[below][reduction.symbol]
        self[key] = top
        return top


@dataclass(frozen=True)
class Automaton:
    """The moves of the parser, by state.

    `shift` and `reduce` go by the kind of the next token, `goto` by the symbol just built.
    `words` are the keywords of the grammar, `start` and `end` the states of each start symbol.
    """

    shift: tuple[Mapping[str, int], ...]
    reduce: tuple[Mapping[str, Reduction], ...]
    goto: tuple[Mapping[str, int], ...]
    collapsed: Collapsed
    words: frozenset[str]
    start: Mapping[str, int]
    end: Mapping[str, int]


@cache
def automaton() -> Automaton:
    """The tables of the grammar, computed at the first use."""
    grammar = (files("serq.lang") / "grammar.lark").read_text(encoding="utf-8")
    options = {"keep_all_tokens": True, "maybe_placeholders": True}
    lark = Lark(grammar, parser="lalr", lexer="basic", start=list(STARTS), **options)
    literals = {t.name: t.pattern.value for t in lark.terminals if isinstance(t.pattern, PatternStr)}
    confs = {start: lark.parse_interactive(start=start).parser_state.parse_conf for start in STARTS}
    reductions = {rule: _reduction(rule) for rule in lark.rules}
    states = confs["program"].states
    shift: list[dict[str, int]] = [{} for _ in states]
    reduce: list[dict[str, Reduction]] = [{} for _ in states]
    goto: list[dict[str, int]] = [{} for _ in states]
    for state, moves in states.items():
        for symbol, (action, argument) in moves.items():
            kind = literals.get(symbol, str(symbol))
            if action is not Shift:
                reduce[state][kind] = reductions[argument]
            elif symbol.isupper() or symbol in literals:
                shift[state][kind] = argument
            else:
                goto[state][str(symbol)] = argument
    return Automaton(
        tuple(shift),
        tuple(reduce),
        tuple(goto),
        Collapsed(reduce, goto),
        frozenset(text for text in literals.values() if text.isalpha()),
        {start: conf.start_state for start, conf in confs.items()},
        {start: conf.end_state for start, conf in confs.items()},
    )


def _reduction(rule: Rule) -> Reduction:
    symbol = str(rule.origin.name)
    size = len(rule.expansion)
    if rule.options.expand1 and rule.alias is None and size == 1:
        return Reduction(symbol, size, None)
    if symbol.startswith("_"):
        return Reduction(symbol, size, _list_builder(rule))
    return Reduction(symbol, size, _with_slots(rule, BUILDERS[rule.alias or symbol]))


def _list_builder(rule: Rule) -> Build:
    """The value of a repetition is the flat list of its symbols."""
    if rule.expansion[0].name == rule.origin.name:

        def append(children: list[Any]) -> list[Any]:
            values: list[Any] = children[0]
            values += children[1:]
            return values

        return append
    return lambda children: children


def _with_slots(rule: Rule, build: Build) -> Build:
    """Give every optional part of a rule its place: None where it is absent; repetitions are spliced."""
    present = [not s.is_term and s.name.startswith("_") for s in rule.expansion]
    absent = rule.options.empty_indices or (False,) * len(present)
    if not any(present) and not any(absent):
        return build
    flags = iter(present)
    spliced = [None if missing else next(flags) for missing in absent]
    if True not in spliced:
        positions = _positions(spliced)
        return lambda children: build([None if i is None else children[i] for i in positions])

    def padded(children: list[Any]) -> Any:
        values: list[Any] = []
        given = iter(children)
        for is_list in spliced:
            if is_list:
                values += next(given)
            else:
                values.append(None if is_list is None else next(given))
        return build(values)

    return padded


def _positions(spliced: list[bool | None]) -> list[int | None]:
    """For each part of a rule, where its symbol is among those present."""
    given = count()
    return [None if part is None else next(given) for part in spliced]
