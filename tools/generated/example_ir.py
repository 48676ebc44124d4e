"""The IR of every example with its default instance, beside the programs, and a manifest of what it was made of."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from serq.ir.encode import dumps
from tools.examples import EXAMPLES, Example, examples
from tools.generated.file import COMMAND, Generated, digest, relative

MANIFEST = EXAMPLES / "ir.manifest.json"


def files() -> Iterator[Generated]:
    """The committed IR of each example, the manifest, and IR of programs that are gone."""
    wanted = {e.committed: e for e in examples()}
    for path, example in wanted.items():
        yield Generated(path, partial(ir_text, example))
    for path in sorted(EXAMPLES.glob("*/ir/*.ir.json")):
        if path not in wanted:
            yield Generated(path, lambda: None)
    yield Generated(MANIFEST, _manifest)


def ir_text(example: Example) -> str:
    """Canonical JSON of an example's IR; a trace is named from where the JSON stands."""
    program = example.load().program
    if program.trace is not None:
        trace = os.path.relpath(program.trace, example.committed.parent)
        program = program.model_copy(update={"trace": Path(trace).as_posix()})
    return dumps(program)


def inputs(example: Example) -> list[Path]:
    """The files an example's committed IR is made of."""
    sources = (Path(name) for name in example.load().sources)
    libraries = [p for p in sources if p.suffix == ".sq" and p != example.path]
    return [example.path, example.instances["default"], *libraries]


def _manifest() -> str:
    rows = {relative(e.committed): _row(e) for e in examples()}
    text = json.dumps({"generated_by": COMMAND, "files": rows}, indent=2, ensure_ascii=False)
    return text + "\n"


def _row(example: Example) -> dict[str, object]:
    made_of = inputs(example)
    return {"inputs": [relative(p) for p in made_of], "sha256": digest(made_of)}
