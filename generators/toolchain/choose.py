"""Which Lean is used: the official one where `lake` runs, else the embedded one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from serq.diagnostics import Diagnostic, SerqError
from serq.generators.toolchain.embedded.build import JUDGE
from serq.generators.toolchain.embedded.install import Installation, find_installation, install
from serq.generators.toolchain.native.lake import Lake, find_lake
from serq.generators.toolchain.results import Judge

KINDS = ("auto", "native", "embedded")


@dataclass(frozen=True)
class Toolchain:
    """A usable Lean: exactly one of the two."""

    native: Lake | None = None
    embedded: Installation | None = None

    @property
    def judge(self) -> Judge:
        """Who speaks in the results."""
        return self.native.judge if self.native else JUDGE


def set_up(
    kind: str, folder: Path, tell: Callable[[str], None], tarball: Path | None = None, again: bool = False
) -> Toolchain:
    """Choose, and install the embedded Lean where it is chosen; raises `SerqError` SQ970-SQ974."""
    native = None if kind == "embedded" else find_lake(folder)
    if native:
        return Toolchain(native=native)
    if kind == "native":
        raise SerqError(_no_native())
    return Toolchain(embedded=install(tell, tarball, again))


def find_toolchain(kind: str, folder: Path) -> Toolchain:
    """The toolchain that is there; raises `SerqError` SQ970 when none is, SQ975 when it is damaged."""
    native = None if kind == "embedded" else find_lake(folder)
    if native:
        return Toolchain(native=native)
    if kind == "native":
        raise SerqError(_no_native())
    installation = find_installation()
    if installation is None:
        raise SerqError(
            Diagnostic(
                "SQ970",
                "no Lean is installed",
                note="`lake` does not run here, and the embedded Lean is not installed",
                hint="run `serq lean setup`",
            )
        )
    return Toolchain(embedded=installation)


def _no_native() -> Diagnostic:
    return Diagnostic(
        "SQ970",
        "the official Lean toolchain is not installed",
        note="no `lake` on PATH or in elan's folder that runs",
        hint="install it with elan, or leave out `--toolchain native`",
    )
