"""The demo project, as written and as checked once with the embedded Lean."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from serq.generators.toolchain import Report, Settings, Toolchain, check_project, load_project, set_up
from tests.generators.toolchain.demo import Demo, write_demo

Check = Callable[..., Report]


@pytest.fixture
def demo(tmp_path: Path) -> Demo:
    """The project, not yet checked."""
    return write_demo(tmp_path / "project")


@pytest.fixture(scope="session")
def embedded() -> Toolchain:
    """The embedded Lean in the user's cache; installed by the first test that needs it."""
    return set_up("embedded", Path.cwd(), lambda text: None)


@pytest.fixture(scope="session")
def checked_once(embedded: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    """The project in a folder of its own, checked."""
    folder = tmp_path_factory.mktemp("checked") / "project"
    write_demo(folder)
    return folder, check_project(load_project(folder), embedded, Settings())


@pytest.fixture
def checked(checked_once: tuple[Path, Report], tmp_path: Path) -> Demo:
    """A copy of the checked project: nothing is left to do until a test spoils it."""
    shutil.copytree(checked_once[0], tmp_path / "project")
    return Demo(tmp_path / "project")


@pytest.fixture
def check(embedded: Toolchain) -> Check:
    """Check a project with the embedded Lean."""

    def run(demo: Demo, *paths: Path, **settings: object) -> Report:
        return check_project(load_project(demo.folder), embedded, Settings(**settings), paths)  # type: ignore[arg-type]

    return run
