"""What each pass made of a program, as text: the forms `serq ir --stage` prints."""

from __future__ import annotations

from collections.abc import Callable

from serq.ir.depth import deep_recursion
from serq.ir.encode import dumps
from serq.lang import tree, write_items, write_kernel
from serq.lang.compile import Compiled


def parsed(compiled: Compiled) -> str:
    """The program as it was read."""
    return write_items.program(compiled.parsed)


def resolved(compiled: Compiled) -> str:
    """The program without imports, inputs, constants, definitions and aggregates."""
    span = compiled.parsed.span
    main = tree.Fn(span, tree.Name(span, "main"), (), compiled.resolved.items)
    return write_items.program(tree.Program(span, None, (), main, ()))


def lowered(compiled: Compiled) -> str:
    """The program in kernel statements, still with names."""
    return write_kernel.kernel(compiled.kernel)


def ir(compiled: Compiled) -> str:
    """The IR as JSON."""
    return dumps(compiled.program)


STAGES: dict[str, Callable[[Compiled], str]] = {
    "parsed": parsed,
    "resolved": resolved,
    "lowered": lowered,
    "ir": ir,
}


def show(compiled: Compiled, stage: str) -> str:
    """The text of one stage, a key of `STAGES`."""
    with deep_recursion():
        return STAGES[stage](compiled)
