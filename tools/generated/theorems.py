"""`lean/obligatory/theorems.txt`: the theorems that lean/README.md tells of must be in every build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.examples import ROOT
from tools.generated.file import COMMAND, Generated, digest

README = ROOT / "lean" / "README.md"
TARGET = ROOT / "lean" / "obligatory" / "theorems.txt"
_LINK = re.compile(r"\[(\w+)\]\((Serq/Theorems/[\w/]+\.lean)\)")


def files() -> list[Generated]:
    """The list, from the page that readers come for."""
    return [Generated(TARGET, _text)]


def _text() -> str:
    names = sorted(dict.fromkeys(_names()))
    head = f"# Written by {COMMAND} from lean/README.md, sha256 {digest([README])}.\n"
    return head + "".join(f"theorems {name}\n" for name in names)


def _names() -> Iterator[str]:
    for name, path in _LINK.findall(README.read_text(encoding="utf-8")):
        yield _qualified(name, (ROOT / "lean" / path).read_text(encoding="utf-8"))


def _qualified(name: str, text: str) -> str:
    """A theorem's name with the namespaces it stands in; the bare name when it is not in its file."""
    spaces: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["namespace"]:
            spaces.append(words[1])
        elif words[:1] == ["end"] and spaces and words[1:] == [spaces[-1]]:
            spaces.pop()
        elif re.match(rf"(?:@\[[^\]]*\]\s*)?(?:public\s+)?theorem\s+{re.escape(name)}(?:\W|$)", line):
            return ".".join([*spaces, name])
    return name
