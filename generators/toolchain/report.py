"""A check's report for people (a table and a few lines) and for programs (one JSON object)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console
from rich.table import Table

from serq.diagnostics.render import as_dict
from serq.generators.toolchain.audit import written_name
from serq.generators.toolchain.check import Report
from serq.generators.toolchain.header import count_statements
from serq.generators.toolchain.results import ModuleResult, Status

# Bytes. A module that needs more is to be split.
MEMORY_LIMIT = 1 << 30


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain data."""
    project, audit = report.project, report.audit
    return {
        "ok": report.ok,
        "toolchain": {
            "kind": report.judge.kind,
            "version": report.judge.version,
            "asked": project.asked_toolchain,
            "authority": report.judge.authority,
            "audit": "exact" if report.judge.exact_audit else "inside the project",
        },
        "whole": report.whole,
        "modules": [_module_json(report, result) for result in report.modules.values()],
        "over_memory": over_memory(report),
        "theorems": sum(_statements(report, name) for name in report.modules),
        "obligatory": {"by_kind": _kinds(report), "missing": _missing(report)},
        "axioms": audit.axioms_used if audit else None,
        "diagnostics": [as_dict(d) for d in report.diagnostics],
    }


def print_table(report: Report, console: Console) -> None:
    """The modules that were checked or broke, then theorems, axioms and the toolchain."""
    console.print(_table(report))
    console.print(_theorem_line(report), highlight=False, soft_wrap=True)
    console.print(_axiom_line(report), highlight=False, soft_wrap=True)
    console.print(_time_line(report), highlight=False, soft_wrap=True)
    console.print(_memory_line(report), highlight=False, soft_wrap=True)
    console.print(_judge_line(report), highlight=False, soft_wrap=True)


def theorem_rows(report: Report) -> list[tuple[str, frozenset[str]]]:
    """The theorems that were written, with the axioms each rests on, by name."""
    if report.audit is None:
        return []
    return sorted((n, c.reached) for n, c in report.audit.theorems.items() if written_name(c.name) == n)


def _module_json(report: Report, result: ModuleResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "file": report.project.modules[result.name].file,
        "status": str(result.status),
        "seconds": round(result.seconds, 3),
        "memory": result.memory or None,
        "theorems": _statements(report, result.name),
    }


def _statements(report: Report, name: str) -> int:
    return count_statements(report.project.modules[name].code)


def _kinds(report: Report) -> dict[str, int]:
    return dict(sorted(Counter(o.kind for o in report.obligations).items()))


def _missing(report: Report) -> list[str] | None:
    """Obligatory theorems that are not there; None where the build does not tell."""
    if report.audit is None or not report.whole or not report.complete:
        return None
    theorems = report.audit.theorems
    return sorted(o.name for o in report.obligations if o.name not in theorems)


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("module")
    for heading in ("theorems", "seconds", "MiB"):
        table.add_column(heading, justify="right")
    table.add_column("")
    unchanged = 0
    for result in report.modules.values():
        if result.status is Status.UNCHANGED:
            unchanged += 1
            continue
        seconds = f"{result.seconds:.2f}" if result.status is not Status.SKIPPED else ""
        count = str(_statements(report, result.name))
        table.add_row(result.name, count, seconds, _megabytes(result.memory), str(result.status))
    if unchanged:
        table.add_row(f"{unchanged} unchanged module{'s' if unchanged > 1 else ''}", "", "", "", "")
    return table


def _megabytes(memory: int) -> str:
    return str(memory >> 20) if memory else ""


def _time_line(report: Report) -> str:
    """What all modules took when they were last checked, the unchanged ones, too."""
    results = [r for r in report.modules.values() if r.status is not Status.SKIPPED]
    text = f"time: {sum(r.seconds for r in results):.0f} s for all modules"
    slowest = max(results, key=lambda r: r.seconds, default=None)
    return f"{text}, at most {slowest.seconds:.1f} s ({slowest.name})" if slowest else text


def _memory_line(report: Report) -> str:
    measured = [r for r in report.modules.values() if r.memory]
    if not measured:
        return "memory: not measured"
    largest = max(measured, key=lambda r: r.memory)
    text = f"memory: at most {_megabytes(largest.memory)} MiB ({largest.name})"
    over = over_memory(report)
    if over:
        return f"{text}; OVER {_megabytes(MEMORY_LIMIT)} MiB, to be split: {', '.join(over)}"
    which = "every module" if len(measured) == len(report.modules) else f"each of {len(measured)} measured"
    return f"{text}; {which} stays under {_megabytes(MEMORY_LIMIT)} MiB"


def over_memory(report: Report) -> list[str]:
    """The modules that took more memory than one should."""
    return [name for name, r in report.modules.items() if r.memory > MEMORY_LIMIT]


def _theorem_line(report: Report) -> str:
    count = sum(_statements(report, name) for name in report.modules)
    text = f"{count} theorem{'' if count == 1 else 's'} in {len(report.modules)} modules"
    kinds = ", ".join(f"{n} {kind}" for kind, n in _kinds(report).items())
    missing = _missing(report)
    if kinds:
        state = "not judged" if missing is None else f"{len(missing)} missing" if missing else "all there"
        text += f"; obligatory: {kinds} ({state})"
    return text


def _axiom_line(report: Report) -> str:
    if report.audit is None:
        return "axioms: not audited"
    used = report.audit.axioms_used
    text = ", ".join(f"{name} ({count})" for name, count in used.items()) or "none"
    if not report.judge.exact_audit:
        text += "; what the library's own theorems rest on is not counted"
    return f"axioms: {text}"


def _judge_line(report: Report) -> str:
    judge = report.judge
    asked = report.project.asked_toolchain
    wanted = f"; the project asks for {asked}" if asked else ""
    verdict = "passed" if report.ok else "failed"
    part = "" if report.whole else ", a part of the project"
    return f"{verdict}{part}: checked with {judge.version} ({judge.authority}){wanted}"
