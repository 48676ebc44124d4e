"""The list of obligatory theorems: its forms, and that there is no way without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from serq.diagnostics import SerqError
from serq.generators.toolchain.obligatory import read_obligations


def test_kinds_come_from_the_line_or_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "obligatory").mkdir()
    (tmp_path / "obligatory.txt").write_text("A.b # why\n\n# nothing\nlaw A.c\n")
    (tmp_path / "obligatory" / "claims.txt").write_text("A.d\noracle A.e\n")
    found = [(o.kind, o.name) for o in read_obligations(tmp_path)]
    assert found == [("theorem", "A.b"), ("law", "A.c"), ("claims", "A.d"), ("oracle", "A.e")]


@pytest.mark.parametrize("text", [None, "", "# only prose\n", "one two three\n"])
def test_an_empty_or_malformed_list_is_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "obligatory.txt").write_text(text)
    with pytest.raises(SerqError) as error:
        read_obligations(tmp_path)
    assert [d.code for d in error.value.diagnostics] == ["SQ961"]
