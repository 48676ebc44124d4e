"""The generated files of the Lean project: one module a recorded scenario, a program with claims and a
stored regression, and what names them (generators.md §1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from serq.diagnostics import SerqError
from serq.generators.claims import Claimed, translate_claims
from serq.generators.claims_text import (
    Proved,
    claim_theorems,
    claims_module,
    claims_module_name,
    lean_name,
    proof_theorems,
    proved_module,
)
from serq.generators.encoding import encoded_module, encoded_theorems
from serq.generators.recorded_modules import Part, recorded_modules, recorded_parts
from serq.generators.render import render
from serq.ir.decode import loads
from serq.oracle.lean_folder import FOLDER
from serq.oracle.lean_recordings import covered_recordings, recording_of, translated
from serq.oracle.lean_regressions import stored
from serq.oracle.recorded import Trace
from serq.oracle.scenario import Scenario

PAPERS = FOLDER.parent / "examples" / "papers" / "ir"
# Claims that nobody has proved yet. Every other claim of a paper's program has a theorem of its name.
OPEN = frozenset({"dai_sarathi.bounded", "kong_svf.queueing_bound"})


def generated_files() -> Mapping[Path, str]:
    """Every generated file of the Lean project by path, with its text."""
    modules: dict[str, str] = {"Statements": render("statements.lean")}
    found, names = _recorded()
    modules |= found
    modules |= claims_modules()
    regressions = stored()
    modules |= {r.module: r.text for r in regressions}
    modules["Encoded"] = encoded_module([r.encoded for r in regressions])
    below = FOLDER / "Serq" / "Generated"
    files = {below / f"{name}.lean": text for name, text in modules.items()}
    imports = [f"Serq.Generated.{name}" for name in sorted(modules)]
    files[FOLDER / "Serq" / "Generated.lean"] = render("root.lean", modules=imports)
    files[FOLDER / "obligatory" / "recorded.txt"] = render("obligatory.txt", kind="recorded", names=names)
    files[FOLDER / "obligatory" / "claims.txt"] = render("obligatory.txt", kind="claims", names=_claimed())
    kept = [name for r in regressions for name in r.theorems]
    kept += encoded_theorems([r.name for r in regressions])
    files[FOLDER / "obligatory" / "regressions.txt"] = render(
        "obligatory.txt", kind="regressions", names=kept
    )
    return files


def claims_modules() -> dict[str, str]:
    """The modules of the papers' claims, and the one that ties their proofs to them."""
    programs = claiming_programs()
    modules = {claims_module_name(name): claims_module(name, claimed) for name, claimed in programs.items()}
    proved = proved_claims(programs)
    imports = [f"Serq.Theorems.Papers.{name}" for name in sorted({p.program for p in proved})]
    return {**modules, "ClaimsProved": proved_module(imports, proved)}


def claiming_programs() -> dict[str, Claimed]:
    """The papers' programs by name, with their claims."""
    found = sorted(PAPERS.glob("*.ir.json"))
    return {
        p.name.removesuffix(".ir.json"): translate_claims(loads(p.read_text(encoding="utf-8"), str(p)))
        for p in found
    }


def proved_claims(programs: Mapping[str, Claimed]) -> list[Proved]:
    """The claims that have a theorem."""
    return [
        Proved(lean_name(name), claim.name)
        for name, claimed in programs.items()
        for claim in claimed.claims
        if f"{name}.{claim.name}" not in OPEN
    ]


def _claimed() -> list[str]:
    programs = claiming_programs()
    examples = [t for name, claimed in programs.items() for t in claim_theorems(name, claimed)]
    return examples + proof_theorems(proved_claims(programs))


@cache
def _recorded() -> tuple[Mapping[str, str], tuple[str, ...]]:
    """The modules of the recordings by name, and the theorems in them."""
    groups: dict[str, list[list[Part]]] = {}
    for scenario, trace in chosen_recordings():
        parts = recorded_parts(translated(scenario, trace), recording_of(scenario, trace))
        groups.setdefault(group_of(scenario.name), []).append(parts)
    stated = (part for members in groups.values() for parts in members for part in parts)
    return recorded_modules(groups), tuple(name for part in stated for name in part.theorems)


def group_of(name: str) -> str:
    """The module of a scenario's recording, if it is short: those of ten numbers are together."""
    number = re.match(r"\d+", name)
    return f"Traces{int(number[0]) // 10 * 10:02}" if number else "TracesRandom"


def chosen_recordings() -> Iterator[tuple[Scenario, Trace]]:
    """The recordings in the fragment."""
    for scenario, trace in covered_recordings():
        if in_fragment(scenario, trace):
            yield scenario, trace


def in_fragment(scenario: Scenario, trace: Trace) -> bool:
    """Whether the program of a recorded scenario is in the fragment."""
    try:
        translated(scenario, trace)
    except SerqError:
        return False
    return True
