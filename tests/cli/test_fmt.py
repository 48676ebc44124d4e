"""`serq fmt`: what it writes, what it leaves alone, and what it says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Done

Serq = Callable[..., Done]
LOOSE = "fn main(){stage d:fifo;  // the desk\nworkload{arrive batch(1);turn{Size n=1;}}server{run d(cost(d,n));}}"
TIGHT = """\
fn main() {
  stage d : fifo;  // the desk
  workload {
    arrive batch(1);
    turn { Size n = 1; }
  }
  server { run d (cost(d, n)); }
}
"""


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    path = tmp_path / "loose.sq"
    path.write_text(LOOSE)
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.sq"
    path.write_text("fn main() {\n  stage d : lifo;\n  pool p { cap }\n}\n")
    return path


def test_a_file_is_written_in_the_layout(serq: Serq, loose: Path) -> None:
    done = serq("fmt", loose)
    assert done == Done(0, "", f"{loose}: written\n")
    assert loose.read_text() == TIGHT
    assert serq("fmt", loose) == Done(0, "", "")


def test_the_ir_stays(serq: Serq, loose: Path) -> None:
    before = serq("ir", loose, "--horizon", 9).out
    serq("fmt", loose)
    assert serq("ir", loose, "--horizon", 9).out == before


def test_check_names_what_would_change_and_writes_nothing(serq: Serq, loose: Path) -> None:
    assert serq("fmt", "--check", loose) == Done(1, f"{loose}: would change\n", "")
    assert loose.read_text() == LOOSE
    serq("fmt", loose)
    assert serq("fmt", "--check", loose) == Done(0, "", "")


def test_stdout_prints_and_writes_nothing(serq: Serq, loose: Path) -> None:
    assert serq("fmt", "--stdout", loose) == Done(0, TIGHT, "")
    assert loose.read_text() == LOOSE


def test_a_folder_is_its_programs(serq: Serq, loose: Path, tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b.sq"
    inner.parent.mkdir()
    inner.write_text("run{horizon 3;}")
    (tmp_path / "a" / "b.txt").write_text("run{horizon 3;}")
    done = serq("fmt", tmp_path)
    assert done.status == 0 and done.err.splitlines() == [f"{inner}: written", f"{loose}: written"]
    assert inner.read_text() == "run { horizon 3; }\n"
    assert (tmp_path / "a" / "b.txt").read_text() == "run{horizon 3;}"


def test_a_file_with_mistakes_stays_and_the_others_are_written(serq: Serq, wrong: Path, loose: Path) -> None:
    text = wrong.read_text()
    done = serq("fmt", wrong, loose)
    assert done.status == 1 and loose.read_text() == TIGHT and wrong.read_text() == text
    assert "wrong.sq:2:13" in done.err and "stage d : lifo;" in done.err
    assert "wrong.sq:3:" in done.err and done.err.endswith(" errors\n")


def test_mistakes_as_json(serq: Serq, wrong: Path) -> None:
    found = json.loads(serq("fmt", wrong, "--format", "json").err)
    assert {d["file"] for d in found} == {str(wrong)} and all(d["span"] for d in found)


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"\xff\xfe\x00", "SQ120"), (b"fn main() { (((", "SQ1"), (b"(" * 5000, "SQ1"), (None, "SQ001")],
)
def test_what_is_no_program_is_a_diagnostic(
    serq: Serq, tmp_path: Path, data: bytes | None, code: str
) -> None:
    path = tmp_path / "bad.sq"
    if data is not None:
        path.write_bytes(data)
    done = serq("fmt", path)
    assert done.status == 1 and f"error[{code}" in done.err
    assert data is None or path.read_bytes() == data


def test_line_ends_become_those_of_the_layout(serq: Serq, loose: Path) -> None:
    loose.write_bytes(TIGHT.replace("\n", "\r\n").encode())
    assert serq("fmt", "--check", loose).status == 1
    assert serq("fmt", loose).status == 0
    assert loose.read_bytes() == TIGHT.encode()


def test_a_link_stays_a_link(serq: Serq, loose: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.sq"
    link.symlink_to(loose)
    assert serq("fmt", link).status == 0
    assert link.is_symlink() and loose.read_text() == TIGHT


@pytest.mark.parametrize("arguments", [(), ("--check", "--stdout", "x.sq"), ("--format", "xml", "x.sq")])
def test_wrong_calls(serq: Serq, arguments: tuple[str, ...]) -> None:
    assert serq("fmt", *arguments).status == 2
