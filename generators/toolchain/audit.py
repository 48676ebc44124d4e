"""The axiom audit: what every constant of a project rests on, and what follows from that.

The facts (`Audit`) come from one of two readers: `compiled_facts` reads the compiled modules of the
embedded Lean, where constants of the library are leaves; the native toolchain runs a Lean program
that sees through the library. The judgement over the facts is the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from serq.diagnostics import Diagnostic, Place, Span
from serq.generators.toolchain.obligatory import Obligation
from serq.generators.toolchain.olean import CompiledModule
from serq.generators.toolchain.project import Project

ALLOWED = frozenset({"propext", "Classical.choice", "Quot.sound"})
# Axioms of the library that a constant can rest on without the three; leaves of the embedded audit.
_LIBRARY = ALLOWED | {"sorryAx", "Lean.ofReduceBool", "Lean.ofReduceNat", "Lean.trustCompiler"}

_PRIVATE = re.compile(r"_private\.(?:.*?)\.\d+\.")
_INTERNAL = re.compile(r"_.*|\d+|(?:match|proof|eq|brecOn|below|rec)_\d+|eq_def")


@dataclass(frozen=True)
class Constant:
    """A constant of the project: its module and kind, the axioms it reaches, those it names itself."""

    name: str
    module: str
    kind: str
    reached: frozenset[str]
    direct: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Audit:
    """All constants of the audited modules."""

    constants: tuple[Constant, ...]

    @property
    def theorems(self) -> dict[str, Constant]:
        """The theorems by the name their author gave them."""
        return {plain_name(c.name): c for c in self.constants if c.kind == "theorem"}

    @property
    def axioms_used(self) -> dict[str, int]:
        """How many theorems reach each axiom."""
        counts: dict[str, int] = defaultdict(int)
        for theorem in self.theorems.values():
            for axiom in theorem.reached:
                counts[axiom] += 1
        return dict(sorted(counts.items()))


def plain_name(name: str) -> str:
    """A name without the prefix that makes it private."""
    return _PRIVATE.sub("", name)


def written_name(name: str) -> str:
    """The declaration that a constant belongs to: without the parts that Lean makes up."""
    parts = plain_name(name).split(".")
    while len(parts) > 1 and _INTERNAL.fullmatch(parts[-1]):
        parts.pop()
    return ".".join(parts)


def compiled_facts(modules: Mapping[str, Path]) -> Audit:
    """The facts from compiled modules, by module name; raises `OleanError`."""
    where: dict[str, tuple[str, str]] = {}
    uses: dict[str, set[str]] = {}
    for module, path in modules.items():
        compiled = CompiledModule(path)
        for name, kind in compiled.kinds.items():
            where.setdefault(name, (module, kind))
            uses.setdefault(name, set()).update(compiled.references(name))
    axioms = {n for n, (_, kind) in where.items() if kind == "axiom"} | _LIBRARY
    reached = _reached(uses, axioms)
    return Audit(
        tuple(
            Constant(name, module, kind, frozenset(reached[name]), frozenset(uses[name] & axioms))
            for name, (module, kind) in where.items()
        )
    )


def _reached(uses: Mapping[str, set[str]], axioms: Iterable[str]) -> dict[str, set[str]]:
    """For each constant the axioms at the end of a chain of uses; found backwards from each axiom."""
    users: dict[str, list[str]] = defaultdict(list)
    for name, used in uses.items():
        for other in used:
            users[other].append(name)
    reached: dict[str, set[str]] = defaultdict(set)
    for axiom in axioms:
        todo = [axiom]
        while todo:
            name = todo.pop()
            if axiom not in reached[name]:
                reached[name].add(axiom)
                todo += users[name]
    return reached


def judge_axioms(audit: Audit, project: Project) -> Iterator[Diagnostic]:
    """SQ959 for each declared axiom, SQ958 for each declaration that names a refused one itself."""
    dependants: dict[str, set[str]] = defaultdict(set)
    culprits: dict[tuple[str, str], set[str]] = defaultdict(set)
    for constant in audit.constants:
        owner = (constant.module, written_name(constant.name))
        if constant.kind == "axiom":
            yield _declared(project, *owner)
            continue
        for axiom in constant.reached - ALLOWED:
            dependants[axiom].add(owner[1])
        culprits[owner] |= constant.direct - ALLOWED
    for (module, name), axioms in culprits.items():
        for axiom in sorted(axioms):
            yield _depends(project, module, name, axiom, len(dependants[axiom] - {name}))


def _declared(project: Project, module: str, name: str) -> Diagnostic:
    return Diagnostic(
        "SQ959",
        f"{name} is declared as an axiom",
        declaration_place(project, module, name),
        hint="prove it as a theorem",
    )


def _depends(project: Project, module: str, name: str, axiom: str, others: int) -> Diagnostic:
    note = f"{others} more declaration{'s rest' if others != 1 else ' rests'} on {axiom}" if others else None
    return Diagnostic(
        "SQ958",
        f"{name} depends on {axiom}",
        declaration_place(project, module, name),
        note=note,
        hint=f"only {', '.join(sorted(ALLOWED))} may stay unproved",
    )


def judge_obligations(audit: Audit, obligations: Sequence[Obligation]) -> Iterator[Diagnostic]:
    """SQ960 for each obligatory theorem that is not a theorem of the build."""
    theorems = audit.theorems
    kinds = {plain_name(c.name): c.kind for c in audit.constants}
    for obligation in obligations:
        if obligation.name in theorems:
            continue
        kind = kinds.get(obligation.name)
        yield Diagnostic(
            "SQ960",
            f"the obligatory theorem {obligation.name} is not in the build",
            obligation.place,
            note=f"there is a constant of this name, but its kind is {kind}" if kind else None,
            hint="prove it under this name in a module that the root reaches",
        )


def declaration_place(project: Project, module: str, name: str) -> Place:
    """Where a constant is declared, as far as the text tells."""
    source = project.modules.get(module)
    if source is None:
        return Place()
    last = re.escape(name.rsplit(".", 1)[-1])
    word = r"(?:theorem|lemma|def|abbrev|axiom|instance|opaque|structure|inductive)"
    found = re.search(rf"\b{word}\s+(?:[\w'!?.«»]*\.)?({last})(?![\w'!?])", source.code)
    if found is None:
        return Place(source.file)
    line = source.code.count("\n", 0, found.start(1)) + 1
    column = found.start(1) - source.code.rfind("\n", 0, found.start(1))
    return Place(source.file, Span(line, column, line, column + len(found[1])))
