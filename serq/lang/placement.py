"""Which statements may stand in which block (002, *The two sides*, *Queues*, *An engine's request*).

Statement definitions are expanded where they are called and are judged there, except that none
holds a `turn;`.
"""

from __future__ import annotations

from collections.abc import Iterator

from serq.diagnostics import Diagnostic, Place
from serq.lang import tree as t
from serq.lang.walk import find

_TURN = ("`turn;` stands in the session", "the next turn is the client's decision: `session { turn; ... }`")
_SIZE = ("`Size` stands in the workload", "in the server, `set x = e;` computes a value")
_ENGINE_RUN = (
    "`prefill` and `decode` are statements of an engine's request",
    "elsewhere write `run ENGINE prefill (cost(ENGINE, e));`",
)
_MARK = ("`mark` stands in a queue's entry or an engine's request", "elsewhere `set x = now;` keeps a moment")
_OWN_RUN = (
    "this `run` names no stage",
    "write `run STAGE (cost(STAGE, e));`; only an entry has a stage of its own",
)

_Refusal = tuple[type[t.Node], tuple[str, str]]
_SESSION: tuple[_Refusal, ...] = ((t.EngineRun, _ENGINE_RUN), (t.Mark, _MARK))
_SERVER: tuple[_Refusal, ...] = ((t.Turn, _TURN), (t.SizeSet, _SIZE), *_SESSION)
_ENTRY: tuple[_Refusal, ...] = ((t.Turn, _TURN), (t.SizeSet, _SIZE), (t.EngineRun, _ENGINE_RUN))
_REQUEST: tuple[_Refusal, ...] = ((t.Turn, _TURN), (t.SizeSet, _SIZE))
_DEFINITION: tuple[_Refusal, ...] = ((t.Turn, _TURN),)
_PLACES: tuple[type[t.Node], ...] = (
    t.Session,
    t.Server,
    t.Entry,
    t.Request,
    t.BlockDef,
    t.InitBlock,
    t.TurnBlock,
)
_PLAIN = (t.Set, t.SizeSet, t.Observe, t.CallStatement)


def check_placement(main: t.Fn) -> Iterator[Diagnostic]:
    """Every statement that stands where it may not."""
    for node in find(main, *_PLACES):
        match node:
            case t.Session(body=body):
                yield from _refused(body, _SESSION, own_run=False)
            case t.Server(body=body):
                yield from _refused(body, _SERVER, own_run=False)
            case t.Entry(body=body):
                yield from _refused(body, _ENTRY, own_run=True)
            case t.Request(before=before, body=statements):
                for statement in (*before, *statements):
                    yield from _refused(statement, _REQUEST, own_run=False)
            case t.BlockDef(body=body):
                yield from _refused(body, _DEFINITION, own_run=True)
            case t.InitBlock(body=body) | t.TurnBlock(body=body):
                yield from _only_assignments(body)


def _refused(body: t.Node, refusals: tuple[_Refusal, ...], *, own_run: bool) -> Iterator[Diagnostic]:
    for kind, words in refusals:
        for node in find(body, kind):
            yield _misplaced(node, words)
    if not own_run:
        for run in find(body, t.Run):
            if not run.stages:
                yield _misplaced(run, _OWN_RUN)


def _only_assignments(body: t.Block) -> Iterator[Diagnostic]:
    for statement in body.statements:
        if not isinstance(statement, _PLAIN):
            message = "a workload's `init` and `turn` blocks only assign and observe"
            hint = "what takes time or resources is in the `session` and the `server`"
            yield Diagnostic("SQ212", message, Place(span=statement.span), hint=hint)


def _misplaced(node: t.Node, words: tuple[str, str]) -> Diagnostic:
    message, hint = words
    return Diagnostic("SQ211", message, Place(span=node.span), hint=hint)
