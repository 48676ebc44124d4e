"""Lake projects: roots, reachability, order, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from serq.diagnostics import SerqError
from serq.generators.toolchain import find_project, load_project
from tests.generators.toolchain.demo import Demo


def codes(error: pytest.ExceptionInfo[SerqError]) -> list[str]:
    return [d.code for d in error.value.diagnostics]


def test_roots_come_from_libraries_and_programs(demo: Demo) -> None:
    project = load_project(demo.folder)
    assert project.roots == ("Demo", "Main")
    assert project.targets == ("Demo", "+Main")
    assert project.asked_toolchain == "leanprover/lean4:v4.28.0"
    assert set(project.modules) == {"Demo", "Demo.Base", "Demo.Facts", "Main"}
    assert project.unreachable() == []


def test_imports_come_first(demo: Demo) -> None:
    project = load_project(demo.folder)
    assert project.ordered(project.modules) == ["Demo.Base", "Demo.Facts", "Demo", "Main"]


def test_an_unreachable_module_is_found(demo: Demo) -> None:
    demo.write("Demo/Lost.lean", "module\n")
    (found,) = load_project(demo.folder).unreachable()
    assert found.code == "SQ956"
    assert found.place.file is not None
    assert found.place.file.endswith("Demo/Lost.lean")


def test_hidden_folders_are_not_the_project(demo: Demo) -> None:
    demo.write(".lake/packages/Other.lean", "module\n")
    assert ".lake" not in str(load_project(demo.folder).modules)


def test_a_root_without_a_file_is_found(demo: Demo) -> None:
    (demo.folder / "Main.lean").unlink()
    assert [d.code for d in load_project(demo.folder).unreachable()] == ["SQ956"]


def test_a_circle_of_imports_is_refused(demo: Demo) -> None:
    demo.edit("Demo/Base.lean", "module\n", "module\npublic import Demo.Facts\n")
    project = load_project(demo.folder)
    with pytest.raises(SerqError) as error:
        project.ordered(project.modules)
    assert codes(error) == ["SQ955"]


def test_modules_are_chosen_by_file_and_by_folder(demo: Demo) -> None:
    project = load_project(demo.folder)
    assert project.modules_below([demo.folder / "Demo"]) == {"Demo.Base", "Demo.Facts"}
    assert project.modules_below([demo.folder / "Main.lean"]) == {"Main"}
    with pytest.raises(SerqError) as error:
        project.modules_below([demo.folder / "Other.lean"])
    assert codes(error) == ["SQ950"]


def test_options_and_source_folders_of_the_lakefile_count(tmp_path: Path) -> None:
    demo = Demo(tmp_path)
    demo.write("src/A/B.lean", "module\n")
    demo.write(
        "lakefile.toml",
        'name = "x"\n[leanOptions]\nautoImplicit = false\npp.unicode.fun = true\n'
        '[[lean_lib]]\nname = "A"\nsrcDir = "src"\nroots = ["A.B"]\nleanOptions = { weak.linter.x = 3 }\n',
    )
    project = load_project(tmp_path)
    assert project.options == ("autoImplicit=false", "pp.unicode.fun=true", "linter.x=3")
    assert set(project.modules) == {"A.B"}


@pytest.mark.parametrize("text", ["", "name = ", 'name = "x"\n[[lean_lib]]\nroots = ["A"]\n'])
def test_a_lakefile_without_a_target_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "lakefile.toml").write_text(text)
    with pytest.raises(SerqError) as error:
        load_project(tmp_path)
    assert codes(error) == ["SQ950"]


def test_the_project_is_found_from_inside_and_from_its_parent(demo: Demo, tmp_path: Path) -> None:
    assert find_project(demo.folder / "Demo" / "Base.lean") == demo.folder.resolve()
    demo.folder.rename(tmp_path / "lean")
    assert find_project(tmp_path) == (tmp_path / "lean").resolve()
    with pytest.raises(SerqError) as error:
        find_project(Path("/"))
    assert codes(error) == ["SQ950"]
