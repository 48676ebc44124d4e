"""Asking Lean about generated text: a project of its own beside the cache, with the model and what is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from serq.diagnostics import Diagnostic, SerqError
from serq.generators.render import render
from serq.generators.toolchain import Settings, check_project, find_toolchain, load_project
from serq.generators.toolchain.cache import cache_folder, write_whole
from serq.generators.toolchain.results import Judge, Message, ModuleResult, Status
from serq.oracle.lean_folder import FOLDER

_COPIED = ("lean-toolchain", "lakefile.toml")
# What generated claims, proofs of them by a run, and runs in pieces rest on.
_THEOREMS = ("Claims.lean", "Pieces.lean", "Reaching.lean")
_DECLARED = re.compile(r"^(?:theorem\s+(\S+)|namespace\s+(\S+))")


@dataclass(frozen=True)
class Answer:
    """What Lean says of one module: the theorems it refused by full name, what it printed, in order.

    `messages` are the first words on each refused theorem; `problems` kept Lean from judging.
    """

    refused: tuple[str, ...]
    printed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    messages: Mapping[str, str] = field(default_factory=dict)

    @property
    def proved(self) -> bool:
        """Whether every theorem was proved."""
        return not self.refused and not self.problems


class LeanBench:
    """A scratch project. Compiled modules of the model stay from one question to the next."""

    def __init__(self, kind: str = "auto", folder: Path | None = None, limit: float = 600.0) -> None:
        self.folder = folder or cache_folder() / "lean" / "bench"
        self.limit = limit
        self._prepare()
        self.toolchain = find_toolchain(kind, self.folder)

    @property
    def judge(self) -> Judge:
        """Which Lean answers."""
        return self.toolchain.judge

    def ask(self, modules: Mapping[str, str]) -> dict[str, Answer]:
        """Check modules by their last name (`Batch0` is `Serq.Generated.Batch0`); raises `SerqError`."""
        generated = self.folder / "Serq" / "Generated"
        wanted = {"Statements": render("statements.lean"), **modules}
        for old in generated.glob("*.lean"):
            if old.stem not in wanted:
                old.unlink()
        for name, text in wanted.items():
            _write(generated / f"{name}.lean", text)
        _write(self.folder / "Serq.lean", _root(sorted(wanted)))
        project = load_project(self.folder)
        paths = [generated / f"{name}.lean" for name in modules]
        report = check_project(project, self.toolchain, Settings(limit=self.limit), paths)
        _require_model(report.modules)
        return {
            name: _answer(text, report.modules[f"Serq.Generated.{name}"]) for name, text in modules.items()
        }

    def _prepare(self) -> None:
        for name in _COPIED:
            _write(self.folder / name, (FOLDER / name).read_text(encoding="utf-8"))
        serq = FOLDER / "Serq"
        sources = [*(serq / "Model").glob("*.lean"), *(serq / "Theorems" / name for name in _THEOREMS)]
        wanted = {path.relative_to(FOLDER): path for path in sources}
        for part in ("Model", "Theorems"):
            for old in (self.folder / "Serq" / part).glob("*.lean"):
                if old.relative_to(self.folder) not in wanted:
                    old.unlink()
        for part_of_project, path in wanted.items():
            _write(self.folder / part_of_project, path.read_text(encoding="utf-8"))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_whole(path, text)


def _root(names: list[str]) -> str:
    return render("root.lean", modules=[f"Serq.Generated.{name}" for name in names])


def _require_model(modules: Mapping[str, ModuleResult]) -> None:
    """The model itself has to be in order, else no answer means anything."""
    for name, result in modules.items():
        if name.startswith("Serq.Model.") and result.status in (Status.FAILED, Status.SKIPPED):
            text = next((m.text for m in result.messages if m.severity == "error"), "Lean gave no answer")
            message = f"the model's module {name} is refused: {text.splitlines()[0]}"
            raise SerqError(
                result.problems or Diagnostic("SQ951", message, hint="run `serq lean check lean`")
            )


def _answer(text: str, result: ModuleResult) -> Answer:
    errors = [m for m in result.messages if m.severity in ("error", "warning")]
    printed = tuple(m.text for m in result.messages if m.severity not in ("error", "warning"))
    declared = _declarations(text)
    messages: dict[str, str] = {}
    for m in errors:
        messages.setdefault(_theorem_at(declared, m), m.text)
    problems = [d.message for d in result.problems]
    if result.status in (Status.FAILED, Status.SKIPPED) and not errors and not problems:
        problems.append("Lean gave no answer")
    if "" in messages:
        problems.append(messages.pop(""))
    return Answer(tuple(messages), printed, tuple(problems), messages)


def _declarations(text: str) -> list[tuple[int, str]]:
    """The line and full name of each theorem; other declarations stand for nobody's."""
    found: list[tuple[int, str]] = []
    space = ""
    for number, line in enumerate(text.splitlines(), 1):
        match = _DECLARED.match(line)
        if match and match[2]:
            space = match[2]
        elif match:
            found.append((number, f"{space}.{match[1]}"))
        elif re.match(r"(?:def|abbrev|end|structure)\b", line):
            found.append((number, ""))
    return found


def _theorem_at(declared: list[tuple[int, str]], message: Message) -> str:
    line = message.span.line if message.span else 0
    before = [name for number, name in declared if number <= line]
    return before[-1] if before else ""
