"""A small Lake project for the tests: two library modules, an executable, three obligatory theorems."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LAKEFILE = """\
name = "demo"
defaultTargets = ["Demo"]

[[lean_lib]]
name = "Demo"

[[lean_exe]]
name = "demo"
root = "Main"
"""

FILES = {
    "lakefile.toml": LAKEFILE,
    "lean-toolchain": "leanprover/lean4:v4.28.0\n",
    "obligatory.txt": "# what has to be proved\nDemo.twice_zero\nclaim Demo.twice_add\nclaim Demo.total_nil\n",
    "Demo.lean": "module\npublic import Demo.Base\npublic import Demo.Facts\n",
    "Demo/Base.lean": """\
module

/-! Definitions. A sorry in a comment is prose. -/

@[expose] public section

namespace Demo

/-- Twice a number. -/
def twice (n : Nat) : Nat := n + n

/-- Uses code that the embedded library does not have. -/
def total (xs : List Nat) : Nat := (xs.map twice).reverse.foldl (· + ·) 0

end Demo
""",
    "Demo/Facts.lean": """\
module
public import Demo.Base

public section

namespace Demo

theorem twice_zero : twice 0 = 0 := by
  decide

theorem twice_add (a b : Nat) : twice (a + b) = twice a + twice b := by
  unfold twice
  omega

theorem total_nil : total [] = 0 := by
  rfl

end Demo
""",
    "Main.lean": """\
import Demo

def main (args : List String) : IO Unit := do
  for a in args do
    IO.println (toString (Demo.total [a.length]))
""",
}


@dataclass(frozen=True)
class Demo:
    """The project in a folder, to be spoiled by a test."""

    folder: Path

    def write(self, file: str, text: str) -> None:
        """Write a file of the project."""
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace a text that occurs in a file."""
        path = self.folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def add(self, name: str, text: str) -> None:
        """Add a module that the root imports."""
        self.write(name.replace(".", "/") + ".lean", text)
        self.edit(
            "Demo.lean", "public import Demo.Base\n", f"public import Demo.Base\npublic import {name}\n"
        )


def write_demo(folder: Path) -> Demo:
    """Write the project into a folder."""
    demo = Demo(folder)
    for file, text in FILES.items():
        demo.write(file, text)
    return demo
