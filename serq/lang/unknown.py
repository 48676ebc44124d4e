"""What is said of a call whose name is no function (api.md §10.4)."""

from __future__ import annotations

from serq.diagnostics import suggestion
from serq.lang import tree
from serq.lang.model import Model
from serq.lang.vocabulary import AGGREGATE_BY_NAME, BLOCK_SIZE, FUNCTION_BY_NAME


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
