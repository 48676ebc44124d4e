"""The parser's loop: tokens in, shifts and reductions, one value out.

A word is a keyword only where the grammar asks for it: `Machine.kind` decides, for the token
at hand, between the keyword and the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from serq.lang.automaton import Automaton, automaton
from serq.lang.build import LEAVES
from serq.lang.retired import CALLABLE
from serq.lang.tokens import END, NAME, NUMBER, OPERATORS, Token

# After these a word before them was an operand, not the start of a statement.
_AFTER_OPERAND = (OPERATORS - {"-"}) | {")", "}"}

STATEMENT = "statement"
# The symbols that stand in lists: where one can begin, the parser is between elements.
ELEMENTS = (
    STATEMENT,
    "item",
    "workload_item",
    "pool_option",
    "engine_item",
    "schedule_item",
    "member",
    "resource",
    "setting",
    "request_binding",
)

# What follows a name that begins an element and happens to be a word of the language. A call is
# not among them: no definition and no engine has such a name.
_NAMED_ELEMENTS = {
    STATEMENT: ("[", "."),
    "engine_item": ("[", "cap"),
    "resource": ("[", "cap", "("),
    "request_binding": ("=",),
}


class Machine:
    """The state of one parse: a stack of states and the values of the symbols between them."""

    def __init__(self, tokens: list[Token], start: str) -> None:
        self.tables: Automaton = automaton()
        self.tokens = tokens
        self.start = start
        self.states: list[int] = [self.tables.start[start]]
        self.values: list[Any] = []
        self.feed = self._feeder()

    def advance(self, index: int) -> tuple[int, Any]:
        """Read tokens from `index` on until one does not fit, or the end.

        Returns the index of the token that does not fit and None, or the end's index and the
        value of the start symbol.
        """
        tokens, feed = self.tokens, self.feed
        words = self.tables.words | CALLABLE
        while True:
            token = tokens[index]
            kind = token.kind
            if kind == NAME and token.text in words:
                kind = self.kind(index)
            if not feed(kind, token):
                return index, None
            if kind == END:
                return index, self.values[-1]
            index += 1

    def _feeder(self) -> Callable[[str, Token], bool]:
        """The move for one token, over this parse's stacks and the tables: they stay the same objects."""
        shift, reduce, goto = self.tables.shift, self.tables.reduce, self.tables.goto
        collapsed, leaves = self.tables.collapsed, LEAVES
        states, values, end = self.states, self.values, self.tables.end[self.start]

        def feed(kind: str, token: Token) -> bool:
            """Make the moves for one token; False when the grammar has none for it here."""
            while True:
                state = states[-1]
                target = shift[state].get(kind)
                if target is not None:
                    leaf = leaves.get(kind)
                    values.append(token if leaf is None else leaf(token))
                    states.append(target)
                    return True
                reduction = reduce[state].get(kind)
                if reduction is None:
                    return False
                symbol, size, build = reduction
                if build is None:
                    states[-1] = collapsed[states[-2], state, kind]
                    continue
                children: list[Any] = []
                if size:
                    children = values[-size:]
                    del values[-size:], states[-size:]
                values.append(build(children))
                states.append(goto[states[-1]][symbol])
                if kind == END and states[-1] == end:
                    return True

        return feed

    def kind(self, index: int) -> str:
        """The kind of a word of the language at this point: itself, or NAME."""
        text = self.tokens[index].text
        state = self.states[-1]
        shift, reduce = self.tables.shift[state], self.tables.reduce[state]
        if text in CALLABLE and NUMBER not in shift and self.element() == STATEMENT:
            return "retired"
        if text in shift:
            is_operand = NUMBER in shift and self.tokens[index + 1].kind in _AFTER_OPERAND
            return NAME if is_operand else text
        if text in reduce and ((NAME not in shift and NAME not in reduce) or self.fits(text)):
            return text
        return text if NUMBER not in shift and self._begins_nothing(index) else NAME

    def _begins_nothing(self, index: int) -> bool:
        """Whether a word of the language stands where an element begins, and no name that begins one."""
        if self.tokens[index].text not in self.tables.words:
            return False
        followers = _NAMED_ELEMENTS.get(self.element() or "")
        return followers is not None and self.tokens[index + 1].text not in followers

    def fits(self, kind: str) -> bool:
        """Whether a token of this kind would be shifted, or would end the text where it may end."""
        state = self.states[-1]
        for state in self._path(kind):
            if kind in self.tables.shift[state]:
                return True
        return kind == END and state == self.tables.end[self.start]

    def _path(self, kind: str) -> Iterator[int]:
        """The states on top of the stack as the reductions for this kind are made, in thought."""
        below = len(self.states)
        above: list[int] = []
        while True:
            top = above[-1] if above else self.states[below - 1]
            yield top
            reduction = self.tables.reduce[top].get(kind)
            if reduction is None:
                return
            dropped = min(reduction.size, len(above))
            if dropped:
                del above[-dropped:]
            below -= reduction.size - dropped
            base = above[-1] if above else self.states[below - 1]
            above.append(self.tables.goto[base][reduction.symbol])
            if kind == END and above[-1] == self.tables.end[self.start]:
                yield above[-1]
                return

    def accepted(self) -> set[str]:
        """Every kind of token that fits here."""
        state = self.states[-1]
        kinds = set(self.tables.shift[state])
        kinds.update(k for k in self.tables.reduce[state] if self.fits(k))
        return kinds

    def complete(self) -> None:
        """Reduce what is complete, where an element of a list can begin next."""
        closer = self._closer()
        while closer is not None and self.element_at(self.states[-1]) is None:
            symbol, size, build = self.tables.reduce[self.states[-1]][closer]
            children = self.values[len(self.values) - size :]
            del self.values[len(self.values) - size :], self.states[len(self.states) - size :]
            self.values.append(build(children) if build else children[0])
            self.states.append(self.tables.goto[self.states[-1]][symbol])

    def element_at(self, state: int) -> str | None:
        """What the list is of, when an element of a list can begin in this state."""
        goto = self.tables.goto[state]
        found = next((e for e in ELEMENTS if e in goto), None)
        if found is None and "settings" in goto:
            return "instance"
        return found

    def element(self) -> str | None:
        """The same for the point the parse has reached, once what is complete is reduced."""
        closer = self._closer()
        if closer is None:
            return None
        return next(e for e in map(self.element_at, self._path(closer)) if e)

    def _closer(self) -> str | None:
        """A kind of token that would complete an element here, so that another can begin."""
        for closer in ("}", "let", END):
            if any(self.element_at(state) for state in self._path(closer)):
                return closer
        return None
