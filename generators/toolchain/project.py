"""A Lake project as the toolchain sees it: its roots, its modules, and which of them are reachable."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.generators.toolchain.header import Header, read_header, without_comments

LAKEFILE = "lakefile.toml"


@dataclass(frozen=True)
class SourceModule:
    """One `.lean` file. `file` is its path as messages show it."""

    name: str
    path: Path
    file: str
    text: str

    @cached_property
    def code(self) -> str:
        """The text with its comments blanked."""
        return without_comments(self.text)

    @cached_property
    def header(self) -> Header:
        """What the file imports."""
        return read_header(self.code)


@dataclass(frozen=True)
class Project:
    """A folder with a `lakefile.toml`. `roots` are the root modules of its libraries and executables."""

    folder: Path
    roots: tuple[str, ...]
    targets: tuple[str, ...]
    options: tuple[str, ...]
    asked_toolchain: str
    modules: Mapping[str, SourceModule] = field(repr=False)

    def project_imports(self, name: str) -> tuple[str, ...]:
        """The imports of a module that are modules of the project."""
        return tuple(i for i in self.modules[name].header.imports if i in self.modules)

    def closure(self, names: Iterable[str]) -> set[str]:
        """The modules reachable from `names`, themselves included."""
        found: set[str] = set()
        todo = [n for n in names if n in self.modules]
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += self.project_imports(name)
        return found

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Modules with their imports before them; raises `SerqError` SQ955 on a cycle."""
        chosen = sorted(names)
        sorter = TopologicalSorter({n: [i for i in self.project_imports(n) if i in chosen] for n in chosen})
        try:
            return list(sorter.static_order())
        except CycleError as error:
            cycle = list(error.args[1])
            where = Place(self.modules[cycle[0]].file)
            raise SerqError(
                Diagnostic(
                    "SQ955",
                    f"modules import each other: {' -> '.join(reversed(cycle))}",
                    where,
                    hint="move what both need into a module of its own",
                )
            ) from None

    def modules_below(self, paths: Iterable[Path]) -> set[str]:
        """The modules whose files are, or are below, the paths; raises `SerqError` SQ950 for a stranger."""
        chosen: set[str] = set()
        for path in paths:
            full = path.resolve()
            below = {n for n, m in self.modules.items() if m.path == full or full in m.path.parents}
            if not below:
                raise SerqError(
                    Diagnostic(
                        "SQ950",
                        f"{path} holds no Lean module of the project in {shown(self.folder)}",
                        Place(str(path)),
                        hint="name a `.lean` file or a folder of the project",
                    )
                )
            chosen |= below
        return chosen

    def unreachable(self) -> list[Diagnostic]:
        """One SQ956 for each module that no root reaches, and one for a root that is not there."""
        reached = self.closure(self.roots)
        found = [
            Diagnostic(
                "SQ956",
                f"module {name} is not reachable from {', '.join(self.roots)}",
                Place(module.file),
                note="nothing in the build depends on it, so it is neither built nor audited",
                hint="import it from a module that is reachable, or delete the file",
            )
            for name, module in sorted(self.modules.items())
            if name not in reached
        ]
        return found + [
            Diagnostic(
                "SQ956",
                f"the root module {root} has no file",
                Place(shown(self.folder / LAKEFILE)),
                hint=f"write {root.replace('.', '/')}.lean, or correct the roots",
            )
            for root in self.roots
            if root not in self.modules
        ]


def find_project(start: Path) -> Path:
    """The folder of the project around `start`, or its `lean` folder; raises `SerqError` SQ950."""
    full = start.resolve()
    for folder in (full, full / "lean", *full.parents):
        if (folder / LAKEFILE).is_file():
            return folder
    raise SerqError(
        Diagnostic(
            "SQ950",
            f"no Lean project at {start}",
            Place(str(start)),
            note=f"neither here, nor in a folder `lean`, nor above is a {LAKEFILE}",
            hint=f"name the folder of the project that holds {LAKEFILE}",
        )
    )


def load_project(folder: Path) -> Project:
    """Read the lakefile and every source below the folder; raises `SerqError` SQ950 or SQ001."""
    folder = folder.resolve()
    lake = _lakefile(folder / LAKEFILE)
    libraries = lake.get("lean_lib", [])
    programs = lake.get("lean_exe", [])
    roots = [r for lib in libraries for r in lib.get("roots", [lib["name"]])]
    program_roots = [program.get("root", program["name"]) for program in programs]
    bases = {folder / lake.get("srcDir", ".") / part.get("srcDir", ".") for part in (*libraries, *programs)}
    if not bases:
        raise SerqError(_bad_lakefile(folder / LAKEFILE, "it declares no library and no executable"))
    options = [o for table in (lake, *libraries) for o in _options(table.get("leanOptions", {}))]
    pin = folder / "lean-toolchain"
    return Project(
        folder,
        tuple(dict.fromkeys([*roots, *program_roots])),
        (*(lib["name"] for lib in libraries), *(f"+{root}" for root in program_roots)),
        tuple(dict.fromkeys(options)),
        pin.read_text(encoding="utf-8").strip() if pin.is_file() else "",
        {m.name: m for m in _sources(folder, bases)},
    )


def shown(path: Path) -> str:
    """A path relative to the working folder where it is below it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _lakefile(path: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SerqError(_bad_lakefile(path, str(error))) from None
    parts = [*table.get("lean_lib", []), *table.get("lean_exe", [])]
    if not all(isinstance(part, dict) and "name" in part for part in parts):
        raise SerqError(_bad_lakefile(path, "a library or executable has no name"))
    return table


def _bad_lakefile(path: Path, reason: str) -> Diagnostic:
    return Diagnostic(
        "SQ950",
        f"{shown(path)} is not a lakefile that can be used",
        Place(shown(path)),
        note=reason,
        hint='declare at least one `[[lean_lib]]` with `name = "..."`',
    )


def _options(table: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """`leanOptions` as `name=value`; options of the form `weak.x` are meant for x where it exists."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _options(value, f"{name}.")
        else:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f"{name.removeprefix('weak.')}={text}"


def _sources(folder: Path, bases: set[Path]) -> Iterator[SourceModule]:
    nearest = sorted({b.resolve() for b in bases}, key=lambda b: len(b.parts), reverse=True)
    for path in sorted(folder.rglob("*.lean")):
        relative = path.relative_to(folder)
        if any(part.startswith(".") for part in relative.parts) or str(relative) == "lakefile.lean":
            continue
        base = next((b for b in nearest if b in path.parents), folder)
        name = ".".join(path.relative_to(base).with_suffix("").parts)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            reason = Diagnostic("SQ001", f"cannot read {shown(path)}: {error}", Place(shown(path)))
            raise SerqError(reason) from None
        yield SourceModule(name, path, shown(path), text)
