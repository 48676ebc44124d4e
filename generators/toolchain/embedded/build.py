"""Checking the modules of a project with the embedded Lean: imports first, only what changed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from serq.diagnostics import Diagnostic, Place, Span
from serq.generators.toolchain.embedded.install import Installation
from serq.generators.toolchain.embedded.process import Answer, Ending, LeanProcess, Option
from serq.generators.toolchain.embedded.release import LEAN_VERSION
from serq.generators.toolchain.embedded.workspace import Workspace, in_source
from serq.generators.toolchain.objects import OleanError
from serq.generators.toolchain.project import Project, SourceModule
from serq.generators.toolchain.results import Judge, Message, ModuleResult, Status

JUDGE = Judge("embedded", f"Lean {LEAN_VERSION}", exact_audit=False)
# Declarations one after the other: many kernel checks at once would each hold a deep stack.
_OPTIONS = ("Elab.async=false",)
# What a process has resident before a file that is not long; with more, another one takes its place.
_RESIDENT_LIMIT = 700 << 20
# So many characters are a long file.
_LONG = 50_000
# A file whose process stalls is given to another one: it happens once in some thousand files, to any of them.
_ATTEMPTS = 3

OnModule = Callable[[ModuleResult], None]


@dataclass
class _Pool:
    """Idle processes; a process is used by one thread at a time and dropped when it has grown."""

    installation: Installation
    workspace: Workspace
    limit: int
    idle: list[LeanProcess] = field(default_factory=list)
    busy: list[LeanProcess] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    closed: bool = False

    @contextmanager
    def process(self, long: bool) -> Iterator[LeanProcess]:
        """A process for a file; a new one for a long file, which needs the memory that others have left."""
        with self.lock:
            process = self.idle.pop() if self.idle and not long else None
        if process is None:
            process = LeanProcess(self.installation, self.workspace.folder, self.workspace.modules)
        with self.lock:
            self.busy.append(process)
        if self.closed:
            process.kill()
        try:
            yield process
        finally:
            with self.lock:
                self.busy.remove(process)

    def give_back(self, process: LeanProcess) -> None:
        if process.resident > self.limit or self.closed:
            process.kill()
        else:
            with self.lock:
                self.idle.append(process)

    def close(self) -> None:
        with self.lock:
            self.closed = True
            for process in (*self.idle, *self.busy):
                process.kill()


@dataclass
class EmbeddedBuild:
    """One build. `barred` are modules that are not elaborated because they would run code."""

    project: Project
    installation: Installation
    barred: frozenset[str]
    limit: float
    jobs: int
    fresh: bool
    on_module: OnModule
    fingerprints: dict[str, str] = field(default_factory=dict)
    results: dict[str, ModuleResult] = field(default_factory=dict)

    def run(self, names: Sequence[str]) -> dict[str, ModuleResult]:
        """Check modules, imports before importers; `names` is closed under imports."""
        self.workspace = Workspace(self.project)
        self.workspace.prepare(self.fresh)
        self.workspace.remove_strangers(self.project.modules)
        self.options = (*_OPTIONS, *self.project.options)
        self.pool = _Pool(self.installation, self.workspace, 0 if self.fresh else _RESIDENT_LIMIT)
        waiting = by_longest_path(self.project, self.project.ordered(names))
        running: dict[Future[ModuleResult], str] = {}
        with ThreadPoolExecutor(self.jobs) as threads:
            try:
                while waiting or running:
                    waiting = self._start(waiting, running, threads)
                    self._collect(running)
            finally:
                self.pool.close()
        return self.results

    def _start(
        self, waiting: list[str], running: dict[Future[ModuleResult], str], threads: ThreadPoolExecutor
    ) -> list[str]:
        """Settle what needs no run, submit what is ready; gives what still waits."""
        left = []
        for name in waiting:
            imports = self.project.project_imports(name)
            if not all(i in self.results for i in imports):
                left.append(name)
            elif (settled := self._settled(name)) is not None:
                self._finish(settled)
            elif len(running) < self.jobs:
                running[threads.submit(self._check, self.project.modules[name])] = name
            else:
                left.append(name)
        return left

    def _collect(self, running: dict[Future[ModuleResult], str]) -> None:
        if running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                del running[future]
                self._finish(future.result())

    def _finish(self, result: ModuleResult) -> None:
        self.results[result.name] = result
        self.on_module(result)

    def _settled(self, name: str) -> ModuleResult | None:
        """The result of a module that needs no run: barred, cut off from its imports, or unchanged."""
        imports = self.project.project_imports(name)
        if name in self.barred or any(
            self.results[i].status in (Status.FAILED, Status.SKIPPED) for i in imports
        ):
            self.workspace.forget(name)
            return ModuleResult(name, Status.FAILED if name in self.barred else Status.SKIPPED)
        record = self.workspace.record(name, self._key(name))
        if record is None:
            return None
        self.fingerprints[name] = record.fingerprint
        return ModuleResult(name, Status.UNCHANGED, record.seconds, record.messages, memory=record.memory)

    def _key(self, name: str) -> str:
        imports = self.project.closure([name]) - {name}
        prints = {i: self.fingerprints[i] for i in imports}
        return self.workspace.key(self.project.modules[name], self.options, prints)

    def _check(self, module: SourceModule) -> ModuleResult:
        key = self._key(module.name)
        self.workspace.forget(module.name)
        copy = self.workspace.write_copy(module)
        options: list[Option] = [("J", None), *(("D", o) for o in self.options)]
        options += [("R", str(self.workspace.sources)), ("o", str(self.workspace.compiled(module.name)))]
        for _ in range(_ATTEMPTS):
            with self.pool.process(len(module.text) > _LONG) as process:
                answer = process.run(options, [str(copy)], self.limit)
            if answer.ending is Ending.FINISHED:
                self.pool.give_back(process)
            if answer.ending is not Ending.STALLED:
                break
        return self._judged(module, key, answer)

    def _judged(self, module: SourceModule, key: str, answer: Answer) -> ModuleResult:
        messages, rest = _messages(module, answer.lines)
        failed = ModuleResult(module.name, Status.FAILED, answer.seconds, messages, memory=answer.memory)
        if answer.ending is not Ending.FINISHED:
            return replace(failed, problems=(_stopped(module, answer),))
        if any(m.severity == "error" for m in messages):
            return failed
        if answer.status:
            return replace(
                failed, problems=(_unexplained(module, "\n".join([answer.detail, *rest]).strip()),)
            )
        try:
            record = self.workspace.keep(module.name, key, answer.seconds, messages, answer.memory)
        except OleanError as error:
            return replace(failed, problems=(_unexplained(module, str(error)),))
        self.fingerprints[module.name] = record.fingerprint
        return ModuleResult(module.name, Status.CHECKED, answer.seconds, messages, memory=answer.memory)


def by_longest_path(project: Project, ordered: Sequence[str]) -> list[str]:
    """Modules, imports first in `ordered`, with those first from which the longest way of imports goes on; a
    module is as long as its text.
    """
    paths = dict.fromkeys(ordered, 0)
    for name in reversed(ordered):
        paths[name] += len(project.modules[name].text)
        for i in project.project_imports(name):
            if i in paths:
                paths[i] = max(paths[i], paths[name])
    return sorted(ordered, key=lambda name: -paths[name])


def _messages(module: SourceModule, lines: Sequence[str]) -> tuple[tuple[Message, ...], list[str]]:
    """Lean's messages among the printed lines, and the other lines."""
    messages, rest = [], []
    for line in lines:
        try:
            data = json.loads(line)
            start, end = data["pos"], data.get("endPos") or data["pos"]
            span = Span(
                start["line"],
                in_source(module, start["line"], start["column"]) + 1,
                end["line"],
                in_source(module, end["line"], end["column"]) + 1,
            )
            messages.append(Message(data["severity"], data["data"], span))
        except (ValueError, KeyError, TypeError):
            rest.append(line)
    return tuple(messages), rest


def _stopped(module: SourceModule, answer: Answer) -> Diagnostic:
    place = Place(module.file)
    if answer.ending is Ending.TIMEOUT:
        return Diagnostic(
            "SQ953",
            f"{module.name} was not checked in time: {answer.detail}",
            place,
            hint="split the file or its computation, or raise --timeout",
        )
    if answer.ending is Ending.EXITED:
        return Diagnostic(
            "SQ954", f"{module.name} ended the checker itself", place, note=answer.detail or None
        )
    return Diagnostic(
        "SQ954",
        f"the checker broke down on {module.name}",
        place,
        note=answer.detail or None,
        hint="memory (2 GiB) or stack ran out: cut the computation into smaller theorems",
    )


def _unexplained(module: SourceModule, reason: str) -> Diagnostic:
    return Diagnostic(
        "SQ954", f"{module.name} was refused without a message", Place(module.file), note=reason or None
    )
