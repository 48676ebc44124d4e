"""The programs in the documentation, and the frames that make a program of a fragment.

A block fenced as `sq` is a program. After `sq` may stand `fragment=FRAME`, when only part of a program is shown;
`instance` or `library`, for the other kinds of file; `file=NAME`, for commands on the page to find it by; and
`refused CODE`, when it shows what is not accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PAGES = sorted((REPOSITORY / "docs").glob("*.md"))
_FENCE = re.compile(r"^```sq\b([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

_RESOURCES = """
  stage desk : fifo;
  stage network : delay;
  pool kv { cap 4096; }
  pool slots { cap 8; }
  pool bins[2] { cap 16; }
"""
_WORKLOAD = """
  workload {
    arrive poisson(1);
    hidden o;
    turn { Size n = 1 + floor(~exp(300)); Size o = 1 + floor(~exp(100)); }
  }
"""
_CALL = "hold reqs (cost(reqs, 1)) { run llm prefill (cost(llm, n)); run llm decode (cost(llm, o)); }"
_POOLS = "  pool kv on gpu { }\n  pool reqs on llm { }\n"
_ENGINE = "  device gpu { kv cap 4096; }\n  engine llm on gpu { reqs cap 8; tokens cap 512; execute (1);"
_SCHEDULE = "schedule { advance running; admit waiting while (running.preempted == 0); }"

FRAMES = {
    # Declarations; what they lack of a whole program is added after them.
    "main": f"fn main() {{\nSNIPPET\n  stage desk : fifo;{_WORKLOAD}  server {{ }}\n}}\n",
    # Declarations that bring their own workload.
    "workload": "fn main() {\nSNIPPET\n  server { observe handled = now; }\n}\n",
    # Statements of a server that has some pools and stages.
    "server": f"fn main() {{{_RESOURCES}{_WORKLOAD}  server {{\nSNIPPET\n  }}\n}}\n",
    # The clauses of an engine with a request in it.
    "engine": f"fn main() {{\n{_ENGINE}\nSNIPPET\n  }}\n{_POOLS}{_WORKLOAD}  server {{ {_CALL} }}\n}}\n",
    # Claims about an engine `llm` and an observation `wait`.
    "claims": f"fn main() {{\n{_ENGINE} {_SCHEDULE} }}\n{_POOLS}\nSNIPPET\n{_WORKLOAD}"
    f"  server {{ set came = now; {_CALL} observe wait = now - came; }}\n}}\n",
}


@dataclass(frozen=True)
class Snippet:
    """A block of a page: its text, where it is, and what its fence says about it."""

    page: Path
    line: int
    words: tuple[str, ...]
    text: str

    @property
    def place(self) -> str:
        """Page and line."""
        return f"{self.page.name}:{self.line}"

    @property
    def refused(self) -> str | None:
        """The code it is refused with, if it shows a mistake."""
        return self.words[self.words.index("refused") + 1] if "refused" in self.words else None

    @property
    def frame(self) -> str | None:
        """The frame around it, if it is a fragment."""
        return next((w.removeprefix("fragment=") for w in self.words if w.startswith("fragment=")), None)

    @property
    def program(self) -> str:
        """The text with its frame."""
        return self.text if self.frame is None else FRAMES[self.frame].replace("SNIPPET", self.text)


def snippets() -> Iterator[Snippet]:
    """Every block of every page."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in _FENCE.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield Snippet(page, line, tuple(found[1].split()), found[2])
