"""The names free in z3 terms, found once for each conjunct (z3's own wrappers are slow to walk)."""

from __future__ import annotations

import z3
from z3 import z3core as raw


class Names:
    """Free names of terms, remembered by conjunct; the conjuncts are kept alive with their names."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[z3.ExprRef, frozenset[str]]] = {}

    def of(self, term: z3.ExprRef) -> frozenset[str]:
        """The names of the uninterpreted constants in a term."""
        key = term.get_id()
        if key not in self._known:
            self._known[key] = term, self._find(term)
        return self._known[key][1]

    def _find(self, term: z3.ExprRef) -> frozenset[str]:
        if z3.is_and(term) or z3.is_or(term) or z3.is_not(term):
            found: set[str] = set()
            for child in term.children():
                found |= self.of(child)
            return frozenset(found)
        return _leaves(term)


def _leaves(term: z3.ExprRef) -> frozenset[str]:
    context = term.ctx_ref()
    found: set[str] = set()
    seen: set[int] = set()
    stack = [term.as_ast()]
    while stack:
        node = stack.pop()
        key = raw.Z3_get_ast_id(context, node)
        if key in seen or raw.Z3_get_ast_kind(context, node) != z3.Z3_APP_AST:
            continue
        seen.add(key)
        count = raw.Z3_get_app_num_args(context, node)
        if count == 0:
            declaration = raw.Z3_get_app_decl(context, node)
            if raw.Z3_get_decl_kind(context, declaration) == z3.Z3_OP_UNINTERPRETED:
                found.add(raw.Z3_get_symbol_string(context, raw.Z3_get_decl_name(context, declaration)))
        stack.extend(raw.Z3_get_app_arg(context, node, i) for i in range(count))
    return frozenset(found)
