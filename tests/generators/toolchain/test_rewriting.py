"""Rewriting the published module and script, on small ones of the same shape."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.generators.toolchain.embedded.bytecode import (
    WasmError,
    _Cursor,
    encode_signed,
    encode_unsigned,
    shrink_module,
    symbol_file,
)
from serq.generators.toolchain.embedded.glue import GlueError, drop_export_glue, hooked, is_driver_export


@given(st.integers(0, 2**64))
def test_unsigned_numbers_come_back(value: int) -> None:
    assert _Cursor(encode_unsigned(value), 0).unsigned() == value


@given(st.integers(-(2**63), 2**63))
def test_signed_numbers_come_back(value: int) -> None:
    assert _Cursor(encode_signed(value), 0).signed() == value


def section(kind: int, *items: bytes, count: int | None = None) -> bytes:
    body = encode_unsigned(len(items) if count is None else count) + b"".join(items)
    return bytes([kind]) + encode_unsigned(len(body)) + body


def export(name: bytes, kind: int, index: int) -> bytes:
    return bytes([len(name)]) + name + bytes([kind, index])


def small_module(table: bytes = b"\x70\0\2") -> bytes:
    """Two functions in the table, one outside, two globals of which one is a constant."""
    imports = [b"\1e\1m\2\0\1", b"\1e\1g\3\x7f\0", b"\1e\1f\0\0"]
    globals_ = [b"\x7f\0\x41\x2a\x0b", b"\x7f\0\x23\0\x0b"]
    exports = [
        export(b"in_table", 0, 1),
        export(b"outside", 0, 3),
        export(b"constant", 3, 1),
        export(b"imported", 3, 2),
        export(b"memory", 2, 0),
    ]
    return b"\0asm\1\0\0\0" + b"".join(
        (
            section(2, *imports),
            section(4, table),
            section(6, *globals_),
            section(7, *exports),
            section(9, b"\0\x41\0\x0b\2\1\2", count=1),
            section(10, b"code"),
        )
    )


def test_every_exported_function_gets_a_slot() -> None:
    shrunk = shrink_module(small_module(), lambda name: name == "outside")
    assert shrunk.symbols == {b"in_table": 0, b"outside": 2, b"constant": 42}
    assert (shrunk.exports_before, shrunk.exports_after) == (5, 2)
    again = shrink_module(b"".join(shrunk.pieces), lambda name: True)
    assert again.symbols == {b"outside": 2}
    assert section(10, b"code") in shrunk.pieces


@pytest.mark.parametrize("data", [b"not wasm", b"\0asm\1\0\0\0", small_module(table=b"\x70\0\3")])
def test_another_layout_is_refused(data: bytes) -> None:
    with pytest.raises(WasmError):
        shrink_module(data, lambda name: True)


def test_symbols_are_sorted_for_bisection() -> None:
    data = symbol_file({b"b": 7, b"aa": 9})
    assert struct.unpack_from("<7I", data) == (2, 3, 0, 2, 3, 9, 7)
    assert data[28:] == b"aab"


_SCRIPT = (
    "var Module={};var _used,_unused,_data;function assignWasmExports(wasmExports){"
    'check();_used=Module["_used"]=wasmExports["used"];_unused=Module["_unused"]=wasmExports["unused"];'
    '_data=Module["_data"]=wasmExports["data"].value;}var wasmImports;_used();_data+1;wasmExports["direct"]'
)


def test_only_used_exports_keep_their_glue() -> None:
    script, used = drop_export_glue(_SCRIPT)
    assert used == {"used", "data", "direct"}
    assert "_unused" not in script
    assert "var _used,_data;" in script
    assert "check();" in script


def test_another_script_is_refused() -> None:
    with pytest.raises(GlueError):
        drop_export_glue("var x;")
    with pytest.raises(GlueError):
        hooked(_SCRIPT)


def test_the_driver_keeps_what_it_calls() -> None:
    assert is_driver_export("lean_shell_main")
    assert not is_driver_export("l_Lean_Name_hash")
