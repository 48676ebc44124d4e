"""The transcripts in the documentation: blocks fenced as `console transcript`, of commands and what each prints.

A line `$ serq ...` is run in a folder that has `examples/` and the page's own programs, the blocks fenced as
`sq file=NAME`; the lines after it are what it printed.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from unittest.mock import patch

from serq.cli.main import main
from tools.examples import EXAMPLES, ROOT
from tools.generated.file import Generated

DOCS = ROOT / "docs"
# The same output whatever terminal the tool is called from.
_ENVIRONMENT = {"COLUMNS": "100", "TERM": "dumb", "FORCE_COLOR": ""}
_TRANSCRIPT = re.compile(r"^```console transcript\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"^```sq\b[^\n]*\bfile=(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def files() -> Iterator[Generated]:
    """Every page with a transcript."""
    for path in sorted(DOCS.glob("*.md")):
        if _TRANSCRIPT.search(path.read_text(encoding="utf-8")):
            yield Generated(path, partial(page, path))


def page(path: Path) -> str:
    """A page with the output of its commands written anew."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(EXAMPLES)
        for name, program in _NAMED.findall(text):
            (Path(folder) / name).write_text(program, encoding="utf-8")
        with chdir(folder):
            return _TRANSCRIPT.sub(lambda found: f"```console transcript\n{_replayed(found[1])}```", text)


def _replayed(block: str) -> str:
    commands = [line.removeprefix("$ ") for line in block.split("\n") if line.startswith("$ ")]
    return "".join(f"$ {command}\n{output(command)}" for command in commands)


def output(command: str) -> str:
    """What a command line prints, stdout and stderr as they come; raises ValueError for one not of serq."""
    program, *arguments = shlex.split(command)
    if program != "serq":
        raise ValueError(f"a transcript runs serq only, not `{command}`")
    printed = io.StringIO()
    with (
        patch.dict(os.environ, _ENVIRONMENT),
        redirect_stdout(printed),
        redirect_stderr(printed),
        suppress(SystemExit),
    ):
        main(arguments)
    return printed.getvalue()
