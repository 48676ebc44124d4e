"""The exact axiom audit: a Lean program over the built project, run by the official toolchain."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import cache
from importlib import resources

from jinja2 import Environment, StrictUndefined, Template

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.generators.toolchain.audit import Audit, Constant
from serq.generators.toolchain.cache import cannot_write
from serq.generators.toolchain.native.lake import Lake
from serq.generators.toolchain.project import Project, shown

_LIMIT = 1800.0


@cache
def _template() -> Template:
    text = resources.files(__package__ or __name__).joinpath("audit.lean.j2").read_text(encoding="utf-8")
    environment = Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
    return environment.from_string(text)


def audit_program(project: Project) -> str:
    """The Lean program for a project."""
    roots = [quoted(r) for r in project.roots if r in project.modules]
    modules = [quoted(m) for m in sorted(project.modules)]
    return _template().render(roots=roots, modules=modules)


def quoted(name: str) -> str:
    """A name as Lean reads it: parts that are no identifiers in French quotes."""
    return ".".join(part if part.isidentifier() else f"«{part}»" for part in name.split("."))


def native_facts(lake: Lake, project: Project) -> Audit:
    """Run the program in the built project; raises `SerqError` SQ977 when it does not reach its end."""
    folder = project.folder / ".lake" / "serq"
    program = folder / "Audit.lean"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        program.write_text(audit_program(project), encoding="utf-8")
    except OSError as error:
        raise SerqError(cannot_write(program, error)) from None
    command = [lake.command, "env", "lean", "--run", str(program)]
    try:
        done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, timeout=_LIMIT)
    except subprocess.TimeoutExpired:
        raise SerqError(_no_audit(project, f"it did not end within {_LIMIT:g} s")) from None
    return parse_facts(done.stdout.splitlines(), project, done.stderr)


def parse_facts(lines: Sequence[str], project: Project, words: str = "") -> Audit:
    """The facts in the program's output, which has to be complete."""
    rows = [line.split("\t") for line in lines]
    constants = [_constant(row) for row in rows if row[0] == "constant" and len(row) == 6]
    ends = [row for row in rows if row[0] == "end"]
    if [end[1:] for end in ends] != [[str(len(constants))]]:
        raise SerqError(_no_audit(project, "\n".join([*lines[-4:], words]).strip()))
    return Audit(tuple(constants))


def _constant(row: Sequence[str]) -> Constant:
    _, kind, module, name, reached, direct = row
    return Constant(plain(name), plain(module), kind, _set(reached), _set(direct))


def _set(words: str) -> frozenset[str]:
    return frozenset(plain(w) for w in words.split())


def plain(name: str) -> str:
    """A printed name without French quotes."""
    return name.replace("«", "").replace("»", "")


def _no_audit(project: Project, reason: str) -> Diagnostic:
    return Diagnostic(
        "SQ977",
        "the axiom audit did not reach its end",
        Place(shown(project.folder)),
        note=reason or "it printed nothing",
        hint="nothing is known about the axioms of this build; run `lake build`, then the audit again",
    )
