"""Words earlier versions of the language had, and what to write instead (api.md §10.2)."""

from __future__ import annotations

STATEMENTS = {
    "request": "a session's turn is `turn;`; what the server does with it is in `server { ... }`",
    "enter": "write `hold P (u) at admission (x = e) { ... } cache (l);`",
    "admit": "write `hold P (u) at admission (x = e) { ... } cache (l);`",
    "keep": "what a hold leaves cached is its `cache (e)`, after the block",
    "step": "an engine's iterations are its `schedule { ... }`, declared with `engine NAME on DEVICE`",
    "leave": "a hold ends with its block; `release P;` gives a pool back earlier",
}

CLAUSES = {
    "where": "a hold names values read at admission with `at admission (x = e)`",
    "keep": "what a hold leaves cached is its `cache (e)`, after the block",
    "fit": "a hold waits by itself until its pools have room",
    "if": "a hold waits by itself until its pools have room",
}

# Refused at the start of a statement even where they would read as a call.
CALLABLE = frozenset(("enter", "admit", "keep"))
