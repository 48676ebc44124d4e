"""One process of the embedded Lean: what it answers, and what a file cannot do to it or to the host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from serq.generators.toolchain import Toolchain
from serq.generators.toolchain.embedded.process import Answer, Ending, LeanProcess


class Session:
    """A process, and a folder with the files it is given."""

    def __init__(self, toolchain: Toolchain, folder: Path) -> None:
        assert toolchain.embedded is not None
        self.folder = folder
        self.process = LeanProcess(toolchain.embedded, folder, folder)

    def run(self, text: str) -> Answer:
        path = self.folder / "File.lean"
        path.write_text("module\n" + text, encoding="utf-8")
        return self.process.run([("J", None), ("D", "Elab.async=false")], [str(path)], 60)


@pytest.fixture
def session(embedded: Toolchain, tmp_path: Path) -> Iterator[Session]:
    folder = tmp_path / "inside"
    folder.mkdir()
    session = Session(embedded, folder)
    yield session
    session.process.kill()


def test_files_are_answered_one_after_the_other(session: Session, tmp_path: Path) -> None:
    good = session.run("theorem t : 1 + 1 = 2 := rfl\n")
    assert (good.ending, good.status, good.lines) == (Ending.FINISHED, 0, ())
    bad = session.run("theorem t : 1 + 1 = 3 := rfl\n")
    assert (bad.ending, bad.status) == (Ending.FINISHED, 1)
    assert '"severity":"error"' in bad.lines[0]
    writing = session.run(f'#eval IO.FS.writeFile "{tmp_path}/outside" "x"\n')
    assert writing.ending is Ending.FINISHED
    assert not (tmp_path / "outside").exists()
    leaving = session.run("#eval (IO.Process.exit 0 : IO Unit)\n")
    assert leaving.ending is Ending.EXITED
    assert session.run("").ending is Ending.DIED


def test_a_process_that_computes_nothing_is_ended(session: Session) -> None:
    session.process.stall = 2.0
    answer = session.run("#eval (IO.sleep 50000 : IO Unit)\n")
    assert answer.ending is Ending.STALLED and answer.seconds < 45
    assert session.run("").ending is Ending.DIED
