"""Running the command line as a process or in place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from serq.cli.main import main
from tests.conformance import cases


class Done(NamedTuple):
    """What a call of the command line came to."""

    status: int
    out: str
    err: str


@pytest.fixture
def serq(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Call the command line in this process."""

    def call(*args: object) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main([str(a) for a in args])
        out, err = capsys.readouterr()
        return Done(int(caught.value.code or 0), out, err)

    return call


@pytest.fixture
def ir_file(tmp_path: Path) -> Callable[..., Path]:
    """Write the IR of a conformance case, with changes, to a file."""

    def write(name: str, **changes: Any) -> Path:
        data = json.loads(json.dumps(cases()[name]["ir"]))
        data.update(changes)
        path = tmp_path / f"{name}.json"
        if cases()[name].get("trace"):
            data["trace"] = "trace.csv"
            (tmp_path / "trace.csv").write_text(cases()[name]["trace"])
        path.write_text(json.dumps(data))
        return path

    return write
