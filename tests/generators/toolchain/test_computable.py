"""The model is computable as it is written.

The embedded library has no code, so its checker opens a `noncomputable section` in every copy. Here
the sources of the model are compiled as they are, all in one module: whatever is not compiled has to
be for want of the library's code, or of what failed for want of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from serq.generators.toolchain import load_project, set_up
from serq.generators.toolchain.embedded.process import Ending, LeanProcess
from serq.oracle.lean_folder import FOLDER

LIMIT = 600.0
# The compiler's own code of a library function, which the embedded library does not have.
_LIBRARY = re.compile(r"Unknown constant `(?!Serq)[\w.«»'✝]+`")
_FOLLOWS = re.compile(r"depends on declaration 'Serq\.[^']+', which has no executable code")


def _model() -> str:
    """The modules that the executable is made of, without their headers, in one."""
    project = load_project(FOLDER)
    names = project.ordered(n for n in project.closure(["Main"]) if n != "Main")
    parts = []
    for name in names:
        text = project.modules[name].text
        assert "\n@[expose] public section\n" in text, name
        # What has no code of its own is equal to something that has: a theorem tells the compiler so.
        for without in re.findall(r"noncomputable (?:def )?(\w+)", text):
            assert f"@[csimp] theorem {without}_eq_{without}ByCases : @{without} = @{without}ByCases" in text
        body = re.sub(r"^(module|public import .*|@\[expose\] public section)$", "", text, flags=re.M)
        parts.append(body)
    return "module\n\n@[expose] public section\n\n" + "\n".join(parts)


@pytest.fixture(scope="module")
def causes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    """Why parts of a text are not compiled, other than for want of the library's code."""
    folder = tmp_path_factory.mktemp("computable")
    toolchain = set_up("embedded", folder, lambda text: None)
    assert toolchain.embedded is not None
    installation = toolchain.embedded

    def found(text: str) -> list[str]:
        source: Path = folder / "All.lean"
        source.write_text(text, encoding="utf-8")
        options = [("J", None), ("D", "Elab.async=false"), ("D", "maxErrors=100000")]
        for _ in range(3):
            process = LeanProcess(installation, folder, folder)
            try:
                answer = process.run(options, [str(source)], LIMIT)
            finally:
                process.kill()
            if answer.ending is not Ending.STALLED:
                break
        assert answer.ending is Ending.FINISHED
        messages = [json.loads(line)["data"] for line in answer.lines if line.startswith("{")]
        assert messages, "the embedded library has code after all"
        return [m for m in messages if not (_LIBRARY.search(m) or _FOLLOWS.search(m))]

    return found


def test_the_model_is_computable_but_for_the_librarys_code(causes: Callable[[str], list[str]]) -> None:
    planted = "\ndef Serq.chosen : Nat := Classical.choice ⟨0⟩\naxiom Serq.given : Nat\ndef Serq.two := Serq.given\n"
    choice, axiom = causes(_model() + planted)
    assert "Classical.choice" in choice
    assert "Serq.given" in axiom
