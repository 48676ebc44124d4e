"""Rewriting the published module and script, on small ones of the same shape."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serq.generators.toolchain.embedded.bytecode import (
    STACK_POINTER,
    WasmError,
    _Cursor,
    encode_signed,
    encode_unsigned,
    shrink_module,
    symbol_file,
)
from serq.generators.toolchain.embedded.glue import GlueError, drop_export_glue, hooked, is_driver_export
from serq.generators.toolchain.embedded.install import find_installation
from serq.generators.toolchain.embedded.invokes import inner_module, outer_module, signature


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


CODE = [encode_unsigned(len(b)) + b for b in (b"\0\x23\1\x0b", b"\0\x0b", b"\0\x0b")]


def small_module(table: bytes = b"\x70\0\2") -> bytes:
    """Two functions in the table, one outside, two globals of which one is a constant."""
    imports = [b"\1e\1m\2\0\1", b"\1e\1g\3\x7f\0", b"\1e\1f\0\0"]
    globals_ = [b"\x7f\0\x41\x2a\x0b", b"\x7f\0\x23\0\x0b"]
    exports = [
        export(b"emscripten_stack_get_current", 0, 1),
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
            section(10, *CODE),
        )
    )


READER = b"emscripten_stack_get_current"


def test_every_exported_function_gets_a_slot() -> None:
    wanted = {"outside", READER.decode()}
    shrunk = shrink_module(small_module(), lambda name: name in wanted)
    assert shrunk.symbols == {READER: 0, b"in_table": 0, b"outside": 2, b"constant": 42}
    assert (shrunk.exports_before, shrunk.exports_after) == (6, 4)
    assert shrunk.imported == ["f"]
    module = b"".join(shrunk.pieces)
    assert export(STACK_POINTER.encode(), 3, 1) in module
    again = shrink_module(module, lambda name: True)
    assert again.symbols == {READER: 0, b"outside": 2, STACK_POINTER.encode(): 42}
    assert section(10, *CODE) in shrunk.pieces


def test_the_stack_pointer_is_what_its_reader_reads() -> None:
    other = small_module().replace(b"\0\x23\1\x0b", b"\0\x20\0\x0b")
    for data in (other, small_module().replace(READER, b"x" * len(READER))):
        with pytest.raises(WasmError):
            shrink_module(data, lambda name: True)


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


def test_the_signature_of_an_invoke_function() -> None:
    assert signature("invoke_viij") == "viij"
    for name in ("invoke_", "invoke_x", "invoke_iv", "viij"):
        with pytest.raises(WasmError):
            signature(name)


def _published() -> bytes:
    """A module with a stack pointer (7) and a table: its reader, its writer, a sum, and a function that moves
    the stack pointer and calls the script."""
    types = [b"\x60\0\1\x7f", b"\x60\1\x7f\0", b"\x60\2\x7f\x7f\1\x7f", b"\x60\1\x7f\1\x7f"]
    bodies = [
        b"\0\x23\0\x0b",
        b"\0\x20\0\x24\0\x0b",
        b"\0\x20\0\x20\1\x6a\x0b",
        b"\0\x41\x03\x24\0\x20\0\x10\0\x41\5\x0b",
    ]
    return b"\0asm\1\0\0\0" + b"".join(
        (
            section(1, *types),
            section(2, b"\3env\5throw\0\1"),
            section(3, b"\0", b"\1", b"\2", b"\3"),
            section(4, b"\x70\0\4"),
            section(6, b"\x7f\1\x41\7\x0b"),
            section(7, export(b"table", 1, 0), export(b"stack", 3, 0)),
            section(9, b"\0\x41\0\x0b\4\1\2\3\4", count=1),
            section(10, *(encode_unsigned(len(b)) + b for b in bodies)),
        )
    )


_CALLS = """
const fs = require("fs"), of = name => new WebAssembly.Module(fs.readFileSync(`${process.argv[2]}/${name}.wasm`));
let thrown = null, caught = [];
const outerTable = new WebAssembly.Table({initial: 2, element: "anyfunc"});
const outer = new WebAssembly.Instance(of("outer"), {env: {table: outerTable}}).exports;
const script = {throw: x => { if (thrown) throw thrown(x); }};
const published = new WebAssembly.Instance(of("published"), {env: script}).exports;
const pass = e => { caught.push(typeof e); if (e !== e + 0) throw e; };
const env = {table: published.table, caught: pass, thrown: WebAssembly.JSTag, stack: published.stack};
Object.values(new WebAssembly.Instance(of("inner"), {env}).exports).forEach((f, i) => outerTable.set(i, f));
const tried = [outer.invoke_iii(2, 20, 22), outer.invoke_ii(3, 1), published.stack.value];
published.stack.value = 7;
thrown = x => x;
tried.push(outer.invoke_ii(3, 8), published.stack.value);
thrown = () => new Error("not of C++");
try { outer.invoke_ii(3, 8); } catch (e) { tried.push(e.message); }
console.log(JSON.stringify([tried, caught, published.stack.value]));
"""


def test_calls_catch_numbers_and_restore_the_stack(embedded: object, tmp_path: Path) -> None:
    names = ["invoke_iii", "invoke_ii"]
    (tmp_path / "published.wasm").write_bytes(_published())
    (tmp_path / "outer.wasm").write_bytes(outer_module(names))
    (tmp_path / "inner.wasm").write_bytes(inner_module(names))
    installation = find_installation()
    assert installation is not None
    script = tmp_path / "calls.js"
    script.write_text(_CALLS, encoding="utf-8")
    command = [str(installation.node), str(script), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    tried, caught, stack = json.loads(done.stdout)
    # A plain call; a call that throws nothing, and leaves the stack pointer where the function put it; a C++
    # exception, after which it is back; an error of the script's, which passes through.
    assert tried == [42, 5, 3, 0, 7, "not of C++"]
    assert caught == ["number", "object"] and stack == 7
