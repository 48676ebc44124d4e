"""The pages: links lead somewhere, Python runs, and what they list is what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from serq.ir.expressions import Expr
from serq.ir.statements import Stmt
from serq.ir.tables import AGGREGATES, CONTEXT_VARIABLES, DISTRIBUTIONS, FUNCTIONS
from tests.conformance import cases
from tests.docs.snippets import PAGES, REPOSITORY, snippets

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_DOCS = REPOSITORY / "docs"
LINKED = [*PAGES, REPOSITORY / "examples" / "README.md"]


def _anchors(page: Path) -> set[str]:
    """What a page can be linked into: the anchors it sets, and its headings as GitHub names them."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", _FENCED.sub("", text), re.MULTILINE)
    named = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
    return named | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("page", LINKED, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        if anchor:
            assert anchor in _anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for snippet in snippets():
        for word in snippet.words:
            if snippet.page == page and word.startswith("file="):
                (tmp_path / word.removeprefix("file=")).write_text(snippet.text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for block in _PYTHON.findall(page.read_text(encoding="utf-8")):
        exec(compile(block, page.name, "exec"), {})


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def _missing(page: str, words: set[str]) -> set[str]:
    text = _FENCED.sub("", (_DOCS / page).read_text(encoding="utf-8"))
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]+`", text))))
    return words - named


def test_the_report_page_names_every_field() -> None:
    fields: set[str] = set()
    for case in cases().values():
        report = dict(case["report"])
        for named in ("observes", "gauges"):
            report[named] = list(report[named].values())
        fields |= set(_keys(report))
    assert len(fields) > 60
    assert not _missing("report.md", fields)


def test_the_ir_page_names_every_field_and_tag() -> None:
    # Words that tables of the language list: operators, functions, variables.
    elsewhere = {row.ir for rows in (FUNCTIONS, DISTRIBUTIONS, AGGREGATES, CONTEXT_VARIABLES) for row in rows}
    fields = {key for case in cases().values() for key in _keys(case["ir"])}
    kinds = [
        kind for base in (Stmt, Expr) for kind in base.__subclasses__() if kind.__module__ == base.__module__
    ]
    tags = {kind.__name__ for kind in kinds}
    assert len(fields) > 60 and {"Hold", "Cond"} <= tags
    assert not _missing("ir.md", (fields | tags) - elsewhere)
