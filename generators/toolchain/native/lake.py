"""Finding the official toolchain, and building a project with it."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from serq.diagnostics import Diagnostic, Place, SerqError, Span
from serq.generators.toolchain.project import Project, shown
from serq.generators.toolchain.results import Judge, Message, ModuleResult, Status

_VERSION_LIMIT = 600.0
# ANSI colours and the figures of a progress line.
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_STEP = re.compile(
    r"^(?P<mark>\S)\s+\[\d+/\d+\]\s+(?P<verb>\w+)\s+(?P<name>[^\s(:]+)(?::\S+)?"
    r"(?:\s+\((?P<time>[\d.]+)(?P<unit>ms|s)\))?\s*$"
)
_MESSAGE = re.compile(
    r"^(?P<severity>error|warning|info): (?P<file>[^:\n]+\.lean):(?P<line>\d+):(?P<column>\d+): ?(?P<text>.*)$"
)
_PLAIN = re.compile(r"^(?P<severity>error|warning|info|trace): (?P<text>.*)$")
_END = "Some required targets logged failures:"


@dataclass(frozen=True)
class Lake:
    """The `lake` command, and what `lake --version` says."""

    command: str
    version: str

    @property
    def judge(self) -> Judge:
        """The judge of a build with this command."""
        return Judge("native", self.version, exact_audit=True)


def find_lake(folder: Path) -> Lake | None:
    """`lake` from PATH or from elan's folder, if it runs in `folder`; None when there is none that does.

    Under elan the first call in a project fetches the toolchain that the project asks for.
    """
    command = shutil.which("lake") or shutil.which("lake", path=str(_elan_folder()))
    if command is None:
        return None
    try:
        done = subprocess.run(
            [command, "--version"], cwd=folder, capture_output=True, text=True, timeout=_VERSION_LIMIT
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Lake(command, done.stdout.strip()) if done.returncode == 0 else None


def _elan_folder() -> Path:
    home = os.environ.get("ELAN_HOME")
    return (Path(home) if home else Path.home() / ".elan") / "bin"


def build(
    lake: Lake, project: Project, limit: float, on_module: Callable[[ModuleResult], None]
) -> dict[str, ModuleResult]:
    """Build every target; `limit` is the longest silence, so the time of one file.

    Warnings do not stop the build (`--wfail` would leave what depends on them unbuilt); they are
    findings of the check.

    Raises `SerqError` SQ953 (silence) or SQ976 (a failure that is no module's).
    """
    report = LakeReport(project, on_module)
    command = [lake.command, "build", "-v", *project.targets]
    with _started(command, project.folder) as process:
        for line in _lines(process, limit):
            report.read(line)
        status = process.wait()
    results = report.finished()
    if status and not any(r.status is Status.FAILED for r in results.values()):
        raise SerqError(_lake_failed(project, report.stray))
    # Lake is silent about what is up to date.
    silent = Status.SKIPPED if status else Status.UNCHANGED
    return {name: results.get(name, ModuleResult(name, silent)) for name in project.modules}


@contextmanager
def _started(command: Sequence[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout:
            process.stdout.close()


def _lines(process: subprocess.Popen[bytes], limit: float) -> Iterator[str]:
    assert process.stdout is not None
    descriptor, pending = process.stdout.fileno(), b""
    while True:
        begin = time.monotonic()
        if not select.select([descriptor], [], [], limit)[0]:
            raise SerqError(
                Diagnostic(
                    "SQ953",
                    f"lake was silent for {time.monotonic() - begin:.0f} s",
                    hint="split the file that is being checked, or raise --timeout",
                )
            )
        piece = os.read(descriptor, 1 << 16)
        *whole, pending = (pending + piece).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in whole)
        if not piece:
            if pending:
                yield pending.decode("utf-8", "replace")
            return


def _lake_failed(project: Project, stray: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "SQ976",
        "lake could not build the project",
        Place(shown(project.folder)),
        note="\n".join(stray[-12:]) or "it gave no reason",
        hint="run `lake build` in the project's folder",
    )


@dataclass
class LakeReport:
    """Reads the output of `lake build -v` line by line."""

    project: Project
    on_module: Callable[[ModuleResult], None]
    stray: list[str] = field(default_factory=list)
    _results: dict[str, ModuleResult] = field(default_factory=dict)
    _current: str | None = None
    _messages: dict[str, list[tuple[str, str, Span]]] = field(default_factory=dict)
    _open: list[str] | None = None

    def __post_init__(self) -> None:
        self._by_path = {m.path: m.name for m in self.project.modules.values()}

    def read(self, line: str) -> None:
        """Take in one line."""
        line = _ANSI.sub("", line).rstrip("\r")
        step, message, plain = _STEP.match(line), _MESSAGE.match(line), _PLAIN.match(line)
        if step:
            self._begin_step(step)
        elif message and self._module_of(message["file"]):
            self._begin_message(message)
        elif plain or line.strip() == _END:
            self._flush()
            if plain and plain["severity"] == "error":
                self.stray.append(line)
        elif self._open is not None:
            self._open.append(line)
        elif line.strip():
            self.stray.append(line)

    def finished(self) -> dict[str, ModuleResult]:
        """The results of all modules that lake spoke of, with their messages."""
        self._flush()
        for name, found in self._messages.items():
            known = self._results.get(name, ModuleResult(name, Status.FAILED))
            messages = tuple(Message(severity, text.rstrip(), span) for severity, text, span in found)
            failed = any(m.severity == "error" for m in messages)
            status = Status.FAILED if failed else known.status
            self._results[name] = ModuleResult(name, status, known.seconds, messages)
        return self._results

    def _begin_step(self, step: re.Match[str]) -> None:
        self._flush()
        name = step["name"]
        if name not in self.project.modules or name in self._results:
            return
        seconds = float(step["time"] or 0) / (1000 if step["unit"] == "ms" else 1)
        status = Status.CHECKED if step["verb"] in ("Built", "Building") else Status.UNCHANGED
        if step["mark"] == "✖":
            status = Status.FAILED
        self._results[name] = ModuleResult(name, status, seconds)
        self.on_module(self._results[name])

    def _begin_message(self, message: re.Match[str]) -> None:
        self._flush()
        name = self._module_of(message["file"])
        assert name is not None
        line, column = int(message["line"]), int(message["column"]) + 1
        self._current = name
        self._open = [message["text"]]
        self._pending = (message["severity"], Span(line, column, line, column + 1))

    def _flush(self) -> None:
        if self._open is not None and self._current is not None:
            severity, span = self._pending
            self._messages.setdefault(self._current, []).append((severity, "\n".join(self._open), span))
        self._open = None

    def _module_of(self, file: str) -> str | None:
        return self._by_path.get((self.project.folder / file).resolve())
