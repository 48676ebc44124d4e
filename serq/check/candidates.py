"""Candidates of an order: encoders whose attributes are values of their own."""

from __future__ import annotations

from serq.check.encoder import Encoder
from serq.check.model import Model
from serq.check.terms import Term


def candidate(model: Model, given: dict[str, Term] | None = None) -> Encoder:
    """An encoder for one candidate: any attributes a session may have, any state it may be seen in."""
    variables = model.enclosing.variables
    own: dict[int, Term] = {}

    def attribute(slot: int) -> Term:
        if slot not in own:
            span, name = model.spans[slot], model.names.attr(slot)
            fresh = variables.term(name, span.low, span.high, exact=False, whole=span.whole, assumed=True)
            own[slot] = fresh if span.ordinary else variables.flagged(name, fresh)
        return own[slot]

    return Encoder(model.program, model.names, variables, attribute, dict(given or {}))
