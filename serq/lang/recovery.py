"""A parse that goes on after errors, so that all of a file are found at once.

After an error the parse goes on at the next `;` or closing brace, or as if a missing mark stood
where it is missed, so that one mistake is one diagnostic.
"""

from __future__ import annotations

from typing import Any

from serq.diagnostics import Diagnostic, Place
from serq.lang.explain import Misfit, explain, misfit, starts_anew
from serq.lang.machine import Machine
from serq.lang.scanner import MAX_ERRORS, Scan
from serq.lang.tokens import BAD, END, NAME, Token

_CONTINUES = frozenset(("else", "cache", "lease"))


class Reader:
    """One reading of a scanned text; `found` are its mistakes, those of the scan included."""

    def __init__(self, scanned: Scan, start: str, file: str | None) -> None:
        self.machine = Machine(scanned.tokens, start)
        self.file = file
        self.found: list[Diagnostic] = list(scanned.diagnostics)
        self.cut = scanned.cut
        kinds = [token.kind for token in scanned.tokens]
        # How many braces the text lacks on one side: that many may be supplied.
        self.unclosed = kinds.count("{") - kinds.count("}")

    def read(self) -> Any:
        """The value of the start symbol; meaningless when something was found."""
        index = 0
        while True:
            index, value = self.machine.advance(index)
            if value is not None:
                return value
            if len(self.found) >= MAX_ERRORS:
                if not self.cut:
                    place = Place(self.file, self.machine.tokens[index].span)
                    self.found.append(Diagnostic("SQ119", f"stopped after {MAX_ERRORS} errors", place))
                return ()
            m = misfit(self.machine, index, self.file)
            self._report(m)
            if m.token.kind == END or self.machine.start == "expression":
                return ()
            index = self._recover(m)

    def _report(self, m: Misfit) -> None:
        # Bad characters have been reported, and the end of a cut text is not the program's.
        if m.token.kind == BAD or (m.token.kind == END and self.cut):
            return
        self.found.append(explain(m))

    def _recover(self, m: Misfit) -> int:
        """Put the machine where it can go on; returns the index of the token to go on with."""
        if m.token.kind == BAD and m.element is not None:
            return m.index + 1
        if m.token.kind != BAD:
            if starts_anew(m) and self._insert(";", m):
                return m.index
            if self.unclosed < 0 and self._insert("{", m):
                self.unclosed += 1
                return m.index
        if self._close_lists(m):
            return m.index
        self.machine.complete()
        depth = self._drop_element()
        return self._skip(m.index, depth)

    def _insert(self, kind: str, m: Misfit) -> bool:
        """Go on as if a token stood before the one that does not fit, if that makes it fit."""
        if kind not in m.accepted:
            return False
        machine = self.machine
        states, values = list(machine.states), list(machine.values)
        machine.feed(kind, Token(kind, kind, m.token.span))
        found = machine.kind(m.index) if m.token.kind == NAME else m.token.kind
        if found in machine.accepted():
            return True
        machine.states[:], machine.values[:] = states, values
        return False

    def _close_lists(self, m: Misfit) -> bool:
        """At a declaration inside a block of a file that lacks a `}`: go on as if it stood above."""
        if self.unclosed <= 0 or m.element in (None, "item") or m.before is None:
            return False
        if m.token.span.line == m.before.span.line:
            return False
        states, tables = self.machine.states, self.machine.tables
        for level in range(len(states) - 1, -1, -1):
            state = states[level]
            if self.machine.element_at(state) == "item" and m.token.text in tables.shift[state]:
                self.unclosed -= 1
                self._truncate(level)
                return True
        return False

    def _drop_element(self) -> int:
        """Drop the element being read; returns how many braces were open in it."""
        states = self.machine.states
        level = next(i for i in range(len(states) - 1, -1, -1) if self.machine.element_at(states[i]))
        dropped = self.machine.values[level:]
        self._truncate(level)
        return sum(isinstance(v, Token) and v.kind == "{" for v in dropped)

    def _truncate(self, level: int) -> None:
        del self.machine.states[level + 1 :]
        del self.machine.values[level:]

    def _skip(self, index: int, depth: int) -> int:
        """The index after the element that `index` is in, `depth` braces deep."""
        tokens = self.machine.tokens
        state = self.machine.states[-1]
        in_braces = "}" in self.machine.tables.shift[state] or "}" in self.machine.tables.reduce[state]
        while tokens[index].kind != END:
            kind = tokens[index].kind
            index += 1
            if kind == "{":
                depth += 1
            elif kind == ";" and depth == 0:
                return index
            elif kind == "}":
                if depth == 0:
                    return index - 1 if in_braces else index
                depth -= 1
                if depth == 0 and tokens[index].text not in _CONTINUES:
                    return index + 1 if tokens[index].kind == ";" else index
        return index
