"""Objects of a compiled module of the embedded Lean (32-bit, version 2), read where they lie.

A module is up to three files: the exported part, `.server` and `.private`; the last holds the
complete constants, with pointers into all three. An object starts with eight bytes (size, number
of pointers, tag), then come its pointers of 32 bits, then its small fields; an odd pointer is a
small number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PARTS = ("", ".server", ".private")

LAST_CONSTRUCTOR = 244
ARRAY, SCALAR_ARRAY, STRING, BIG_NUMBER, THUNK, TASK = 246, 248, 249, 250, 251, 252

_MAGIC = b"olean\2"
_HEAD = 80


class OleanError(ValueError):
    """A compiled module that cannot be read."""


@dataclass(frozen=True)
class Object:
    """One object: its tag, its pointers, and the bytes behind them."""

    tag: int
    pointers: tuple[int, ...]
    data: bytes


class Region:
    """The objects of one module."""

    def __init__(self, path: Path, parts: Sequence[str]) -> None:
        """`path` is the exported part; raises `OleanError`."""
        self._parts: list[tuple[int, bytes]] = []
        self._names: dict[int, str] = {}
        self.root = 0
        for suffix in parts:
            try:
                data = path.with_name(path.name + suffix).read_bytes()
            except OSError as error:
                raise OleanError(f"{path}{suffix}: {error.strerror}") from None
            if data[: len(_MAGIC)] != _MAGIC or len(data) < _HEAD + 8:
                raise OleanError(f"{path}{suffix} is not a compiled module of the known version")
            base, self.root = struct.unpack_from("<II", data, _HEAD)
            self._parts.append((base, data))

    def tag(self, pointer: int) -> int:
        """The tag of an object."""
        data, offset = self._at(pointer)
        return data[offset + 7]

    def fields(self, pointer: int, count: int) -> tuple[int, ...]:
        """The first pointers of a constructor."""
        data, offset = self._at(pointer)
        return struct.unpack_from(f"<{count}I", data, offset + 8)

    def array(self, pointer: int) -> tuple[int, ...]:
        """The elements of an array."""
        data, offset = self._at(pointer)
        if data[offset + 7] != ARRAY:
            raise OleanError(f"array expected at {pointer:#x}")
        (count,) = struct.unpack_from("<I", data, offset + 8)
        return struct.unpack_from(f"<{count}I", data, offset + 16)

    def list(self, pointer: int) -> Iterator[int]:
        """The elements of a list."""
        while not pointer & 1:
            head, pointer = self.fields(pointer, 2)
            yield head

    def name(self, pointer: int) -> str:
        """A hierarchical name, its parts joined by dots."""
        if pointer & 1:
            return ""
        known = self._names.get(pointer)
        if known is None:
            prefix, last = self.fields(pointer, 2)
            before = self.name(prefix)
            text = self._string(last) if self.tag(pointer) == 1 else str(last >> 1)
            known = self._names[pointer] = f"{before}.{text}" if before else text
        return known

    def object(self, pointer: int) -> Object:
        """An object as a whole."""
        data, offset = self._at(pointer)
        size, count, tag = struct.unpack_from("<HBB", data, offset + 4)
        if tag <= LAST_CONSTRUCTOR:
            return Object(tag, self.fields(pointer, count), data[offset + 8 + 4 * count : offset + size])
        if tag == ARRAY:
            return Object(tag, self.array(pointer), b"")
        if tag in (THUNK, TASK):
            return Object(tag, self.fields(pointer, 1), b"")
        (length,) = struct.unpack_from("<I", data, offset + 8)
        if tag == STRING:
            return Object(tag, (), data[offset + 20 : offset + 20 + length])
        if tag == SCALAR_ARRAY:
            return Object(tag, (), data[offset + 16 : offset + 16 + length * max(1, count)])
        if tag == BIG_NUMBER:
            return Object(tag, (), data[offset + 8 : offset + max(size, 24)])
        raise OleanError(f"object with tag {tag} at {pointer:#x}")

    def _at(self, pointer: int) -> tuple[bytes, int]:
        for base, data in self._parts:
            if base <= pointer < base + len(data):
                return data, pointer - base
        raise OleanError(f"pointer {pointer:#x} outside the module")

    def _string(self, pointer: int) -> str:
        data, offset = self._at(pointer)
        (size,) = struct.unpack_from("<I", data, offset + 8)
        return data[offset + 20 : offset + 20 + size - 1].decode("utf-8")
