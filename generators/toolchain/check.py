"""The check of a Lean project: three layers that all run, whichever toolchain is used.

1. Lean builds the modules; its errors and its warnings are findings.
2. The axiom audit judges what every declaration rests on, and whether the obligatory theorems are there.
3. The word list is searched for in every source, and every source has to be reachable from a root.

Where only some modules are asked for, obligatory theorems and reachability are not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from serq.diagnostics import Diagnostic, Place, SerqError, ordered
from serq.generators.toolchain.audit import Audit, compiled_facts, judge_axioms, judge_obligations
from serq.generators.toolchain.cache import locked
from serq.generators.toolchain.choose import Toolchain
from serq.generators.toolchain.embedded.build import EmbeddedBuild
from serq.generators.toolchain.embedded.workspace import Workspace, build_folder
from serq.generators.toolchain.native.audit import native_facts
from serq.generators.toolchain.native.lake import build as native_build
from serq.generators.toolchain.objects import OleanError
from serq.generators.toolchain.obligatory import Obligation, read_obligations
from serq.generators.toolchain.project import Project
from serq.generators.toolchain.results import Judge, Message, ModuleResult, Status, message_diagnostic
from serq.generators.toolchain.scan import Finding, as_diagnostics, runs_code, scan

FILE_LIMIT = 300.0
_LOCK_LIMIT = 1800.0


@dataclass(frozen=True)
class Settings:
    """How a check runs: the longest time for one file, processes at once, who hears of progress.

    `fresh`: from nothing, and each file in a process of its own.
    """

    limit: float = FILE_LIMIT
    jobs: int = 1
    fresh: bool = False
    tell: Callable[[str], None] = lambda text: None
    on_start: Callable[[int], None] = lambda total: None
    on_module: Callable[[ModuleResult], None] = lambda result: None


@dataclass(frozen=True)
class Report:
    """What a check found. `audit` is None where no audit could be made."""

    project: Project
    judge: Judge
    modules: Mapping[str, ModuleResult]
    audit: Audit | None
    obligations: tuple[Obligation, ...]
    whole: bool
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.diagnostics

    @property
    def complete(self) -> bool:
        """Whether every module was built: a broken one is finding enough, its theorems are no news."""
        return all(m.status in (Status.CHECKED, Status.UNCHANGED) for m in self.modules.values())

    @property
    def notes(self) -> list[tuple[str, Message]]:
        """Lean's information (`#check`, `#print`) by file."""
        return [
            (self.project.modules[name].file, message)
            for name, result in self.modules.items()
            for message in result.messages
            if message.severity not in ("error", "warning")
        ]


def check_project(
    project: Project, toolchain: Toolchain, settings: Settings, paths: Sequence[Path] = ()
) -> Report:
    """Check the whole project, or the modules at `paths` with all that they import."""
    whole = not paths or project.folder in {p.resolve() for p in paths}
    start = project.roots if whole else project.modules_below(paths)
    names = project.ordered(project.closure(start))
    findings = {n: scan(m.text, m.code) for n, m in project.modules.items() if whole or n in names}
    found = [d for n, hits in findings.items() for d in _scanned(project, n, hits)]
    obligations: tuple[Obligation, ...] = ()
    if whole:
        found += project.unreachable()
        obligations, missing = _obligations(project.folder)
        found += missing
    lock = build_folder(project) / "lock"
    with locked(lock, lambda: settings.tell("another check of this project is running"), _LOCK_LIMIT):
        modules, audit, more = _build_and_audit(project, toolchain, settings, names, findings)
    found += more
    report = Report(project, toolchain.judge, modules, audit, obligations, whole, ())
    if audit:
        found += judge_axioms(audit, project)
        if report.complete:
            found += judge_obligations(audit, obligations)
    return replace(report, diagnostics=ordered(found))


def _scanned(project: Project, name: str, hits: list[Finding]) -> list[Diagnostic]:
    module = project.modules[name]
    return as_diagnostics(module.file, module.text, hits)


def _obligations(folder: Path) -> tuple[tuple[Obligation, ...], tuple[Diagnostic, ...]]:
    try:
        return read_obligations(folder), ()
    except SerqError as error:
        return (), error.diagnostics


def _build_and_audit(
    project: Project,
    toolchain: Toolchain,
    settings: Settings,
    names: Sequence[str],
    findings: Mapping[str, list[Finding]],
) -> tuple[dict[str, ModuleResult], Audit | None, list[Diagnostic]]:
    settings.on_start(len(names))
    if toolchain.native:
        built = native_build(toolchain.native, project, settings.limit, settings.on_module)
        modules = {n: built[n] for n in names}
        broken = any(m.status in (Status.FAILED, Status.SKIPPED) for m in built.values())
        audit = None if broken else native_facts(toolchain.native, project)
        return modules, audit, _module_findings(project, modules)
    assert toolchain.embedded is not None
    barred = frozenset(n for n, hits in findings.items() if runs_code(hits))
    build = EmbeddedBuild(
        project, toolchain.embedded, barred, settings.limit, settings.jobs, settings.fresh, settings.on_module
    )
    modules = build.run(names)
    found = _module_findings(project, modules)
    try:
        return modules, _embedded_facts(project, modules), found
    except OleanError as error:
        return modules, None, [*found, _unreadable(str(error))]


def _module_findings(project: Project, modules: Mapping[str, ModuleResult]) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for name, result in modules.items():
        messages = (message_diagnostic(project.modules[name], m) for m in result.messages)
        found += [d for d in messages if d is not None]
        found += result.problems
    return found


def _embedded_facts(project: Project, modules: Mapping[str, ModuleResult]) -> Audit:
    workspace = Workspace(project)
    built = (n for n, m in modules.items() if m.status in (Status.CHECKED, Status.UNCHANGED))
    return compiled_facts({n: workspace.compiled(n) for n in built})


def _unreadable(reason: str) -> Diagnostic:
    return Diagnostic(
        "SQ977",
        "the axiom audit did not reach its end",
        Place(),
        note=reason,
        hint="run `serq lean clean`, then check again",
    )
