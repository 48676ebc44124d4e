"""The build folder of one project: the copies that are checked, the compiled modules, and their records.

The copies differ from the sources in one place: a `noncomputable section` is opened at the end of
the header, on the same line, because the embedded library has no code to compile definitions
with. Lines keep their numbers, so messages point into the sources.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from serq.diagnostics import Span
from serq.generators.toolchain.cache import write_whole
from serq.generators.toolchain.embedded.release import release_digest
from serq.generators.toolchain.objects import PARTS
from serq.generators.toolchain.olean import exported_fingerprint
from serq.generators.toolchain.project import Project, SourceModule
from serq.generators.toolchain.results import Message

_SECTION = " noncomputable section"
_VERSION = "1"


@dataclass(frozen=True)
class Record:
    """What a module gave when it was last checked, under the key of all that the check depends on."""

    key: str
    seconds: float
    fingerprint: str
    messages: tuple[Message, ...]
    memory: int = 0


def build_folder(project: Project) -> Path:
    """Where the embedded Lean works for a project."""
    return project.folder / ".lake" / "serq"


class Workspace:
    """The copies and compiled modules of a project for the installed release."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.folder = build_folder(project) / release_digest()
        self.sources = self.folder / "src"
        self.modules = self.folder / "lib"

    def prepare(self, fresh: bool) -> None:
        """Make the folders; compiled modules of other releases go, with `fresh` all of them."""
        parent = self.folder.parent
        parent.mkdir(parents=True, exist_ok=True)
        (parent / ".gitignore").write_text("*\n", encoding="utf-8")
        for old in parent.iterdir():
            if old.is_dir() and (fresh or old != self.folder):
                shutil.rmtree(old, ignore_errors=True)
        self.sources.mkdir(parents=True, exist_ok=True)
        self.modules.mkdir(parents=True, exist_ok=True)

    def compiled(self, name: str) -> Path:
        """The exported part of a compiled module."""
        return self.modules / (name.replace(".", "/") + ".olean")

    def write_copy(self, module: SourceModule) -> Path:
        """Write the copy of a module that is checked."""
        path = self.sources / (module.name.replace(".", "/") + ".lean")
        path.parent.mkdir(parents=True, exist_ok=True)
        end = module.header.end
        write_whole(path, module.text[:end] + _SECTION + module.text[end:])
        return path

    def key(self, module: SourceModule, options: Iterable[str], imports: dict[str, str]) -> str:
        """What a check depends on: the release, the options, the text, and the imports' fingerprints."""
        text = hashlib.sha256(module.text.encode()).hexdigest()
        whole = {i: self._private_part(i) for i in sorted(module.header.whole) if i in imports}
        parts = [_VERSION, release_digest(), module.name, text, list(options), sorted(imports.items()), whole]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _private_part(self, name: str) -> str:
        path = self.compiled(name)
        return hashlib.sha256(path.with_name(path.name + ".private").read_bytes()).hexdigest()

    def record(self, name: str, key: str) -> Record | None:
        """The record under this key, if its compiled module is there."""
        path = self.compiled(name)
        try:
            data = json.loads(self._record_path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if data.get("key") != key or not all(path.with_name(path.name + p).exists() for p in PARTS):
            return None
        messages = tuple(_message(m) for m in data["messages"])
        return Record(key, data["seconds"], data["fingerprint"], messages, data.get("memory", 0))

    def forget(self, name: str) -> None:
        """Remove a module's record and compiled files."""
        path = self.compiled(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in (self._record_path(name), *(path.with_name(path.name + p) for p in PARTS)):
            old.unlink(missing_ok=True)

    def keep(
        self, name: str, key: str, seconds: float, messages: tuple[Message, ...], memory: int = 0
    ) -> Record:
        """Record a module that was compiled; raises `OleanError` when its exported part is unreadable."""
        record = Record(key, seconds, exported_fingerprint(self.compiled(name)), messages, memory)
        write_whole(self._record_path(name), json.dumps(asdict(record), ensure_ascii=False) + "\n")
        return record

    def remove_strangers(self, names: Iterable[str]) -> None:
        """Remove compiled modules that are no modules of the project any more."""
        known = {self.compiled(name) for name in names}
        for path in self.modules.rglob("*.olean"):
            if path not in known:
                self.forget(".".join(path.relative_to(self.modules).with_suffix("").parts))

    def _record_path(self, name: str) -> Path:
        return self.compiled(name).with_suffix(".json")


def in_source(module: SourceModule, line: int, column: int) -> int:
    """The column in the source of a column in the copy; both count from 0."""
    end = module.header.end
    header_line = module.text.count("\n", 0, end) + 1
    start = end - (module.text.rfind("\n", 0, end) + 1)
    if line != header_line or column <= start:
        return column
    return max(start, column - len(_SECTION))


def _message(data: dict[str, object]) -> Message:
    span = data["span"]
    return Message(str(data["severity"]), str(data["text"]), Span(**span) if isinstance(span, dict) else None)
