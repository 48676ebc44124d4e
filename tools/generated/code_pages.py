"""`docs/codes.md`: every diagnostic code, from the registry."""

from __future__ import annotations

from collections.abc import Iterator

from serq.cli.explain import laid_out, said
from serq.diagnostics import BANDS, Code, all_codes
from tools.examples import ROOT
from tools.generated.file import Generated, header

PAGE = ROOT / "docs" / "codes.md"
_CATALOGUE = ROOT / "serq" / "diagnostics" / "catalogue"

_INTRODUCTION = """\
# Diagnostic codes

Every refusal of serq has a code. `serq explain CODE` prints what stands here. A code is never used again
for something else; its first digit says which phase it belongs to.

"""


def files() -> Iterator[Generated]:
    """The one page."""
    yield Generated(PAGE, page)


def page() -> str:
    """The page; raises ValueError for a code that is not documented."""
    codes = all_codes()
    undocumented = [c.code for c in codes if not (c.title and c.why and c.fix)]
    if undocumented:
        raise ValueError(f"codes without documentation: {', '.join(undocumented)}")
    contents = "".join(f"- [{band}xx: {title}](#{_anchor(band)})\n" for band, title in BANDS.items())
    parts = [_band(band, title, codes) for band, title in BANDS.items()]
    made_of = sorted(_CATALOGUE.glob("*.py"))
    return header("the catalogue of codes", made_of) + _INTRODUCTION + contents + "\n" + "\n".join(parts)


def _anchor(band: str) -> str:
    return f"{band.lower()}xx"


def _band(band: str, title: str, codes: tuple[Code, ...]) -> str:
    rows = (_code(c) for c in codes if c.code.startswith(band))
    return f'<a id="{_anchor(band)}"></a>\n\n## {band}xx: {title}\n\n' + "\n".join(rows)


def _code(row: Code) -> str:
    text = f"### {row.code}: {row.title}\n\n{row.why}\n\n{row.fix}\n"
    if row.bad:
        bad = laid_out(row.bad)
        text += f"\nRefused:\n\n```sq refused {row.code}\n{bad}\n```\n"
        if message := said(row.code, bad):
            text += f"\n```\n{message}\n```\n"
    if row.good:
        text += f"\nRepaired:\n\n```sq\n{laid_out(row.good)}\n```\n"
    return text
