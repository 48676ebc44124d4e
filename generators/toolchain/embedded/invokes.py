"""Calls that may end with an exception, as WebAssembly.

Where a call of the C++ code may throw, the published module calls a function of the script instead:
`invoke_vii(index, a, b)` calls the table's function `index` and catches what it throws. A check spends
two fifths of its time on these ways out and in. Here the same functions are WebAssembly that catches by
itself and asks the script only about what was caught.

The published module imports them, and they call through its table, which is there only afterwards. So
there are two small modules: it imports the *outer* one, which calls through a table of its own; the
*inner* one is made when the published module is there, and its functions go into the outer one's table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from serq.generators.toolchain.embedded.bytecode import (
    MAGIC,
    WasmError,
    encode_name,
    encode_signed,
    encode_unsigned,
    section_bytes,
)

PREFIX = "invoke_"
_TYPES = {"i": 0x7F, "j": 0x7E, "f": 0x7D, "d": 0x7C}
_ZERO = {"i": b"\x41\0", "j": b"\x42\0", "f": b"\x43" + bytes(4), "d": b"\x44" + bytes(8), "v": b""}
_EXTERNREF, _NOTHING = 0x6F, 0x40
_TYPE_SECTION, _IMPORTS, _FUNCTIONS, _EXPORTS, _CODE = 1, 2, 3, 7, 10
_BLOCK, _END, _RETURN, _CALL, _CALL_INDIRECT, _TRY_TABLE = 0x02, 0x0B, 0x0F, 0x10, 0x11, 0x1F
_GET, _SET, _GLOBAL_GET, _GLOBAL_SET, _CONSTANT = 0x20, 0x21, 0x23, 0x24, 0x41


def signature(name: str) -> str:
    """The letters of an `invoke_` function: its result, then its parameters without the index.

    Raises `WasmError` for another name.
    """
    letters = name.removeprefix(PREFIX)
    known = letters != name and letters[:1] in _ZERO and all(x in _TYPES for x in letters[1:])
    if not known:
        raise WasmError(f"{name} has no signature of an invoke function")
    return letters


def outer_module(names: Sequence[str]) -> bytes:
    """A module that exports each name; the function called stands in `env.table`, in the order of the names."""
    types = _Types()
    wrappers = [types.of(_with_index(signature(n))) for n in names]
    bodies = [
        bytes([0])
        + b"".join(_local(_GET, i) for i in range(len(signature(name))))
        + _constant(slot)
        + _indirect(kind)
        + bytes([_END])
        for slot, (name, kind) in enumerate(zip(names, wrappers, strict=True))
    ]
    return _module(types, [_TABLE_IMPORT], names, wrappers, bodies, first=0)


def inner_module(names: Sequence[str]) -> bytes:
    """A module that exports each name: it calls through `env.table` and catches what the script's functions
    throw (`env.thrown`, a tag); then it restores the stack pointer (`env.stack`) and calls `env.caught`.
    """
    types = _Types()
    caught = types.index([_EXTERNREF], [])
    wrappers = [types.of(_with_index(signature(n))) for n in names]
    bodies = [_catching(signature(n), types.of(signature(n))) for n in names]
    imports = [
        encode_name("env") + encode_name("caught") + b"\0" + encode_unsigned(caught),
        _TABLE_IMPORT,
        encode_name("env") + encode_name("thrown") + b"\x04\0" + encode_unsigned(caught),
        encode_name("env") + encode_name("stack") + bytes([3, _TYPES["i"], 1]),
    ]
    return _module(types, imports, names, wrappers, bodies, first=1)


def _with_index(letters: str) -> str:
    return f"{letters[0]}i{letters[1:]}"


def _catching(letters: str, kind: int) -> bytes:
    """The body of an inner function. Its locals: the stack pointer, what was thrown."""
    pointer = len(letters)
    thrown = pointer + 1
    result = _NOTHING if letters[0] == "v" else _TYPES[letters[0]]
    return b"".join(
        (
            bytes([2, 1, _TYPES["i"], 1, _EXTERNREF]),
            bytes([_GLOBAL_GET, 0]) + _local(_SET, pointer),
            bytes([_BLOCK, _EXTERNREF]),
            # One clause: what has tag 0 goes to the block around.
            bytes([_TRY_TABLE, result, 1, 0, 0, 0]),
            b"".join(_local(_GET, i) for i in (*range(1, len(letters)), 0)) + _indirect(kind),
            bytes([_END, _RETURN, _END]),
            _local(_SET, thrown),
            _local(_GET, pointer) + bytes([_GLOBAL_SET, 0]),
            _local(_GET, thrown) + bytes([_CALL, 0]),
            _ZERO[letters[0]] + bytes([_END]),
        )
    )


@dataclass
class _Types:
    """The function types of a module, each once."""

    entries: list[bytes] = field(default_factory=list)

    def index(self, parameters: Sequence[int], results: Sequence[int]) -> int:
        entry = bytes([0x60, len(parameters), *parameters, len(results), *results])
        if entry not in self.entries:
            self.entries.append(entry)
        return self.entries.index(entry)

    def of(self, letters: str) -> int:
        results = [] if letters[0] == "v" else [_TYPES[letters[0]]]
        return self.index([_TYPES[x] for x in letters[1:]], results)


def _module(
    types: _Types,
    imports: Sequence[bytes],
    names: Sequence[str],
    kinds: Sequence[int],
    bodies: Sequence[bytes],
    first: int,
) -> bytes:
    """A module of these functions; `first` functions are imported."""
    exports = [encode_name(name) + b"\0" + encode_unsigned(first + i) for i, name in enumerate(names)]
    sections = (
        (_TYPE_SECTION, types.entries),
        (_IMPORTS, imports),
        (_FUNCTIONS, [encode_unsigned(kind) for kind in kinds]),
        (_EXPORTS, exports),
        (_CODE, [encode_unsigned(len(body)) + body for body in bodies]),
    )
    return MAGIC + b"".join(_section(kind, entries) for kind, entries in sections)


def _section(kind: int, entries: Iterable[bytes]) -> bytes:
    listed = list(entries)
    return section_bytes(kind, encode_unsigned(len(listed)) + b"".join(listed))


def _constant(value: int) -> bytes:
    return bytes([_CONSTANT]) + encode_signed(value)


def _local(opcode: int, index: int) -> bytes:
    return bytes([opcode]) + encode_unsigned(index)


def _indirect(kind: int) -> bytes:
    return bytes([_CALL_INDIRECT]) + encode_unsigned(kind) + b"\0"


_TABLE_IMPORT = encode_name("env") + encode_name("table") + b"\x01\x70\0\0"
