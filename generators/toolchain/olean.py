"""Constants of a compiled module: their kinds, what they refer to, and a hash of what is exported."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from serq.generators.toolchain.objects import PARTS, Object, OleanError, Region

KINDS = ("axiom", "def", "theorem", "opaque", "quot", "inductive", "ctor", "rec")

_CONST, _APP, _LAMBDA, _FORALL, _LET, _MDATA, _PROJECTION = 4, 5, 6, 7, 8, 10, 11
_LEAVES = (0, 1, 2, 3, 9)
# Bytes of small fields of a constant, by kind: the rest of the word is never set.
_SMALL_FIELDS = {"axiom": 1, "def": 1, "opaque": 1, "quot": 1, "inductive": 3, "ctor": 1, "rec": 2}
# Code for the compiler: the embedded Lean never compiles, and these entries are full of unset bytes.
_COMPILER = re.compile(r"Lean\.Compiler\.LCNF\.\w+|Lean\.IR\.\w+")


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (struct.error, IndexError, UnicodeDecodeError, RecursionError) as error:
        raise OleanError(f"{path}: {error}") from None


class CompiledModule:
    """The constants of one module."""

    def __init__(self, path: Path) -> None:
        """`path` is the exported part; raises `OleanError`."""
        self.path = path
        with _readable(path):
            self._region = Region(path, PARTS)
            self._constants = _constants(self._region)

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The kind of each constant by its name."""
        with _readable(self.path):
            return {name: KINDS[self._region.tag(pointer)] for name, pointer in self._constants.items()}

    def references(self, name: str) -> set[str]:
        """Constants in the type, value, constructors and rules of a constant; raises `OleanError`."""
        with _readable(self.path):
            found, expressions = self._direct(name)
            self._walk(expressions, found)
        return found

    def _direct(self, name: str) -> tuple[set[str], list[int]]:
        """Names a constant mentions outside expressions, and its expressions."""
        region, kind = self._region, self.kinds[name]
        value = region.fields(self._constants[name], 1)[0]
        head = region.fields(value, 1)[0]
        found: set[str] = set()
        expressions = [region.fields(head, 3)[2]]
        if kind in ("def", "theorem", "opaque"):
            expressions.append(region.fields(value, 2)[1])
        elif kind == "inductive":
            found.update(region.name(n) for n in region.list(region.fields(value, 6)[4]))
        elif kind == "ctor":
            found.add(region.name(region.fields(value, 2)[1]))
        elif kind == "rec":
            expressions += [region.fields(rule, 3)[2] for rule in region.list(region.fields(value, 7)[6])]
        return found, expressions

    def _walk(self, todo: list[int], found: set[str]) -> None:
        region, seen = self._region, set[int]()
        while todo:
            pointer = todo.pop()
            if pointer & 1 or pointer in seen:
                continue
            seen.add(pointer)
            tag = region.tag(pointer)
            if tag == _CONST:
                found.add(region.name(region.fields(pointer, 1)[0]))
            elif tag == _APP:
                todo += region.fields(pointer, 2)
            elif tag in (_LAMBDA, _FORALL):
                todo += region.fields(pointer, 3)[1:]
            elif tag == _LET:
                todo += region.fields(pointer, 4)[1:]
            elif tag == _MDATA:
                todo.append(region.fields(pointer, 2)[1])
            elif tag == _PROJECTION:
                structure, _, inner = region.fields(pointer, 3)
                found.add(region.name(structure))
                todo.append(inner)
            elif tag not in _LEAVES:
                raise OleanError(f"{self.path}: expression with tag {tag}")


def exported_fingerprint(path: Path) -> str:
    """A hash of what importers see of a module: imports, constants, entries of extensions.

    Bytes of constants that Lean leaves unset do not count, nor does how objects are shared. Other
    unset bytes may change the hash of an unchanged module; then its importers are checked again.
    """
    with _readable(path):
        region = Region(path, ("",))
        imports, names, constants, _, entries = region.fields(region.root, 5)
        kept = [
            e for e in region.array(entries) if not _COMPILER.fullmatch(region.name(region.fields(e, 1)[0]))
        ]
        small = {
            region.fields(c, 1)[0]: _SMALL_FIELDS.get(KINDS[region.tag(c)], 0)
            for c in region.array(constants)
        }
        digests = _Digests(region, small)
        return digests.of_all([imports, names, constants, *kept]).hex()


def _constants(region: Region) -> dict[str, int]:
    names, constants = region.fields(region.root, 3)[1:3]
    return {region.name(n): c for n, c in zip(region.array(names), region.array(constants), strict=True)}


class _Digests:
    """Hashes of objects by their structure, each object once."""

    def __init__(self, region: Region, small: dict[int, int]) -> None:
        self._region = region
        self._small = small
        self._known: dict[int, bytes] = {}

    def of_all(self, roots: Iterable[int]) -> bytes:
        roots = list(roots)
        opened: dict[int, Object] = {}
        todo = list(roots)
        while todo:
            pointer = todo.pop()
            if pointer & 1 or pointer in self._known:
                continue
            if pointer in opened:
                self._known[pointer] = self._digest(pointer, opened[pointer])
                continue
            opened[pointer] = self._region.object(pointer)
            todo.append(pointer)
            todo += opened[pointer].pointers
        return hashlib.sha256(b"".join(map(self._child, roots))).digest()

    def _digest(self, pointer: int, found: Object) -> bytes:
        small = self._small.get(pointer)
        data = found.data if small is None else found.data[:small]
        head = struct.pack("<BII", found.tag, len(found.pointers), len(data))
        children = b"".join(map(self._child, found.pointers))
        return hashlib.blake2b(head + data + children, digest_size=16).digest()

    def _child(self, pointer: int) -> bytes:
        return struct.pack("<Q", pointer) if pointer & 1 else self._known[pointer]
