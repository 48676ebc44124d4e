"""Rewriting `lean.wasm` so that a process starts in a second instead of four.

The published module exports 201,109 symbols, and every thread turns each of them into a
JavaScript object, merges it into two dictionaries and gives it a slot in the function table.
Here that is done once, at installation:

* every exported function gets its table slot statically, by lengthening the one element segment;
* the export section keeps only the symbols that the JavaScript side or the driver uses;
* name -> (table index or data address) of all exports goes to a sorted binary file, which the
  driver searches by bisection;
* the stack pointer is exported, for `invokes.py`.

Code and data sections are copied byte for byte.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

MAGIC = b"\0asm\1\0\0\0"
_IMPORTS, _TABLES, _GLOBALS, _EXPORTS, _ELEMENTS, _CODE = 2, 4, 6, 7, 9, 10
_FUNCTION, _TABLE, _MEMORY, _GLOBAL = 0, 1, 2, 3
_STACK_READER = b"emscripten_stack_get_current"
STACK_POINTER = "serqStackPointer"


class WasmError(ValueError):
    """The module is not laid out as the pinned package lays it out."""


@dataclass(frozen=True)
class Shrunk:
    """The rewritten module as pieces to be written one after the other, its symbols, and the names of the
    functions it imports.
    """

    pieces: list[bytes]
    symbols: dict[bytes, int]
    exports_before: int
    exports_after: int
    imported: list[str]


@dataclass(frozen=True)
class _Section:
    kind: int
    start: int
    body: int
    end: int


class _Cursor:
    """A position in the module's bytes."""

    def __init__(self, data: bytes, at: int, end: int | None = None) -> None:
        self.data = data
        self.at = at
        self.end = len(data) if end is None else end

    def byte(self) -> int:
        value = self.data[self.at]
        self.at += 1
        return value

    def unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value - (1 << shift) if byte & 64 else value

    def name(self) -> bytes:
        length = self.unsigned()
        self.at += length
        return self.data[self.at - length : self.at]

    def expect(self, *wanted: int) -> None:
        for value in wanted:
            if self.byte() != value:
                raise WasmError(f"byte {value:#x} expected at {self.at - 1}")


def encode_unsigned(value: int) -> bytes:
    """A number in LEB128."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode_signed(value: int) -> bytes:
    """A number in signed LEB128."""
    out = bytearray()
    while not -64 <= value < 64:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value & 127)
    return bytes(out)


def encode_name(name: str) -> bytes:
    """A name with its length before it."""
    return encode_unsigned(len(name)) + name.encode()


def section_bytes(kind: int, body: bytes) -> bytes:
    """A section."""
    return bytes([kind]) + encode_unsigned(len(body)) + body


def shrink_module(data: bytes, keep: Callable[[str], bool]) -> Shrunk:
    """Rewrite the module; `keep` says which export names stay. Raises `WasmError`."""
    if data[:8] != MAGIC:
        raise WasmError("not a WebAssembly module of version 1")
    sections = _sections(data)
    at = {s.kind: s for s in sections if s.kind}
    imports = _Imports.read(_open(data, at, _IMPORTS))
    globals_ = _global_values(_open(data, at, _GLOBALS), imports.globals)
    size = _table_size(_open(data, at, _TABLES))
    segment = _Segment.read(_open(data, at, _ELEMENTS), size)
    exports = _Exports(segment.slots, size, globals_, keep)
    exports.read(_open(data, at, _EXPORTS))
    if exports.stack_reader is None:
        raise WasmError("nothing exported reads the stack pointer")
    reader = exports.stack_reader - len(imports.functions)
    exports.add(STACK_POINTER, _GLOBAL, _global_read(_open(data, at, _CODE), reader))
    replaced = {
        _TABLES: b"\1\x70\0" + encode_unsigned(size + len(exports.added)),
        _EXPORTS: encode_unsigned(len(exports.kept)) + b"".join(exports.kept),
        _ELEMENTS: segment.lengthened(exports.added),
    }
    pieces = [MAGIC]
    for section in sections:
        if section.kind in replaced:
            pieces.append(section_bytes(section.kind, replaced[section.kind]))
        else:
            pieces.append(data[section.start : section.end])
    return Shrunk(pieces, exports.symbols, exports.count, len(exports.kept), imports.functions)


def symbol_file(symbols: dict[bytes, int]) -> bytes:
    """The symbols in order: count, length of all names, offsets, values, names."""
    names = sorted(symbols)
    offsets = [0]
    for name in names:
        offsets.append(offsets[-1] + len(name))
    count = len(names)
    head = struct.pack("<II", count, offsets[-1])
    numbers = struct.pack(f"<{2 * count + 1}I", *offsets, *(symbols[n] for n in names))
    return head + numbers + b"".join(names)


def _sections(data: bytes) -> list[_Section]:
    cursor = _Cursor(data, 8)
    found = []
    while cursor.at < cursor.end:
        start, kind = cursor.at, cursor.byte()
        size = cursor.unsigned()
        found.append(_Section(kind, start, cursor.at, cursor.at + size))
        cursor.at += size
    return found


def _open(data: bytes, at: dict[int, _Section], kind: int) -> _Cursor:
    if kind not in at:
        raise WasmError(f"no section {kind}")
    return _Cursor(data, at[kind].body, at[kind].end)


@dataclass(frozen=True)
class _Imports:
    """The names of the imported functions, and how many globals are imported."""

    functions: list[str]
    globals: int

    @classmethod
    def read(cls, cursor: _Cursor) -> _Imports:
        functions: list[str] = []
        globals_ = 0
        for _ in range(cursor.unsigned()):
            cursor.name()
            name, kind = cursor.name(), cursor.byte()
            if kind == _FUNCTION:
                cursor.unsigned()
                functions.append(name.decode())
            elif kind == _MEMORY:
                flags = cursor.byte()
                cursor.unsigned()
                if flags & 1:
                    cursor.unsigned()
            elif kind == _GLOBAL:
                cursor.at += 2
                globals_ += 1
            else:
                raise WasmError(f"import of kind {kind}")
        return cls(functions, globals_)


def _global_values(cursor: _Cursor, first: int) -> dict[int, int]:
    """The integer constants among the module's own globals, by index."""
    values = {}
    for index in range(first, first + cursor.unsigned()):
        cursor.at += 2
        opcode = cursor.byte()
        if opcode in (0x41, 0x42):
            values[index] = cursor.signed()
        elif opcode in (0x23, 0xD2, 0xD0):
            cursor.unsigned()
        elif opcode in (0x43, 0x44):
            cursor.at += 4 if opcode == 0x43 else 8
        else:
            raise WasmError(f"global initialiser with opcode {opcode:#x}")
        cursor.expect(0x0B)
    return values


