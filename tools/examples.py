"""The example programs as tools and tests see them: what stands where, and each compiled with an instance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from serq.cli.load import Loaded, load
from serq.cli.options import Choices

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"


@dataclass(frozen=True)
class Example:
    """A program under `examples/` and its instances by name."""

    path: Path
    instances: dict[str, Path]

    @property
    def name(self) -> str:
        """Its folder and file, as `multi-turn/vllm`."""
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def title(self) -> str:
        """The first sentence of its header."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        header = " ".join(line.removeprefix("//").strip() for line in lines[: lines.index("//")])
        return header.rstrip(".")

    @property
    def committed(self) -> Path:
        """Where its IR is committed."""
        return self.path.parent / "ir" / f"{self.path.stem}.ir.json"

    def load(self, instance: str = "default") -> Loaded:
        """The program compiled with an instance; raises `SerqError` when there is none or it does not compile."""
        file = self.path.parent / "instances" / self.path.stem / f"{instance}.sq"
        return load(self.path, Choices((("instance", file),)))


def examples() -> Iterator[Example]:
    """Every program with instances beside it, by folder and name."""
    for path in sorted(EXAMPLES.glob("*/*.sq")):
        instances = sorted((path.parent / "instances" / path.stem).glob("*.sq"))
        if instances:
            yield Example(path, {p.stem: p for p in instances})
