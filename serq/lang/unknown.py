"""Calls of names that are no function and no statement (api.md §10.4)."""

from __future__ import annotations

from collections.abc import Iterable

from serq.diagnostics import suggestion
from serq.lang import tree
from serq.lang.model import Model
from serq.lang.vocabulary import AGGREGATE_BY_NAME, BLOCK_SIZE, FUNCTION_BY_NAME
from serq.lang.walk import find


def is_function(name: str) -> bool:
    """Whether a call of this name in a written-out expression means anything."""
    return name in FUNCTION_BY_NAME or name == BLOCK_SIZE


def no_function(model: Model, call: tree.Call) -> None:
    """Report a call of what is no function: a device's time resource (SQ767) or nothing at all (SQ305)."""
    name = call.function.text
    if any(name in device.times for device in model.devices.values()):
        message = f"`{name}` is a time resource of a device, read in the `execute` of its engine"
        model.findings.error("SQ767", message, call.function)
        return
    hint = suggestion(name, [*FUNCTION_BY_NAME, *AGGREGATE_BY_NAME, BLOCK_SIZE])
    message = f"there is no function `{name}`"
    model.findings.error("SQ305", message, call.function, hint=hint or "define it above with `def`")


def no_statement(model: Model, definitions: Iterable[str], call: tree.CallStatement) -> None:
    """Report a statement that calls no definition and no engine (SQ305)."""
    name = call.function.text
    hint = suggestion(name, [*model.engines, *definitions])
    message = f"there is no definition and no engine `{name}`"
    hint = hint or "define it with `def`, or call an engine's request"
    model.findings.error("SQ305", message, call.function, hint=hint)


def check_calls(model: Model, definitions: Iterable[str]) -> None:
    """Report the statements that call nothing in entries and requests, called or not (SQ305)."""
    bodies: list[tree.Node] = [e.node for queue in model.queues.values() for e in queue.entries]
    bodies += [engine.request for engine in model.engines.values() if engine.request is not None]
    for body in bodies:
        for node in find(body, tree.CallStatement):
            if node.function.text not in model.engines:
                no_statement(model, definitions, node)