def _global_read(cursor: _Cursor, function: int) -> int:
    """The global that a function, counted among the module's own, reads and does nothing else."""
    for _ in range(min(function, cursor.unsigned())):
        size = cursor.unsigned()
        cursor.at += size
    cursor.unsigned()
    cursor.expect(0, 0x23)
    index = cursor.unsigned()
    cursor.expect(0x0B)
    return index


def _table_size(cursor: _Cursor) -> int:
    # One table of functions without a maximum.
    cursor.expect(1, 0x70, 0)
    return cursor.unsigned()


@dataclass(frozen=True)
class _Segment:
    """The one element segment: where it starts, its raw items, and the first slot of each function."""

    base: int
    count: int
    items: bytes
    slots: dict[int, int]

    @classmethod
    def read(cls, cursor: _Cursor, table_size: int) -> _Segment:
        cursor.expect(1, 0, 0x41)
        base = cursor.signed()
        cursor.expect(0x0B)
        count = cursor.unsigned()
        start = cursor.at
        slots: dict[int, int] = {}
        for slot in range(base, base + count):
            slots.setdefault(cursor.unsigned(), slot)
        if cursor.at != cursor.end or base + count != table_size:
            raise WasmError("the element segment does not fill the table")
        return cls(base, count, cursor.data[start : cursor.end], slots)

    def lengthened(self, added: list[int]) -> bytes:
        count = encode_unsigned(self.count + len(added))
        tail = b"".join(map(encode_unsigned, added))
        return b"\1\0\x41" + encode_signed(self.base) + b"\x0b" + count + self.items + tail


class _Exports:
    """Reads the export section: symbols of all, the raw entries to keep, functions in need of a slot."""

    def __init__(
        self, slots: dict[int, int], table_size: int, globals_: dict[int, int], keep: Callable[[str], bool]
    ) -> None:
        self.slots = dict(slots)
        self.table_size = table_size
        self.globals = globals_
        self.keep = keep
        self.symbols: dict[bytes, int] = {}
        self.stack_reader: int | None = None
        self.kept: list[bytes] = []
        self.added: list[int] = []
        self.count = 0

    def read(self, cursor: _Cursor) -> None:
        self.count = cursor.unsigned()
        for _ in range(self.count):
            start = cursor.at
            name, kind, index = cursor.name(), cursor.byte(), cursor.unsigned()
            if kind == _FUNCTION:
                if name == _STACK_READER:
                    self.stack_reader = index
                self.symbols[name] = self._slot(index)
            elif kind == _GLOBAL and index in self.globals:
                self.symbols[name] = self.globals[index] & 0xFFFFFFFF
            if kind in (_TABLE, _MEMORY) or self.keep(name.decode()):
                self.kept.append(cursor.data[start : cursor.at])

    def add(self, name: str, kind: int, index: int) -> None:
        """An export of the rewritten module's own."""
        self.kept.append(encode_name(name) + bytes([kind]) + encode_unsigned(index))

    def _slot(self, function: int) -> int:
        slot = self.slots.get(function)
        if slot is None:
            slot = self.slots[function] = self.table_size + len(self.added)
            self.added.append(function)
        return slot
